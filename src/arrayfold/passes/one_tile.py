"""One whole tile of a program by itself: what it stores, as a formula of its size.

What the tile reads from elsewhere is there already; what others read, or the program leaves behind, stays
until the tile is done. That is the tile of BBC16 and DIY15, cut out of any program. It lies so far inside of
the program that no border is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.isl import coalesced, maps_by_domain, maps_of, sets_of, without_parameters
from arrayfold.exact.relations import relation, union_of_maps, union_of_sets
from arrayfold.order.dataflow import find_flows
from arrayfold.order.dependences import Dependence, memory_dependences
from arrayfold.order.events import order_of
from arrayfold.order.loops import loop_dimensions
from arrayfold.order.tile_shapes import Size, sizes_of
from arrayfold.passes.reorder import Reorder, check_order, movable_program
from arrayfold.passes.shaped_tiles import shape_of, stencils_of
from arrayfold.program.model import Access, Array, Problem, Program, Relocation, Statement

# Parameters are so many times the sizes of the tile, and it begins in the middle.
_SCALES = (8, 32, 128)
_LEAST = 3


@dataclass(frozen=True)
class OneTile:
    """One tile alone, whose sizes may be names: new parameters, which replace those of the program.

    tile  sizes of a box such as "BxB", or a shape with its sizes such as "diamond:B"
    """

    name: ClassVar[str] = "one-tile"
    flags: ClassVar[tuple[str, ...]] = ("--one-tile",)
    tile: str

    def __post_init__(self) -> None:
        if sizes_of(self.tile) is None:
            shape_of(self.tile)

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program of that tile; its temporaries are the arrays that it writes."""
        given, limit = replace(movable_program(program), parallel={}), as_budget(budget)

        def find(_: object) -> Program:
            with limit.limit("the tile"):
                return _tile_alone(given, self.tile)

        return answer_in_time(find, limit, "the tile", known=given)


def _tile_alone(program: Program, text: str) -> Program:
    dependences = memory_dependences(program)
    check_order(program, dependences, "As written they run at the same time; give an order with --schedule.")
    cells, steps, sizes = _shape(program, dependences, text)
    names = [one for one in dict.fromkeys(sizes) if isinstance(one, str)]
    for name in names:
        if name in program.parameters:
            raise InputError(
                f"--tile {text}: {name} is a parameter of the program; the size needs another name"
            )
    inside = _inside(program, cells, steps, sizes)
    return _cut_out(program, inside, isl.Set(f"[{', '.join(names)}] -> {{ : {_positive(names)} }}"))


def _shape(
    program: Program, dependences: Sequence[Dependence], text: str
) -> tuple[str, Mapping[str, isl.Map], tuple[Size, ...]]:
    """Conditions on s, x0, ... of a tile at the origin, { S[i] -> [s, x0, ...] }, and the sizes."""
    assert program.schedule is not None
    sizes = sizes_of(text)
    if sizes is not None:
        numbers = tuple(5 if isinstance(one, str) else one for one in sizes)
        Reorder(tile=numbers).apply(program)
        loops = loop_dimensions(program.schedule)
        depth = max(part.dim(isl.dim_type.out) for part in maps_of(program.schedule))
        cut = relation([f"t{d}" for d in range(depth)], [f"t{d}" for d in loops[: len(sizes)]])
        steps = {name: part.apply_range(cut) for name, part in maps_by_domain(program.schedule).items()}
        axes = ["s", *(f"x{k}" for k in range(len(sizes) - 1))]
        return " and ".join(f"0 <= {x} < {n}" for x, n in zip(axes, sizes, strict=True)), steps, sizes
    shape = shape_of(text)
    Reorder(tile=str(shape.with_sizes(5))).apply(program)
    stencils = stencils_of(program, dependences, shape)
    if len(stencils) > 1:
        raise InputError(
            f"there are {len(stencils)} loops over time steps, so it is open which tile is meant"
        )
    return shape.cut(stencils[0]).one_tile(), stencils[0].steps, shape.sizes


def _inside(
    program: Program, conditions: str, steps: Mapping[str, isl.Map], sizes: Sequence[Size]
) -> dict[str, isl.Set]:
    """statement -> { S[i] }: the instances of a whole tile, at sizes of the program that have one."""
    names = [one for one in dict.fromkeys(sizes) if isinstance(one, str)]
    rank = next(iter(steps.values())).dim(isl.dim_type.out)
    loops = max(one.domain().dim(isl.dim_type.set) for one in steps.values())
    if rank < loops:
        raise InputError(f"the tile cuts {rank} of {loops} loops; one tile alone needs a size for each")
    axes = ["s", *(f"x{k}" for k in range(rank - 1))]
    prefix = f"[{', '.join([*program.parameters, *names])}] -> "
    total = " + ".join(map(str, dict.fromkeys(sizes)))
    for scale in _SCALES:
        known = " and ".join([*(f"{n} = {scale}*({total})" for n in program.parameters), _positive(names)])
        origin = f"{scale // 2}*({total})"
        moved = relation(axes, [f"{x} + {origin}" for x in axes], parameters=names)
        tile = isl.Set(f"[{', '.join(names)}] -> {{ [{', '.join(axes)}] : {conditions} }}").apply(moved)
        fixed = isl.Set(f"{prefix}{{ : {known} }}").intersect(program.context)
        if fixed.is_empty():
            continue
        if _is_whole(tile.intersect_params(fixed), steps):
            places = {name: one.intersect_range(tile).domain() for name, one in steps.items()}
            found = {name: one.intersect_params(fixed) for name, one in places.items()}
            return {name: one for name, one in found.items() if not one.is_empty()}
    raise InputError(
        "no whole tile is found inside of the program",
        hint="Its parameters are taken as multiples of the size of the tile; all loops must grow with them.",
    )


