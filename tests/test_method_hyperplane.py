"""Storage hyperplanes: BBC16 Table I, and the integer program against enumeration of small rows."""

from __future__ import annotations

import itertools
from dataclasses import replace

import islpy as isl
import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods import Request
from arrayfold.methods.hyperplane import METHOD
from arrayfold.methods.hyperplane_program import ConflictPolyhedron, HyperplaneProgram
from arrayfold.select.choose import Candidate, _smallest_proved  # pyright: ignore[reportPrivateUsage]
from support.reference import is_valid
from test_paper_programs import pairs_at

# File, array, size that BBC16 Table I prints, size that the method reaches.
TABLE = [
    ("produce-consume", "A", "2*N - 1", "2*N - 1"),
    ("blur-interleaved", "blurx", "2*N + 1", "2*N + 1"),
    ("blur-tiled", "blurx", "3*B - 2", "3*B - 2"),
    ("unsharp-tiled", "A", "5*B - 4", "5*B - 4"),
    ("lbm-d2q9", "A", "N^2 + 2*N", "N^2 + 2*N"),
    ("lbm-d3q19", "A", "N^3 + 2*N^2", "N^3 + 2*N^2"),
    ("lbm-d3q27", "A", "N^3 + 2*N^2", "N^3 + 2*N^2"),
    ("diamond-tile", "A", "6*B - 5", "4*B - 2"),
    ("parallelogram-tile", "A", "3*B - 2", "3*B - 2"),
    ("hexagon-tile", "A", "9*B - 8", "6*B - 4"),
]


def ask(conflicts: Conflicts, params: dict[str, int] | None = None) -> Candidate:
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, Request.of(conflicts, params or {}))


def conflicts_of(text: str) -> Conflicts:
    return Analysis.of(read_problem("inline.toml", text)).conflicts("A")


@pytest.mark.parametrize(("file", "array", "printed", "reached"), TABLE)
def test_table(file: str, array: str, printed: str, reached: str) -> None:
    conflicts = Analysis.of(read(f"examples/{file}.toml")).conflicts(array)
    candidate = ask(conflicts)
    assert candidate.mapping is not None, candidate.reason
    assert candidate.is_proved
    assert candidate.mapping.size == f(reached)
    (name,) = candidate.mapping.size.names()
    assert f(reached).at({name: 50}) <= f(printed).at({name: 50})
    least = 5 if file == "unsharp-tiled" else 3
    pairs = pairs_at(conflicts, {name: least})
    assert pairs
    mapping = candidate.mapping
    assert is_valid(pairs, lambda cell: mapping.address(cell, {name: least}))


def test_rows_that_satisfy_less_may_be_worth_it() -> None:
    """x mod N satisfies more polyhedra of the reverse L than x - y, and leads to N^2 cells."""
    conflicts = Analysis.of(read("examples/reverse-l.toml")).conflicts("A")
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("4*N - 2")


def test_no_conflicts_need_one_cell() -> None:
    text = 'array = "[N] -> { A[i, j] : 0 <= i, j < N }"\ncontext = "[N] -> { : N >= 1 }"\n'
    mapping = ask(conflicts_of(text + 'differences = "{ A[i, j] : false }"')).mapping
    assert mapping is not None
    assert mapping.moduli == ()


@pytest.mark.parametrize(
    ("array", "differences", "size"),
    [
        ("{ A[i] : 0 <= i < 9 }", "{ A[i] : 1 <= i <= 3 }", "4"),
        ("[N] -> { A[i] : 0 <= i < N }", "[N] -> { A[i] : 0 < i < N }", "N"),
        ("{ A[i, j] : 0 <= i, j < 6 }", "{ A[i, j] : 0 < i <= 2 and -5 <= j <= 5 }", "3"),
        (
            "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }",
            "[N, M] -> { A[0, j] : 0 < j < M; A[1, j] : -M < j <= 0 }",
            "M + 1",
        ),
        (
            "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }",
            "[N, M] -> { A[i, 0] : 0 < i < N; A[0, j] : 0 < j < M }",
            "max(M, N)",
        ),
    ],
)
def test_small_sets(array: str, differences: str, size: str) -> None:
    names = [name for name in "NM" if name in array]
    context = f"[{', '.join(names)}] -> {{ : {' and '.join(f'{n} >= 3' for n in names) or 'true'} }}"
    text = f'context = "{context}"\narray = "{array}"\ndifferences = "{differences}"'
    candidate = ask(conflicts_of(text))
    assert candidate.mapping is not None, candidate.reason
    here = dict.fromkeys(names, 20)
    assert candidate.mapping.size.at(here) <= f(size).at(here)


@pytest.mark.parametrize(
    "differences",
    [
        "[N] -> { A[i, j] : -N < i, j < N and (i + j) mod 2 = 1 }",
        "[N] -> { A[i, j] : exists (e : i = 3e and 0 < i < N) and -N < j < N }",
        "[N] -> { A[i, j] : -N < i, j < N and (i <= -2 or i >= 2 or j <= -2 or j >= 2) }",
        "[N] -> { A[0, j] : j mod 4 = 2 and -N < j < N; A[i, j] : i mod 3 = 1 and 0 < i < N and j = 2i }",
    ],
)
def test_strides_and_holes(differences: str) -> None:
    text = 'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
    conflicts = conflicts_of(text + f'differences = "{differences}"')
    candidate = ask(conflicts)
    assert candidate.mapping is not None, candidate.reason
    mapping = candidate.mapping
    assert is_valid(pairs_at(conflicts, {"N": 7}), lambda cell: mapping.address(cell, {"N": 7}))


