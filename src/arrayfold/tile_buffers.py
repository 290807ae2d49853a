"""Buffers of tiles: inside of a tile an array lives in a buffer, and outside only what other tiles need.

A tile is an iteration of the outer loops. What it reads and did not write itself is copied into its buffer in
front of the innermost loop that needs it first, and what other tiles read is copied out behind the innermost
loop that writes it. So the buffer is as small as one tile needs, its addresses begin anew in every tile, and
threads that run different tiles can have one each. That is how scratchpads are used by hand; values on the
borders of tiles are stored apart from their inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import islpy as isl

from arrayfold._isl import coalesced, first_images, fresh_name, fresh_names, maps_by_domain, maps_of
from arrayfold.c.source import Copy, CSource, StatementSource
from arrayfold.dataflow import find_flows
from arrayfold.errors import InputError
from arrayfold.formula_isl import box_size
from arrayfold.loops import loop_dimensions
from arrayfold.order import order_of
from arrayfold.program import Access, Array, Program, Statement, TileBuffer


@dataclass(frozen=True, eq=False)
class _Band:
    """The statements inside of tiles that access an array.

    tile  the first dimensions of the schedule, which say in which tile an instance is
    row   further ones up to the innermost loops; copies stand in front of these and behind
    """

    statements: frozenset[str]
    tile: int
    row: int


def with_tile_buffer(program: Program, loops: int, name: str) -> Program:
    """The same program in which an array has a buffer inside of the first loops.

    It is checked that every read sees the value that it saw before.
    """
    _check(program, loops, name)
    array = program.array(name)
    band = _band(program, loops, name)
    flows = _flows(program, [name])
    loads, stores = _copies(program, array, band, flows)
    taken = [*(one.name for one in program.arrays), *(one.name for one in program.statements)]
    local, shared = (_fresh(f"{name}_{kind}", taken) for kind in ("tile", "border"))
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
    statements = [_moved(one, name, band, times, local, shared) for one in program.statements]
    placed = _with_place(program, band)
    # The loops of copies have dimensions of their own: isl's options for loops ignore fixed ones before.
    loops_of_copies = [len(_varying(one, band.row)) for one in (loads, stores) if one is not None]
    depth = placed[0].dim(isl.dim_type.out) + max(loops_of_copies, default=0)
    copies: dict[str, Copy] = {}
    moves = ("load", 0, loads, (local, shared)), ("store", 2, stores, (shared, local))
    for kind, place, moved, ends in moves:
        if moved is None:
            continue
        copy = _fresh(f"{name}_{kind}", taken)
        statement, time = _copy(copy, moved, ends, local, band, (place, depth))
        statements.append(statement)
        placed.append(time)
        copies[copy] = Copy(*ends, skip=band.row)
    arrays = [one for one in program.arrays if one.name != name]
    for new in (local, shared):
        used = [a.relation.range() for one in statements for a in one.accesses if a.array == new]
        if used:
            outer = fresh_names("t", band.tile, array.dimensions) if new == local else []
            arrays.append(Array(new, (*outer, *array.dimensions), coalesced(_union(used))))
    present = {one.name for one in arrays}
    temporaries = tuple(one for one in (local, shared) if one in present)
    schedule = isl.UnionMap.empty(program.context.get_space())
    for time in placed:
        schedule = schedule.union(isl.UnionMap.from_map(_padded(time, depth)))
    size = box_size(array.cells, program.context)
    buffer = TileBuffer(local, name, band.tile, shared if shared in present else None, size)
    chosen = program.temporaries
    if chosen is not None:
        chosen = (*(one for one in chosen if one != name), *temporaries)
    result = replace(
        program,
        statements=tuple(statements),
        arrays=tuple(arrays),
        schedule=schedule,
        parallel={d + (d >= band.row): meaning for d, meaning in program.parallel.items()},
        temporaries=chosen,
        buffers={**program.buffers, local: buffer},
        source=None if program.source is None else _with_copies(program.source, name, temporaries, copies),
    )
    _check_values(flows, result, buffer, tuple(copies))
    return result


def stays_in_iterations(program: Program, name: str) -> bool:
    """Whether values are read only in the iteration of all loops that wrote them: one cell is enough."""
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
    for flow in _flows(program, [name]):
        writer, reader = (times[end] for end in _ends(flow))
        moved = flow.range_factor_domain().apply_domain(writer).apply_range(reader).deltas()
        for dimension in loop_dimensions(isl.UnionMap.from_map(writer).union(isl.UnionMap.from_map(reader))):
            if not moved.is_subset(moved.fix_val(isl.dim_type.set, dimension, isl.Val(0))):
                return False
    return True


def _check(program: Program, loops: int, name: str) -> None:
    if loops < 1:
        raise InputError(f"a tile has at least one loop around it, not {loops}")
    if program.schedule is None or program.happens_before is not None or program.tiles:
        raise InputError("buffers of tiles need a schedule that says which loops there are")
    if program.exclusive is not None or any(meaning == "forall" for meaning in program.parallel.values()):
        raise InputError("buffers of tiles need loops that run one after the other, or doall loops")
    for statement in program.statements:
        for access in statement.accesses:
            is_known = access.relation.is_single_valued() and (access.is_must or not access.is_write)
            if access.array == name and not is_known:
                raise InputError(
                    f"{statement.name} may or may not write {access.array}, so it cannot have a buffer"
                )


# ---------------------------------------------------------------- one array


def _band(program: Program, loops: int, name: str) -> _Band:
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
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
    return _Band(frozenset(inside), tiles.pop(), min(rows))


def _copies(
    program: Program, array: Array, band: _Band, flows: Iterable[isl.Map]
) -> tuple[isl.Set | None, isl.Set | None]:
    """{ [u, x] }: before which innermost loops which cells are copied in, and behind which out.

    u is the time up to the innermost loop.
    """
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
    loads: list[isl.Map] = []
    stores: list[isl.Map] = []
    for flow in flows:
        writer, reader = _ends(flow)
        outer = flow
        if {writer, reader} <= band.statements:
            same = _prefix(times[writer], band.tile).apply_range(_prefix(times[reader], band.tile).reverse())
            outer = flow.subtract(flow.intersect_range_factor_domain(same))
        outer = outer.intersect_params(program.context)
        if outer.is_empty():
            continue
        if writer in band.statements:
            written = outer.range_factor_range()
            stores.append(
                written.apply_domain(_prefix(times[writer], band.row)).reset_tuple_id(isl.dim_type.out)
            )
        if reader in band.statements:
            rows = _prefix(times[reader], band.row)
            loads.append(outer.range().unwrap().apply_domain(rows).reset_tuple_id(isl.dim_type.out))
    first = _first_in_tile(coalesced(_union(loads)), array.rank, band) if loads else None
    last = coalesced(_union(stores)).wrap().flatten() if stores else None
    return first, last


def _first_in_tile(loads: isl.Map, rank: int, band: _Band) -> isl.Set:
    """{ [u] -> [x] } to { [u, x] } with the first u of each tile only."""
    by_tile = loads.reverse().move_dims(isl.dim_type.in_, rank, isl.dim_type.out, 0, band.tile)
    first = coalesced(first_images(by_tile)).wrap().flatten()
    cell = [f"x{k}" for k in range(rank)]
    tile = [f"u{k}" for k in range(band.tile)]
    rest = [f"u{k}" for k in range(band.tile, band.row)]
    turned = isl.Map(f"{{ [{', '.join([*cell, *tile, *rest])}] -> [{', '.join([*tile, *rest, *cell])}] }}")
    return coalesced(first.apply(turned))


def _moved(
    statement: Statement, name: str, band: _Band, times: Mapping[str, isl.Map], local: str, shared: str
) -> Statement:
    """The statement with the cells of its tile, if it is in one, and otherwise with those between tiles."""
    is_inside = statement.name in band.statements
    accesses: list[Access] = []
    for access in statement.accesses:
        new = access
        if access.array == name:
            relation = access.relation
            if is_inside:
                relation = _prefix(times[statement.name], band.tile).flat_range_product(relation)
            array = local if is_inside else shared
            new = replace(access, array=array, relation=relation.set_tuple_name(isl.dim_type.out, array))
        accesses.append(new)
    return replace(statement, accesses=tuple(accesses))


def _with_place(program: Program, band: _Band) -> list[isl.Map]:
    """The schedule with a dimension in front of the innermost loops: copies come before and after."""
    assert program.schedule is not None
    found: list[isl.Map] = []
    for part in maps_of(program.schedule):
        wider = part.insert_dims(isl.dim_type.out, band.row, 1)
        found.append(wider.fix_val(isl.dim_type.out, band.row, isl.Val(1)))
    return found


def _copy(
    name: str, moved: isl.Set, ends: tuple[str, str], local: str, band: _Band, place: tuple[int, int]
) -> tuple[Statement, isl.Map]:
    """A statement that copies cells, and its times.

    place  in front of the innermost loops or behind, and the number of dimensions of the schedule
    """
    count = moved.dim(isl.dim_type.set)
    taken = [moved.get_dim_name(isl.dim_type.param, k) or "" for k in range(moved.dim(isl.dim_type.param))]
    names = fresh_names("u", count, taken)
    spot = f"{name}[{', '.join(names)}]"
    domain = moved.set_tuple_name(name)
    cell = names[band.row :]
    accesses: list[Access] = []
    for array in reversed(ends):
        place_of_cell = [*names[: band.tile], *cell] if array == local else cell
        relation = isl.Map(f"{{ {spot} -> {array}[{', '.join(place_of_cell)}] }}").intersect_domain(domain)
        accesses.append(Access(array, relation, is_write=array == ends[0]))
    loops = [cell[k] for k in _varying(moved, band.row)]
    zeros = ["0"] * (place[1] - band.row - 1 - len(loops))
    time = isl.Map(f"{{ {spot} -> [{', '.join([*names[: band.row], str(place[0]), *zeros, *loops])}] }}")
    return Statement(name, domain, tuple(accesses)), time.intersect_domain(domain)


def _varying(moved: isl.Set, row: int) -> list[int]:
    """The coordinates of a cell that are not the same for all cells copied at one time.

    moved  { [u, x] }
    """
    rank = moved.dim(isl.dim_type.set) - row
    found: list[int] = []
    for k in range(rank):
        one = moved.project_out(isl.dim_type.set, row + k + 1, rank - k - 1)
        one = one.project_out(isl.dim_type.set, row, k)
        names = [f"u{j}" for j in range(row)]
        times = isl.Map(f"{{ [{', '.join([*names, 'x'])}] -> [{', '.join(names)}] }}")
        if not times.intersect_domain(one).is_injective():
            found.append(k)
    return found


def _with_copies(source: CSource, name: str, arrays: Iterable[str], copies: Mapping[str, Copy]) -> CSource:
    variable = source.variables[name]
    variables = {other: one for other, one in source.variables.items() if other != name}
    return replace(
        source,
        statements={**source.statements, **{one: StatementSource(copy, ()) for one, copy in copies.items()}},
        variables={**variables, **dict.fromkeys(arrays, variable)},
    )


# ---------------------------------------------------------------- values


def _check_values(
    flows: Iterable[isl.Map], new: Program, buffer: TileBuffer, copies: tuple[str, ...]
) -> None:
    """Raise unless every read sees, through the copies, the value that it saw before.

    flows  { S[i] -> [T[j] -> A[x]] }  as they were
    """
    arrays = [buffer.name] if buffer.border is None else [buffer.name, buffer.border]
    into_copies = isl.UnionMap.empty(new.context.get_space())
    seen = isl.UnionMap.empty(new.context.get_space())
    for flow in _flows(new, arrays):
        reader = _ends(flow)[1]
        if reader in copies:
            into_copies = into_copies.union(isl.UnionMap.from_map(flow.range_factor_domain()))
        else:
            seen = seen.union(isl.UnionMap.from_map(_of_old_cells(flow, buffer)))
    for _ in copies:
        direct = isl.UnionMap.empty(new.context.get_space())
        for part in maps_of(seen):
            one = isl.UnionMap.from_map(part)
            if part.get_tuple_name(isl.dim_type.in_) in copies:
                one = one.apply_domain(into_copies.reverse())
            direct = direct.union(one)
        seen = direct
    before = isl.UnionMap.empty(new.context.get_space())
    for flow in flows:
        before = before.union(isl.UnionMap.from_map(flow))
    seen, before = (one.intersect_params(new.context) for one in (seen, before))
    if not seen.is_equal(before):
        raise InputError(f"a buffer would change what is read from {buffer.array}, so it stays as it is")


def _of_old_cells(flow: isl.Map, buffer: TileBuffer) -> isl.Map:
    """{ S[i] -> [T[j] -> L[t, x]] } to { S[i] -> [T[j] -> A[x]] }."""
    reads = flow.range().unwrap()
    is_local = reads.get_tuple_name(isl.dim_type.out) == buffer.name
    skipped = buffer.dimensions if is_local else 0
    rank = reads.dim(isl.dim_type.out)
    cell = [f"x{k}" for k in range(rank)]
    array = reads.get_tuple_name(isl.dim_type.out)
    drop = isl.Map(f"{{ {array}[{', '.join(cell)}] -> {buffer.array}[{', '.join(cell[skipped:])}] }}")
    reader = isl.Map.identity(reads.get_space().domain().map_from_set())
    return flow.apply_range(reader.product(drop))


def _flows(program: Program, arrays: Sequence[str]) -> list[isl.Map]:
    """{ S[i] -> [T[j] -> A[x]] }: who reads what whom wrote, of some arrays, one loop after the other."""
    sequential = replace(program, parallel={})
    return find_flows(sequential, order_of(sequential), arrays)


def _ends(flow: isl.Map) -> tuple[str, str]:
    reader = flow.range().unwrap().get_tuple_name(isl.dim_type.in_)
    return str(flow.get_tuple_name(isl.dim_type.in_)), str(reader)


def _prefix(times: isl.Map, count: int) -> isl.Map:
    return times.project_out(isl.dim_type.out, count, times.dim(isl.dim_type.out) - count)


def _padded(times: isl.Map, depth: int) -> isl.Map:
    """The times with zeros behind."""
    have = times.dim(isl.dim_type.out)
    wider = times.insert_dims(isl.dim_type.out, have, depth - have)
    for d in range(have, depth):
        wider = wider.fix_val(isl.dim_type.out, d, isl.Val(0))
    return wider


def _fresh(name: str, taken: list[str]) -> str:
    found = fresh_name(name, taken)
    taken.append(found)
    return found


_Joinable = TypeVar("_Joinable", isl.Set, isl.Map)


def _union(items: Sequence[_Joinable]) -> _Joinable:
    total = items[0]
    for item in items[1:]:
        total = total.union(item)
    return total
