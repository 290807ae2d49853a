"""Bands: each iteration of a loop has a part of an array of its own, over the whole program.

A loop over bands that is parallel inside of a sequential one makes a fold as of the sequential program wrong:
a band overwrites what its neighbours still read. With bands, a value is stored in the part of the band that
wrote it, where one band after the other step follows, and what other bands read is copied to halos: out when
the band has run, in before the next one needs it. So each band folds like a sequential program, and only the
halos are stored for two steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from arrayfold._isl import fresh_name
from arrayfold.c.source import StatementSource
from arrayfold.errors import InputError
from arrayfold.formula_isl import box_size
from arrayfold.program import Access, Moved, Program, Statement, TileBuffer
from arrayfold.tile_copies import (
    Tiling,
    arrays_of,
    check_for_tiles,
    check_values,
    copies_of,
    flows_of,
    moves_of,
    new_name,
    sides_of,
    times_of,
)


def with_bands(program: Program, loop: str, name: str) -> Program:
    """The same program in which each iteration of the loops of that name has a part of an array.

    It is checked that every read sees the value that it saw before.
    """
    check_for_tiles(program, name)
    array = program.array(name)
    tiling = _tiling(program, loop, name)
    flows = flows_of(program, [name])
    sides = sides_of(tiling, program.context, flows)
    taken = [*(one.name for one in program.arrays), *(one.name for one in program.statements)]
    local = new_name(f"{name}_band", taken)
    halos = {side: new_name(f"{name}_halo{k if k else ''}", taken) for k, side in enumerate(sides)}
    copies = copies_of(tiling, moves_of(tiling, program, name, sides), name, local, halos, taken)
    statements = [_moved(one, name, tiling, local) for one in program.statements]
    statements += copies.statements
    dimensions = (fresh_name(loop, array.dimensions), *array.dimensions)
    new = arrays_of(statements, dict.fromkeys((local, *halos.values()), dimensions))
    origins = {one.name: name for one in new}
    size = box_size(array.cells, program.context)
    chosen = program.temporaries
    if chosen is not None:
        chosen = (*(one for one in chosen if one != name), *origins)
    present = tuple(one for one in origins if one != local)
    reads, writes = (_places(program, tiling, name, local, writes=kind) for kind in (False, True))
    if program.moved is not None:
        reads, writes = program.moved.reads.union(reads), program.moved.writes.union(writes)
    source = program.source
    if source is not None:
        added = {one: StatementSource(copy, ()) for one, copy in copies.sources.items()}
        source = replace(source, statements={**source.statements, **added}).with_arrays(origins, {name})
    result = replace(
        program,
        statements=tuple(statements),
        arrays=(*(one for one in program.arrays if one.name != name), *new),
        schedule=copies.schedule,
        parallel={tiling.position(d): meaning for d, meaning in program.parallel.items()},
        temporaries=chosen,
        buffers={**program.buffers, local: TileBuffer(local, name, 1, present, size, lasts=True)},
        moved=Moved(reads, writes),
        origins={**program.origins, **origins},
        replaced={**program.replaced, name: size},
        source=source,
    )
    check_values(flows, result, name, dict.fromkeys(origins, 1), tuple(copies.sources))
    return result


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
    return Tiling(times, rows, {row: (row - 1,) for row in rows.values()}, is_named=True)


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


def _moved(statement: Statement, name: str, tiling: Tiling, local: str) -> Statement:
    """The statement with the cells of its band."""
    if statement.name not in tiling.rows:
        return statement
    band = tiling.tile_of(statement.name)
    accesses: list[Access] = []
    for access in statement.accesses:
        new = access
        if access.array == name:
            relation = band.flat_range_product(access.relation).set_tuple_name(isl.dim_type.out, local)
            new = replace(access, array=local, relation=relation)
        accesses.append(new)
    return replace(statement, accesses=tuple(accesses))


def _places(program: Program, tiling: Tiling, name: str, local: str, *, writes: bool) -> isl.UnionMap:
    """{ [S[i] -> A[x]] -> B[band, x] }: where reads or writes of the text find their cells."""
    found = isl.UnionMap.empty(program.context.get_space())
    for statement in program.statements:
        for access in statement.accesses:
            if access.array == name and access.is_write == writes:
                band = access.relation.domain_map().apply_range(tiling.tile_of(statement.name))
                cell = band.flat_range_product(access.relation.range_map())
                found = found.union(isl.UnionMap.from_map(cell.set_tuple_name(isl.dim_type.out, local)))
    return found
