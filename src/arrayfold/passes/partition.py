"""Programs whose arrays are stored tile by tile: one array inside of tiles, one on each side between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.errors import InputError
from arrayfold.c.source import StatementSource
from arrayfold.conflicts.liveness import Liveness, analyse
from arrayfold.exact.isl import coalesced, fresh_name, maps_of, sets_of
from arrayfold.exact.relations import union_of_maps
from arrayfold.passes.copies import CopySlots, CopyStatement, Move, copy_statement, moves_of
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.passes.tiling import Side, Tiling, ends_of, flows_of, sides_of, times_of, union_of
from arrayfold.program.guards import refuse_uncertain_loops
from arrayfold.program.model import Access, Array, Problem, Program, Statement, TileBuffer


class CannotPartition(InputError):
    """An array cannot be stored in tiles, itself or beside others."""

    def __init__(self, array: str, message: str) -> None:
        super().__init__(message)
        self.array = array


@dataclass(frozen=True, eq=False)
class Partition:
    """An array that is stored tile by tile.

    flows       { S[i] -> [T[j] -> A[x]] }  who reads what from whom
    local       the array inside of tiles
    between     side -> the array of what goes from tile to tile there
    dimensions  these arrays -> names of their coordinates
    """

    array: str
    tiling: Tiling
    flows: Sequence[isl.Map]
    moves: Sequence[Move]
    local: str
    between: Mapping[Side, str]
    dimensions: Mapping[str, tuple[str, ...]]

    def tile_coordinates(self, array: str) -> int:
        """How many coordinates of tiles one of the arrays has in front of those of the cell."""
        return self.tiling.rank if array == self.local else self.tiling.names


class PartitioningPass(ABC):
    """A pass that stores arrays in parts.

    what  what the parts are called
    """

    what: ClassVar[str]
    flags: ClassVar[tuple[str, ...]] = ("--local",)

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program with such parts, or an error that says why it has none."""
        given, limit = ready_for_parts(program, self.what), as_budget(budget)
        with limit.limit("the analysis"):
            liveness = analyse(given)
        return self.of(liveness, limit)

    @abstractmethod
    def of(
        self, liveness: Liveness, budget: Budget, progress: Callable[[str], None] = lambda _: None
    ) -> Program:
        """The program of an analysis with such parts."""


def ready_for_parts(problem: Problem, what: str) -> Program:
    """The program of a problem, if its arrays can be stored in parts, with the reads that new loops need.

    what  what the parts are called
    """
    if not isinstance(problem, Program):
        raise InputError(f"{what} need a program, but the file gives conflicts")
    refuse_uncertain_loops(problem, "arrays have no parts")
    return with_guard_reads(problem)


def with_all_parts(
    liveness: Liveness,
    arrays: Sequence[str],
    what: str,
    plan: Callable[[Program, str, list[str]], Partition | None],
    build: Callable[[Program, Sequence[Partition]], Program],
    budget: Budget,
    progress: Callable[[str], None],
) -> tuple[Program, str]:
    """The program with parts of its temporaries, and why an array has none, if one of them has none.

    Arrays that are named must allow that; of all temporaries, those that do not stay as they are.

    what   what the parts are called
    plan   program, array, names in use -> how the array is stored in parts, or None if it should not be
    build  program, such plans -> the program with the parts
    """
    program, why = liveness.program, "no array is folded"
    taken = taken_names(program)
    parts: list[Partition] = []
    with budget.limit(f"the {what}"):
        for name in dict.fromkeys(arrays or liveness.temporaries):
            progress(f"{name}: {what}")
            try:
                _check_values_stay(liveness, name)
                part = plan(program, name, taken)
            except InputError as error:
                if arrays:
                    raise
                why = error.message
                continue
            if part is not None:
                parts.append(part)
        progress(what)
        return _built(program, parts, build, is_strict=bool(arrays)), why


def _built(
    program: Program,
    parts: Sequence[Partition],
    build: Callable[[Program, Sequence[Partition]], Program],
    *,
    is_strict: bool,
) -> Program:
    """The program with all parts, or with those that can be stored so."""
    while parts:
        try:
            return build(program, parts)
        except CannotPartition as error:
            if is_strict:
                raise
            parts = [part for part in parts if part.array != error.array]
    return program


