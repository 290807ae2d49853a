"""Bands: each iteration of a loop has a part of an array of its own, over the whole program.

A loop over bands that is parallel inside of a sequential one makes a fold as of the sequential program wrong:
a band overwrites what its neighbours still read. With bands, a value is stored in the part of the band that
wrote it, where one band after the other step follows, and what other bands read is copied to halos: out when
the band has run, in before the next one needs it. So each band folds like a sequential program, and only the
halos are stored for two steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import fresh_name
from arrayfold.exact.relations import union_of_maps
from arrayfold.passes.partition import Partition, PartitioningPass, part_of, with_all_parts, with_parts
from arrayfold.passes.tiling import Tiling, check_for_tiles, times_of
from arrayfold.program.model import Moved, Program


@dataclass(frozen=True)
class Bands(PartitioningPass):
    """Each iteration of the loops of one name has a part of an array of its own.

    loop    the variable of these loops
    arrays  only these, and an error where one has no parts; all temporaries if none are named
    """

    name: ClassVar[str] = "bands"
    what: ClassVar[str] = "bands"
    loop: str
    arrays: tuple[str, ...] = ()

    def of(
        self, liveness: Liveness, budget: Budget, progress: Callable[[str], None] = lambda _: None
    ) -> Program:
        """The program of an analysis with parts for every band."""

        def plan(program: Program, name: str, taken: list[str]) -> Partition:
            return plan_bands(program, self.loop, name, taken)

        found, why = with_all_parts(liveness, self.arrays, self.what, plan, with_bands, budget, progress)
        if not found.relocation.buffers:
            raise InputError(f"no array has a part for each iteration of the loop {self.loop}: {why}")
        return found


def plan_bands(program: Program, loop: str, name: str, taken: list[str]) -> Partition:
    """How an array is stored with a part for each iteration of the loops of that name.

    taken  names that are in use; those of the parts and of the halos are added
    """
    check_for_tiles(program, name)
    band = fresh_name(loop, program.array(name).dimensions)
    return part_of(program, name, _tiling(program, loop, name), ("band", "halo"), [band], taken)


def with_bands(program: Program, parts: Sequence[Partition]) -> Program:
    """The same program with these parts."""
    result = with_parts(program, parts)
    origins: dict[str, str] = {}
    before, nothing = program.relocation, isl.UnionMap.empty(program.context.get_space())
    moved = before.moved or Moved(nothing, nothing)
    for part in parts:
        buffer = result.relocation.buffers[part.local]
        origins.update(dict.fromkeys((buffer.name, *buffer.borders), part.array))
        reads, writes = (_places(program, part, writes=kind) for kind in (False, True))
        moved = Moved(moved.reads.union(reads), moved.writes.union(writes))
    sizes = {part.array: result.relocation.buffers[part.local].size for part in parts}
    relocation = replace(
        result.relocation,
        moved=moved,
        origins={**before.origins, **origins},
        replaced={**before.replaced, **sizes},
    )
    return replace(result, relocation=relocation)


def _tiling(program: Program, loop: str, name: str) -> Tiling:
    """The loop around every access; copies stand first and last in its iterations."""
    times = times_of(program)
    users = [
        statement.name
        for statement in program.statements
        if statement.name in times and any(access.array == name for access in statement.accesses)
    ]
    rows: dict[str, int] = {}
    for user in sorted(users, key=lambda one: _is_fixed(times[one], loop)):
        dimension = _dimension(user, times, loop, rows)
        if dimension is None:
            raise InputError(f"{user} accesses {name} and is in no loop called {loop}")
        rows[user] = dimension + 1
    return Tiling(times, rows, {row: (row - 1,) for row in rows.values()}, keyed_by_tile=True)


def _dimension(user: str, times: Mapping[str, isl.Map], loop: str, rows: Mapping[str, int]) -> int | None:
    """The dimension of the schedule that an iterator of a statement is.

    rows  what is known of other statements; one that runs in a single iteration of the loop has the same
          number in other dimensions, too, and goes with those that it is in a loop with
    """
    mine = times[user]
    position = mine.find_dim_by_name(isl.dim_type.in_, loop)
    found = [
        d
        for d in range(mine.dim(isl.dim_type.out))
        if position >= 0 and mine.is_subset(mine.equate(isl.dim_type.in_, position, isl.dim_type.out, d))
    ]
    if len(found) < 2:
        return found[0] if found else None
    for other, row in rows.items():
        both = [_first(times[one].range(), row) for one in (user, other)]
        if row - 1 in found and not both[0].is_disjoint(both[1]):
            return row - 1
    return None


def _is_fixed(times: isl.Map, loop: str) -> bool:
    position = times.find_dim_by_name(isl.dim_type.in_, loop)
    return position < 0 or bool(times.domain().plain_get_val_if_fixed(isl.dim_type.set, position).is_int())


def _first(times: isl.Set, count: int) -> isl.Set:
    return times.project_out(isl.dim_type.set, count, times.dim(isl.dim_type.set) - count)


def _places(program: Program, part: Partition, *, writes: bool) -> isl.UnionMap:
    """{ [S[i] -> A[x]] -> B[band, x] }: where reads or writes of the text find their cells."""

    def place(statement: str, cells: isl.Map) -> isl.Map:
        band = cells.domain_map().apply_range(part.tiling.tile_of(statement))
        return band.flat_range_product(cells.range_map()).set_tuple_name(isl.dim_type.out, part.local)

    places = (
        place(statement.name, access.relation)
        for statement in program.statements
        for access in statement.accesses
        if access.array == part.array and access.is_write == writes
    )
    return union_of_maps(program.context.get_space(), places)
