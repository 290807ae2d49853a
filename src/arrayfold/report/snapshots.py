"""What a picture of a fold shows, as plain numbers at small sizes: cells, addresses, times, differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.execution import Cell, execution_at
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import points
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.exact.points import check_count
from arrayfold.mapping.modular import EmittableMapping, ModularMapping

_COMFORTABLE_SIZE = 8
_MOST_CELLS = 4000
_MOST_DIFFERENCES = 40_000


@dataclass(frozen=True)
class Lifetime:
    """When a cell is in memory, in steps: from its first write to its last read, both counted."""

    cell: Cell
    first: int
    last: int


def picture_sizes(context: isl.Set, params: Mapping[str, int]) -> dict[str, int]:
    """Sizes at which a picture is drawn: those given, others small."""
    return comfortable_parameters(context, params, _COMFORTABLE_SIZE)


def differences_at(conflicts: Conflicts, params: Mapping[str, int]) -> set[Cell]:
    """The differences of conflicting cells."""
    here = conflicts.at(params).differences
    check_count(here, _MOST_DIFFERENCES, "differences")
    return set(points(here))


def cells_at(conflicts: Conflicts, params: Mapping[str, int]) -> list[Cell]:
    """The cells that have an address."""
    here = conflicts.at(params).cells
    check_count(here, _MOST_CELLS, "cells")
    return sorted(points(here))


def shares(mapping: EmittableMapping, difference: Cell, params: Mapping[str, int]) -> bool:
    """Whether cells so far apart have one address."""
    if not isinstance(mapping, ModularMapping):
        return False
    return mapping.address(difference, params) == mapping.address((0,) * len(difference), params)


def lifetimes_at(liveness: Liveness, name: str, params: Mapping[str, int]) -> list[Lifetime]:
    """When the cells of an array are in memory; of a parallel program, in one of its executions.

    Steps are the moments at which the array is read or written, in their order.
    """
    execution = execution_at(liveness, name, params)
    first: dict[Cell, int] = dict.fromkeys(execution.live_in, -1)
    last: dict[Cell, int] = dict.fromkeys(execution.live_out, len(execution.events))
    for number, event in enumerate(execution.events):
        for cell in event.writes:
            first.setdefault(cell, number)
        for cell in event.reads:
            last[cell] = max(last.get(cell, -1), number)
    return sorted(
        (Lifetime(cell, start, max(start, last.get(cell, start))) for cell, start in first.items()),
        key=lambda one: (one.first, one.cell),
    )
