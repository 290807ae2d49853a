"""Heuristic 2 of DIY15: star shapes, short reuse vectors, and lattices of them as kernels."""

from __future__ import annotations

import itertools
from fractions import Fraction

import islpy as isl
import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.lattice import METHOD, with_elementary_divisors
from arrayfold.methods.reuse_chains import Chain, Completion, mapping_of
from arrayfold.methods.reuse_vectors import (
    of_any_size,
    reuse_vectors,
    star_shaped,
    unevenness,
    vectors_outside,
)
from arrayfold.select.choose import Candidate, _smallest_proved
from support.reference import is_valid
from test_paper_programs import pairs_at

# DIY15 Table 1 on the corrected programs: array, printed size, sizes at which pairs are enumerated.
PRINTED = [
    ("reverse-l", "A", "4*N - 2", [3, 6]),
    ("blur-interleaved", "blurx", "2*N + 1", [3, 5]),
    ("blur-tiled", "blurx", "3*B - 2", [3, 5]),
    ("lbm-d2q9", "A", "(N + 1)^2", [3, 4]),
    ("lbm-d3q19", "A", "N*(N + 1)^2", [3]),
    ("lbm-d3q27", "A", "(N + 1)^3", [3]),
    ("diamond-tile", "A", "4*B - 2", [3, 4]),
    ("heat-2d-tiled", "A", "(2*B - 1)*(3*B - 2)", [3, 4]),
]
IDENTITY = {n: [tuple(int(j == k) for j in range(n)) for k in range(n)] for n in (1, 2, 3)}


def ask(conflicts: Conflicts, budget: Budget | None = None) -> Candidate:
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, Request.of(conflicts, {}, budget))


def example(file: str, array: str = "A") -> Conflicts:
    return Analysis.of(read(f"examples/{file}.toml")).conflicts(array)


def problem(array: str, differences: str, context: str = "[N] -> { : N >= 4 }") -> Conflicts:
    text = f'context = "{context}"\narray = "{array}"\ndifferences = "{differences}"'
    return Analysis.of(read_problem("small.toml", text)).conflicts("A")


def found(conflicts: Conflicts) -> ModularMapping:
    candidate = ask(conflicts)
    assert candidate.is_proved, candidate.reason
    assert candidate.mapping is not None
    return candidate.mapping


@pytest.mark.parametrize(("file", "array", "printed", "sizes"), PRINTED)
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


def test_rows_smaller_than_printed() -> None:
    """More than one short vector is followed: (1, 2, 0) instead of the shorter (1, 1, 1)."""
    assert found(example("lbm-d2q9")).size == f("N^2 + 2*N")
    assert found(example("lbm-d3q27")).size == f("N^3 + 2*N^2")


# ---------------------------------------------------------------- stars


def brute_star(points_inside: set[tuple[int, ...]], radius: int, rank: int) -> set[tuple[int, ...]]:
    """Vectors of the box that are s*e with 0 < s <= 1 for an integer e inside."""
    found_vectors: set[tuple[int, ...]] = set()
    for vector in itertools.product(range(-radius, radius + 1), repeat=rank):
        for inside in points_inside:
            pivot = next((k for k in range(rank) if inside[k]), None)
            if pivot is None:
                continue
            scale = Fraction(vector[pivot], inside[pivot])
            if 0 < scale <= 1 and all(Fraction(v) == scale * e for v, e in zip(vector, inside, strict=True)):
                found_vectors.add(vector)
    return found_vectors


@pytest.mark.parametrize(
    "text",
    [
        "{ [x, y] : 2 <= y <= 3 and -4 <= x <= 4 }",
        "{ [x, y] : 2 <= x + y and x <= 4 and y <= 3 }",
        "{ [x, y] : x = 4 and -2 <= y <= 2; [x, y] : y = -3 and x = 0 }",
        "{ [x, y] : -3 <= x <= 3 and -2 <= y <= 2 }",
        "{ [x, y, z] : 1 <= x <= 2 and 2 <= y + z <= 3 and -1 <= y - z <= 1 }",
        "{ [x] : 4 <= x <= 5 }",
    ],
)
def test_stars_hold_all_fractions_of_their_vectors(text: str) -> None:
    vectors = isl.Set(text)
    star = star_shaped(vectors)
    rank = vectors.dim(isl.dim_type.set)
    expected = brute_star(set(points(vectors)), 6, rank)
    assert expected <= set(points(star)) | {(0,) * rank}
    assert vectors.is_subset(star)
    assert star_shaped(star).is_equal(star)


