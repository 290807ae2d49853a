"""Values that go from tile to tile: on which sides, when they are copied, and whether reads still see them.

A tile is what some loops of the schedule say. Each side of tiles, that is in which direction the reader's
tile lies from the writer's, has an array of its own between the tiles: rows, columns and corners that tiles
leave to their neighbours have different shapes and lifetimes; together they would have no simple mapping.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import islpy as isl

from arrayfold._isl import (
    coalesced,
    first_images,
    fresh_name,
    fresh_names,
    maps_by_domain,
    maps_of,
    parameter_names,
)
from arrayfold.c.source import Copy
from arrayfold.dataflow import find_flows
from arrayfold.errors import InputError
from arrayfold.order import order_of
from arrayfold.program import Access, Array, Program, Statement

# The signs of the differences between the reader's tile and the writer's; nothing but zeros where one of the
# two is outside of all tiles.
Side: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tiling:
    """The tiles of an array: which statements are in one, and where copies have their place.

    times   { S[i] -> [t] } of every statement of the program
    rows    statement in tiles -> how many first dimensions of its time stand outside of the copies for it
    tiles   rows -> which of these dimensions say the tile
    is_named  arrays between tiles have the coordinates of the writer's tile in front of those of the cell
    """

    times: Mapping[str, isl.Map]
    rows: Mapping[str, int]
    tiles: Mapping[int, tuple[int, ...]]
    is_named: bool = False

    @property
    def rank(self) -> int:
        """How many coordinates a tile has."""
        return len(next(iter(self.tiles.values())))

    @property
    def names(self) -> int:
        """How many coordinates of the writer's tile the arrays between tiles have."""
        return self.rank if self.is_named else 0

    @property
    def depth(self) -> int:
        """How many dimensions the schedule has with a place for copies at each of the rows."""
        return max(one.dim(isl.dim_type.out) for one in self.times.values()) + len(self.tiles)

    def tile_of(self, statement: str) -> isl.Map:
        """{ S[i] -> [tile] }."""
        return self.before(statement).apply_range(self.tile_at(self.rows[statement]))

    def tile_at(self, row: int) -> isl.Map:
        """{ [u] -> [tile] }."""
        outer = [f"u{k}" for k in range(row)]
        return isl.Map(f"{{ [{', '.join(outer)}] -> [{', '.join(outer[k] for k in self.tiles[row])}] }}")

    def before(self, statement: str) -> isl.Map:
        """{ S[i] -> [u] }: the time up to the place of copies."""
        times = self.times[statement]
        row = self.rows[statement]
        return times.project_out(isl.dim_type.out, row, times.dim(isl.dim_type.out) - row)

    def position(self, dimension: int) -> int:
        """Where a dimension of the schedule is after the places for copies were inserted."""
        return dimension + sum(row <= dimension for row in self.tiles)

    def placed(self) -> list[isl.Map]:
        """The schedule with a dimension at each of the rows: copies come before and after."""
        found: list[isl.Map] = []
        for times in self.times.values():
            wider = times
            for row in sorted(self.tiles, reverse=True):
                wider = wider.insert_dims(isl.dim_type.out, row, 1)
                wider = wider.fix_val(isl.dim_type.out, row, isl.Val(0))
            found.append(wider)
        return found


@dataclass(frozen=True, eq=False)
class Move:
    """Copies at one place of the schedule.

    is_load  from between the tiles into a tile, or the other way
    place    among the copies at the same time: loads are in front of zero, stores behind
    cells    { [u, w, x] }  at time u cell x, of the writer's tile w if arrays between tiles say it
    """

    is_load: bool
    place: int
    side: Side
    row: int
    cells: isl.Set


def times_of(program: Program) -> dict[str, isl.Map]:
    """statement -> { S[i] -> [t] }."""
    assert program.schedule is not None
    return maps_by_domain(program.schedule)


def flows_of(program: Program, arrays: Sequence[str]) -> list[isl.Map]:
    """{ S[i] -> [T[j] -> A[x]] }: who reads what whom wrote, of some arrays, one loop after the other."""
    sequential = replace(program, parallel={})
    return find_flows(sequential, order_of(sequential), arrays)


def ends_of(flow: isl.Map) -> tuple[str, str]:
    """Writer and reader."""
    reader = flow.range().unwrap().get_tuple_name(isl.dim_type.in_)
    return str(flow.get_tuple_name(isl.dim_type.in_)), str(reader)


def check_for_tiles(program: Program, name: str) -> None:
    """Raise unless the loops are known, and which cells of an array a statement writes."""
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