def _check_values_stay(liveness: Liveness, name: str) -> None:
    """Raise for an array whose values come from outside, or are needed there."""
    outside = sets_of(liveness.live_in.union(liveness.program.live_out))
    if name in {cells.get_tuple_name() for cells in outside}:
        raise InputError(f"{name} has values from before the program or for after it, so it has no buffer")


def part_of(
    program: Program,
    name: str,
    tiling: Tiling,
    words: tuple[str, str],
    coordinates: Sequence[str],
    taken: list[str],
) -> Partition:
    """How an array is stored in tiles.

    words        what the array inside of tiles is called, and those between
    coordinates  names for those of a tile
    taken        names that are in use; those of the arrays are added
    """
    flows = flows_of(program, [name])
    sides = sides_of(tiling, program.context, flows)
    outside = [] if tiling.keyed_by_tile else [tiling.outside]
    local = _new_name(f"{name}_{words[0]}", taken)
    between = {
        side: _new_name(f"{name}_{words[1]}{k if k else ''}", taken)
        for k, side in enumerate(dict.fromkeys([*sides, *outside]))
    }
    cell = program.array(name).dimensions
    in_front = tuple(coordinates) if tiling.keyed_by_tile else ()
    dimensions = {local: (*coordinates, *cell), **dict.fromkeys(between.values(), (*in_front, *cell))}
    moves = moves_of(tiling, program, name, sides)
    return Partition(name, tiling, flows, moves, local, between, dimensions)


def taken_names(program: Program) -> list[str]:
    """The names that are in use."""
    return [*(one.name for one in program.arrays), *(one.name for one in program.statements)]


def with_parts(program: Program, parts: Sequence[Partition]) -> Program:
    """The same program with arrays stored in tiles, with copies at the places that all of them share.

    It is checked that every read sees the value that it saw before.
    """
    _check_tiles_come_first(parts)
    times = times_of(program)
    moves = list(_moves(parts))
    rows = (row for part in parts for row in part.tiling.tiles)
    places = CopySlots.of(times.values(), rows, (move for _, move in moves))
    taken = [*taken_names(program), *(name for part in parts for name in part.dimensions)]
    copies = [_copy(part, move, places, taken) for part, move in moves]
    statements = [
        *(_moved(statement, parts) for statement in program.statements),
        *(copy.statement for copy in copies),
    ]
    all_times = [*map(places.placed, times.values()), *(copy.times for copy in copies)]
    schedule = union_of_maps(program.context.get_space(), all_times)
    new = {part.array: _arrays(statements, part.dimensions) for part in parts}
    arrays = [array for found in new.values() for array in found]
    buffers = {part.local: _buffer(program, part, new[part.array]) for part in parts}
    source = program.source
    if source is not None:
        added = {copy.statement.name: StatementSource(copy.source, ()) for copy in copies}
        origins = {array.name: name for name, found in new.items() for array in found}
        # In another order the loops that run in parallel are others than those of the text.
        source = replace(
            source,
            statements={**source.statements, **added},
            of_threads=source.of_threads if program.is_as_written else program.private_variables(),
        ).with_arrays(origins, new)
    result = replace(
        program.with_arrays(new, arrays),
        statements=tuple(statements),
        schedule=schedule,
        parallel={places.position(d): meaning for d, meaning in program.parallel.items()},
        relocation=replace(program.relocation, buffers={**program.relocation.buffers, **buffers}),
        source=source,
    )
    for part in parts:
        _check_values(part, result, [copy.statement.name for copy in copies])
    return result


def _check_tiles_come_first(parts: Sequence[Partition]) -> None:
    """Raise where copies of an array would stand among the dimensions that say the tile of another one."""
    for part in parts:
        for other in parts:
            if not part.tiling.keyed_by_tile and min(other.tiling.tiles) < part.tiling.rank:
                raise CannotPartition(
                    part.array,
                    f"{part.array} and {other.array} are accessed in loops of different shape, so they "
                    "cannot both have buffers",
                )


