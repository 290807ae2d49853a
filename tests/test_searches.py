"""What `auto` reaches on the papers' programs, each mapping checked by enumeration as well."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import NothingProved
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.lattice import combine, determinant, dot, is_onto, kernel_frame, reduced_kernel
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldedArray
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.polynomials import _reaches_all_addresses, check_lattice
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import METHODS, Request
from arrayfold.methods.exhaustive import differences_at, smallest_lattices
from arrayfold.program.model import Problem
from arrayfold.select.several_parameters import cases_of_several_parameters
from support.reference import is_valid
from test_paper_programs import pairs_at

# Size that auto reaches, whether it is the lower bound, and sizes at which pairs are enumerated.
REACHED = [
    ("jacobi-1d", "n + 1", True, [3, 5]),
    ("produce-consume", "2*N - 1", True, [3, 5]),
    ("blur-interleaved", "2*N + 1", True, [3, 5]),
    ("blur-tiled", "3*B - 2", True, [3, 5]),
    ("unsharp-tiled", "5*B - 4", True, [5, 6]),
    ("diamond-tile", "4*B - 4", True, [3, 4]),
    ("parallelogram-tile", "3*B - 2", True, [3, 5]),
    ("hexagon-tile", "6*B - 6", False, [3, 4]),
    ("stencil-1d-5point", "N + 2", True, [5, 6]),
    ("lbm-d2q9", "N^2 + N + 1", True, [3, 4]),
    ("lbm-d3q19", "N^3 + N^2 + N", True, [3]),
    ("lbm-d3q27", "N^3 + N^2 + N + 1", True, [3]),
    ("stencil-2d-5x5", "N^2 + 2*N + 2", True, [5]),
    ("reverse-l", "4*N - 2", False, [3, 6]),
    ("harris-corner-tiled", "3*B - 2", True, [3, 5]),
]


@pytest.mark.parametrize(("file", "size", "is_minimal", "sizes"), REACHED)
def test_sizes_that_auto_reaches(file: str, size: str, is_minimal: bool, sizes: list[int]) -> None:
    (folded,) = fold(read(f"examples/{file}.toml"))
    assert folded.size == f(size)
    assert (folded.size == folded.lower_bound.formula) == is_minimal
    (name,) = folded.size.names()
    for value in sizes:
        pairs = pairs_at(folded.conflicts, {name: value})
        assert pairs
        assert is_valid(pairs, lambda cell, v=value: folded.mapping.address(cell, {name: v}))


# Arrays whose smallest lattice needs different rows for even and odd sizes.
CASES = [("reverse-l", "4*N - 4", [3, 4, 5, 6]), ("heat-2d-tiled", "5*B^2 - 8*B + 4", [3, 4, 5])]


@pytest.mark.parametrize(("file", "size", "sizes"), CASES)
def test_cases_reach_the_smallest_lattice(file: str, size: str, sizes: list[int]) -> None:
    (folded,) = fold(read(f"examples/{file}.toml"))
    assert [str(case.size) for case in folded.cases] == [size, size]
    assert folded.lower_bound.formula == f(size)
    (name,) = folded.size.names()
    union = folded.cases[0].when.union(folded.cases[1].when)
    assert folded.conflicts.context.is_equal(union)
    for value in sizes:
        (case,) = (c for c in folded.cases if not c.when.intersect(fix_parameters({name: value})).is_empty())
        pairs = pairs_at(folded.conflicts, {name: value})
        assert is_valid(pairs, lambda cell, v=value, m=case.mapping: m.address(cell, {name: v}))


def problem_of(tmp_path: Path, context: str, array: str, differences: str) -> Problem:
    file = tmp_path / "differences.toml"
    file.write_text(
        f'context = "[N] -> {{ : {context} }}"\narray = "[N] -> {{ {array} }}"\n'
        f'differences = "[N] -> {{ {differences} }}"\n'
    )
    return read(file)


def assert_cases(folded: FoldedArray, sizes: range, expected: list[int]) -> None:
    """The cells at each size are as expected, whether by a case or by the mapping for all sizes."""
    found: list[int] = []
    for size in sizes:
        here = fix_parameters({"N": size})
        cases = [case.mapping for case in folded.cases if not case.when.is_disjoint(here)]
        assert len(cases) <= 1
        (mapping,) = cases or [folded.mapping]
        found.append(mapping.size.at({"N": size}))
        pairs = pairs_at(folded.conflicts, {"N": size})
        assert is_valid(pairs, lambda cell, m=mapping, v=size: m.address(cell, {"N": v}))
    assert found == expected


def test_the_first_size_may_be_a_case(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, "N >= 3", "A[i] : 0 <= i <= 2*N", "A[i] : N - 2 <= i <= 1")
    (folded,) = fold(problem)
    assert str(folded.size) == "2"
    assert_cases(folded, range(3, 7), [2, 1, 1, 1])


def test_a_class_has_a_lattice_of_its_own(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, "N >= 3", "A[i] : 0 <= i <= 2*N", "A[i] : i = N")
    (folded,) = fold(problem)
    assert str(folded.size) == "N + 1"
    # The smallest modulus is the smallest number that does not divide N. Multiples of 6 would need further
    # classes, so they have the mapping for all sizes.
    assert_cases(folded, range(3, 12), [2, 3, 2, 7, 2, 3, 2, 3, 2])


def test_a_few_sizes_are_cases_each(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, "2 <= N <= 4", "A[i, j] : 0 <= i, j <= 9", "A[i, j] : i = N and j = 2*N")
    (folded,) = fold(problem)
    assert str(folded.size) == "N + 1"
    assert_cases(folded, range(2, 5), [3, 2, 3])


def test_the_sizes_asked_for_are_a_case(tmp_path: Path) -> None:
    differences = "A[i] : 3 <= i <= N - 1 and i mod 3 = 0"
    problem = problem_of(tmp_path, "N >= 3", "A[i] : 0 <= i <= 2*N", differences)
    folded = fold(problem, params={"N": 4})["A"]
    assert_cases(folded, range(4, 5), [2])


def test_lifetimes_that_do_not_grow_need_the_smallest_constant_lattice(tmp_path: Path) -> None:
    differences = "A[i, j] : -7 <= i <= 7 and i mod 7 = 0 and 1 <= j <= 5"
    problem = problem_of(tmp_path, "N >= 3", "A[i, j] : 0 <= i, j <= 9*N", differences)
    (folded,) = fold(problem)
    smallest = next(smallest_lattices(differences_at(folded.conflicts, {"N": 5}), 2))
    assert smallest is not None
    assert_cases(folded, range(3, 6), [abs(determinant(smallest))] * 3)


def test_a_minimal_mapping_has_no_cases() -> None:
    assert fold(read("examples/diamond-tile.toml"))["A"].cases == ()


@pytest.mark.parametrize(
    ("rows", "moduli", "is_all"),
    [
        ([["4*m", "2*m + 1"]], ["20*m^2 + 4*m + 1"], True),
        ([["2*m", "2*m + 2"]], ["4*m + 3"], True),
        ([["2*m", "2*m + 2"]], ["4*m + 2"], False),
        ([["m", "m + 3"]], ["m + 6"], False),
        ([["1", "m"], ["0", "1"]], ["4*m", "2"], True),
        ([["1", "m"], ["1", "0"]], ["4*m", "2"], False),
    ],
)
def test_reaching_all_addresses_is_decided_prime_by_prime(
    rows: list[list[str]], moduli: list[str], is_all: bool
) -> None:
    mapping = ModularMapping.of("A", ("x", "y"), [list(map(f, row)) for row in rows], list(map(f, moduli)))
    assert _reaches_all_addresses(mapping) == is_all
    reached = [
        {mapping.address((x, y), {"m": size}) for x in range(60) for y in range(60)} for size in range(1, 7)
    ]
    everything = [mapping.size.at({"m": size}) for size in range(1, 7)]
    assert all(len(got) == count for got, count in zip(reached, everything, strict=True)) >= is_all


@pytest.mark.parametrize("file", ["heat-2d-tiled", "alignment-3d", "nonuniform", "gauss", "jacobi-1d-doall"])
def test_auto_is_never_larger_than_a_single_method(file: str) -> None:
    problem = read(f"examples/{file}.toml")
    best = fold(problem)
    for method in METHODS:
        try:
            arrays = list(fold(problem, method=method))
        except NothingProved:
            continue
        for array in arrays:
            far = dict.fromkeys(array.original_size.names(), 10**6)
            assert best[array.name].size.evaluate(far) <= array.size.evaluate(far)


def test_a_short_budget_still_gives_an_answer() -> None:
    folded = fold(read("examples/lbm-d3q27.toml"), budget=Budget(1.5))["A"]
    assert folded.size.at({"N": 9}) <= 9**4


def test_the_lattice_argument_names_its_basis() -> None:
    problem = read("examples/diamond-tile.toml")
    conflicts = fold(problem)["A"].conflicts
    mapping = ModularMapping.of("A", ("tt", "ii"), [[f("2 - 2*B"), 1]], [f("4*B - 4")])
    found = check_lattice(conflicts, mapping)
    assert found is not None
    assert found.basis == ((f("2"), f("0")), (f("1"), f("2*B - 2")))
    assert found.multiples == (None, 1)
    assert found.colliding.is_empty()


def test_rows_that_miss_addresses_are_left_alone() -> None:
    """A row of even numbers modulo an even number reaches every other address only."""
    conflicts = fold(read("examples/diamond-tile.toml"))["A"].conflicts
    mapping = ModularMapping.of("A", ("tt", "ii"), [[f("2*B"), f("2")]], [f("8*B")])
    assert check_lattice(conflicts, mapping) is None


@pytest.mark.parametrize("row", [(1, 0), (2, 3), (1, -4, 2), (3, 5, 7), (1, 1, 1, 1), (2, 0, 5, 3)])
def test_kernel_frames(row: tuple[int, ...]) -> None:
    basis, dual = kernel_frame(row)
    assert len(basis) == len(dual) == len(row) - 1
    for j, vector in enumerate(basis):
        assert sum(a * b for a, b in zip(row, vector, strict=True)) == 0
        for k, other in enumerate(dual):
            assert sum(a * b for a, b in zip(other, vector, strict=True)) == int(j == k)
    assert combine([0] * len(basis), basis) == (0,) * len(row)


def test_reduced_kernels_are_kernels() -> None:
    for size in (5, 8, 13):
        for vector in reduced_kernel([[size, 1]], [2 * size + 1]):
            assert (size * vector[0] + vector[1]) % (2 * size + 1) == 0
    assert is_onto([[1, 2]])
    assert not is_onto([[2, 4]])


def test_a_pattern_may_begin_late(tmp_path: Path) -> None:
    triangle = "0 <= i < N and 0 <= j <= i"
    file = tmp_path / "triangle.toml"
    file.write_text(
        'context = "[N] -> { : N >= 4 }"\n'
        f'domain = "[N] -> {{ S[i, j] : {triangle}; T[i, j] : {triangle} }}"\n'
        'write = "[N] -> { S[i, j] -> A[i, j]; T[i, j] -> o[i, j] }"\n'
        'read = "[N] -> { S[i, j] -> A[i - 2, j + 2] : i >= 2 and j <= i - 4;'
        ' S[i, j] -> A[i, j - 2] : j >= 2; T[i, j] -> A[i, j - 1] : j >= 1 }"\n'
        'schedule = "[N] -> { S[i, j] -> [i, j, 0]; T[i, j] -> [i, j, 1] }"\n'
        'temporary = ["A"]\n'
        f'live_out = "[N] -> {{ o[i, j] : {triangle} }}"\n'
    )
    folded = fold(read(file))["A"]
    assert_cases(folded, range(7, 12), [6, 8, 10, 12, 14])


def conflicts_of_three_sizes(reads: list[tuple[int, int, int]]) -> Conflicts:
    """Those of a program on T x M x N cells that reads so many steps back."""
    inside = [
        f"S[i, j, k] -> A[i - {a}, j - {b}, k - {c}] : "
        f"0 <= i - {a} < T and 0 <= j - {b} < M and 0 <= k - {c} < N"
        for a, b, c in reads
    ]
    names = "[T, M, N] -> "
    text = "\n".join(
        (
            f'context = "{names}{{ : T >= 3 and M >= 3 and N >= 3 }}"',
            f'domain = "{names}{{ S[i, j, k] : 0 <= i < T and 0 <= j < M and 0 <= k < N }}"',
            f'write = "{names}{{ S[i, j, k] -> A[i, j, k] }}"',
            f'read = "{names}{{ {"; ".join(inside)} }}"',
            f'schedule = "{names}{{ S[i, j, k] -> [i, j, k] }}"',
            'temporary = ["A"]',
        )
    )
    return Analysis.of(read_problem("three.toml", text)).conflicts("A")


LEAST = {"T": 3, "M": 3, "N": 3}


def test_a_pattern_in_several_parameters_may_begin_late() -> None:
    """The lattice of a program with three sizes is smallest from M = 4 on, and wrong at M = 3."""
    conflicts = conflicts_of_three_sizes([(2, -2, 1), (0, 1, 1), (1, 2, -1)])
    request = Request.of(conflicts, {})
    (case,) = cases_of_several_parameters(conflicts, request, f("2*M*N - N"), LEAST)
    assert case.when.is_equal(isl.Set("[T, M, N] -> { : T >= 3 and M >= 4 and N >= 3 }"))
    assert str(case.size) == "2*M*N - M - 2*N + 5"
    for sizes in ({"T": 3, "M": 4, "N": 3}, {"T": 4, "M": 4, "N": 4}):
        assert not colliding(conflicts, case.mapping, sizes)
    assert colliding(conflicts, case.mapping, LEAST)


def test_rows_of_a_lattice_may_depend_on_residues_of_several_parameters() -> None:
    """(1, -1, 2), (0, M - 1, 2), (0, 3, 2 - N): one row for even M, another one unless N mod 3 is 2."""
    conflicts = conflicts_of_three_sizes([(0, 2, 1), (1, -1, 2)])
    cases = cases_of_several_parameters(conflicts, Request.of(conflicts, {}), f("M*N"), LEAST)
    assert {str(case.size) for case in cases} == {"M*N - 2*M - N + 8"}
    known = isl.Set.empty(conflicts.context.get_space())
    for case in cases:
        assert case.when.is_disjoint(known)
        known = known.union(case.when)
    expected = "T >= 3 and M >= 5 and N >= 4 and (M mod 2 = 0 or N mod 3 < 2)"
    assert isl.Set(f"[T, M, N] -> {{ : {expected} }}").is_subset(known)
    assert known.is_disjoint(isl.Set("[T, M, N] -> { : M mod 2 = 1 and N mod 3 = 2 }"))
    for sizes in ({"T": 3, "M": 4, "N": 5}, {"T": 3, "M": 5, "N": 6}, {"T": 3, "M": 5, "N": 4}):
        (case,) = (one for one in cases if not one.when.is_disjoint(fix_parameters(sizes)))
        assert not colliding(conflicts, case.mapping, sizes)


def colliding(conflicts: Conflicts, mapping: ModularMapping, sizes: dict[str, int]) -> set[tuple[int, ...]]:
    """Differences of conflicting cells that the mapping takes to the same address."""
    matrix = [[entry.at(sizes) for entry in row] for row in mapping.matrix]
    moduli = [modulus.at(sizes) for modulus in mapping.moduli]
    return {
        difference
        for difference in differences_at(conflicts, sizes)
        if all(dot(row, difference) % by == 0 for row, by in zip(matrix, moduli, strict=True))
    }
