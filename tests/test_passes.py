"""Passes: what users can ask for stands in one list, and every one is a frozen record with a name."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path

import pytest

from arrayfold import Program, read
from arrayfold.base.errors import InputError
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.passes import (
    PASSES,
    AllOrders,
    Bands,
    GuardReads,
    Merge,
    OneTile,
    Pass,
    Reallocate,
    Reorder,
    Split,
    SplitBorders,
    TileBuffers,
    in_order,
)

BLUR = "examples/blur.c"
# One of each, with a program that it changes.
EXAMPLES: tuple[tuple[Pass, str], ...] = (
    (Reallocate(everything=True), BLUR),
    (GuardReads(), "examples/pipeline-if.c"),
    (Reorder(fuse="cells"), BLUR),
    (OneTile("BxB"), BLUR),
    (AllOrders(), BLUR),
    (Merge(("a", "b")), "examples/smoother.c"),
    (Split("a", (f("N - 1"), f("N - 1")), 0, (0, 1), (True, True)), "examples/smoother.c"),
    (TileBuffers(2), "examples/blur-tiled.c"),
    (Bands("b"), "examples/jacobi-bands.c"),
    (SplitBorders(), "examples/smoother.c"),
)


@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.name)
def test_a_pass_is_a_frozen_record_in_a_file_of_its_own(kind: type[Pass]) -> None:
    assert is_dataclass(kind)
    (one,) = (one for one, _ in EXAMPLES if isinstance(one, kind))
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(one, field.name, None)
    assert one == replace(one)
    assert len({kind.__module__ for kind in PASSES}) == len(PASSES)


def test_passes_are_in_the_order_of_the_list_in_the_documentation() -> None:
    page = Path("docs/pipeline.md").read_text().partition("## Passes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    assert [(kind.__name__, kind.flags) for kind in PASSES] == [
        (name, tuple(re.findall(r"`(--[a-z-]+)", flags))) for name, flags, _ in rows
    ]
    assert len({kind.name for kind in PASSES}) == len(PASSES)


def test_options_that_ask_for_passes_are_options_of_fold() -> None:
    command = [sys.executable, "-m", "arrayfold", "fold", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--[a-z-]+", text))
    assert {flag for kind in PASSES for flag in kind.flags} <= known


def test_passes_that_are_asked_for_are_put_in_order() -> None:
    fuse, places = Reorder(fuse="cells"), Reallocate()
    assert in_order([AllOrders(), fuse, places]) == [places, fuse, AllOrders()]


@pytest.mark.parametrize(("one", "file"), EXAMPLES, ids=lambda one: getattr(one, "name", ""))
def test_a_pass_makes_another_program_of_a_program(one: Pass, file: str) -> None:
    program = read(file)
    assert isinstance(program, Program)
    assert one.apply(program) is not program


@pytest.mark.parametrize("one", [one for one, _ in EXAMPLES], ids=lambda one: one.name)
def test_conflicts_without_a_program_are_refused(one: Pass) -> None:
    with pytest.raises(InputError):
        one.apply(read("examples/blur-differences.toml"))


def test_a_program_says_whether_its_order_is_that_of_the_text() -> None:
    program = read(BLUR)
    assert isinstance(program, Program)
    assert program.is_as_written
    assert Reallocate(everything=True).apply(program).is_as_written
    assert not Reorder(fuse="cells").apply(program).is_as_written
    assert TileBuffers(2).apply(read("examples/blur-tiled.c")).is_as_written


def test_guard_reads_are_added_once() -> None:
    program = read("examples/pipeline-if.c")
    assert isinstance(program, Program)
    assert not program.evaluates_guards
    once = GuardReads().apply(program)
    assert once.evaluates_guards
    assert GuardReads().apply(once) is once


def test_an_order_as_written_changes_nothing() -> None:
    program = read(BLUR)
    assert Reorder().is_as_written
    assert Reorder().apply(program) is program
    assert not Reorder(fuse="cells").is_as_written


def test_what_is_given_as_options_comes_back_as_options() -> None:
    order = Reorder("S[i] -> [i]", tile=(8, 4), parallel=True)
    assert order.options() == ["--schedule", "S[i] -> [i]", "--tile", "8x4", "--parallel"]


def test_passes_follow_one_another() -> None:
    program = read(BLUR)
    for one in (Reallocate(everything=True), Reorder(fuse="cells")):
        program = one.apply(program)
    assert isinstance(program, Program)
    assert program.relocation.origins
    assert program.schedule is not None
