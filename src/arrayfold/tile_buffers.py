"""Buffers of tiles: inside of a tile an array lives in a buffer, and outside only what other tiles need.

A tile is an iteration of the outer loops. What it reads and did not write itself is copied into its buffer in
front of the innermost loop that needs it first, and what other tiles read is copied out behind the innermost
loop that writes it. So the buffer is as small as one tile needs, its addresses begin anew in every tile, and
threads that run different tiles can have one each. That is how scratchpads are used by hand; values on the
borders of tiles are stored apart from their inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import islpy as isl

from arrayfold._isl import fresh_names
from arrayfold.c.source import Copy, CSource, StatementSource
from arrayfold.errors import InputError
from arrayfold.formula_isl import box_size
from arrayfold.loops import loop_dimensions
from arrayfold.program import Access, Program, Statement, TileBuffer
from arrayfold.tile_copies import (
    Tiling,
    arrays_of,
    check_for_tiles,
    check_values,
    copies_of,
    ends_of,
    flows_of,
    moves_of,
    new_name,
    sides_of,
    times_of,
)


def with_tile_buffer(program: Program, loops: int, name: str) -> Program:
    """The same program in which an array has a buffer inside of the first loops.

    It is checked that every read sees the value that it saw before.
    """
    if loops < 1:
        raise InputError(f"a tile has at least one loop around it, not {loops}")
    check_for_tiles(program, name)
    array = program.array(name)
    tiling = _tiling(program, loops, name)
    flows = flows_of(program, [name])
    sides = sides_of(tiling, program.context, flows)
    taken = [*(one.name for one in program.arrays), *(one.name for one in program.statements)]
    local = new_name(f"{name}_tile", taken)
    outside = (0,) * tiling.rank
    shared = {
        side: new_name(f"{name}_border{k if k else ''}", taken)
        for k, side in enumerate(dict.fromkeys([*sides, outside]))
    }
    copies = copies_of(tiling, moves_of(tiling, program, name, sides), name, local, shared, taken)
    statements = [_moved(one, name, tiling, local, shared[outside]) for one in program.statements]
    statements += copies.statements
    outer = fresh_names("t", tiling.rank, array.dimensions)
    dimensions = {local: (*outer, *array.dimensions), **dict.fromkeys(shared.values(), array.dimensions)}
    new = arrays_of(statements, dimensions)
    temporaries = tuple(one.name for one in new)
    borders = tuple(one for one in temporaries if one != local)
    buffer = TileBuffer(local, name, tiling.rank, borders, box_size(array.cells, program.context))
    chosen = program.temporaries
    if chosen is not None:
        chosen = (*(one for one in chosen if one != name), *temporaries)
    result = replace(
        program,
        statements=tuple(statements),
        arrays=(*(one for one in program.arrays if one.name != name), *new),
        schedule=copies.schedule,
        parallel={tiling.position(d): meaning for d, meaning in program.parallel.items()},
        temporaries=chosen,
        buffers={**program.buffers, local: buffer},
        source=None
        if program.source is None
        else _with_copies(program.source, name, temporaries, copies.sources),
    )
    named = {local: tiling.rank, **dict.fromkeys(borders, 0)}
    check_values(flows, result, name, named, tuple(copies.sources))
    return result


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


def _moved(statement: Statement, name: str, tiling: Tiling, local: str, shared: str) -> Statement:
    """The statement with the cells of its tile, if it is in one, and otherwise with those between tiles."""
    is_inside = statement.name in tiling.rows
    accesses: list[Access] = []
    for access in statement.accesses:
        new = access
        if access.array == name:
            relation = access.relation
            if is_inside:
                relation = tiling.tile_of(statement.name).flat_range_product(relation)
            array = local if is_inside else shared
            new = replace(access, array=array, relation=relation.set_tuple_name(isl.dim_type.out, array))
        accesses.append(new)
    return replace(statement, accesses=tuple(accesses))


def _with_copies(source: CSource, name: str, arrays: Iterable[str], copies: Mapping[str, Copy]) -> CSource:
    variable = source.variables[name]
    variables = {other: one for other, one in source.variables.items() if other != name}
    return replace(
        source,
        statements={**source.statements, **{one: StatementSource(copy, ()) for one, copy in copies.items()}},
        variables={**variables, **dict.fromkeys(arrays, variable)},
    )
