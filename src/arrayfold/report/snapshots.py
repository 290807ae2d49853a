"""What figures show, as plain numbers at small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.execution import Cell, Lifetime, check_count, execution_at, joint_execution_at
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import points
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.program.model import Problem, Program

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


def live_over_time(
    liveness: Liveness, names: Sequence[str], params: Mapping[str, int]
) -> dict[str, list[int]]:
    """Array -> how many of its cells are live after each step of all arrays, and before the first one."""
    joint = joint_execution_at(liveness, names, params)
    end = len(joint.instances)
    found: dict[str, list[int]] = {}
    for name in names:
        steps = joint.arrays[name].steps()
        moments = [*(step.moment for step in steps), end]
        changes = [0] * (end + 2)
        for value in joint.arrays[name].lifetimes(steps):
            start = moments[value.first] if value.first >= 0 else -1
            last = start + (value.first >= 0) if value.last is None else max(moments[value.last], start + 1)
            changes[start + 1] += 1
            changes[last + 1] -= 1
        found[name] = [*itertools.accumulate(changes[: end + 1])]
    return found


def element_bytes(program: Problem, name: str) -> int | None:
    """How many bytes a cell of an array takes, if its type is known."""
    source = program.source if isinstance(program, Program) else None
    variable = None if source is None else source.variables.get(name)
    return None if variable is None else max(1, variable.element.bits // 8)
