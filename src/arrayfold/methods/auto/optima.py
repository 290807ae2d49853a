"""The smallest lattices at a few sizes, kept so that each size is searched once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.lattice import Vector, axes, determinant, reduced_basis
from arrayfold.methods.exhaustive import differences_at, smallest_lattices

_MOST_LATTICES = 12
_MOST_WORK = 400_000
_MOST_DIFFERENCES = 3000

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Optimum:
    """The smallest lattices at one size.

    index    cells of each
    example  a short basis of one of them
    bases    short bases, one a lattice; none if there are too many lattices to tell them all
    """

    index: int
    example: tuple[Vector, ...]
    bases: tuple[tuple[Vector, ...], ...]


@dataclass(eq=False)
class Optima:
    """The smallest lattices of one array, size by size."""

    conflicts: Conflicts
    budget: Budget
    _known: dict[tuple[tuple[str, int], ...], Optimum | None] = field(
        default_factory=dict[tuple[tuple[str, int], ...], "Optimum | None"]
    )

    def at(self, sizes: Sizes) -> Optimum | None:
        """What is smallest at these values of the parameters; None where that takes too long."""
        key = tuple(sorted(sizes.items()))
        if key not in self._known:
            try:
                self._known[key] = self._search(sizes)
            except ArrayfoldError:
                self._known[key] = None
        return self._known[key]

    def _search(self, sizes: Sizes) -> Optimum | None:
        rank = self.conflicts.array.rank
        differences = differences_at(self.conflicts, sizes)
        if len(differences) > _MOST_DIFFERENCES:
            return None
        if not differences:
            whole = tuple(axes(rank))
            return Optimum(1, whole, (whole,))
        lattices = smallest_lattices(differences, rank, self.budget, most_work=_MOST_WORK)
        first = next(lattices)
        with suppress(BudgetExceeded):
            found = [first, *itertools.islice(lattices, _MOST_LATTICES)]
            bases = tuple(tuple(reduced_basis(basis)) for basis in found)
            return Optimum(abs(determinant(first)), bases[0], bases if len(bases) <= _MOST_LATTICES else ())
        return Optimum(abs(determinant(first)), tuple(reduced_basis(first)), ())
