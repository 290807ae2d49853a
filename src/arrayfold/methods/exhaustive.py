"""The smallest lattice of all, at fixed parameter values, by enumeration (Darte, Schreiber, Villard 2005).

A modular mapping is valid iff the lattice of vectors that it takes to zero holds no difference of conflicting
cells, and its size is the index of that lattice (DSV05; DIY15 §4.2). So the smallest mapping at fixed
sizes is found by going through the lattices of one index after the other until one holds no difference. The
first index is the size of a set of cells whose differences are all conflicting: a lattice of a smaller index
would put two of them into one class.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import at_sizes, is_bounded, parameter_names, points, without_parameters
from arrayfold.exact.lattice import Vector, smith_rows
from arrayfold.exact.parameter_values import few_parameter_points, smallest_parameters
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.hermite_forms import Basis, HermiteForms
from arrayfold.methods.method import Method, Request

_MOST_DIMENSIONS = 4
_MOST_DIFFERENCES = 20_000
_MOST_REACH = 10_000
_MOST_WORK = 1_500_000
_MOST_COMPARED = 16
_MOST_COMPARISONS = 3_000_000
_SHARE = 0.5


def find_exhaustive(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The mapping with the simplest rows among those of the smallest lattices."""
    rank = conflicts.array.rank
    differences = fixed_differences(conflicts, request)
    budget = request.budget.part(_SHARE)
    lattices = smallest_lattices(
        differences, rank, budget, most_work=_MOST_WORK, powers_of_two=request.power_of_two
    )
    found: list[tuple[int, int, int, ModularMapping]] = []
    for number, basis in enumerate(itertools.islice(_until_tired(lattices), _MOST_COMPARED)):
        mapping = mapping_of_lattice(conflicts.name, conflicts.array.dimensions, basis)
        entries = sum(abs(int(entry.as_number())) for row in mapping.matrix for entry in row)
        found.append((len(mapping.moduli), entries, number, mapping))
    return [min(found)[-1]]


def _until_tired(lattices: Iterator[Basis]) -> Iterator[Basis]:
    """The first lattice must be found; as many others as there is time for."""
    yield next(lattices)
    with suppress(BudgetExceeded):
        yield from lattices


# ---------------------------------------------------------------- differences at fixed sizes


def fixed_differences(conflicts: Conflicts, request: Request) -> set[Vector]:
    """The differences where the context leaves one value to each parameter; otherwise not applicable."""
    rank = conflicts.array.rank
    if rank > _MOST_DIMENSIONS:
        raise MethodNotApplicable(
            f"exhaustive handles up to {_MOST_DIMENSIONS} dimensions, {conflicts.name} has {rank}"
        )
    sizes = few_parameter_points(conflicts.context, 1)
    if not sizes:
        names = parameter_names(conflicts.context)
        raise MethodNotApplicable(
            f"exhaustive works at fixed sizes, but {' and '.join(names)} may take several values; "
            f'fix them, as in --context "{_example(conflicts, request)}"'
        )
    here = without_parameters(conflicts.differences.intersect_params(conflicts.context))
    if not is_bounded(here):
        raise MethodNotApplicable("exhaustive needs finitely many differences of conflicting cells")
    return bounded_differences(here)


def differences_at(conflicts: Conflicts, params: Mapping[str, int]) -> set[Vector]:
    """The differences at these parameter values; they must be finitely many."""
    return bounded_differences(at_sizes(conflicts.differences, params))


def bounded_differences(differences: isl.Set) -> set[Vector]:
    """The vectors of a finite set, if they are not too many to search with."""
    count = int(str(differences.count_val()))
    if count > _MOST_DIFFERENCES:
        raise MethodNotApplicable(
            f"exhaustive handles up to {_MOST_DIFFERENCES} differences, there are {count}; try smaller sizes"
        )
    found = set(points(differences))
    reach = max((abs(entry) for d in found for entry in d), default=0)
    if reach > _MOST_REACH:
        raise MethodNotApplicable(
            f"exhaustive handles differences of up to {_MOST_REACH} along an axis, there is one of {reach}"
        )
    return found


