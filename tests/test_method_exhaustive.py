"""The smallest lattices: against naive enumeration, and on the papers' programs at small sizes."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from flint import fmpz_mat

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.lattice import smith_rows
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods import Request
from arrayfold.methods.exhaustive import (
    METHOD,
    clique_size,
    differences_at,
    mapping_of_lattice,
    smallest_lattices,
)
from arrayfold.methods.hermite_forms import Basis, HermiteForms
from arrayfold.select.choose import Candidate, _smallest_proved
from support.reference import is_valid
from test_paper_programs import pairs_at

Vector = tuple[int, ...]


def conflicts_of(text: str) -> Conflicts:
    analysis = Analysis.of(read_problem("small.toml", text))
    (name,) = analysis.foldable()
    return analysis.conflicts(name)


def example(file: str, **params: int) -> Conflicts:
    analysis = Analysis.of(read(f"examples/{file}.toml"))
    (name,) = analysis.foldable()
    return analysis.conflicts(name).at(params)


def asked(conflicts: Conflicts, *, power_of_two: bool = False, budget: Budget | None = None) -> Candidate:
    request = Request.of(conflicts, {}, budget, power_of_two=power_of_two)
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, request)


def size_of(conflicts: Conflicts) -> int:
    candidate = asked(conflicts)
    assert candidate.is_proved, candidate.reason
    assert candidate.mapping is not None
    return int(candidate.mapping.size.as_number())


# ---------------------------------------------------------------- naive enumeration


def all_bases(rank: int, index: int) -> list[Basis]:
    """Every Hermite normal form of this index."""
    found: list[Basis] = []
    for steps in itertools.product(range(1, index + 1), repeat=rank):
        if math.prod(steps) != index:
            continue
        rows = [
            [
                (*[0] * k, steps[k], *rest)
                for rest in itertools.product(*(range(steps[j]) for j in range(k + 1, rank)))
            ]
            for k in range(rank)
        ]
        found += itertools.product(*rows)
    return found


def is_in(vector: Vector, basis: Basis) -> bool:
    rest = list(vector)
    for k, row in enumerate(basis):
        times, over = divmod(rest[k], row[k])
        if over:
            return False
        rest = [a - times * b for a, b in zip(rest, row, strict=True)]
    return not any(rest)


def random_differences(seed: int, rank: int, largest: int, share: float) -> set[Vector]:
    chance = random.Random(seed)
    box = itertools.product(range(-largest, largest + 1), repeat=rank)
    half = {d for d in box if any(d) and chance.random() < share}
    return half | {tuple(-entry for entry in d) for d in half}


@pytest.mark.parametrize(
    ("rank", "index", "count"), [(1, 6, 1), (2, 6, 12), (2, 8, 15), (3, 4, 35), (4, 3, 40)]
)
def test_without_differences_every_lattice_comes_once(rank: int, index: int, count: int) -> None:
    found = list(HermiteForms([], rank, Budget(None)).of_index(index))
    assert len(found) == len(set(found)) == count
    assert set(found) == set(all_bases(rank, index))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rank", "largest", "share"), [(1, 9, 0.4), (2, 3, 0.3), (2, 5, 0.1), (3, 2, 0.15)])
def test_lattices_equal_naive_enumeration(seed: int, rank: int, largest: int, share: float) -> None:
    differences = random_differences(seed, rank, largest, share)
    forms = HermiteForms(differences, rank, Budget(None))
    smallest = None
    for index in range(1, 10):
        expected = {b for b in all_bases(rank, index) if not any(is_in(d, b) for d in differences)}
        assert set(forms.of_index(index)) == expected
        if expected and smallest is None:
            smallest = index, len(expected)
    if smallest is not None:
        found = list(smallest_lattices(differences, rank))
        assert (abs(determinant(found[0])), len(found)) == smallest
        assert clique_size(differences) <= smallest[0]


def determinant(basis: Basis) -> int:
    _, moduli = smith_rows(basis)
    return math.prod(moduli)


@pytest.mark.parametrize("seed", range(20))
def test_rows_vanish_on_the_lattice_only(seed: int) -> None:
    chance = random.Random(seed)
    rank = chance.randint(1, 4)
    steps = [chance.choice([1, 1, 2, 3, 4, 6]) for _ in range(rank)]
    basis = tuple(
        (*[0] * k, steps[k], *(chance.randrange(steps[j]) for j in range(k + 1, rank))) for k in range(rank)
    )
    rows, moduli = smith_rows(basis)
    assert math.prod(moduli) == math.prod(steps)
    assert all(large % small == 0 for large, small in itertools.pairwise(moduli))
    for vector in itertools.product(range(-2, 4), repeat=rank):
        vanishes = all(
            sum(a * x for a, x in zip(row, vector, strict=True)) % modulus == 0
            for row, modulus in zip(rows, moduli, strict=True)
        )
        assert vanishes == is_in(vector, basis)


# ---------------------------------------------------------------- the papers' programs

# The smallest lattices that exist: the last table of the papers' README.
SMALLEST = [
    ("reverse-l", "4*N - 4", range(3, 10)),
    ("produce-consume", "2*N - 1", range(3, 10)),
    ("blur-interleaved", "2*N + 1", range(3, 10)),
    ("blur-tiled", "3*B - 2", range(3, 10)),
    ("unsharp-tiled", "5*B - 4", range(5, 10)),
    ("diamond-tile", "4*B - 4", range(3, 10)),
    ("parallelogram-tile", "3*B - 2", range(3, 10)),
    ("hexagon-tile", "6*B - 6", range(3, 10)),
    ("jacobi-1d", "n + 1", range(3, 10)),
    ("stencil-1d-5point", "N + 2", range(5, 10)),
    ("lbm-d2q9", "N^2 + N + 1", range(3, 9)),
    ("stencil-2d-5x5", "N^2 + 2*N + 2", range(5, 8)),
    ("heat-2d-tiled", "5*B^2 - 8*B + 4", range(3, 8)),
    ("lbm-d3q19", "N^3 + N^2 + N", range(3, 4)),
    ("lbm-d3q27", "N^3 + N^2 + N + 1", range(3, 5)),
]


@pytest.mark.parametrize(("file", "size", "values"), SMALLEST, ids=lambda value: str(value))
def test_smallest_sizes_that_exist(file: str, size: str, values: range) -> None:
    formula = f(size)
    (name,) = formula.names()
    for value in values:
        assert size_of(example(file, **{name: value})) == formula.at({name: value})


@pytest.mark.parametrize(
    ("file", "name"), [("reverse-l", "N"), ("hexagon-tile", "B"), ("heat-2d-tiled", "B")]
)
def test_mappings_are_valid_by_enumeration(file: str, name: str) -> None:
    conflicts = example(file, **{name: 4})
    mapping = asked(conflicts).mapping
    assert mapping is not None
    assert is_valid(pairs_at(conflicts, {name: 4}), lambda cell: mapping.address(cell, {name: 4}))


@pytest.mark.parametrize("size", range(3, 13))
def test_the_one_smallest_lattice_of_the_reverse_l(size: int) -> None:
    """It is generated by (2, 2) and (N, 2 - N), for even and odd N; one row is enough for odd N only."""
    differences = differences_at(example("reverse-l", N=size), {"N": size})
    (basis,) = smallest_lattices(differences, 2)
    assert smith_rows(basis)[1] == ([4 * size - 4] if size % 2 else [2 * size - 2, 2])
    assert hermite(basis) == hermite(((2, 2), (size, 2 - size)))


@pytest.mark.parametrize("size", range(3, 7))
def test_the_two_smallest_lattices_of_the_tiled_heat_equation(size: int) -> None:
    differences = differences_at(example("heat-2d-tiled", B=size), {"B": size})
    found = {hermite(basis) for basis in smallest_lattices(differences, 3)}
    assert found == {
        hermite(((1, 1, 0), (size, 0, 2 * size - 2), (2 * size - 2, 0, -size))),
        hermite(((1, 1, 0), (size - 2, 0, 2 * size - 2), (2 * size, 0, 2 - size))),
    }


def hermite(basis: Basis) -> tuple[Vector, ...]:
    """The one basis of the same lattice in Hermite normal form."""
    echelon = fmpz_mat([list(vector) for vector in basis]).hnf().tolist()
    return tuple(tuple(int(entry) for entry in row) for row in echelon)


# ---------------------------------------------------------------- corners


def test_no_conflicts_need_one_cell() -> None:
    conflicts = conflicts_of('array = "{ A[i, j] : 0 <= i, j < 5 }"\ndifferences = "{ A[i, j] : false }"')
    candidate = asked(conflicts)
    assert candidate.is_proved
    assert candidate.mapping is not None
    assert candidate.mapping.size == Formula.constant(1)
    assert next(smallest_lattices(set(), 2)) == ((1, 0), (0, 1))
    assert next(smallest_lattices(set(), 0)) == ()


def test_one_dimension() -> None:
    """Cells 1, 2 or 5 apart conflict: 3 addresses are enough, for no multiple of 3 is a difference."""
    conflicts = conflicts_of('array = "{ A[i] : 0 <= i < 9 }"\ndifferences = "{ A[1]; A[2]; A[5] }"')
    assert size_of(conflicts) == 3


def test_strides_and_holes() -> None:
    """Only even distances conflict, and 4 is a hole: 4 addresses, where the width asks for 7."""
    conflicts = conflicts_of(
        'array = "{ A[i] : 0 <= i < 20 }"\n'
        'differences = "{ A[i] : -6 <= i <= 6 and i mod 2 = 0 and not (i = 4 or i = -4) }"'
    )
    assert size_of(conflicts) == 4


def test_several_fixed_parameters() -> None:
    text = (
        'context = "[N, M] -> { : N = 3 and M = 5 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M] -> { A[i, 0] : -N < i < N; A[0, j] : -M < j < M }"'
    )
    assert size_of(conflicts_of(text)) == 5


def test_powers_of_two() -> None:
    conflicts = conflicts_of('array = "{ A[i] : 0 <= i < 9 }"\ndifferences = "{ A[i] : -4 <= i <= 4 }"')
    candidate = asked(conflicts, power_of_two=True)
    assert candidate.is_proved
    assert candidate.mapping is not None
    assert candidate.mapping.size == Formula.constant(8)


def test_the_simplest_of_equally_small_mappings() -> None:
    assert str(asked(example("jacobi-1d", n=6)).mapping) == "A[i, j] -> [(i - j) mod 7]"
    assert str(mapping_of_lattice("A", ("x", "y"), ((2, 2), (0, 6)))) == "A[x, y] -> [(x - y) mod 6, x mod 2]"


def test_a_limit_on_the_index() -> None:
    differences = differences_at(example("hexagon-tile", B=4), {"B": 4})
    assert not list(smallest_lattices(differences, 2, below=18))
    assert next(smallest_lattices(differences, 2, below=19))


def test_sizes_must_be_fixed() -> None:
    conflicts = Analysis.of(read("examples/reverse-l.toml")).conflicts("A")
    with pytest.raises(MethodNotApplicable, match=r'N may take several values; .* --context "N = 3"'):
        METHOD.find(conflicts, Request.of(conflicts, {}))
    with pytest.raises(MethodNotApplicable, match='--context "N = 8"'):
        METHOD.find(conflicts, Request.of(conflicts, {"N": 8}))


def test_five_dimensions_are_too_many() -> None:
    conflicts = conflicts_of('conflicts = "{ A[i, j, k, l, 0] -> A[i, j, k, l, 1] : 0 <= i, j, k, l < 2 }"')
    with pytest.raises(MethodNotApplicable, match="up to 4 dimensions, A has 5"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_too_many_differences() -> None:
    conflicts = conflicts_of('conflicts = "{ A[i, j] -> A[k, l] : 0 <= i, j, k, l < 200 }"')
    with pytest.raises(MethodNotApplicable, match="there are 159200; try smaller sizes"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_giving_up_says_what_is_known() -> None:
    differences = differences_at(example("heat-2d-tiled", B=5), {"B": 5})
    with pytest.raises(BudgetExceeded, match="every lattice that is valid has at least 89 cells"):
        next(smallest_lattices(differences, 3, most_work=100))
    assert "budget" in asked(example("heat-2d-tiled", B=5), budget=Budget(1e-3)).reason
