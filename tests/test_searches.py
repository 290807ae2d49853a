"""What `auto` reaches on the papers' programs, each mapping checked by enumeration as well."""

from __future__ import annotations

import pytest

from arrayfold._budget import Budget
from arrayfold._integer import combine, is_onto, kernel_frame, reduced_kernel
from arrayfold._isl import fix_parameters
from arrayfold.errors import NothingProved
from arrayfold.fold import fold
from arrayfold.formula_text import read_formula as f
from arrayfold.frontends import read
from arrayfold.lattice_proof import _reaches_all_addresses, check_lattice
from arrayfold.mapping import Mapping
from arrayfold.methods import METHODS
from reference import is_valid
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
    mapping = Mapping.of("A", ("x", "y"), [list(map(f, row)) for row in rows], list(map(f, moduli)))
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
    mapping = Mapping.of("A", ("tt", "ii"), [[f("2 - 2*B"), 1]], [f("4*B - 4")])
    found = check_lattice(conflicts, mapping)
    assert found is not None
    assert found.basis == ((f("2"), f("0")), (f("1"), f("2*B - 2")))
    assert found.multiples == (None, 1)
    assert found.colliding.is_empty()


def test_rows_that_miss_addresses_are_left_alone() -> None:
    """A row of even numbers modulo an even number reaches every other address only."""
    conflicts = fold(read("examples/diamond-tile.toml"))["A"].conflicts
    mapping = Mapping.of("A", ("tt", "ii"), [[f("2*B"), f("2")]], [f("8*B")])
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