def _example(conflicts: Conflicts, request: Request) -> str:
    """Sizes of the user's, if there are, else the first ones."""
    least = smallest_parameters(conflicts.context)
    given = {name: value for name, value in request.sizes.items() if value != request.far[name]}
    return " and ".join(f"{name} = {value}" for name, value in {**least, **given}.items())


# ---------------------------------------------------------------- lattices


def smallest_lattices(
    differences: Collection[Vector],
    rank: int,
    budget: Budget | None = None,
    *,
    below: int | None = None,
    most_work: int | None = None,
    powers_of_two: bool = False,
) -> Iterator[Basis]:
    """Every lattice of the smallest index that holds none of the differences, each one once.

    differences    symmetric, without zero, each with `rank` entries
    below          give up at this index, without a lattice
    most_work      raise BudgetExceeded after so many steps
    powers_of_two  only indices that are powers of two
    result         linearly independent vectors that generate a lattice

    >>> next(smallest_lattices({(1, 1), (-1, -1), (1, 0), (-1, 0)}, 2))
    ((0, 1), (2, 0))
    """
    order = _order_of_axes(differences, rank)
    turned = {tuple(d[axis] for axis in order) for d in differences}
    forms = HermiteForms(turned, rank, budget or Budget(None), most_work)
    for index in itertools.count(clique_size(differences)):
        if below is not None and index >= below:
            return
        if powers_of_two and index & (index - 1):
            continue
        is_found = False
        try:
            for basis in forms.of_index(index):
                is_found = True
                yield tuple(tuple(row[order.index(axis)] for axis in range(rank)) for row in basis)
        except BudgetExceeded as error:
            known = "" if powers_of_two else f"; every lattice that is valid has at least {index} cells"
            raise BudgetExceeded(f"{error}{known}") from error
        if is_found:
            return


def clique_size(differences: Collection[Vector]) -> int:
    """How many vectors the first greedy choice finds whose differences are all among the given ones.

    A lattice that holds no difference puts them into different classes, so its index is at least that.

    >>> clique_size({(-2,), (-1,), (1,), (2,)})
    3
    """
    known = set(_codes(differences))
    ahead = sorted(code for code in known if code > 0)
    count, work = 1, 0
    while ahead and work < _MOST_COMPARISONS:
        work += len(ahead)
        chosen = ahead[0]
        ahead = [code for code in ahead[1:] if code - chosen in known]
        count += 1
    return count


def _codes(differences: Collection[Vector]) -> Iterator[int]:
    """Each vector as one number, in lexicographic order, so that sums and differences keep their meaning."""
    base = 4 * max((abs(entry) for d in differences for entry in d), default=0) + 1
    for d in differences:
        code = 0
        for entry in d:
            code = code * base + entry
        yield code


def _order_of_axes(differences: Collection[Vector], rank: int) -> list[int]:
    """The axes from the first row of a basis to the last, so that most differences concern the last rows.

    Bases are built from the last row on, and dropped as soon as they hold a difference.
    """
    order: list[int] = []
    left = list(differences)
    while len(order) < rank:
        axes = [axis for axis in range(rank) if axis not in order]
        flat = {axis: [d for d in left if d[axis] == 0] for axis in axes}
        best = max(axes, key=lambda axis: len(flat[axis]))
        order.append(best)
        left = flat[best]
    return order


# ---------------------------------------------------------------- the mapping of a lattice


def mapping_of_lattice(array: str, dimensions: Sequence[str], basis: Basis) -> ModularMapping:
    """The mapping that takes exactly the vectors of the lattice to zero.

    >>> print(mapping_of_lattice("A", ("x", "y"), ((1, 2), (0, 5))))
    A[x, y] -> [(x + 2*y) mod 5]
    """
    rows, moduli = smith_rows(basis)
    return ModularMapping.of(array, dimensions, rows, [Formula.constant(modulus) for modulus in moduli])


METHOD = Method(
    "exhaustive",
    "the smallest lattice at fixed sizes, by enumeration",
    "Darte, Schreiber and Villard 2005",
    find_exhaustive,
)
