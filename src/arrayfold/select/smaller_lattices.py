"""Whether any lattice is smaller than that of a mapping whose size is above the lower bound.

The mapping is valid iff its lattice holds no difference of conflicting cells, and its size is the index of
that lattice. If all differences of the vectors of a set are conflicting differences, two of these vectors are
never in one class, so no lattice has fewer classes than the set has vectors; that holds even where fewer
cells are live at once. Boxes are such sets that isl checks for all sizes. Elsewhere the lattices of smaller
indices are gone through at the first sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import fit
from arrayfold.exact.isl import nonzero, without_parameters
from arrayfold.exact.parameter_values import few_parameter_points, first_parameter_points
from arrayfold.exact.signs import is_at_most
from arrayfold.methods.exhaustive import differences_at, smallest_lattices
from arrayfold.select.strides import Strides

_MOST_RANK = 3
_MOST_SIZES = 4
_MOST_SIDE = 4
_MOST_WORK = 40_000
_MOST_DIFFERENCES = 1500
_OPERATIONS = 200_000
_SHARE = 0.05


@dataclass(frozen=True)
class SmallestLattice:
    """Why no lattice mapping is smaller.

    sizes  the parameter values that were looked at one by one; none where it holds for all of the context
    words  the reason
    """

    sizes: tuple[Mapping[str, int], ...]
    words: str

    @property
    def is_everywhere(self) -> bool:
        """Whether it holds for all of the context."""
        return not self.sizes


def find_smallest_lattice(conflicts: Conflicts, size: Formula, budget: Budget) -> SmallestLattice | None:
    """Why no lattice is smaller than a mapping of that size, for all sizes or at the first ones, if so."""
    if not 1 <= conflicts.array.rank <= _MOST_RANK:
        return None
    limit = budget.part(_SHARE, _OPERATIONS)
    # Nobody misses what is not found here.
    limit.cuts = []
    with suppress(ArrayfoldError), limit.limit(f"lattices that are smaller than that of {conflicts.name}"):
        strides = Strides.of(conflicts)
        here = conflicts if strides is None else strides.divided
        for sides in _boxes(here):
            if is_at_most(size, Formula.product(sides), here.context):
                box = " x ".join(f"({side})" if len(side.terms) > 1 else str(side) for side in sides)
                kind = "" if strides is None else ", with strides divided out,"
                words = f"all vectors in a box of {box}{kind} differ by differences of conflicting cells"
                return SmallestLattice((), f"no lattice mapping has fewer than {size} cells: {words}")
        return _by_enumeration(here, size)
    return None


def _boxes(conflicts: Conflicts) -> Iterator[Sequence[Formula]]:
    """Sides of boxes in which all vectors differ by conflicting differences, at all sizes."""
    context = conflicts.context
    differences = conflicts.differences.intersect_params(context)
    rank = conflicts.array.rank
    space = differences.get_space()
    others = nonzero(space).subtract(differences).intersect_params(context)
    for axis in range(rank):
        free = [k for k in range(rank) if k != axis]
        for sides in itertools.product(range(1, _MOST_SIDE + 1), repeat=len(free)):
            missing = others.lower_bound_val(isl.dim_type.set, axis, 0)
            for k, side in zip(free, sides, strict=True):
                missing = missing.lower_bound_val(isl.dim_type.set, k, 1 - side)
                missing = missing.upper_bound_val(isl.dim_type.set, k, side - 1)
            if missing.is_empty() or not missing.params().is_equal(context.params()):
                continue
            length = fit(missing.dim_min(axis), context, "min")
            found = [Formula.constant(1)] * rank
            found[axis] = length
            for k, side in zip(free, sides, strict=True):
                found[k] = Formula.constant(side)
            yield found


def _by_enumeration(conflicts: Conflicts, size: Formula) -> SmallestLattice | None:
    """At the first sizes of the context, which may be all of them."""
    every = few_parameter_points(conflicts.context, _MOST_SIZES)
    first = every or first_parameter_points(conflicts.context, _MOST_SIZES)
    points = [one for one in first if size.evaluate(one) > 0]
    if not points or not all(_is_smallest_at(conflicts, size, one) for one in points):
        return None
    if every:
        return SmallestLattice((), f"no lattice mapping has fewer than {size} cells: all were tried")
    words = "; ".join(" and ".join(f"{name} = {value}" for name, value in one.items()) for one in points)
    return SmallestLattice(tuple(points), f"no lattice mapping is smaller at {words}: all were tried there")


def _is_smallest_at(conflicts: Conflicts, size: Formula, sizes: Mapping[str, int]) -> bool:
    here = without_parameters(conflicts.at(sizes).differences)
    if int(str(here.count_val())) > _MOST_DIFFERENCES:
        return False
    differences = differences_at(conflicts, sizes)
    if not differences:
        return size.at(sizes) == 1
    rank = conflicts.array.rank
    smaller = smallest_lattices(differences, rank, Budget(None), below=size.at(sizes), most_work=_MOST_WORK)
    return next(smaller, None) is None
