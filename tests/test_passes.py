"""Passes: what users can ask for stands in one list, and every one is a frozen record with a name."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest

from arrayfold import Program, read
from arrayfold.passes import PASSES, Pass, Reallocate, Reorder

BLUR = "examples/blur.c"


@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.name)
def test_a_pass_is_a_frozen_record(kind: type[Pass]) -> None:
    assert is_dataclass(kind)
    one = kind()
    (first, *_) = fields(kind)
    with pytest.raises(FrozenInstanceError):
        setattr(one, first.name, None)
    assert one == kind()


def test_names_are_distinct_and_documented() -> None:
    names = [kind.name for kind in PASSES]
    assert len(set(names)) == len(names)
    page = Path("docs/contributing.md").read_text()
    assert ", ".join(f"`{kind.__name__}`" for kind in PASSES) in page


@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.name)
def test_a_pass_makes_a_program_of_a_program(kind: type[Pass]) -> None:
    program = read(BLUR)
    assert isinstance(program, Program)
    assert [one.name for one in kind().apply(program).statements] == [one.name for one in program.statements]


def test_an_order_as_written_changes_nothing() -> None:
    program = read(BLUR)
    assert Reorder().is_as_written
    assert Reorder().apply(program) is program
    assert not Reorder(fuse=True).is_as_written


def test_what_is_given_as_options_comes_back_as_options() -> None:
    order = Reorder("S[i] -> [i]", tile=(8, 4), parallel=True)
    assert order.options() == ["--schedule", "S[i] -> [i]", "--tile", "8x4", "--parallel"]


def test_passes_follow_one_another() -> None:
    program = read(BLUR)
    for one in (Reallocate(everything=True), Reorder(fuse=True)):
        program = one.apply(program)
    assert isinstance(program, Program)
    assert program.origins
    assert program.schedule is not None