def test_conflicts_at_small_sizes_only() -> None:
    text = 'context = "[N] -> { : N >= 3 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
    conflicts = conflicts_of(text + 'differences = "[N] -> { A[i, j] : N <= 9 and 0 < i < N and j = 0 }"')
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert is_valid(pairs_at(conflicts, {"N": 9}), lambda cell: mapping.address(cell, {"N": 9}))


def test_many_polyhedra() -> None:
    parts = "; ".join(f"A[{i}, j] : {-i * i} <= j <= N" for i in range(1, 41))
    text = 'context = "[N] -> { : N >= 50 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
    candidate = ask(conflicts_of(text + f'differences = "[N] -> {{ {parts} }}"'))
    assert candidate.mapping is not None, candidate.reason
    assert candidate.mapping.size.at({"N": 60}) <= 60 * 60


def test_distances_without_bound_are_refused() -> None:
    bounded = conflicts_of('array = "{ A[i] : 0 <= i < 9 }"\ndifferences = "{ A[1] }"')
    conflicts = replace(bounded, differences=isl.Set("{ A[i] : i >= 1 or i <= -1 }"))
    with pytest.raises(MethodNotApplicable, match="arbitrarily far apart"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_the_budget_is_respected() -> None:
    conflicts = Analysis.of(read("examples/lbm-d3q27.toml")).conflicts("A")
    with pytest.raises(BudgetExceeded):
        METHOD.find(conflicts, Request.of(conflicts, {}, Budget(0)))


def test_the_same_answer_on_every_run() -> None:
    conflicts = Analysis.of(read("examples/heat-2d-tiled.toml")).conflicts("A")
    first, second = (METHOD.find(conflicts, Request.of(conflicts, {})) for _ in range(2))
    assert first == second


# ---------------------------------------------------------------- the integer program

UNIONS = [
    ["{ A[i, j] : 1 <= i <= 3 and -2 <= j <= 4 }", "{ A[0, j] : 1 <= j <= 4 }"],
    ["{ A[i, j] : 0 <= i <= 2 and 1 <= j <= 5 }", "{ A[i, j] : 1 <= i <= 2 and -5 <= j <= 0 }"],
    ["{ A[i, 1] : -3 <= i <= 3 }", "{ A[1, j] : -3 <= j <= 3 }", "{ A[2, 2] }", "{ A[1, -1] }"],
    ["{ A[1, 0] }", "{ A[0, 1] }", "{ A[1, 1] }", "{ A[1, -1] }", "{ A[2, 1] }"],
]


@pytest.mark.parametrize("union", UNIONS)
def test_the_program_agrees_with_enumeration(union: list[str]) -> None:
    sets = [isl.BasicSet(text) for text in union]
    corners = [_points(basic) for basic in sets]
    program = HyperplaneProgram([ConflictPolyhedron(basic) for basic in sets], {}, Budget(None))
    best = max(
        (sum(_has_one_sign(row, part) for part in corners), -_reach(row, corners))
        for row in itertools.product(range(-9, 10), repeat=2)
    )
    for hyperplane in program.solve():
        assert (len(hyperplane.satisfied), -hyperplane.reach) == best
        assert hyperplane.reach == _reach(hyperplane.row, corners)
        assert all(_has_one_sign(hyperplane.row, corners[k]) for k in hyperplane.satisfied)
    assert program.solve()


def test_forced_polyhedra_are_satisfied_within_the_limit() -> None:
    sets = [isl.BasicSet(text) for text in UNIONS[2]]
    program = HyperplaneProgram([ConflictPolyhedron(basic) for basic in sets], {}, Budget(None))
    (first, *_) = program.solve()
    for k in set(range(len(sets))) - first.satisfied:
        assert all(k in hyperplane.satisfied for hyperplane in program.solve(frozenset({k})))
    assert all(hyperplane.reach < first.reach for hyperplane in program.solve(limit=first.reach - 1))


def _points(basic: isl.BasicSet) -> list[tuple[int, ...]]:
    everything = itertools.product(range(-6, 7), repeat=2)
    return [
        (i, j) for i, j in everything if not basic.intersect(isl.BasicSet(f"{{ A[{i}, {j}] }}")).is_empty()
    ]


def _values(row: tuple[int, ...], part: list[tuple[int, ...]]) -> list[int]:
    return [sum(a * b for a, b in zip(row, point, strict=True)) for point in part]


def _has_one_sign(row: tuple[int, ...], part: list[tuple[int, ...]]) -> bool:
    values = _values(row, part)
    return min(values) > 0 or max(values) < 0


def _reach(row: tuple[int, ...], parts: list[list[tuple[int, ...]]]) -> int:
    return max(abs(value) for part in parts for value in _values(row, part))
