"""The store of the shortest affine occupancy vector (Thies, Vivien and Amarasinghe 2007).

It is valid for all legal one-dimensional affine schedules; the judge proves it for the program's own order.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.conflicts import Conflicts
from arrayfold.errors import MethodNotApplicable
from arrayfold.mapping import Mapping
from arrayfold.methods.method import Method, Request
from arrayfold.occupancy import find_occupancy


def find_occupancy_store(conflicts: Conflicts, request: Request) -> Sequence[Mapping]:
    """The projection along the affine occupancy vector of the array."""
    if conflicts.program is None:
        raise MethodNotApplicable("occupancy vectors need a program, but only conflicts are given")
    result = find_occupancy(conflicts.program, budget=request.budget)
    array = next((item for item in result.arrays if item.name == conflicts.name), None)
    if array is None:
        raise MethodNotApplicable(f"{conflicts.name} is no temporary of the program")
    if array.is_dropped:
        return [Mapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    if array.mapping is None:
        raise MethodNotApplicable(array.why.get("affine", "there is no affine occupancy vector"))
    return [array.mapping]


METHOD = Method(
    "occupancy",
    "one vector along which cells share, for all affine schedules",
    "Thies, Vivien and Amarasinghe 2007",
    find_occupancy_store,
    is_general=False,
)
