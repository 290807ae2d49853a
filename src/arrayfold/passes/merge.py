"""One array for the cells of several: what is then folded is the memory of all of them.

Cells get common coordinates. An array that is written as it was declared keeps its subscripts; one that holds
the values of a statement has the subscripts that the statement wrote to, behind the iterators that these do
not tell. Arrays with cells at equal coordinates are told apart by a number, or by coordinates of 0 and 1, so
that a row of a mapping has an offset for each: M x + o_S.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.errors import InputError, MethodNotApplicable
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff
from arrayfold.exact.isl import coalesced, fresh_name, fresh_names, maps_of
from arrayfold.exact.pieces import affine_function
from arrayfold.exact.relations import union_of_maps
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.value_coordinates import value_coordinates
from arrayfold.program.model import Access, Array, Moved, Problem, Program, Statement


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where the cells of arrays are in one array for all of them.

    name     of the common array
    places   array -> { A[x] -> U[c] }
    numbers  how many arrays have cells at the same coordinates and are told apart by a number
    """

    name: str
    places: Mapping[str, isl.Map]
    numbers: int = 1

    def of_member(self, mapping: ModularMapping, array: Array) -> ModularMapping:
        """The mapping of the common array as one of a member."""
        place = self.places[array.name]
        names = dict(zip(mapping.dimensions, _formulas(place, array.dimensions), strict=True))
        rows: list[list[Formula]] = []
        offsets: list[Formula] = []
        for k in range(len(mapping.moduli)):
            found = mapping.row(k).replace_names(names).coefficients(array.dimensions)
            if found is None:
                raise MethodNotApplicable(f"the places of {array.name} in {self.name} are not affine")
            rows.append(found[0])
            offsets.append(found[1])
        return ModularMapping(
            array.name,
            array.dimensions,
            tuple(map(tuple, rows)),
            tuple(offsets),
            mapping.moduli,
            mapping.divisors,
        )


