"""Random options of `arrayfold fold` that change the code it writes."""

from __future__ import annotations

import random

from fuzz.c_program import CProgram

METHODS = (
    "successive-modulo",
    "linear",
    "basis",
    "lattice",
    "combined",
    "hyperplane",
    "projection",
    "occupancy",
    "schedule-space",
    "lattice-as-published",
    "basis-as-published",
)


def random_options(draw: random.Random, program: CProgram) -> tuple[str, ...]:
    """Options that go together."""
    words: list[str] = []
    order = draw.randrange(12)
    if program.has_threads and draw.random() < 0.7:
        order = 7
    if order < 6:
        chosen = [["--fuse"], ["--parallel"], ["--fuse", "--parallel"]]
        tile = draw.choice(
            ("2", "3", "2x3", "4x2", "3x3", "2x2x2", "diamond:2", "hexagon:2", "parallelogram:2x3")
        )
        chosen += [["--tile", tile], ["--tile", tile], ["--fuse=cells", "--tile", tile]]
        chosen += [["--tile", tile, "--parallel"], ["--fuse=cells"]]
        words += draw.choice(chosen)
    elif order == 6:
        words += ["--order", draw.choice(("dependences", "tilings", "auto", "auto"))]
    kind = draw.randrange(10)
    is_plain = kind > 4
    if kind == 0:
        words += ["--mode", "reallocate"]
    if kind == 1:
        words += ["--mode", "reallocate", "--share", draw.choice(("arrays", "offsets", "cells", "auto"))]
    if kind in (2, 3):
        words += ["--share", draw.choice(("arrays", "offsets", "cells", "auto"))]
    if kind == 4:
        words += ["--local", draw.choice(("1", "1", "2", "i", "y"))]
    if is_plain:
        more = draw.randrange(10)
        if more == 0:
            words += ["--favor", "speed"]
        elif more == 1:
            words += ["--power-of-two"]
        elif more in (2, 3):
            words += ["--method", draw.choice(METHODS)]
        elif more == 4:
            words.append("--linear-form")
        elif more == 5:
            words.append("--pieces")
    if draw.random() < 0.1:
        words.append("--check-assumptions")
    if draw.random() < 0.3:
        words += ["--style", "readable"]
    if draw.random() < 0.3 and order >= 6:
        words += ["--loops", draw.choice(("keep", "generate", "generate"))]
    if draw.random() < 0.2:
        words += ["--slack", draw.choice(("none", "1", "5"))]
    if draw.random() < 0.1:
        words += [
            word for name in program.sizes for word in ("--param", f"{name}={draw.choice((1, 9, 100))}")
        ]
    for name in program.temporaries:
        if draw.random() < 0.8:
            words += ["--temporary", name]
    if "#pragma scop" not in program.text:
        words += [word for one in program.functions for word in ("--function", one.name)]
    if draw.random() < 0.05:
        words.append("--no-alias")
    if draw.random() < 0.75:
        words.append("--no-check")
    return tuple(words)


def without_order(options: tuple[str, ...]) -> tuple[str, ...]:
    """The options without those that ask for another order, which many programs do not allow."""
    alone = ("--fuse", "--fuse=cells", "--parallel")
    valued = ("--tile", "--order", "--local", "--loops", "--method", "--param")
    kept: list[str] = []
    for word, last in zip(options, ("", *options), strict=False):
        if word not in alone and word not in valued and last not in valued:
            kept.append(word)
    return tuple(kept)


def may_take_more(options: tuple[str, ...]) -> bool:
    """Whether the options ask for further arrays, so that the bytes of all may be more than before."""
    return any(word in options for word in ("--temporary", "--local", "--mode"))
