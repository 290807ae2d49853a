"""Tiles of an array: which loops say them, and on which sides values go from one to another.

A tile is what some loops of the schedule say. A side is the direction in which the reader's tile lies from
the writer's: rows, columns and corners that tiles leave to their neighbours differ in shape and lifetime.
Together they would have no simple mapping, so each side has an array of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias, TypeVar

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.remembered import remembered
from arrayfold.exact.isl import coalesced, maps_by_domain
from arrayfold.order.dataflow import find_flows
from arrayfold.order.events import order_of
from arrayfold.program.model import Program

# The signs of the differences between the reader's tile and the writer's; nothing but zeros where one of the
# two is outside of all tiles.
Side: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tiling:
    """The tiles of an array: which statements are in one, and where copies have their place.

    times          { S[i] -> [t] } of every statement of the program
    rows           statement in tiles -> how many first dimensions of its time are outside of its copies
    tiles          rows -> which of these dimensions say the tile
    keyed_by_tile  arrays between tiles have the coordinates of the writer's tile before those of the cell
    """

    times: Mapping[str, isl.Map]
    rows: Mapping[str, int]
    tiles: Mapping[int, tuple[int, ...]]
    keyed_by_tile: bool = False

    @property
    def rank(self) -> int:
        """How many coordinates a tile has."""
        return len(next(iter(self.tiles.values())))

    @property
    def outside(self) -> Side:
        """The side of what comes from outside of all tiles, or goes there."""
        return (0,) * self.rank

    @property
    def names(self) -> int:
        """How many coordinates of the writer's tile the arrays between tiles have."""
        return self.rank if self.keyed_by_tile else 0

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


def times_of(program: Program) -> dict[str, isl.Map]:
    """statement -> { S[i] -> [t] }."""
    assert program.schedule is not None
    return maps_by_domain(program.schedule)


def flows_of(program: Program, arrays: Sequence[str]) -> list[isl.Map]:
    """{ S[i] -> [T[j] -> A[x]] }: which instance reads from which, as if all loops were sequential."""
    sequential = _sequential(program)
    return find_flows(sequential, order_of(sequential), arrays)


@remembered
def _sequential(program: Program) -> Program:
    """The program without parallel loops."""
    return replace(program, parallel={})


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
    source = program.source
    if source is not None and source.variables[name] in source.flat:
        raise InputError(
            f"{name} is a flat array, so it cannot have a buffer; one of several dimensions can",
            source.text.place(source.variables[name].at),
        )
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
    for flow in flows:
        writer, reader = ends_of(flow)
        if not {writer, reader} <= tiling.rows.keys():
            found.setdefault(tiling.outside, []).append(flow.intersect_params(context))
            continue
        moved = flow.range_factor_domain().apply_domain(tiling.tile_of(writer))
        deltas = moved.apply_range(tiling.tile_of(reader)).deltas()
        for side in itertools.product((1, 0, -1), repeat=tiling.rank):
            if side == tiling.outside or deltas.intersect(_directions(side)).is_empty():
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


_Joinable = TypeVar("_Joinable", isl.Set, isl.Map)


def union_of(items: Sequence[_Joinable]) -> _Joinable:
    """All of them together."""
    return reduce(lambda total, item: total.union(item), items)