def sides_of(tiling: Tiling, context: isl.Set, flows: Iterable[isl.Map]) -> dict[Side, list[isl.Map]]:
    """The flows between different tiles by their side, and those from and to outside of all tiles."""
    found: dict[Side, list[isl.Map]] = {}
    nowhere = (0,) * tiling.rank
    for flow in flows:
        writer, reader = ends_of(flow)
        if not {writer, reader} <= tiling.rows.keys():
            found.setdefault(nowhere, []).append(flow.intersect_params(context))
            continue
        moved = flow.range_factor_domain().apply_domain(tiling.tile_of(writer))
        deltas = moved.apply_range(tiling.tile_of(reader)).deltas()
        for side in itertools.product((1, 0, -1), repeat=tiling.rank):
            if side == nowhere or deltas.intersect(_directions(side)).is_empty():
                continue
            apart = isl.Map.universe(isl.Space.map_from_set(deltas.get_space())).deltas_map()
            pairs = apart.intersect_range(_directions(side)).domain().unwrap()
            between = tiling.tile_of(writer).apply_range(pairs).apply_range(tiling.tile_of(reader).reverse())
            crossing = flow.intersect_range_factor_domain(between).intersect_params(context)
            if not crossing.is_empty():
                found.setdefault(side, []).append(coalesced(crossing))
    return {side: found[side] for side in sorted(found, key=_nearness)}


def _nearness(side: Side) -> tuple[int, Side]:
    """Sides before corners, and later readers before earlier ones."""
    return sum(map(abs, side)), tuple(-sign for sign in side)


def _directions(side: Side) -> isl.Set:
    """{ [d] }: differences of tiles on one side."""
    names = [f"d{k}" for k in range(len(side))]
    signs = " and ".join(f"{one} {'<=>'[sign + 1]} 0" for one, sign in zip(names, side, strict=True))
    return isl.Set(f"{{ [{', '.join(names)}] : {signs} }}")


def moves_of(
    tiling: Tiling, program: Program, array: str, sides: Mapping[Side, Sequence[isl.Map]]
) -> list[Move]:
    """The copies of an array: in when a tile first needs a cell, out when it has written it."""
    found: list[Move] = []
    rank = program.array(array).rank
    for place, (side, flows) in enumerate(sides.items(), 1):
        loads: dict[int, list[isl.Map]] = {}
        stores: dict[int, list[isl.Map]] = {}
        for flow in flows:
            writer, reader = ends_of(flow)
            if writer in tiling.rows:
                written = _named_writes(tiling, writer, flow.range_factor_range())
                stores.setdefault(tiling.rows[writer], []).append(written)
            if reader in tiling.rows:
                read = _named_reads(tiling, flow, rank)
                loads.setdefault(tiling.rows[reader], []).append(read.apply_domain(tiling.before(reader)))
        for row, parts in loads.items():
            first = _first_in_tile(coalesced(union_of(parts)), tiling, row)
            found.append(Move(True, -place, side, row, first))
        for row, parts in stores.items():
            needed = coalesced(union_of(parts)).wrap().flatten()
            stored = _in_one_piece(needed, tiling, program, array, row)
            found.append(Move(False, place, side, row, stored))
    return found


def _in_one_piece(needed: isl.Set, tiling: Tiling, program: Program, array: str, row: int) -> isl.Set:
    """{ [u, w, x] }: a few more cells than needed, if that is simpler to say and they are written, too."""
    whole = isl.Set.from_basic_set(needed.simple_hull())
    if needed.n_basic_set() == 1 or not needed.params().is_equal(whole.params()):
        return needed
    written = [
        _named_writes(tiling, statement.name, access.relation).wrap().flatten()
        for statement in program.statements
        if tiling.rows.get(statement.name) == row
        for access in statement.accesses
        if access.array == array and access.is_write
    ]
    return whole if whole.is_subset(union_of(written)) else needed


def _named_writes(tiling: Tiling, writer: str, cells: isl.Map) -> isl.Map:
    """{ [u] -> [w, x] }: the cells that a statement writes, with its tile in front if arrays say it.

    cells  { S[i] -> A[x] }
    """
    written = cells.reset_tuple_id(isl.dim_type.out)
    if tiling.is_named:
        written = tiling.tile_of(writer).flat_range_product(written)
    return written.apply_domain(tiling.before(writer))


