"""What pictures of a fold show, as plain numbers at small sizes; those of a report page ready for JSON."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.bounds.moments import LowerBound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.execution import Cell, Lifetime, check_count, count_points, execution_at
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.mapping.modular import (
    AddressMapping,
    EmittableMapping,
    ModularMapping,
    RelationMapping,
    TableMapping,
)
from arrayfold.methods.occupancy_vectors import shortest_occupancy_vector

_COMFORTABLE_SIZE = 8
_MOST_DRAWN_CELLS = 4000
_MOST_DIFFERENCES = 40_000
_SIZES = (8, 7, 6, 5, 4, 3, 2, 1)
_MOST_CELLS = 180
_MOST_SCENES = 16
_MOST_PAIRS_IN_ALL = 90_000
_VALUES = {1: 7, 2: 4}
_VALUES_OTHERWISE = 2


def scenes(
    conflicts: Conflicts,
    mapping: AddressMapping,
    liveness: Liveness | None,
    bound: LowerBound,
    params: Mapping[str, int],
) -> dict[str, Any]:
    """Pictures of an array at a few sizes, ready for JSON: the values of the sliders, and a scene for each.

    params  sizes that the user gave; they are taken where they are small enough
    """
    start = _start(conflicts, mapping, params)
    if start is None:
        return no_scenes()
    found: list[dict[str, Any]] = []
    left = _MOST_PAIRS_IN_ALL
    for sizes in _nearby(conflicts, mapping, start):
        count = _pairs_to_list(conflicts, sizes)
        if count is None or (found and (count > left or len(found) >= _MOST_SCENES)):
            continue
        left -= count
        found.append(_scene(conflicts, mapping, liveness, bound, sizes))
    found.sort(key=lambda scene: [*scene["params"].values()])
    names = [*found[0]["params"]]
    sliders = [{"name": name, "values": sorted({scene["params"][name] for scene in found})} for name in names]
    return {
        "array": conflicts.name,
        "dimensions": list(conflicts.array.dimensions),
        "reuse": shortest_occupancy_vector(conflicts),
        "sliders": [slider for slider in sliders if len(slider["values"]) > 1],
        "scenes": found,
        "start": next(k for k, scene in enumerate(found) if scene["params"] == start),
    }


def no_scenes() -> dict[str, Any]:
    """What there is where nothing can be drawn."""
    return {"sliders": [], "scenes": [], "start": 0}


def _start(conflicts: Conflicts, mapping: AddressMapping, params: Mapping[str, int]) -> dict[str, int] | None:
    """The largest sizes, not above eight, at which everything can be listed."""
    if isinstance(mapping, TableMapping):
        sizes = dict(mapping.params)
        return sizes if _pairs_to_list(conflicts, sizes) is not None else None
    nothing: dict[str, int] = {}
    for given in (params, nothing):
        if conflicts.context.is_disjoint(fix_parameters(given)):
            continue
        for size in _SIZES:
            sizes = comfortable_parameters(conflicts.context, given, size)
            if _pairs_to_list(conflicts, sizes) is not None:
                return sizes
    return None


def _nearby(
    conflicts: Conflicts, mapping: AddressMapping, start: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """The start, then sizes around it that the context allows."""
    yield dict(start)
    if isinstance(mapping, TableMapping):
        return
    count = _VALUES.get(len(start), _VALUES_OTHERWISE)
    above = 1 if count > 2 else 0
    ranges = [range(max(value + above - count + 1, 0), value + above + 1) for value in start.values()]
    around = (dict(zip(start, values, strict=True)) for values in itertools.product(*ranges))
    for sizes in sorted(around, key=lambda sizes: sum(abs(sizes[name] - start[name]) for name in start)):
        if sizes != start and not conflicts.context.intersect(fix_parameters(sizes)).is_empty():
            yield sizes


def _pairs_to_list(conflicts: Conflicts, sizes: Mapping[str, int]) -> int | None:
    """How many pairs of cells there are at these sizes; None if there are no cells, or too many."""
    cells = count_points(conflicts.at(sizes).cells)
    if cells is None or not 0 < cells <= _MOST_CELLS:
        return None
    return cells * cells


def _scene(
    conflicts: Conflicts,
    mapping: AddressMapping,
    liveness: Liveness | None,
    bound: LowerBound,
    sizes: Mapping[str, int],
) -> dict[str, Any]:
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
        "params": dict(sizes),
        "cells": [list(cell) for cell in cells],
        "addresses": [list(mapping.address(cell, sizes)) for cell in cells],
        "conflicts": base64.b64encode(b"".join(rows)).decode(),
        "differences": [list(one) for one in differences if any(one)],
        "was": conflicts.original_size_at(sizes),
        "bound": bound.at(sizes),
        "steps": None,
        **_numbers(mapping, sizes),
    }
    if liveness is not None:
        scene |= _steps(liveness, conflicts.name, number, sizes)
    return scene


def _steps(
    liveness: Liveness, name: str, number: Mapping[Cell, int], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """An execution: [instance, cells read, cells written], and values: [cell, first step, last one or null].

    Cells are given by their numbers.
    """
    try:
        execution = execution_at(liveness, name, sizes)
    except ArrayfoldError:
        return {}

    def numbers(cells: Sequence[Cell]) -> list[int]:
        return [number[cell] for cell in cells if cell in number]

    steps = execution.steps()
    values = [one for one in execution.lifetimes(steps) if one.cell in number]
    return {
        "steps": [[step.instance, numbers(step.reads), numbers(step.writes)] for step in steps],
        "values": [[number[one.cell], one.first, one.last] for one in values],
        "liveIn": numbers(sorted(execution.live_in)),
        "liveOut": numbers(sorted(execution.live_out)),
        "isReal": execution.is_real,
    }


def _numbers(mapping: AddressMapping, sizes: Mapping[str, int]) -> dict[str, Any]:
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


# ---------------------------------------------------------------- figures


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
