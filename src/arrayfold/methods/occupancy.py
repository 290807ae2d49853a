"""The smallest store along one occupancy vector (Strout et al. 1998; Thies, Vivien and Amarasinghe 2007).

A vector is one iff neither it nor a multiple is a difference of conflicting cells, so it belongs to the order
that is analysed: that of the program, of a given schedule, or of all legal schedules at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.occupancy_vectors import mapping_along, occupancy_vectors

# How much longer than the shortest vector others may be, and how many stores are proposed.
_LONGER = 4
_MOST_STORES = 4


def find_occupancy_store(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest projections along an occupancy vector; a store along a longer vector may be smaller."""
    array = conflicts.array
    if conflicts.differences.is_empty():
        return [ModularMapping.of(array.name, array.dimensions, [], [])]
    cells = replace(array, cells=conflicts.cells)
    stores = [mapping_along(cells, conflicts.context, vector) for vector in _short_vectors(conflicts)]
    if not stores:
        raise MethodNotApplicable("no vector of moderate length is valid: lifetimes may grow with the sizes")
    return sorted(stores, key=lambda store: request.rank(store.size))[:_MOST_STORES]


def _short_vectors(conflicts: Conflicts) -> Iterator[Vector]:
    """The shortest occupancy vectors, and some that are a little longer."""
    vectors = occupancy_vectors(conflicts)
    first = next(vectors, None)
    if first is not None:
        longest = sum(map(abs, first)) + _LONGER
        yield first
        yield from itertools.takewhile(lambda vector: sum(map(abs, vector)) <= longest, vectors)


METHOD = Method(
    "occupancy",
    "one vector along which cells share",
    "Thies, Vivien and Amarasinghe 2007",
    find_occupancy_store,
    is_general=False,
)