def test_a_star_does_not_gain_the_line_of_zero() -> None:
    star = star_shaped(isl.Set("{ [x, y] : 2 <= y <= 3; [x, y] : -3 <= y <= -2 }"))
    assert star.is_equal(isl.Set("{ [x, y] : 1 <= y <= 3; [x, y] : -3 <= y <= -1 }"))


def test_strides_are_ignored_in_stars() -> None:
    star = star_shaped(isl.Set("{ [x] : 0 < x < 9 and x mod 4 = 0 }"))
    assert isl.Set("{ [x] : 0 < x <= 8 }").is_subset(star)


# ---------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    ("file", "array", "vector"),
    [
        ("reverse-l", "A", (2, 2)),
        ("blur-interleaved", "blurx", (2, 1)),
        ("diamond-tile", "A", (2, 0)),
        ("lbm-d2q9", "A", (1, 1, 1)),
    ],
)
def test_the_first_vectors_are_those_of_the_paper(file: str, array: str, vector: tuple[int, ...]) -> None:
    conflicts = example(file, array)
    star = star_shaped(of_any_size(conflicts.differences, conflicts.context))
    rows = IDENTITY[conflicts.array.rank]
    (first,) = reuse_vectors(star, rows, vectors_outside(star, rows), 1)
    assert first.beside == vector


def test_vectors_outside_are_the_shortest_by_enumeration() -> None:
    inside = isl.Set("{ [x, y] : -5 <= 2x + y <= 5 and -4 <= x - y <= 4 }")
    everything = set(itertools.product(range(-6, 7), repeat=2)) - set(points(inside)) - {(0, 0)}
    by_maximum, by_sum, *_ = vectors_outside(inside, IDENTITY[2])
    assert max(map(abs, by_maximum)) == min(max(map(abs, v)) for v in everything)
    least = min(sum(map(abs, v)) for v in everything)
    assert sum(map(abs, by_sum)) == least
    ties = [v for v in everything if sum(map(abs, v)) == least]
    assert unevenness(by_sum) == min(map(unevenness, ties))


def test_vectors_far_out_are_found_without_listing() -> None:
    inside = isl.Set("{ [x, y] : -1000 <= x <= 1000 and -700 <= y <= 700 }")
    assert [tuple(map(abs, v)) for v in vectors_outside(inside, IDENTITY[2])] == [(0, 701), (0, 701)]
    assert vectors_outside(isl.Set("{ [x, y] }"), IDENTITY[2]) == []


def test_no_multiple_of_a_reuse_vector_is_a_difference() -> None:
    """4 is not among the differences but 8 is."""
    inside = isl.Set("{ [x] : 5 <= x <= 9; [x] : -9 <= x <= -5 }")
    (first,) = reuse_vectors(inside, IDENTITY[1], [(k,) for k in range(1, 20)], 1)
    assert first.modulus == 10


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("moduli", [(2, 3), (4, 6), (6, 10, 15), (5, 5), (1, 7), (12, 18, 8)])
def test_elementary_divisors_keep_the_kernel(moduli: tuple[int, ...]) -> None:
    names = ("i", "j", "k")[: len(moduli)]
    rows = [[int(a == b) + int(a < b) for a in range(len(moduli))] for b in range(len(moduli))]
    before = ModularMapping.of("A", names, rows, [f(str(b)) for b in moduli])
    after = with_elementary_divisors(before)
    assert after.size == before.size
    numbers = [modulus.at({}) for modulus in after.moduli]
    assert all(large % small == 0 for small, large in itertools.pairwise(numbers))
    for cell in itertools.product(range(-9, 10), repeat=len(moduli)):
        assert any(before.address(cell, {})) == any(after.address(cell, {}))


def test_numbers_become_one_row() -> None:
    mapping = found(
        problem("{ A[i, j] : 0 <= i, j < 10 }", "{ A[i, j] : -3 <= i <= 3 and -4 <= j <= 4 }", "{ : }")
    )
    assert mapping.moduli == (f("20"),)


