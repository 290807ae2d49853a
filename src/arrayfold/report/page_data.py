"""What the pictures of a report page show, as plain numbers at small sizes, ready for JSON."""

from __future__ import annotations

import base64
import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arrayfold.base.budget import Budget
from arrayfold.base.deadline import in_time
from arrayfold.base.errors import BudgetExceeded, InputError, IslFailure
from arrayfold.bounds.moments import LowerBound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.execution import Cell, Execution, JointExecution, count_points, joint_execution_at
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.mapping.modular import AddressMapping, ModularMapping, RelationMapping, TableMapping
from arrayfold.methods.occupancy_vectors import shortest_occupancy_vector

_SIZES = (8, 7, 6, 5, 4, 3, 2, 1)
_MOST_CELLS = 180
_MOST_VIEWS = 16
_MOST_PAIRS_IN_ALL = 120_000
_VALUES = {1: 7, 2: 4}
_VALUES_OTHERWISE = 2


@dataclass(frozen=True, eq=False)
class Subject:
    """An array with a mapping, which the page draws.

    title     what it is called on the page, which may have two mappings of one array
    width     bytes of a cell, if they are known
    is_given  whether somebody brought the mapping
    """

    title: str
    conflicts: Conflicts
    mapping: AddressMapping
    bound: LowerBound
    width: int | None = None
    is_given: bool = False

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.conflicts.name


def views(
    subjects: Sequence[Subject], liveness: Liveness | None, params: Mapping[str, int], budget: Budget
) -> dict[str, Any]:
    """Pictures of arrays at a few sizes: what sliders choose, and a view of all arrays for each choice.

    params  sizes that the user gave; they are taken where they are small enough
    """
    found: list[dict[str, Any]] = []
    start = _start(subjects, params) if subjects else None

    def draw(send: Callable[[dict[str, Any]], None]) -> None:
        for sizes in () if start is None else _sizes_to_draw(subjects, start):
            with budget.limit("the pictures"):
                send(_view(subjects, liveness, sizes))

    with contextlib.suppress(BudgetExceeded, IslFailure):
        in_time(draw, budget, receive=found.append)
    found.sort(key=lambda view: [*view["params"].values()])
    names = [*found[0]["params"]] if found else []
    sliders = [{"name": name, "values": sorted({view["params"][name] for view in found})} for name in names]
    return {
        "arrays": [_about(one) for one in subjects],
        "sliders": [slider for slider in sliders if len(slider["values"]) > 1],
        "views": found,
        "start": next((k for k, view in enumerate(found) if view["params"] == start), 0),
        "isSequential": liveness is None or liveness.order.is_total,
    }


def _about(subject: Subject) -> dict[str, Any]:
    return {
        "array": subject.name,
        "title": subject.title,
        "width": subject.width,
        "isGiven": subject.is_given,
        "dimensions": list(subject.conflicts.array.dimensions),
        "reuse": shortest_occupancy_vector(subject.conflicts),
    }


def _start(subjects: Sequence[Subject], params: Mapping[str, int]) -> dict[str, int] | None:
    """The largest sizes, not above eight, at which everything can be listed, or as many arrays as can be."""
    tables = [one.mapping for one in subjects if isinstance(one.mapping, TableMapping)]
    if tables:
        return dict(tables[0].params)
    contexts = [one.conflicts.context for one in subjects]
    context = contexts[0]
    for other in contexts[1:]:
        context = context.intersect(other)
    nothing: dict[str, int] = {}
    best: tuple[int, dict[str, int]] | None = None
    for given in (params, nothing):
        if context.is_disjoint(fix_parameters(given)):
            continue
        for size in _SIZES:
            sizes = comfortable_parameters(context, given, size)
            count = sum(_pairs_to_list(one.conflicts, sizes) is not None for one in subjects)
            if count > (best[0] if best else 0):
                best = count, sizes
            if count == len(subjects):
                return sizes
    return best[1] if best else None


