"""Writes under conditions on data: what branches write together, and what a read under a condition finds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import FoldResult, fold
from arrayfold.frontends import read
from arrayfold.program.model import Program

HEAD = (
    "void f(int n, const int c[restrict n], const int d[restrict n], const double x[restrict n],"
    " double y[restrict n])\n{{\n    double t[n];\n#pragma scop\n"
    "    for (int i = 0; i < n; i++) {{\n{body}\n    }}\n#pragma endscop\n}}\n"
)


def read_body(body: str, tmp_path: Path) -> Program:
    file = tmp_path / "branches.c"
    file.write_text(HEAD.format(body=body))
    program = read(file)
    assert isinstance(program, Program)
    return program


def folded(body: str, tmp_path: Path) -> FoldResult:
    return fold(read_body(body, tmp_path))


SURE = {
    "if and else": "if (c[i]) t[i] = x[i]; else t[i] = -x[i]; y[i] = t[i];",
    "else if": "if (c[i] > 2) t[i] = 1; else if (c[i] > 0) t[i] = 2; else t[i] = 3; y[i] = t[i];",
    "nested": "if (c[i]) { if (d[i]) t[i] = 1; else t[i] = 2; } else t[i] = 3; y[i] = t[i];",
    "the same branch": "if (c[i] > 0) { t[i] = x[i]; y[i] = t[i]; } else y[i] = 0;",
    "the other branch too": "if (c[i]) { t[i] = 1; y[i] = t[i]; } else { t[i] = 2; y[i] = -t[i]; }",
    "the same condition again": "if (c[i] > i) t[i] = x[i]; if (c[i] > i) y[i] = t[i];",
    "negated": "if (c[i]) t[i] = x[i]; if (!c[i]) t[i] = 2; y[i] = t[i];",
    "the contrary": "if (c[i] < 3) t[i] = x[i]; if (c[i] >= 3) t[i] = 2; y[i] = t[i];",
    "equal and not equal": "if (x[i] == 0) t[i] = 1; if (x[i] != 0) t[i] = 2; y[i] = t[i];",
    "with an affine part": "if (i > 0 && c[i]) t[i] = x[i]; else t[i] = 2; y[i] = t[i];",
    "with an affine part, inside": "if (c[i]) t[i] = 1; else if (d[i] && i > 0) t[i] = 2; else t[i] = 3;"
    " y[i] = t[i];",
    "either of both, inside": "if (c[i]) t[i] = 1; else if (d[i] || i < 2) t[i] = 2; else t[i] = 3;"
    " y[i] = t[i];",
    "affine inside": "if (c[i]) { if (i < 2) t[i] = 1; else t[i] = 2; } else t[i] = x[i]; y[i] = t[i];",
    "inner conditions": "if (c[i]) { if (d[i]) t[i] = 1; else t[i] = 2; } if (c[i]) y[i] = t[i];",
    "in an inner loop": "for (int k = 0; k < 2; k++) { if (c[i]) t[i] = k; else t[i] = 2; } y[i] = t[i];",
    "a condition that is a variable": "int p = c[i] > 0; if (p) t[i] = 1; if (p) y[i] = t[i];",
}

UNSURE = {
    "one branch": "if (c[i]) t[i] = x[i]; y[i] = t[i];",
    "two conditions": "if (c[i]) t[i] = x[i]; if (d[i]) t[i] = 2; y[i] = t[i];",
    "the wrong branch": "if (c[i]) t[i] = x[i]; else y[i] = t[i];",
    "another condition": "if (c[i]) t[i] = x[i]; if (d[i]) y[i] = t[i];",
    "another cell": "if (c[i]) t[i] = x[i]; else t[i / 2] = 1; y[i] = t[i];",
    "one inner branch": "if (c[i]) { if (d[i]) t[i] = 1; } else t[i] = 3; y[i] = t[i];",
    "only with the affine part": "if (c[i]) t[i] = 1; else if (d[i] && i > 0) t[i] = 2; else if (i > 0)"
    " t[i] = 3; y[i] = t[i];",
    "unordered numbers": "if (x[i] < 3) t[i] = 1; if (x[i] >= 3) t[i] = 2; y[i] = t[i];",
    "another iteration": "if (c[n - 1 - i]) t[i] = x[i]; if (c[i]) y[i] = t[i];",
    "a value that changes": "int p = c[i]; if (p) t[i] = 1; p = d[i]; if (p) y[i] = t[i];",
    "only where it was evaluated": "if (d[i]) { if (c[i]) t[i] = 1; } if (c[i]) y[i] = t[i];",
}


@pytest.mark.parametrize("name", SURE)
def test_branches_that_write_surely(name: str, tmp_path: Path) -> None:
    result = folded(SURE[name], tmp_path)
    assert str(result["t"].size) == "1"
    assert result["t"].is_optimal


@pytest.mark.parametrize("name", UNSURE)
def test_branches_that_leave_a_cell_out(name: str, tmp_path: Path) -> None:
    reasons = Analysis.of(read_body(UNSURE[name], tmp_path)).kept()
    assert "read before it is written" in reasons["t"]


def test_the_reason_is_true(tmp_path: Path) -> None:
    maybe = Analysis.of(read_body("if (c[i]) t[i] = x[i]; y[i] = t[i];", tmp_path)).kept()
    assert maybe["t"] == (
        "may be read before it is written: at n = 1, S_2[0] (line 6) reads t[0], and S_1[0] (line 6) "
        "writes that only under a condition on data; write it in every branch, or once before"
    )
    never = Analysis.of(read_body("y[i] = t[i]; if (c[i]) t[i] = x[i];", tmp_path)).kept()
    assert never["t"] == (
        "read before it is written: at n = 1, S_0[0] (line 6) reads t[0], and nothing writes that before"
    )


def test_branches_are_no_second_write(tmp_path: Path) -> None:
    assert not folded(SURE["else if"], tmp_path)["t"].conflicts.notes


def test_each_of_two_arrays_in_two_branches_takes_a_cell(tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    body = "if (c[i] > 0) { t[i] = x[i]; y[i] = t[i] * 2; } else { u[i] = -x[i]; y[i] = u[i]; }"
    file.write_text(HEAD.format(body=body).replace("double t[n];", "double t[n], u[n];"))
    result = fold(read(file))
    assert [(array.name, str(array.size)) for array in result] == [("t", "1"), ("u", "1")]


def test_what_all_branches_write_is_not_needed_from_before(tmp_path: Path) -> None:
    both = read_body("if (c[i]) y[i] = x[i]; else y[i] = 2;", tmp_path)
    one = read_body("if (c[i]) y[i] = x[i];", tmp_path)
    assert "y" not in Analysis.of(both).live_in_arrays()
    assert "y" in Analysis.of(one).live_in_arrays()


# ---------------------------------------------------------------- random nests, run with every outcome


@dataclass(frozen=True)
class Touch:
    """A write or a read of one of two cells."""

    cell: int
    is_write: bool


@dataclass(frozen=True)
class Branch:
    """An `if` with what runs if it holds and if it does not."""

    condition: str
    then: tuple[Touch | Branch, ...]
    otherwise: tuple[Touch | Branch, ...]


Body: TypeAlias = tuple[Touch | Branch, ...]
CONDITIONS: tuple[str, ...] = ("c[i]", "d[i]", "c[i] > d[i]")


def draw(choose: random.Random, depth: int = 0) -> Body:
    found: list[Touch | Branch] = []
    for _ in range(choose.randint(1, 3)):
        if depth < 3 and choose.random() < 0.5:
            otherwise = draw(choose, depth + 1) if choose.random() < 0.7 else ()
            found.append(Branch(choose.choice(CONDITIONS), draw(choose, depth + 1), otherwise))
        else:
            found.append(Touch(choose.randrange(2), choose.random() < 0.75))
    return tuple(found)


def text_of(body: Body) -> str:
    found: list[str] = []
    for item in body:
        if isinstance(item, Touch):
            cell = f"t[{item.cell}][i]"
            found.append(f"{cell} = x[i];" if item.is_write else f"y[i] += {cell};")
        else:
            otherwise = f" else {{ {text_of(item.otherwise)} }}" if item.otherwise else ""
            found.append(f"if ({item.condition}) {{ {text_of(item.then)} }}{otherwise}")
    return " ".join(found)


def unset_reads(body: Body, outcomes: Mapping[str, bool], written: set[int]) -> set[int]:
    """The cells that are read before they are written, for these outcomes."""
    found: set[int] = set()
    for item in body:
        if isinstance(item, Branch):
            found |= unset_reads(item.then if outcomes[item.condition] else item.otherwise, outcomes, written)
        elif item.is_write:
            written.add(item.cell)
        else:
            found |= {item.cell} - written
    return found


@pytest.mark.parametrize("seed", range(60))
def test_random_nests(seed: int, tmp_path: Path) -> None:
    """Nothing that some outcome leaves unwritten counts as written, and where little happens the contrary."""
    body = (*draw(random.Random(seed)), Touch(0, is_write=False))
    file = tmp_path / "nest.c"
    file.write_text(HEAD.format(body=text_of(body)).replace("double t[n]", "double t[2][n]"))
    program = read(file)
    assert isinstance(program, Program)
    is_live_in = "t" in Analysis.of(program).live_in_arrays()
    every = itertools.product((True, False), repeat=len(CONDITIONS))
    outcomes = (dict(zip(CONDITIONS, values, strict=True)) for values in every)
    unset = set[int]().union(*(unset_reads(body, one, set()) for one in outcomes))
    assert is_live_in or not unset
    if text_of(body).count("if") < 3:
        assert is_live_in == bool(unset)