def _named_reads(tiling: Tiling, flow: isl.Map, rank: int) -> isl.Map:
    """{ T[j] -> [w, x] }: the cells that are read, with the writer's tile in front if arrays say it."""
    if not tiling.is_named:
        return flow.range().unwrap().reset_tuple_id(isl.dim_type.out)
    writer, _ = ends_of(flow)
    array = flow.range().unwrap().get_tuple_name(isl.dim_type.out)
    tile, cell = ([f"{name}{k}" for k in range(count)] for name, count in (("w", tiling.rank), ("x", rank)))
    named = isl.Map(
        f"{{ [{array}[{', '.join(cell)}] -> [{', '.join(tile)}]] -> [{', '.join([*tile, *cell])}] }}"
    )
    return flow.apply_domain(tiling.tile_of(writer)).reverse().curry().apply_range(named)


def _first_in_tile(loads: isl.Map, tiling: Tiling, row: int) -> isl.Set:
    """{ [u] -> [k] } to { [u, k] } with the first u of each tile only."""
    outer, cell = (
        [f"{name}{k}" for k in range(count)]
        for name, count in (("u", row), ("k", loads.dim(isl.dim_type.out)))
    )
    tile = [outer[k] for k in tiling.tiles[row]]
    one, other = (", ".join(names) for names in (outer, [*cell, *tile]))
    sorted_by_tile = isl.Map(f"{{ [[{one}] -> [{', '.join(cell)}]] -> [[{other}] -> [{one}]] }}")
    first = coalesced(first_images(loads.wrap().apply(sorted_by_tile).unwrap()))
    first = _by_one_rule(first, tiling, row)
    names = [f"p{k}" for k in range(len(cell) + len(tile))]
    turned = isl.Map(
        f"{{ [[{', '.join(names)}] -> [{one}]] -> [{', '.join([*outer, *names[: len(cell)]])}] }}"
    )
    return coalesced(first.wrap().apply(turned))


def _by_one_rule(first: isl.Map, tiling: Tiling, row: int) -> isl.Map:
    """{ [k, tile] -> [u] }: times of loads by one rule for all cells, if there is one that is early enough.

    At the borders of a program cells are often needed later than elsewhere; what is simple to say is folded
    and written in simpler ways.
    """
    if first.n_basic_map() == 1:
        return first
    runs = union_of([tiling.before(name).range() for name, its_row in tiling.rows.items() if its_row == row])
    rules: list[isl.MultiAff] = []
    first.as_pw_multi_aff().foreach_piece(lambda _, rule: rules.append(rule))
    in_tile = _in_tile(first, tiling, row)
    for rule in rules:
        times = isl.Map.from_multi_aff(rule).intersect_domain(first.domain())
        not_later = first.apply_range(isl.Map.lex_ge(first.get_space().range()))
        if times.is_subset(not_later.intersect(in_tile).intersect_range(runs)):
            return times
    return first


def _in_tile(first: isl.Map, tiling: Tiling, row: int) -> isl.Map:
    """{ [k, tile] -> [u] }: u in that tile."""
    count = first.dim(isl.dim_type.in_) - tiling.rank
    names = [f"k{k}" for k in range(count)] + [f"t{k}" for k in range(tiling.rank)]
    tiles = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(names[count:])}] }}")
    return tiles.apply_range(tiling.tile_at(row).reverse())


def _varying(move: Move) -> list[int]:
    """Which coordinates of what is copied at one time are not the same for all of it."""
    moved, row = move.cells, move.row
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


def _copy(
    tiling: Tiling, move: Move, name: str, local: str, between: str, depth: int
) -> tuple[Statement, isl.Map, Copy]:
    """A statement that copies cells, its times, and what it is in C.

    name   of the statement
    depth  how many dimensions the schedule has
    """
    row = move.row
    count = move.cells.dim(isl.dim_type.set)
    names = fresh_names("u", count, parameter_names(move.cells))
    spot = f"{name}[{', '.join(names)}]"
    domain = move.cells.set_tuple_name(name)
    cell = range(row + tiling.names, count)
    places = {local: [*tiling.tiles[row], *cell], between: list(range(row, count))}
    ends = (local, between) if move.is_load else (between, local)
    accesses: list[Access] = []
    for array in reversed(ends):
        spots = ", ".join(names[k] for k in places[array])
        relation = isl.Map(f"{{ {spot} -> {array}[{spots}] }}").intersect_domain(domain)
        accesses.append(Access(array, relation, is_write=array == ends[0]))
    outer: list[str] = []
    for k in range(row):
        outer += ["0"] * (k in tiling.tiles) + [names[k]]
    loops = [names[row + k] for k in _varying(move)]
    zeros = ["0"] * (depth - len(outer) - 1 - len(loops))
    time = isl.Map(f"{{ {spot} -> [{', '.join([*outer, str(move.place), *zeros, *loops])}] }}")
    skipped = 0 if tiling.is_named else tiling.rank
    at = {array: tuple(where[skipped:] if array == local else where) for array, where in places.items()}
    return (
        Statement(name, domain, tuple(accesses)),
        time.intersect_domain(domain),
        Copy(*ends, at[ends[0]], at[ends[1]]),
    )


