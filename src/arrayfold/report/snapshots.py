"""What figures show, as plain numbers at small sizes."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.execution import Cell, Lifetime, check_count, execution_at
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import points
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.mapping.modular import EmittableMapping, ModularMapping

_COMFORTABLE_SIZE = 8
_MOST_DRAWN_CELLS = 4000
_MOST_DIFFERENCES = 40_000


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
    check_count(here, _MOST_DRAWN_CELLS, "cells")
    return sorted(points(here))


def shares(mapping: EmittableMapping, difference: Cell, params: Mapping[str, int]) -> bool:
    """Whether cells so far apart have one address."""
    if not isinstance(mapping, ModularMapping):
        return False
    return mapping.address(difference, params) == mapping.address((0,) * len(difference), params)


def lifetimes_at(liveness: Liveness, name: str, params: Mapping[str, int]) -> list[Lifetime]:
    """When the cells of an array hold values; of a parallel program, in one of its executions.

    Steps are the moments at which the array is read or written, in their order.
    """
    execution = execution_at(liveness, name, params)
    return execution.lifetimes(execution.events)
