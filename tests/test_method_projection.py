"""Projections: the sizes on the papers' programs, against enumeration, and on odd inputs."""

from __future__ import annotations

import pytest

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import parameter_names
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods import METHODS, Request
from arrayfold.methods.projection import METHOD
from arrayfold.select.choose import (
    Candidate,
    _smallest_proved,  # pyright: ignore[reportPrivateUsage]
)
from support.reference import is_valid
from test_paper_programs import pairs_at


def ask(conflicts: Conflicts, **params: int) -> Candidate:
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, Request.of(conflicts, params))


def conflicts_of(text: str) -> Conflicts:
    return Analysis.of(read_problem("case.toml", text)).conflicts("A")


# The size, the number of rows whose modulus contains parameters, and sizes at which pairs are enumerated.
PROGRAMS = [
    ("jacobi-1d", "A", "n + 1", 1, [3, 6]),
    ("stencil-1d-5point", "A", "N + 2", 1, [5, 6]),
    ("occupancy-stencil", "A", "n + 2", 1, [4, 5]),
    ("two-statement-stencil", "A", "2", 0, [4]),
    ("two-statement-stencil", "B", "n", 1, [4]),
    ("two-writes", "y", "2*N + 2", 1, [3, 4]),
    ("diagonal", "A", "n", 1, [4]),
    ("produce-consume", "A", "2*N - 1", 1, [3, 5]),
    ("blur-interleaved", "blurx", "2*N + 1", 1, [3, 5]),
    ("blur-tiled", "blurx", "3*B - 2", 1, [3, 5]),
    ("unsharp-tiled", "A", "5*B - 4", 1, [5, 6]),
    ("parallelogram-tile", "A", "3*B - 2", 1, [3, 5]),
    ("diamond-tile", "A", "4*B - 2", 1, [3, 4]),
    ("hexagon-tile", "A", "6*B - 4", 1, [3, 4]),
    ("reverse-l", "A", "4*N - 2", 1, [3, 6]),
    ("nonuniform", "A", "n", 1, [3, 5]),
    ("lbm-d2q9", "A", "N^2 + 2*N", 2, [3, 4]),
    ("lbm-d3q27", "A", "N^3 + 2*N^2", 3, [3]),
    ("stencil-2d-5x5", "A", "N^2 + 3*N", 2, [5]),
]


@pytest.mark.parametrize(("file", "array", "size", "parametric", "sizes"), PROGRAMS)
def test_sizes_on_the_papers_programs(
    file: str, array: str, size: str, parametric: int, sizes: list[int]
) -> None:
    conflicts = Analysis.of(read(f"examples/{file}.toml")).conflicts(array)
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f(size)
    assert sum(not modulus.is_constant for modulus in mapping.moduli) == parametric
    for value in sizes:
        params = dict.fromkeys(parameter_names(conflicts.context), value)
        assert is_valid(pairs_at(conflicts, params), lambda cell, p=params: mapping.address(cell, p))


def test_never_larger_than_successive_modulo_where_tiles_leave_borders() -> None:
    """BBC16 §6 says that projections do not help there; with all conflicts at hand they do."""
    for file in ("heat-2d-tiled", "diamond-tile", "hexagon-tile", "blur-tiled"):
        problem = Analysis.of(read(f"examples/{file}.toml"))
        (array,) = problem.foldable()
        conflicts = problem.conflicts(array)
        request = Request.of(conflicts, {})
        mapping = ask(conflicts).mapping
        assert mapping is not None
        (axes,) = METHODS["successive-modulo"].find(conflicts, request)
        assert request.rank(mapping.size)[:2] <= request.rank(axes.size)[:2]


def test_the_row_of_an_occupancy_vector() -> None:
    """TVA07 Example 1: the vector (1, 2) leaves the row 2i - j."""
    conflicts = Analysis.of(read("examples/occupancy-stencil.toml")).conflicts("A")
    assert str(ask(conflicts).mapping) == "A[i, j] -> [(2*i - j) mod (n + 2)]"


def test_several_parameters_with_different_roles() -> None:
    """TVA07 Example 3: the vector (1, 1, 1) leaves a plane, whatever the three lengths are."""
    conflicts = Analysis.of(read("examples/alignment-3d.toml")).conflicts("A")
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("J*K + J + K + 1")
    for row in mapping.matrix:
        assert sum(int(entry.as_number()) for entry in row) == 0
    params = {"I": 3, "J": 4, "K": 2}
    assert is_valid(pairs_at(conflicts, params), lambda cell: mapping.address(cell, params))


