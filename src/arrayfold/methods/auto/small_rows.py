"""Branch and bound over mappings whose rows have small integer coefficients.

The modulus of a row is one more than the width of the differences on which the rows before it vanish
(DIY15, heuristic 1), so the first rows decide what is left for the others. After each row the search goes on
in the lattice on which that row vanishes, one dimension less. Widths are computed at the sizes where sizes
are compared, which takes a fraction of a millisecond; the few best mappings then get their formulas.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding
from arrayfold.exact.isl import coalesced, fix_parameters, image, linear_form
from arrayfold.exact.lattice import Vector, combine, kernel_frame
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.widths import Widths, restrict

_KEPT = 3
_SHARE = 0.5

# Largest coefficient of a row, by the rank of the array and the number of dimensions that are left.
_LARGEST_COEFFICIENT = {1: {1: 1}, 2: {2: 5, 1: 1}, 3: {3: 2, 2: 4, 1: 1}, 4: {4: 1, 3: 1, 2: 3, 1: 1}}


def search_small_rows(
    conflicts: Conflicts, request: Request, best: Formula | None = None
) -> Sequence[ModularMapping]:
    """The mappings with the smallest sizes among those with small coefficients, smallest first."""
    del best
    rank = conflicts.array.rank
    if rank not in _LARGEST_COEFFICIENT or conflicts.differences.is_empty():
        return []
    here = conflicts.differences.intersect_params(fix_parameters(request.sizes))
    here = here.project_out(isl.dim_type.param, 0, here.dim(isl.dim_type.param))
    axes = [tuple(int(j == k) for j in range(rank)) for k in range(rank)]
    search = _Search(request, {left: _directions(left, c) for left, c in _LARGEST_COEFFICIENT[rank].items()})
    with suppress(BudgetExceeded):
        search.extend((), here, axes, 1)
    found = [_with_formulas(conflicts, rows) for _, rows in search.best]
    return sorted(found, key=lambda mapping: request.rank(mapping.size))


def _directions(rank: int, largest: int) -> list[Vector]:
    """Primitive vectors up to sign, the simplest first."""
    everything = itertools.product(range(-largest, largest + 1), repeat=rank)
    primitive = (row for row in everything if math.gcd(*row) == 1 and next(filter(None, row)) > 0)
    return sorted(primitive, key=lambda row: (sum(map(abs, row)), row))


@dataclass
class _Search:
    request: Request
    directions: Mapping[int, Sequence[Vector]]

    def __post_init__(self) -> None:
        self.best: list[tuple[int, tuple[Vector, ...]]] = []
        self.budget = self.request.budget.part(_SHARE)

    def extend(
        self, rows: tuple[Vector, ...], remaining: isl.Set, frame: Sequence[Vector], size: int
    ) -> None:
        """Add rows until no difference remains; give up where the size cannot become one of the best.

        remaining  { [y] }  differences on which all rows vanish, in coordinates of that lattice
        frame      the coordinates y as rows of the original indices
        """
        if remaining.is_empty():
            self.best = sorted([*self.best, (size, rows)], key=lambda item: (item[0], len(item[1])))[:_KEPT]
            return
        self.budget.check("the search for small rows")
        for width, _, row in sorted(self._widths(remaining)):
            if len(self.best) == _KEPT and size * (width + 1) >= self.best[-1][0]:
                return
            basis, dual = kernel_frame(row)
            inner_frame = [combine(coordinates, frame) for coordinates in dual]
            inner = restrict(remaining, basis)
            self.extend((*rows, combine(row, frame)), inner, inner_frame, size * (width + 1))

    def _widths(self, remaining: isl.Set) -> Iterator[tuple[int, int, Vector]]:
        widths = Widths(remaining, is_symmetric=True)
        for number, row in enumerate(self.directions[remaining.dim(isl.dim_type.set)]):
            width = widths.along(row)
            if width > 0:
                yield width, number, row


def _with_formulas(conflicts: Conflicts, rows: Sequence[Vector]) -> ModularMapping:
    """The rows with moduli for all parameter values; axes are added where differences still remain."""
    rank = conflicts.array.rank
    axes = [tuple(int(axis == k) for k in range(rank)) for axis in range(rank)]
    remaining = conflicts.differences
    used: list[Vector] = []
    moduli: list[Formula] = []
    for row in (*rows, *axes):
        if remaining.is_empty():
            break
        form = linear_form(remaining.get_space(), row)
        used.append(row)
        moduli.append(exceeding(image(remaining, form), conflicts.context))
        remaining = coalesced(remaining.intersect(form.zero_set()))
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, used, moduli)
