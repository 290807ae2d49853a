"""Heuristic 3 of DIY15: constant reuse vectors, completed by rows of small width."""

from __future__ import annotations

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.combined import METHOD, complete_by_widths
from arrayfold.select.choose import _smallest_proved
from support.reference import is_valid
from test_method_lattice import PRINTED, example, problem
from test_paper_programs import pairs_at

# The other programs of DIY15 and BBC16.
OTHERS = [
    ("jacobi-1d", "A", "n + 1", [3, 5]),
    ("produce-consume", "A", "2*N - 1", [3, 5]),
    ("unsharp-tiled", "A", "5*B - 4", [5, 6]),
    ("parallelogram-tile", "A", "3*B - 2", [3, 5]),
    ("hexagon-tile", "A", "6*B - 4", [3, 4]),
    ("stencil-1d-5point", "A", "N + 2", [5, 6]),
]


def found(conflicts: Conflicts, budget: Budget | None = None) -> ModularMapping:
    request = Request.of(conflicts, {}, budget)
    candidate = _smallest_proved(METHOD.name, METHOD.find, conflicts, request)
    assert candidate.is_proved, candidate.reason
    assert candidate.mapping is not None
    return candidate.mapping


@pytest.mark.parametrize(("file", "array", "printed", "sizes"), [*PRINTED, *OTHERS])
def test_published_rows(file: str, array: str, printed: str, sizes: list[int]) -> None:
    conflicts = example(file, array)
    mapping = found(conflicts)
    (name,) = f(printed).names()
    for value in (3, 4, 5, 8, 9, 64, 65, 1000, 10**6):
        assert mapping.size.at({name: value}) <= f(printed).at({name: value})
    for value in sizes:
        pairs = pairs_at(conflicts, {name: value})
        assert pairs
        assert is_valid(pairs, lambda cell, v=value: mapping.address(cell, {name: v}))


@pytest.mark.parametrize(
    ("file", "array", "text"),
    [
        ("reverse-l", "A", "A[x, y] -> [(x - y) mod (2*N - 1), x mod 2]"),
        ("diamond-tile", "A", "A[tt, ii] -> [ii mod (2*B - 1), tt mod 2]"),
        ("blur-interleaved", "blurx", "blurx[y, x] -> [(y - 2*x) mod (2*N + 1)]"),
        ("heat-2d-tiled", "A", "A[t, i, j] -> [j mod (2*B - 1), (t - i) mod (3*B - 2)]"),
    ],
)
def test_the_mappings_are_those_of_the_paper(file: str, array: str, text: str) -> None:
    assert str(found(example(file, array))) == text


def test_rows_smaller_than_printed() -> None:
    assert found(example("lbm-d2q9")).size == f("N^2 + 2*N")
    assert found(example("lbm-d3q19")).size == f("N^3 + 2*N^2")


@pytest.mark.parametrize(
    ("array", "differences", "size"),
    [
        ("[N] -> { A[i, j] : 0 <= i, j < N }", "[N] -> { A[i, j] : 1 = 0 }", "1"),
        ("{ A[] }", "{ A[] : 1 = 0 }", "1"),
        ("[N] -> { A[i] : 0 <= i < N }", "[N] -> { A[i] : -N < i < N }", "N"),
        ("[N] -> { A[i] : 0 <= i < N }", "{ A[i] : -3 <= i <= 3 }", "4"),
        ("[N] -> { A[i] : 0 <= i < N }", "[N] -> { A[i] : -N < i < N and i mod 2 = 1 }", "2"),
        ("{ A[i, j] : 0 <= i, j < 10 }", "{ A[i, j] : -3 <= i <= 3 and -4 <= j <= 4 }", "20"),
        ("[N] -> { A[i, j] : 0 <= i, j < N }", "[N] -> { A[i, j] : -N < i, j < N }", "N^2"),
        ("[N] -> { A[x, y] : 0 <= x, y < 2*N }", "[N] -> { A[x, y] : 2 <= y <= 3 and -N <= x <= N }", "4"),
    ],
)
def test_degenerate_inputs(array: str, differences: str, size: str) -> None:
    assert found(problem(array, differences)).size == f(size)


def test_several_parameters() -> None:
    conflicts = problem(
        "[N, M] -> { A[i, j, k] : 0 <= i < N and 0 <= j, k < M }",
        "[N, M] -> { A[i, j, k] : 0 <= i <= 1 and -M < j < M and -2 <= k <= 2; A[i, 0, 0] : -N < i < N }",
        "[N, M] -> { : N >= 3 and M >= 3 }",
    )
    mapping = found(conflicts)
    for params in ({"N": 3, "M": 5}, {"N": 6, "M": 3}):
        pairs = pairs_at(conflicts, params)
        assert is_valid(pairs, lambda cell, at=params: mapping.address(cell, at))


def test_the_narrowest_rows_complete() -> None:
    """Without reuse vectors this is heuristic 1: the narrow diagonal first, then what is left of it."""
    conflicts = problem(
        "{ A[i, j] : 0 <= i, j < 30 }", "{ A[i, j] : -1 <= i - j <= 1 and -9 <= i <= 9 }", "{ : }"
    )
    here = conflicts.differences.reset_tuple_id()
    completion = complete_by_widths(here, ((1, 0), (0, 1)), Request.of(conflicts, {}))
    assert completion.rows[0] == (1, -1)
    assert completion.size == 20


def test_sizes_outside_the_context_still_give_a_mapping() -> None:
    conflicts = example("reverse-l")
    request = Request.of(conflicts, {"N": 1})
    candidate = _smallest_proved(METHOD.name, METHOD.find, conflicts, request)
    assert candidate.is_proved


def test_a_short_budget_still_gives_an_answer() -> None:
    assert found(example("lbm-d3q27"), Budget(2.0)).size.at({"N": 9}) <= 2 * 9**3


def test_too_many_dimensions_are_refused() -> None:
    names = "a, b, c, d, e, g, h"
    conflicts = problem(
        f"{{ A[{names}] : 0 <= {names} < 3 }}", f"{{ A[{names}] : -1 <= {names} <= 1 }}", "{ : }"
    )
    with pytest.raises(MethodNotApplicable, match="combined: A has 7 dimensions"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_the_same_answer_on_every_run() -> None:
    first, second = (found(example("lbm-d2q9")) for _ in range(2))
    assert first == second


def test_rows_are_completed_for_all_sizes_together() -> None:
    """Narrow rows with entries beyond those that are tried one by one (§4.3, heuristic 1 on what is left)."""
    conflicts = problem(
        "[N, M] -> { A[x, y] : 0 <= x, y < 20*(N + M) }",
        "[N, M] -> { A[x, y] : -N <= 8x - y <= N and -M <= y - 7x <= M }",
        "[N, M] -> { : N >= 2 and M >= 2 }",
    )
    mapping = found(conflicts)
    assert mapping.size == f("(N + 1)*(M + 1)")
    assert (f("8"), f("-1")) in mapping.matrix