def test_multiples_that_conflict_only_near_by() -> None:
    """Rows 1 and 3 apart conflict, rows 2 apart do not: two are enough, successive modulo keeps four."""
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : -N < j < N and (i = 0 or i = 1 or i = 3) }"'
    )
    mapping = ask(conflicts).mapping
    assert str(mapping) == "A[i, j] -> [j mod N, i mod 2]"
    assert METHODS["successive-modulo"].find(conflicts, Request.of(conflicts, {}))[0].size == f("4*N")


def test_the_number_of_vectors_comes_first() -> None:
    """Two vectors leave cells in numbers that do not grow, although one vector would leave fewer at N = 3."""
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 3 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : -2 <= i <= 2 and -2 <= j <= 2 }"'
    )
    mapping = ask(conflicts, N=3).mapping
    assert mapping is not None
    assert mapping.size == f("9")


def test_many_short_differences() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : -40 <= i <= 40 and -30 <= j <= 30 }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("41*31")


def test_conflicts_that_appear_at_other_sizes_than_those_compared() -> None:
    """At N = 4 nothing differs along j yet; the mapping must still tell it apart for larger N."""
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j, k] : 0 <= i, j, k < N }"\n'
        'differences = "[N] -> { A[i, 0, 0] : -N < i < N; A[i, j, 0] : -N < i, j < N and N >= 6 }"'
    )
    mapping = ask(conflicts, N=4).mapping
    assert mapping is not None
    assert mapping.size.at({"N": 7}) >= 49


def test_strides_and_holes() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : i mod 2 = 0 and -2 <= i <= 2 and -N < j < N and j mod 3 = 1 }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    for value in (4, 5, 7):
        pairs = pairs_at(conflicts, {"N": value})
        assert is_valid(pairs, lambda cell, v=value: mapping.address(cell, {"N": v}))


def test_no_parameters() -> None:
    """In an array of a fixed size only directions without any conflict count."""
    conflicts = conflicts_of(
        'array = "{ A[i, j] : 0 <= i < 9 and 0 <= j < 9 }"\n'
        'differences = "{ A[i, j] : -1 <= i <= 1 and -8 <= j <= 8 and (i = 0 or j < 0 and i = 1) }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("9")
    assert is_valid(pairs_at(conflicts, {}), lambda cell: mapping.address(cell, {}))


def test_five_dimensions_use_the_axes() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[a, b, c, d, e] : 0 <= a, b, c, d, e < N }"\n'
        'differences = "[N] -> { A[0, 0, 0, d, e] : -N < d, e < N; A[1, 0, 0, 0, 0] }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("2*N^2")


def test_one_dimension_and_nothing() -> None:
    near = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i] : 0 <= i < N }"\n'
        'differences = "[N] -> { A[i] : -3 <= i <= 3 }"'
    )
    mapping = ask(near).mapping
    assert mapping is not None
    assert mapping.size == f("4")
    nothing = ask(Analysis.of(read("examples/scalar-chain.toml")).conflicts("c")).mapping
    assert nothing is not None
    assert nothing.matrix == ()


@pytest.mark.parametrize(
    ("conflicts", "why"),
    [
        (("examples/blur.toml", "blurx"), "however far apart"),
        (("examples/forward-substitution.toml", "y"), "however far apart"),
    ],
)
def test_conflicts_along_every_direction(conflicts: tuple[str, str], why: str) -> None:
    file, array = conflicts
    found = Analysis.of(read(file)).conflicts(array)
    with pytest.raises(MethodNotApplicable, match=why):
        METHOD.find(found, Request.of(found, {}))


def test_a_fixed_size_without_any_free_direction() -> None:
    conflicts = conflicts_of(
        'array = "{ A[i, j] : 0 <= i < 20 and 0 <= j < 20 }"\n'
        'differences = "{ A[i, j] : -5 <= i <= 5 and -5 <= j <= 5 }"'
    )
    with pytest.raises(MethodNotApplicable, match="fixed-size"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_the_same_answer_on_every_run() -> None:
    conflicts = Analysis.of(read("examples/lbm-d2q9.toml")).conflicts("A")
    first, second = (METHOD.find(conflicts, Request.of(conflicts, {})) for _ in range(2))
    assert first == second
