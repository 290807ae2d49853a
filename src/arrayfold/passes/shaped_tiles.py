"""Tiles of any shape: diamonds and the like by their name, others by a map from instances to tiles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import coalesced, maps_by_domain
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.dependences import Dependence, union_of
from arrayfold.order.parse import read_schedule, schedule_source
from arrayfold.order.stencil import Stencil, find_stencils
from arrayfold.order.tile_shapes import KINDS, TileShape
from arrayfold.program.model import Program

OPTION = "--tile"


def is_map(text: str) -> bool:
    """Whether a text says tiles instance by instance."""
    return "->" in text


def shape_of(text: str) -> TileShape:
    """The shape that a text names, or an error that says what there is."""
    shape = TileShape.parse(text)
    if shape is None:
        raise InputError(
            f"{OPTION} {text}: expected positive sizes, as in 32 or 32x32, or a shape with its sizes",
            hint=f"Shapes are {', '.join(KINDS)}, as in diamond:32 or parallelogram:8x64; "
            "or say the tile of each instance, as in S[t, i] -> [floor((t + i)/32), floor((t - i)/32)].",
        )
    return shape


def with_tiles(program: Program, dependences: Sequence[Dependence], text: str) -> Program:
    """The program tile by tile, in each of them in its own order; whether that is legal is left to check.

    text  a shape with its sizes, or { S[i] -> [tile] }
    """
    assert program.schedule is not None
    if is_map(text):
        tiles = read_schedule(program, schedule_source(program, text, OPTION))
        return program.in_order(coalesced(tiles.flat_range_product(program.schedule)), program.parallel)
    shape = shape_of(text)
    if shape.names:
        raise InputError(
            f"{OPTION} {text}: the sizes of tiles in a program must be numbers",
            hint="With --one-tile, which looks at one tile alone, they may be names.",
        )
    stencils = stencils_of(program, dependences, shape)
    return program.in_order(_in_tiles(program, shape, stencils), program.parallel)


def stencils_of(program: Program, dependences: Sequence[Dependence], shape: TileShape) -> list[Stencil]:
    """The loops over time steps that such tiles cut, at least one."""
    found = find_stencils(program, union_of(program, dependences), shape.rank)
    if not found:
        loops = "a loop" if shape.rank == 1 else f"{shape.rank} loops"
        raise InputError(
            f"{shape.kind} tiles are for loops over time steps with {loops} inside, and there are none",
            hint="The outer loop must carry dependences. --tile 32x32 cuts loops into boxes.",
        )
    return found


def _in_tiles(program: Program, shape: TileShape, stencils: Sequence[Stencil]) -> isl.UnionMap:
    """{ S[i] -> [places, tiles, loops] }: where tiles stand differs from nest to nest."""
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
    tiles: dict[str, tuple[int, isl.Map]] = {}
    for stencil in stencils:
        cut = isl.Map(shape.cut(stencil).tile_of())
        for name, steps in stencil.steps.items():
            tiles[name] = stencil.loop, steps.apply_range(cut)
    count = next(iter(tiles.values()))[1].dim(isl.dim_type.out)
    found: list[isl.Map] = []
    for name, part in times.items():
        depth = part.dim(isl.dim_type.out)
        loop, tile = tiles.get(name, (depth, None))
        names = [f"t{d}" for d in range(depth)]
        if tile is None:
            found.append(part.apply_range(relation(names, [*names, *["0"] * count])))
            continue
        kept = [relation(names, names[:loop]), relation(names, names[loop:])]
        pieces = [part.apply_range(kept[0]), tile, part.apply_range(kept[1])]
        found.append(coalesced(reduce(isl.Map.flat_range_product, pieces)))
    whole = coalesced(union_of_maps(program.context.get_space(), found))
    assert program.schedule.intersect_params(program.context).domain().is_subset(whole.domain())
    return whole