def _sizes_to_draw(subjects: Sequence[Subject], start: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The sizes near the start at which there is something to draw, as long as it is not too much in all."""
    left, count = _MOST_PAIRS_IN_ALL, 0
    for sizes in _nearby(subjects, start):
        pairs = sum(_pairs_to_list(one.conflicts, sizes) or 0 for one in subjects)
        if pairs and (not count or (pairs <= left and count < _MOST_VIEWS)):
            left, count = left - pairs, count + 1
            yield sizes


def _nearby(subjects: Sequence[Subject], start: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The start, then sizes around it that the context allows."""
    yield dict(start)
    if any(isinstance(one.mapping, TableMapping) for one in subjects):
        return
    count = _VALUES.get(len(start), _VALUES_OTHERWISE)
    above = 1 if count > 2 else 0
    ranges = [range(max(value + above - count + 1, 0), value + above + 1) for value in start.values()]
    around = (dict(zip(start, values, strict=True)) for values in itertools.product(*ranges))
    for sizes in sorted(around, key=lambda sizes: sum(abs(sizes[name] - start[name]) for name in start)):
        here = fix_parameters(sizes)
        if sizes != start and all(not one.conflicts.context.is_disjoint(here) for one in subjects):
            yield sizes


def _pairs_to_list(conflicts: Conflicts, sizes: Mapping[str, int]) -> int | None:
    """How many pairs of cells there are at these sizes; None if there are no cells, or too many."""
    cells = count_points(conflicts.at(sizes).cells)
    if cells is None or not 0 < cells <= _MOST_CELLS:
        return None
    return cells * cells


def _view(subjects: Sequence[Subject], liveness: Liveness | None, sizes: Mapping[str, int]) -> dict[str, Any]:
    """All arrays at these sizes, and one execution, if there is a program and it can be listed.

    steps   the instance of each moment, none where there is no execution to show
    scenes  of each array, none where it has no cells or too many
    """
    drawn = [one if _pairs_to_list(one.conflicts, sizes) is not None else None for one in subjects]
    names = list(dict.fromkeys(one.name for one in drawn if one is not None))
    joint = None if liveness is None else _execution(liveness, names, sizes)
    executions: Mapping[str, Execution] = {} if joint is None else joint.arrays
    return {
        "params": dict(sizes),
        "steps": None if joint is None else list(joint.instances),
        "isReal": all(one.is_real for one in executions.values()),
        "scenes": [None if one is None else _scene(one, executions.get(one.name), sizes) for one in drawn],
    }


def _execution(liveness: Liveness, names: Sequence[str], sizes: Mapping[str, int]) -> JointExecution | None:
    """One execution, as far as it touches these arrays, if it is short enough."""
    try:
        return joint_execution_at(liveness, names, sizes)
    except InputError:
        return None


def _scene(subject: Subject, execution: Execution | None, sizes: Mapping[str, int]) -> dict[str, Any]:
    conflicts = subject.conflicts
    here = conflicts.at(sizes)
    cells = sorted(points(here.cells))
    number = {cell: k for k, cell in enumerate(cells)}
    rank = conflicts.array.rank
    rows = [bytearray((len(cells) + 7) // 8) for _ in cells]
    for pair in points(here.pairs_one_way.wrap().flatten()):
        x, y = number[pair[:rank]], number[pair[rank:]]
        if x != y:
            rows[x][y // 8] |= 1 << y % 8
            rows[y][x // 8] |= 1 << x % 8
    differences = sorted(points(here.differences))
    scene: dict[str, Any] = {
        "cells": [list(cell) for cell in cells],
        "addresses": [list(subject.mapping.address(cell, sizes)) for cell in cells],
        "conflicts": base64.b64encode(b"".join(rows)).decode(),
        "differences": [list(one) for one in differences if any(one)],
        "was": conflicts.original_size_at(sizes),
        "bound": subject.bound.at(sizes),
        "steps": None,
        **_mapping_at(subject.mapping, sizes),
    }
    if execution is not None:
        scene |= _steps(execution, number)
    return scene


def _steps(execution: Execution, number: Mapping[Cell, int]) -> dict[str, Any]:
    """What an execution does to an array: [moment, cells read, cells written], and the values that it holds:
    [cell, first moment, last one or null], the last one being -1 for values needed after the program.

    Cells are given by their numbers.
    """

    def numbers(cells: Sequence[Cell]) -> list[int]:
        return [number[cell] for cell in cells if cell in number]

    steps = execution.steps()

    def moment(step: int | None) -> int | None:
        if step is None or step < 0:
            return step
        return steps[step].moment if step < len(steps) else -1

    values = [one for one in execution.lifetimes(steps) if one.cell in number]
    return {
        "steps": [[step.moment, numbers(step.reads), numbers(step.writes)] for step in steps],
        "values": [[number[one.cell], moment(one.first), moment(one.last)] for one in values],
        "liveIn": numbers(sorted(execution.live_in)),
        "liveOut": numbers(sorted(execution.live_out)),
    }


def _mapping_at(mapping: AddressMapping, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The mapping at these sizes, where it has rows: a difference is between cells of one address iff every
    row takes it to a multiple of its modulus."""
    if not isinstance(mapping, ModularMapping):
        size = None if isinstance(mapping, RelationMapping) else mapping.size.at(sizes)
        return {"matrix": None, "moduli": None, "divisors": None, "size": size}
    return {
        "matrix": [[entry.at(sizes) for entry in row] for row in mapping.matrix],
        "moduli": [modulus.at(sizes) for modulus in mapping.moduli],
        "divisors": [mapping.divisor(k) for k in range(len(mapping.moduli))],
        "size": mapping.size.at(sizes),
    }
