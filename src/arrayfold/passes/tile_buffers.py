"""Buffers of tiles: inside of a tile an array lives in a buffer, and outside only what other tiles need.

A tile is an iteration of the outer loops. What it reads and did not write itself is copied into its buffer in
front of the innermost loop that needs it first, and what other tiles read is copied out behind the innermost
loop that writes it. So the buffer is as small as one tile needs, its addresses begin anew in every tile, and
threads that run different tiles can have one each. That is how scratchpads are used by hand; values on the
borders of tiles are stored apart from their inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import fresh_names
from arrayfold.order.loops import loop_dimensions
from arrayfold.passes.partition import Partition, PartitioningPass, part_of, with_all_parts, with_parts
from arrayfold.passes.tiling import Tiling, check_for_tiles, ends_of, flows_of, times_of
from arrayfold.program.model import Program


@dataclass(frozen=True)
class TileBuffers(PartitioningPass):
    """An array lives in a buffer inside of each iteration of the first loops.

    loops   how many loops make a tile
    arrays  only these, and an error where one has no buffer; if none are named, all temporaries but those of
            which one cell is live at a time
    """

    name: ClassVar[str] = "tile-buffers"
    what: ClassVar[str] = "buffers of tiles"
    loops: int
    arrays: tuple[str, ...] = ()

    def of(
        self, liveness: Liveness, budget: Budget, progress: Callable[[str], None] = lambda _: None
    ) -> Program:
        """The program of an analysis with buffers inside of tiles."""

        def plan(program: Program, name: str, taken: list[str]) -> Partition | None:
            if not (self.arrays or program.parallel) and stays_in_iterations(program, name):
                return None
            return plan_buffer(program, self.loops, name, taken)

        found, _ = with_all_parts(liveness, self.arrays, self.what, plan, with_parts, budget, progress)
        if not found.relocation.buffers:
            raise InputError(f"no array can have a buffer inside of the first {self.loops} loops")
        return found


def plan_buffer(program: Program, loops: int, name: str, taken: list[str]) -> Partition:
    """How an array is stored with a buffer inside of the first loops.

    taken  names that are in use; those of the buffer and of what is outside are added
    """
    if loops < 1:
        raise InputError(f"a tile has at least one loop around it, not {loops}")
    check_for_tiles(program, name)
    tiling = _tiling(program, loops, name)
    coordinates = fresh_names("t", tiling.rank, program.array(name).dimensions)
    return part_of(program, name, tiling, ("tile", "border"), coordinates, taken)


def stays_in_iterations(program: Program, name: str) -> bool:
    """Whether values are read only in the iteration of all loops that wrote them: one cell is enough."""
    times = times_of(program)
    for flow in flows_of(program, [name]):
        writer, reader = (times[end] for end in ends_of(flow))
        moved = flow.range_factor_domain().apply_domain(writer).apply_range(reader).deltas()
        for dimension in loop_dimensions(isl.UnionMap.from_map(writer).union(isl.UnionMap.from_map(reader))):
            if not moved.is_subset(moved.fix_val(isl.dim_type.set, dimension, isl.Val(0))):
                return False
    return True


def _tiling(program: Program, loops: int, name: str) -> Tiling:
    """The first loops around every access; copies stand in front of the innermost loops and behind."""
    times = times_of(program)
    tiles: set[int] = set()
    rows: set[int] = set()
    inside: list[str] = []
    for statement in program.statements:
        if statement.name not in times or all(access.array != name for access in statement.accesses):
            continue
        found = loop_dimensions(isl.UnionMap.from_map(times[statement.name]))
        if len(found) <= loops:
            continue
        inside.append(statement.name)
        tile, row = found[loops - 1] + 1, found[-1]
        while row > tile and row - 1 not in found:
            row -= 1
        tiles.add(tile)
        rows.add(row)
    if not inside:
        raise InputError(f"{name} is not accessed inside of more than {loops} loops, so tiles have no inside")
    if len(tiles) > 1:
        raise InputError(f"{name} is accessed in loops of different shape, so they have no tiles in common")
    row = min(rows)
    return Tiling(times, dict.fromkeys(inside, row), {row: tuple(range(tiles.pop()))})
