"""Lines that end the program at sizes for which folded code is not meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from arrayfold.base.errors import InputError
from arrayfold.c.edits import INDENT
from arrayfold.c.source import CSource
from arrayfold.codegen.loops import condition_text
from arrayfold.codegen.names import variables_in
from arrayfold.codegen.storage import parameter_text
from arrayfold.program.assumptions import Assumption


def means_the_library(source: CSource, *names: str) -> bool:
    """Whether names are functions and types of the C library where the region stands."""
    others = {variable.name for variable in variables_in(source.region.function)} | source.text.macros
    return not others & set(names)


def assumption_checks(source: CSource, assumptions: Iterable[Assumption]) -> list[str]:
    """The lines that call abort() where what is assumed of the parameters does not hold."""
    lines: list[str] = []
    for one in (one for one in assumptions if not one.words):
        text = _condition(source, one)
        lines += [
            f"if (!({text})) /* {one.reason} */".replace("*/", "* /", one.reason.count("*/")),
            f"{INDENT}abort();",
        ]
    if lines and not means_the_library(source, "abort"):
        raise InputError(
            f"abort has another meaning in {source.region.function.name}, but --check-assumptions needs it",
            source.text.place(source.region.before),
            "Give that variable another name, or leave out --check-assumptions.",
        )
    return lines


def _condition(source: CSource, assumption: Assumption) -> str:
    """What is assumed, in C; sums are taken in 64 bits."""
    names = {name: parameter_text(source.parameters)(name) for name in source.parameters}
    text = condition_text(assumption.where, names)
    if re.search(r"[-+*/%]", text.replace("(long long)", "")):
        wide = {name: f"(long long){one.name}" for name, one in source.parameters.items()}
        text = condition_text(assumption.where, wide)
    return text
