"""Branch and bound over mappings whose rows have small integer coefficients.

The modulus of a row is one more than the width of the differences on which the rows before it vanish
(DIY15, heuristic 1), so the first rows decide what is left for the others. After each row the search goes on
in the lattice on which that row vanishes, one dimension less. Widths are computed at the sizes where sizes
are compared, which takes a fraction of a millisecond; the few best mappings then get their formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import at_sizes
from arrayfold.exact.lattice import Vector, axes, combine, kernel_frame, primitive_vectors
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.widths import Widths, restrict, with_moduli

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
    here = at_sizes(conflicts.differences, request.sizes)
    # Primitive vectors up to sign, the simplest first.
    directions = {
        left: sorted(primitive_vectors(left, largest), key=lambda row: (sum(map(abs, row)), row))
        for left, largest in _LARGEST_COEFFICIENT[rank].items()
    }
    search = _Search(request, directions)
    with suppress(BudgetExceeded):
        search.extend((), here, axes(rank), 1)
    # Axes are added where differences still remain.
    found = [with_moduli(conflicts, (*rows, *axes(rank))) for _, rows in search.best]
    return sorted(found, key=lambda mapping: request.rank(mapping.size))


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
