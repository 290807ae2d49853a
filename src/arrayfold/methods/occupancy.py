"""The store of the shortest affine occupancy vector (Thies, Vivien and Amarasinghe 2007).

It is valid for all legal one-dimensional affine schedules; the judge proves it for the program's own order.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.occupancy_vectors import affine_store

_MOST_OPERATIONS = 15_000_000


def find_occupancy_store(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The projection along the affine occupancy vector of the array."""
    if conflicts.program is None:
        raise MethodNotApplicable("occupancy vectors need a program, but only conflicts are given")
    budget = request.budget.part(1.0, _MOST_OPERATIONS)
    return [affine_store(conflicts.program, conflicts.name, budget)]


METHOD = Method(
    "occupancy",
    "one vector along which cells share, for all affine schedules",
    "Thies, Vivien and Amarasinghe 2007",
    find_occupancy_store,
    is_general=False,
)