def _is_whole(tile: isl.Set, steps: Mapping[str, isl.Map]) -> bool:
    """Whether statements with all loops have every place of the tile or of their stage there, or none."""
    most = max(one.domain().dim(isl.dim_type.set) for one in steps.values())
    full = [one.range() for one in steps.values() if one.domain().dim(isl.dim_type.set) == most]
    inside = [one for one in full if not tile.is_disjoint(one)]
    stages = [without_parameters(isl.Set.from_basic_set(one.affine_hull())) for one in inside]
    whole = [tile.intersect(stage).is_subset(one) for stage, one in zip(stages, inside, strict=True)]
    return bool(whole) and all(whole)


def _cut_out(program: Program, inside: Mapping[str, isl.Set], context: isl.Set) -> Program:
    """The program of some instances alone; the parameters of the whole one have fixed values there."""
    gone = program.parameters
    assert program.schedule is not None
    here = union_of_sets(program.context.get_space(), inside.values())
    arrays = [
        array.name
        for array in program.arrays
        if not program.accesses(writes=True, array=array.name).intersect_domain(here).is_empty()
    ]
    flows = find_flows(program, order_of(program), arrays)
    statements = tuple(
        Statement(
            one.name, _without(inside[one.name], gone), tuple(_accesses(one, inside, flows, arrays, gone))
        )
        for one in program.statements
        if one.name in inside
    )
    live_out = [_without(cells, gone) for cells in _left_behind(program, here, flows, arrays)]
    found: list[Array] = []
    for name in arrays:
        written = program.accesses(writes=True, array=name).intersect_domain(here)
        if not written.is_injective():
            raise InputError(
                f"a tile writes cells of {name} several times, and other tiles need values in between",
                hint="Give every value a place of its own: --mode reallocate.",
            )
        (cells,) = sets_of(written.range())
        found.append(replace(program.array(name), cells=_without(coalesced(cells), gone)))
    folded = analyse(program).temporaries
    schedule = [_without(part, gone) for part in maps_of(program.schedule.intersect_domain(here))]
    space = context.get_space()
    return replace(
        program,
        context=context,
        statements=statements,
        arrays=tuple(found),
        schedule=union_of_maps(space, schedule),
        live_in=isl.UnionSet.empty(space),
        live_out=union_of_sets(space, live_out),
        temporaries=tuple(name for name in arrays if name in folded),
        extra_temporaries=(),
        source=None,
        relocation=Relocation(),
        assumptions=(),
        private={},
        is_as_written=True,
    )


def _accesses(
    statement: Statement,
    inside: Mapping[str, isl.Set],
    flows: Sequence[isl.Map],
    arrays: Sequence[str],
    gone: Sequence[str],
) -> list[Access]:
    """What instances of the tile write, and read of each other."""
    found: list[Access] = []
    for access in statement.accesses:
        if access.is_write:
            if not access.is_must:
                raise InputError(f"{statement.name} may or may not write {access.array}, so no tile is alone")
            own = access.relation.intersect_domain(inside[statement.name])
            found.append(replace(access, relation=_without(own, gone)))
    for flow in flows:
        writer, reader = flow.get_tuple_name(isl.dim_type.in_), flow.range().unwrap()
        if reader.get_tuple_name(isl.dim_type.in_) == statement.name and writer in inside:
            read = flow.intersect_domain(inside[str(writer)]).range().unwrap()
            read = read.intersect_domain(inside[statement.name])
            array = str(read.get_tuple_name(isl.dim_type.out))
            if array in arrays and not read.is_empty():
                found.append(Access(array, _without(coalesced(read), gone), is_write=False))
    return found


def _left_behind(
    program: Program, here: isl.UnionSet, flows: Sequence[isl.Map], arrays: Sequence[str]
) -> list[isl.Set]:
    """{ A[x] }: cells of the tile whose values are read outside of it, or are needed in the end."""
    found: list[isl.Set] = []
    for flow in flows:
        for one in maps_of(isl.UnionMap.from_map(flow).intersect_domain(here)):
            readers = isl.UnionMap.from_map(one.range().unwrap())
            found += [left.range() for left in maps_of(readers.subtract_domain(here))]
    for name in arrays:
        written = program.accesses(writes=True, array=name).intersect_domain(here)
        found += sets_of(written.range().intersect(program.live_out))
    return found


_Item = TypeVar("_Item", isl.Set, isl.Map)


def _without(item: _Item, parameters: Sequence[str]) -> _Item:
    """The same without parameters, whose values are known there."""
    for name in parameters:
        position = item.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            item = item.project_out(isl.dim_type.param, position, 1)
    return coalesced(item)


def _positive(names: Sequence[str]) -> str:
    return " and ".join(f"{name} >= {_LEAST}" for name in names) or "true"