def _moves(parts: Iterable[Partition]) -> Iterable[tuple[Partition, Move]]:
    """The moves of all parts, each array at places of its own."""
    before = 0
    for part in parts:
        for move in part.moves:
            yield part, replace(move, place=move.place - before if move.is_load else move.place + before)
        before += len(part.between)


def _copy(part: Partition, move: Move, places: CopySlots, taken: list[str]) -> CopyStatement:
    name = _new_name(f"{part.array}_{'load' if move.is_load else 'store'}", taken)
    return copy_statement(part.tiling, move, name, part.local, part.between[move.side], places)


def _buffer(program: Program, part: Partition, arrays: Iterable[Array]) -> TileBuffer:
    size = program.size_of(part.array)
    borders = tuple(array.name for array in arrays if array.name != part.local)
    return TileBuffer(
        part.local, part.array, part.tiling.rank, borders, size, is_persistent=part.tiling.keyed_by_tile
    )


def _new_name(name: str, taken: list[str]) -> str:
    """A name like this that is not in use, and is from now on."""
    found = fresh_name(name, taken)
    taken.append(found)
    return found


def _moved(statement: Statement, parts: Iterable[Partition]) -> Statement:
    """The statement with the cells of its tile, if it is in one, and otherwise with those between tiles."""
    by_array = {part.array: part for part in parts}
    return replace(
        statement,
        accesses=tuple(
            _moved_access(access, statement.name, by_array[access.array])
            if access.array in by_array
            else access
            for access in statement.accesses
        ),
    )


def _moved_access(access: Access, statement: str, part: Partition) -> Access:
    relation, tiling = access.relation, part.tiling
    array = part.local
    if statement in tiling.rows:
        relation = tiling.tile_of(statement).flat_range_product(relation)
    else:
        array = part.between[tiling.outside]
    return replace(access, array=array, relation=relation.set_tuple_name(isl.dim_type.out, array))


def _arrays(statements: Iterable[Statement], names: Mapping[str, tuple[str, ...]]) -> list[Array]:
    """The arrays that statements access, out of those of these names and dimensions."""
    found: list[Array] = []
    accesses = [access for statement in statements for access in statement.accesses]
    for name, dimensions in names.items():
        used = [access.relation.range() for access in accesses if access.array == name]
        if used:
            found.append(Array(name, dimensions, coalesced(union_of(used))))
    return found


def _check_values(part: Partition, new: Program, copies: Sequence[str]) -> None:
    """Raise unless every read sees, through the copies, the value that it saw before."""
    space = new.context.get_space()
    flows = flows_of(new, list(part.dimensions))
    into_copies = [flow.range_factor_domain() for flow in flows if ends_of(flow)[1] in copies]
    out_of_copies = union_of_maps(space, into_copies).reverse()
    seen = union_of_maps(
        space, (_of_old_cells(flow, part) for flow in flows if ends_of(flow)[1] not in copies)
    )
    for _ in part.moves:
        steps = (
            isl.UnionMap.from_map(one).apply_domain(out_of_copies)
            if one.get_tuple_name(isl.dim_type.in_) in copies
            else one
            for one in maps_of(seen)
        )
        seen = union_of_maps(space, steps)
    before = union_of_maps(space, part.flows)
    seen, before = (one.intersect_params(new.context) for one in (seen, before))
    if not seen.is_equal(before):
        message = f"a buffer would change what is read from {part.array}, so it stays as it is"
        raise CannotPartition(part.array, message)


def _of_old_cells(flow: isl.Map, part: Partition) -> isl.Map:
    """{ S[i] -> [T[j] -> L[t, x]] } to { S[i] -> [T[j] -> A[x]] }."""
    reads = flow.range().unwrap()
    array = str(reads.get_tuple_name(isl.dim_type.out))
    cell = [f"x{k}" for k in range(reads.dim(isl.dim_type.out))]
    old = ", ".join(cell[part.tile_coordinates(array) :])
    drop = isl.Map(f"{{ {array}[{', '.join(cell)}] -> {part.array}[{old}] }}")
    reader = isl.Map.identity(reads.get_space().domain().map_from_set())
    return flow.apply_range(reader.product(drop))