def test_powers_of_two_stay_provable() -> None:
    conflicts = problem("{ A[i, j] : 0 <= i, j < 9 }", "{ A[i, j] : -2 <= i <= 2 and -4 <= j <= 4 }", "{ : }")
    request = Request.of(conflicts, {}, power_of_two=True)
    candidate = _smallest_proved(METHOD.name, METHOD.find, conflicts, request)
    assert candidate.mapping is not None
    assert [modulus.at({}) for modulus in candidate.mapping.moduli] == [16]


# ---------------------------------------------------------------- unusual inputs


@pytest.mark.parametrize(
    ("array", "differences", "size"),
    [
        ("[N] -> { A[i, j] : 0 <= i, j < N }", "[N] -> { A[i, j] : 1 = 0 }", "1"),
        ("{ A[] }", "{ A[] : 1 = 0 }", "1"),
        ("[N] -> { A[i] : 0 <= i < N }", "[N] -> { A[i] : -N < i < N }", "N"),
        ("[N] -> { A[i] : 0 <= i < N }", "{ A[i] : -3 <= i <= 3 }", "4"),
        ("[N] -> { A[i] : 0 <= i < N }", "[N] -> { A[i] : -N < i < N and i mod 2 = 1 }", "2"),
        ("{ A[i] : 0 <= i < 40 }", "{ A[i] : 5 <= i <= 9 }", "10"),
        ("[N] -> { A[x, y] : 0 <= x, y < 2*N }", "[N] -> { A[x, y] : 2 <= y <= 3 and -N <= x <= N }", "4"),
        (
            "[N] -> { A[i, j] : 0 <= i, j < N }",
            "[N] -> { A[i, j] : -N < i < N and (i + j) mod 2 = 1 and -2 <= j <= 2 }",
            "2",
        ),
    ],
)
def test_degenerate_inputs(array: str, differences: str, size: str) -> None:
    assert found(problem(array, differences)).size == f(size)


def test_several_parameters() -> None:
    conflicts = problem(
        "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }",
        "[N, M] -> { A[i, j] : -1 <= i <= 1 and -M < j < M }",
        "[N, M] -> { : N >= 3 and M >= 3 }",
    )
    assert found(conflicts).size == f("2*M")


def test_every_shape_is_valid_by_enumeration() -> None:
    shapes = [
        "-2 <= i <= 2 and -N < j < N",
        "-N < i + j < N and -1 <= i - j <= 1",
        "1 <= i <= 3 and i <= j < N",
    ]
    for shape in shapes:
        conflicts = problem("[N] -> { A[i, j] : 0 <= i, j < N }", f"[N] -> {{ A[i, j] : {shape} }}")
        mapping = found(conflicts)
        pairs = pairs_at(conflicts, {"N": 6})
        assert is_valid(pairs, lambda cell, m=mapping: m.address(cell, {"N": 6}))


def test_twenty_pieces() -> None:
    pieces = "; ".join(f"A[i, j] : {k} <= i <= {k + 1} and {3 * k} - N < j < N" for k in range(20))
    conflicts = problem(
        "[N] -> { A[i, j] : 0 <= i, j < 3*N }", f"[N] -> {{ {pieces} }}", "[N] -> { : N >= 90 }"
    )
    assert found(conflicts).size.at({"N": 1000}) <= 21 * 1000


def test_a_chain_without_a_completion_is_valid() -> None:
    conflicts = problem("{ A[i] : 0 <= i < 9 }", "{ A[i] : -2 <= i <= 2 }", "{ : }")
    rows = IDENTITY[1]
    chain = Chain(tuple(reuse_vectors(conflicts.differences.reset_tuple_id(), rows, [(3,)], 1)), ())
    assert mapping_of(conflicts, chain, Completion((), 1)).size == f("3")


def test_too_many_dimensions_are_refused() -> None:
    names = "a, b, c, d, e, g, h"
    conflicts = problem(
        f"{{ A[{names}] : 0 <= {names} < 3 }}", f"{{ A[{names}] : -1 <= {names} <= 1 }}", "{ : }"
    )
    with pytest.raises(MethodNotApplicable, match="has 7 dimensions"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_a_used_up_budget_is_reported() -> None:
    candidate = ask(example("heat-2d-tiled"), Budget(0.0))
    assert candidate.mapping is None
    assert "budget" in candidate.reason


def test_the_same_answer_on_every_run() -> None:
    first, second = (found(example("heat-2d-tiled")) for _ in range(2))
    assert first == second