@dataclass(frozen=True, eq=False)
class Copies:
    """The copies of an array, and the schedule of the program with them.

    sources  statement -> what it is in C
    """

    statements: tuple[Statement, ...]
    schedule: isl.UnionMap
    sources: Mapping[str, Copy]


def copies_of(
    tiling: Tiling,
    moves: Sequence[Move],
    name: str,
    local: str,
    between: Mapping[Side, str],
    taken: list[str],
) -> Copies:
    """The moves of an array as statements.

    local    the array inside of tiles
    between  the one on each side of them
    taken    names that are in use; those of the statements are added
    """
    # The loops of copies have dimensions of their own: isl's options for loops ignore fixed ones before.
    depth = tiling.depth + max((len(_varying(move)) for move in moves), default=0)
    placed = tiling.placed()
    statements: list[Statement] = []
    sources: dict[str, Copy] = {}
    for move in moves:
        copy = new_name(f"{name}_{'load' if move.is_load else 'store'}", taken)
        statement, time, sources[copy] = _copy(tiling, move, copy, local, between[move.side], depth)
        statements.append(statement)
        placed.append(time)
    schedule = isl.UnionMap.empty(placed[0].get_space().params())
    for time in placed:
        schedule = schedule.union(isl.UnionMap.from_map(_padded(time, depth)))
    return Copies(tuple(statements), schedule, sources)


def new_name(name: str, taken: list[str]) -> str:
    """A name like this that is not in use, and is from now on."""
    found = fresh_name(name, taken)
    taken.append(found)
    return found


def arrays_of(statements: Iterable[Statement], names: Mapping[str, tuple[str, ...]]) -> list[Array]:
    """The arrays that statements access, out of those of these names and dimensions."""
    found: list[Array] = []
    accesses = [access for statement in statements for access in statement.accesses]
    for name, dimensions in names.items():
        used = [access.relation.range() for access in accesses if access.array == name]
        if used:
            found.append(Array(name, dimensions, coalesced(union_of(used))))
    return found


def _padded(times: isl.Map, depth: int) -> isl.Map:
    """The times with zeros behind."""
    have = times.dim(isl.dim_type.out)
    wider = times.insert_dims(isl.dim_type.out, have, depth - have)
    for d in range(have, depth):
        wider = wider.fix_val(isl.dim_type.out, d, isl.Val(0))
    return wider


def check_values(
    flows: Iterable[isl.Map], new: Program, array: str, named: Mapping[str, int], copies: tuple[str, ...]
) -> None:
    """Raise unless every read sees, through the copies, the value that it saw before.

    flows  { S[i] -> [T[j] -> A[x]] }  as they were
    array  A
    named  array instead of it -> how many coordinates of tiles it has in front of those of the cell
    """
    into_copies = isl.UnionMap.empty(new.context.get_space())
    seen = isl.UnionMap.empty(new.context.get_space())
    for flow in flows_of(new, list(named)):
        reader = ends_of(flow)[1]
        if reader in copies:
            into_copies = into_copies.union(isl.UnionMap.from_map(flow.range_factor_domain()))
        else:
            seen = seen.union(isl.UnionMap.from_map(_of_old_cells(flow, array, named)))
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
        raise InputError(f"a buffer would change what is read from {array}, so it stays as it is")


def _of_old_cells(flow: isl.Map, old: str, named: Mapping[str, int]) -> isl.Map:
    """{ S[i] -> [T[j] -> L[t, x]] } to { S[i] -> [T[j] -> A[x]] }."""
    reads = flow.range().unwrap()
    array = str(reads.get_tuple_name(isl.dim_type.out))
    cell = [f"x{k}" for k in range(reads.dim(isl.dim_type.out))]
    drop = isl.Map(f"{{ {array}[{', '.join(cell)}] -> {old}[{', '.join(cell[named[array] :])}] }}")
    reader = isl.Map.identity(reads.get_space().domain().map_from_set())
    return flow.apply_range(reader.product(drop))


_Joinable = TypeVar("_Joinable", isl.Set, isl.Map)


def union_of(items: Sequence[_Joinable]) -> _Joinable:
    """All of them together."""
    total = items[0]
    for item in items[1:]:
        total = total.union(item)
    return total
