"""What a picture of a fold shows, as plain numbers at small sizes: cells, addresses, times, differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold._isl import comfortable_parameters, fix_parameters, points
from arrayfold.conflicts import Conflicts
from arrayfold.errors import InputError
from arrayfold.liveness import Liveness
from arrayfold.mapping import FoldMapping
from arrayfold.mapping import Mapping as ModularMapping

Cell = tuple[int, ...]

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
    _check_count(here, _MOST_DIFFERENCES, "differences")
    return set(points(here))


def cells_at(conflicts: Conflicts, params: Mapping[str, int]) -> list[Cell]:
    """The cells that have an address."""
    here = conflicts.at(params).cells
    _check_count(here, _MOST_CELLS, "cells")
    return sorted(points(here))


def shares(mapping: FoldMapping, difference: Cell, params: Mapping[str, int]) -> bool:
    """Whether cells so far apart have one address."""
    if not isinstance(mapping, ModularMapping):
        return False
    return mapping.address(difference, params) == mapping.address((0,) * len(difference), params)


def lifetimes_at(liveness: Liveness, name: str, params: Mapping[str, int]) -> list[Lifetime]:
    """When the cells of an array are in memory; of a parallel program, in one of its executions.

    Steps are the moments at which the array is read or written, in their order.
    """
    array = liveness.program.array(name)
    accesses = liveness.accesses(array)
    here = fix_parameters(params)
    writes, reads = (one.intersect_params(here) for one in (accesses.writes, accesses.reads))
    _check_count(accesses.cells.intersect_params(here), _MOST_CELLS, "cells")
    _check_count(writes.wrap(), _MOST_DIFFERENCES, "accesses")
    rank = array.rank
    written, read = (points(one.wrap().flatten()) for one in (writes, reads))
    steps = {time: step for step, time in enumerate(sorted({p[rank:] for p in (*written, *read)}))}
    end = len(steps)
    first: dict[Cell, int] = dict.fromkeys(points(accesses.live_in.intersect_params(here)), -1)
    last: dict[Cell, int] = dict.fromkeys(points(accesses.live_out.intersect_params(here)), end)
    for point in sorted(written, key=lambda p: p[rank:]):
        first.setdefault(point[:rank], steps[point[rank:]])
    for point in read:
        cell = point[:rank]
        last[cell] = max(last.get(cell, -1), steps[point[rank:]])
    return sorted(
        (Lifetime(cell, start, max(start, last.get(cell, start))) for cell, start in first.items()),
        key=lambda one: (one.first, one.cell),
    )


def _check_count(items: isl.Set, most: int, what: str) -> None:
    flat = items.flatten() if items.is_wrapping() else items
    flat = flat.project_out(isl.dim_type.param, 0, flat.dim(isl.dim_type.param))
    if not flat.is_bounded():
        raise InputError(f"there are infinitely many {what}, which no picture shows")
    count = int(str(flat.count_val()))
    if count > most:
        raise InputError(
            f"there are {count:,} {what} at these sizes, and pictures show up to {most:,}",
            hint="Give smaller sizes, such as --param N=8.",
        )