@dataclass(frozen=True)
class Merge:
    """Several arrays as parts of one.

    arrays      whose cells the common array has
    one_number  arrays with cells at the same coordinates are told apart by one more coordinate, a number;
                otherwise by several of 0 and 1, so that the rows of a mapping have any offset for each
    followed    0 for coordinates that are subscripts; otherwise which of the `choices` that follow values
    """

    name: ClassVar[str] = "merge"
    flags: ClassVar[tuple[str, ...]] = ("--share",)
    arrays: tuple[str, ...]
    one_number: bool = True
    followed: int = 0

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program in which these arrays are parts of one."""
        if not isinstance(program, Program):
            raise InputError("only arrays of a program can be merged, but the file gives conflicts")
        with as_budget(budget).limit("one memory for several arrays"):
            return merged(program, self.embedding(program))

    def embedding(self, program: Program) -> Embedding:
        """Where the cells are in the common array."""
        name = fresh_name("memory", [array.name for array in program.arrays])
        coordinates = {one: _coordinates(program, one) for one in self.arrays}
        if self.followed:
            coordinates = value_coordinates(program, coordinates)[self.followed - 1]
        coordinates = _padded(program, coordinates)
        numbers = _numbers(program, self.arrays, coordinates)
        subscripts = max(_subscripts(program, one) for one in self.arrays)
        places = _told_apart(coordinates, numbers, name, subscripts, one_number=self.one_number)
        # The judge sees cells of the common array only, so different cells must stay different.
        if not all(place.is_injective() for place in places.values()):
            raise MethodNotApplicable(f"cells of {', '.join(self.arrays)} cannot be told apart in one memory")
        return Embedding(name, places, max(numbers.values()) + 1)

    def choices(self, program: Program) -> int:
        """How many other coordinates there are, which follow values."""
        return len(value_coordinates(program, {one: _coordinates(program, one) for one in self.arrays}))


# ---------------------------------------------------------------- coordinates


def _coordinates(program: Program, name: str) -> isl.Map:
    """{ A[x] -> [c] }: coordinates of the cells of one array, different for different cells."""
    array = program.array(name)
    cells = array.cells.intersect_params(program.context)
    identity = isl.Map.identity(cells.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    # { [S[i] -> A[x]] -> B[i] } to { B[i] -> [x] }
    parts = [part.reverse().range_factor_range() for part in _own_writes(program, name)]
    if not parts:
        return identity.intersect_domain(cells)
    written = reduce(isl.Map.union, (part.reset_tuple_id(isl.dim_type.out) for part in parts))
    if affine_function(written) is None:
        return identity.intersect_domain(cells)
    untold = isl.Map.from_domain(cells)
    for k in range(array.rank):
        others = array.rank - k - 1
        one = identity.project_out(isl.dim_type.out, k + 1, others).project_out(isl.dim_type.out, 0, k)
        by_subscripts = written.reverse().apply_range(one).intersect_params(program.context)
        if not by_subscripts.is_single_valued():
            untold = untold.flat_range_product(one)
    return untold.flat_range_product(written).intersect_domain(cells)


def _own_writes(program: Program, name: str) -> list[isl.Map]:
    """{ [S[i] -> A[x]] -> B[i] }: what statements write to an array of their own, none for other arrays."""
    if name not in program.relocation.origins or program.relocation.moved is None:
        return []
    parts = maps_of(program.relocation.moved.writes)
    return [part for part in parts if part.get_tuple_name(isl.dim_type.out) == name]


def _padded(program: Program, coordinates: Mapping[str, isl.Map]) -> dict[str, isl.Map]:
    """The same with as many coordinates for all, further ones in front.

    An array that is written before those that have such a coordinate is at the value before the first, one
    that is written after them behind the last.
    """
    rank = max(part.dim(isl.dim_type.out) for part in coordinates.values())
    found: dict[str, isl.Map] = {}
    for name, part in coordinates.items():
        missing = rank - part.dim(isl.dim_type.out)
        for k in reversed(range(missing)):
            ends = [
                (other, one.range().dim_min(k), one.range().dim_max(k))
                for other, one in coordinates.items()
                if one.dim(isl.dim_type.out) == rank
            ]
            is_early = any(_starts_before(program, name, other) for other, _, _ in ends)
            value = (
                reduce(isl.PwAff.union_min, (low for _, low, _ in ends)).add_constant_val(isl.Val(-1))
                if is_early
                else reduce(isl.PwAff.union_max, (high for _, _, high in ends)).add_constant_val(isl.Val(1))
            )
            # Where the loops do not run any value will do, such as the one at other sizes.
            pieces = value.get_pieces()
            line = isl.Set.from_pw_aff(isl.PwAff.from_aff(pieces[0][1])) if pieces else isl.Set("{ [0] }")
            here = isl.Map.from_domain_and_range(part.domain(), line)
            part = here.flat_range_product(part)
        found[name] = part
    return found


def _starts_before(program: Program, first: str, second: str) -> bool:
    """Whether no write to one array comes after one to another."""
    if program.schedule is None:
        return False
    times = [
        program.accesses(writes=True, array=name).domain().apply(program.schedule) for name in (first, second)
    ]
    return bool(times[1].lex_lt_union_set(times[0]).intersect_params(program.context).is_empty())


# ---------------------------------------------------------------- arrays at equal coordinates


def _subscripts(program: Program, name: str) -> int:
    """How many of the last coordinates of an array are subscripts."""
    own = _own_writes(program, name)
    return own[0].domain().unwrap().dim(isl.dim_type.out) if own else program.array(name).rank


def _numbers(program: Program, arrays: Sequence[str], coordinates: Mapping[str, isl.Map]) -> dict[str, int]:
    """array -> a number; arrays with one number have no coordinates in common.

    Values of one array of the text have one number where they can, and numbers follow the order in which the
    loops write: then they continue the coordinates before them like the digits of a clock.
    """
    own = {name: _coordinates(program, name).dim(isl.dim_type.out) for name in arrays}
    in_loops = [name for name in arrays if own[name] == max(own.values())]
    found: dict[str, int] = {}
    taken: list[tuple[str, isl.Set]] = []
    for name in (*in_loops, *(name for name in arrays if name not in in_loops)):
        origin, mine = program.relocation.origins.get(name, name), coordinates[name].range()
        fitting = [k for k, (other, cells) in enumerate(taken) if other == origin and mine.is_disjoint(cells)]
        number = fitting[0] if fitting else len(taken)
        if not fitting:
            taken.append((origin, isl.Set.empty(mine.get_space())))
        taken[number] = (origin, taken[number][1].union(mine))
        found[name] = number
    return found


def _told_apart(
    coordinates: Mapping[str, isl.Map],
    numbers: Mapping[str, int],
    name: str,
    subscripts: int,
    *,
    one_number: bool,
) -> dict[str, isl.Map]:
    """{ A[x] -> U[c] } with a number before the subscripts, or a 0 or 1 for each number but the first."""
    count = max(numbers.values(), default=0)
    found: dict[str, isl.Map] = {}
    for one, part in coordinates.items():
        number = numbers[one]
        values = [number] * (count > 0) if one_number else [int(number == k + 1) for k in range(count)]
        at = max(part.dim(isl.dim_type.out) - subscripts, 0)
        part = part.insert_dims(isl.dim_type.out, at, len(values))
        for k, value in enumerate(values):
            part = part.fix_val(isl.dim_type.out, at + k, isl.Val(value))
        found[one] = part.set_tuple_name(isl.dim_type.out, name)
    return found


# ---------------------------------------------------------------- the program


def merged(program: Program, embedding: Embedding) -> Program:
    """The program in which arrays are parts of one, at given places."""
    name, places, arrays = embedding.name, embedding.places, [*embedding.places]
    cells = coalesced(reduce(isl.Set.union, (places[one].range() for one in arrays)))
    union = Array(name, tuple(fresh_names("c", cells.dim(isl.dim_type.set), program.parameters)), cells)
    source, before = program.source, program.relocation
    gone = {one: program.size_of(one) for one in arrays if one not in before.origins}
    return replace(
        program.with_arrays(arrays, [union]),
        statements=tuple(_moved_statement(one, embedding) for one in program.statements),
        live_in=_moved_cells(program.live_in, embedding),
        live_out=_moved_cells(program.live_out, embedding),
        relocation=replace(
            before,
            moved=Moved(
                _moved_accesses(program, embedding, writes=False),
                _moved_accesses(program, embedding, writes=True),
            ),
            origins={**{one: old for one, old in before.origins.items() if one not in arrays}, name: name},
            replaced={**before.replaced, **gone},
        ),
        source=None if source is None else source.with_arrays({name: arrays[0]}, arrays),
    )


def _moved_statement(statement: Statement, embedding: Embedding) -> Statement:
    def moved(access: Access) -> Access:
        if access.array not in embedding.places:
            return access
        relation = access.relation.apply_range(embedding.places[access.array])
        return replace(access, array=embedding.name, relation=relation)

    return replace(statement, accesses=tuple(map(moved, statement.accesses)))


def _moved_cells(cells: isl.UnionSet, embedding: Embedding) -> isl.UnionSet:
    for place in embedding.places.values():
        mine = isl.UnionSet.from_set(cells.extract_set(place.get_space().domain()))
        cells = cells.subtract(mine).union(mine.apply(isl.UnionMap.from_map(place)))
    return cells


def _moved_accesses(program: Program, embedding: Embedding, *, writes: bool) -> isl.UnionMap:
    """{ [S[i] -> A[x]] -> U[c] } for accesses of the text, and what was moved before."""
    places = embedding.places
    moved: list[isl.Map] = []
    if program.relocation.moved is not None:
        for part in maps_of(program.relocation.moved.writes if writes else program.relocation.moved.reads):
            place = places.get(str(part.get_tuple_name(isl.dim_type.out)))
            moved.append(part if place is None else part.apply_range(place))
    moved += [
        access.relation.range_map().apply_range(places[access.array])
        for statement in program.statements
        for access in statement.accesses
        if access.is_write == writes and access.array in places.keys() - program.relocation.origins.keys()
    ]
    return union_of_maps(program.context.get_space(), moved)


def _formulas(place: isl.Map, dimensions: Sequence[str]) -> list[Formula]:
    """The coordinates of { A[x] -> U[c] } as formulas of the names of x."""
    for k, name in enumerate(dimensions):
        place = place.set_dim_name(isl.dim_type.in_, k, name)
    form = affine_function(place)
    if form is None:
        raise MethodNotApplicable(f"the places of {place.get_tuple_name(isl.dim_type.in_)} are not affine")
    known = form.dim(isl.dim_type.param)
    cell = form.move_dims(isl.dim_type.param, known, isl.dim_type.in_, 0, len(dimensions))
    return [from_aff(cell.get_at(k)) for k in range(cell.dim(isl.dim_type.out))]
