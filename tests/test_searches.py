"""What `auto` reaches on the papers' programs, each mapping checked by enumeration as well."""

from __future__ import annotations

import pytest

from arrayfold._budget import Budget
from arrayfold._integer import combine, is_onto, kernel_frame, reduced_kernel
from arrayfold.fold import fold
from arrayfold.formula_text import read_formula as f
from arrayfold.frontends import read
from arrayfold.lattice_proof import check_lattice
from arrayfold.mapping import Mapping
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


def test_auto_is_never_larger_than_a_single_method() -> None:
    for file in ("heat-2d-tiled", "alignment-3d", "nonuniform", "gauss", "jacobi-1d-doall"):
        problem = read(f"examples/{file}.toml")
        best = fold(problem)
        for method in ("identity", "successive-modulo"):
            for array in fold(problem, method=method):
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
