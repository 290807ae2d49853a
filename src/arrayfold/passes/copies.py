"""Copies between tiles: when values go into a tile and out of it, and the statements that do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.source import Copy
from arrayfold.exact.isl import coalesced, first_images, fresh_names, parameter_names
from arrayfold.passes.tiling import Side, Tiling, ends_of, union_of
from arrayfold.program.model import Access, Program, Statement


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
    if tiling.keyed_by_tile:
        written = tiling.tile_of(writer).flat_range_product(written)
    return written.apply_domain(tiling.before(writer))


def _named_reads(tiling: Tiling, flow: isl.Map, rank: int) -> isl.Map:
    """{ T[j] -> [w, x] }: the cells that are read, with the writer's tile in front if arrays say it."""
    if not tiling.keyed_by_tile:
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


@dataclass(frozen=True)
class CopySlots:
    """Where copies stand in the schedule: each of some dimensions has one in front that says before or after.

    rows   these dimensions, in order
    depth  how many dimensions the schedule has with places and loops of copies
    """

    rows: tuple[int, ...]
    depth: int

    @staticmethod
    def of(times: Iterable[isl.Map], rows: Iterable[int], moves: Iterable[Move]) -> CopySlots:
        """Places at some rows of a schedule, and dimensions for the loops of copies behind all others.

        They have dimensions of their own because isl's options for loops ignore fixed ones before.
        """
        found = tuple(sorted(set(rows)))
        loops = max((len(_varying(move)) for move in moves), default=0)
        return CopySlots(found, max(one.dim(isl.dim_type.out) for one in times) + len(found) + loops)

    def position(self, dimension: int) -> int:
        """Where a dimension of the schedule is with the places."""
        return dimension + sum(row <= dimension for row in self.rows)

    def placed(self, times: isl.Map) -> isl.Map:
        """The times of a statement that was there before."""
        for row in reversed(self.rows):
            times = times.insert_dims(isl.dim_type.out, row, 1).fix_val(isl.dim_type.out, row, isl.Val(0))
        have = times.dim(isl.dim_type.out)
        times = times.insert_dims(isl.dim_type.out, have, self.depth - have)
        for d in range(have, self.depth):
            times = times.fix_val(isl.dim_type.out, d, isl.Val(0))
        return times

    def time(self, outer: Sequence[str], place: int, loops: Sequence[str]) -> str:
        """The time of a copy.

        outer  coordinates of the schedule up to the row where it stands
        """
        known: list[str] = []
        for k, name in enumerate(outer):
            known += ["0"] * (k in self.rows) + [name]
        zeros = ["0"] * (self.depth - len(known) - 1 - len(loops))
        return ", ".join([*known, str(place), *zeros, *loops])


@dataclass(frozen=True, eq=False)
class CopyStatement:
    """A statement that copies cells, its times { S[i] -> [t] }, and what it is in C."""

    statement: Statement
    times: isl.Map
    source: Copy


def copy_statement(
    tiling: Tiling, move: Move, name: str, local: str, between: str, places: CopySlots
) -> CopyStatement:
    """A move as a statement of some name.

    local    the array inside of tiles
    between  the one on the side of the move
    """
    row = move.row
    count = move.cells.dim(isl.dim_type.set)
    names = fresh_names("u", count, parameter_names(move.cells))
    spot = f"{name}[{', '.join(names)}]"
    domain = move.cells.set_tuple_name(name)
    cell = range(row + tiling.names, count)
    coordinates = {local: [*tiling.tiles[row], *cell], between: list(range(row, count))}
    ends = (local, between) if move.is_load else (between, local)
    accesses: list[Access] = []
    for array in reversed(ends):
        spots = ", ".join(names[k] for k in coordinates[array])
        relation = isl.Map(f"{{ {spot} -> {array}[{spots}] }}").intersect_domain(domain)
        accesses.append(Access(array, relation, is_write=array == ends[0]))
    time = places.time(names[:row], move.place, [names[row + k] for k in _varying(move)])
    skipped = 0 if tiling.keyed_by_tile else tiling.rank
    at = {array: tuple(where[skipped:] if array == local else where) for array, where in coordinates.items()}
    return CopyStatement(
        Statement(name, domain, tuple(accesses)),
        isl.Map(f"{{ {spot} -> [{time}] }}").intersect_domain(domain),
        Copy(*ends, at[ends[0]], at[ends[1]]),
    )
