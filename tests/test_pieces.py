"""Arrays in two parts: sizes, validity by enumeration, C that computes the same."""

from __future__ import annotations

import itertools

import pytest

from arrayfold import FoldResult, InputError, Program, fold
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.mapping.modular import ModularMapping
from arrayfold.run.compiler import find_compiler
from support.reference import is_valid, modular_address
from support.runs import run_both
from support.traces import trace_of

TRIANGLE = """
void triangle(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double a[N][N];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = in[i][j] * 2;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            out[i][j] = a[N-1-i+j][j] + 1;
#pragma endscop
}
"""


def live_as_a_whole(bounds: str) -> str:
    space = f"S[i, j] : {bounds}; T[i, j] : {bounds}"
    return "\n".join(
        (
            'context = "[N] -> { : N >= 3 }"',
            f'domain = "[N] -> {{ {space} }}"',
            'write = "[N] -> { S[i, j] -> A[i, j]; T[i, j] -> B[i, j] }"',
            'read = "[N] -> { T[i, j] -> A[i, j] }"',
            'schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"',
            'temporary = ["A"]',
        )
    )


def assert_right(result: FoldResult, name: str, size: int) -> None:
    """The mapping of the new array is valid, and those of its parts give the same addresses."""
    (memory,) = result.arrays
    assert isinstance(result.problem, Program)
    assert isinstance(memory.mapping, ModularMapping)
    params = {"N": size}
    mapping = memory.mapping.at(params)
    rows = [[int(entry.as_number()) for entry in row] for row in mapping.matrix]
    offsets, moduli = (
        [int(entry.as_number()) for entry in numbers] for numbers in (mapping.offset, mapping.moduli)
    )
    trace = trace_of(result.problem, params)
    assert is_valid(trace.conflicts(memory.name), modular_address(rows, offsets, moduli))
    cells = points(memory.conflicts.cells.intersect_params(fix_parameters(params)))
    assert memory.lower_bound.at(params) == len(cells)
    addresses = {memory.mapping.address(cell, params) for cell in cells}
    halves = [
        one.address(cell, params)
        for one, where in zip(memory.members, memory.where, strict=True)
        for cell in itertools.product(range(2 * size), repeat=2)
        if is_cell(name, cell, size) and eval(where, {"i": cell[0], "j": cell[1], "N": size})
    ]
    assert len(halves) == len(cells)
    assert {*halves} == addresses


def is_cell(name: str, cell: tuple[int, ...], size: int) -> bool:
    i, j = cell
    return i < size and j <= (i if name == "triangle" else size + i)


@pytest.mark.parametrize(
    ("name", "bounds", "cells"),
    [
        ("triangle", "0 <= j <= i < N", "(N^2 + N)/2"),
        pytest.param("trapezoid", "0 <= i < N and 0 <= j <= N + i", "(3*N^2 + N)/2", marks=pytest.mark.long),
    ],
)
def test_two_parts_fill_a_box(name: str, bounds: str, cells: str) -> None:
    result = fold(read_problem("two.toml", live_as_a_whole(bounds)), pieces=True)
    (memory,) = result.arrays
    assert str(memory.size) == cells
    assert memory.is_optimal
    for size in (4, 5):
        assert_right(result, name, size)


def test_arrays_that_are_as_small_as_can_be_stay_whole() -> None:
    box = live_as_a_whole("0 <= i < N and i <= j < N + i")
    (array,) = fold(read_problem("box.toml", box), pieces=True).arrays
    assert (array.name, str(array.size), array.members) == ("A", "N^2", ())


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
def test_c_finds_cells_in_both_parts() -> None:
    (program,) = read_c("triangle.c", TRIANGLE.encode())
    result = fold(program, pieces=True)
    assert str(result.arrays[0].size) == "(N^2 + N)/2"
    assert run_both(result, result.to_c().encode(), params={"N": 9}).is_equal


def test_arrays_that_share_are_not_split() -> None:
    (program,) = read_c("triangle.c", TRIANGLE.encode())
    with pytest.raises(InputError, match="do not go together"):
        fold(program, pieces=True, share="cells")
