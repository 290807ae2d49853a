"""A region of C that was read -> its Program."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.c.source import CSource
from arrayfold.c.tree import Expression, Variable, declared_in, named_in, walk
from arrayfold.exact.isl import coalesced, fresh_names, parameter_space
from arrayfold.exact.relations import union_of_sets
from arrayfold.frontends.c.arrays import extent_box, find_kept, is_isl_name, possible_alias
from arrayfold.frontends.c.conditions import with_same_conditions
from arrayfold.frontends.c.effects import Effect
from arrayfold.frontends.c.openmp import hidden_values, needs_tasks
from arrayfold.frontends.c.places import Found, Loop, Position
from arrayfold.frontends.c.region_reader import RegionReader
from arrayfold.frontends.c.tasks import order_of_tasks
from arrayfold.frontends.c.untouched import untouched_fields
from arrayfold.order.guarded import with_guarded_order
from arrayfold.program.assumptions import Assumption
from arrayfold.program.model import Access, Array, Kept, Parallelism, Program, Statement


class RegionProgram:
    """Builds the program of a region.

    found  its statements
    maps   { S[i] -> A[x] }  of every statement, one for each of its effects
    """

    def __init__(self, reader: RegionReader) -> None:
        self._reader = reader
        self._names = reader.names
        self._context = reader.context.known
        self._parameters = list(reader.affine.parameters)
        self._found: Sequence[Found] = reader.found
        self._maps: Sequence[Sequence[isl.Map]] = reader.maps
        legal = reader.context.legal
        if not self._context.is_subset(legal):
            # At other sizes the program may do anything, also nothing.
            self._found = [
                replace(item, may=coalesced(item.may.intersect_params(legal))) for item in self._found
            ]
            self._maps = [
                [coalesced(relation.intersect_params(legal)) for relation in relations]
                for relations in self._maps
            ]

    def program(self, private: Mapping[str, int], parallel_start: int | None) -> Program:
        """The region as a program.

        private         variables of which each thread has its own
        parallel_start  where a parallel construct around the region begins, if there is one
        """
        context = self._context
        statements = tuple(map(self._statement, self._found, self._maps))
        schedule, parallel = _schedule(self._found, self._parameters)
        schedule = schedule.align_params(context.get_space())
        arrays = tuple(self._array(array, statements) for array in self._reader.arrays)
        kept = self._kept(private, parallel_start)
        source = self._source(schedule, parallel, frozenset(private))
        program = Program(
            name=self._reader.region.name,
            context=context,
            statements=statements,
            arrays=arrays,
            schedule=schedule,
            parallel=parallel,
            happens_before=self._happens_before(),
            live_in=isl.UnionSet.empty(context.get_space()),
            live_out=self._live_out(arrays, kept),
            temporaries=None,
            kept={self._names[array]: reason for array, reason in kept.items()},
            source=source,
            optional=_optional(statements, source, context),
            assumptions=(*self._reader.context.assumptions(), *self._untouched()),
            private=self._private(),
        )
        return with_guarded_order(with_same_conditions(program))

    def _source(
        self, schedule: isl.UnionMap, parallel: dict[int, Parallelism], of_clauses: frozenset[str]
    ) -> CSource:
        """The text behind the program."""
        reader, names = self._reader, self._names
        assigned = {effect.variable for item in self._found for effect in item.effects if effect.is_write}
        return CSource(
            reader.text,
            reader.region,
            {
                item.name: replace(item.source, cells=_cells(item, relations))
                for item, relations in zip(self._found, self._maps, strict=True)
            },
            {names[array]: array for array in reader.arrays},
            dict(reader.affine.parameters),
            schedule,
            parallel,
            reader.skipped,
            impure=reader.calls.hidden_state(assigned),
            pure=reader.calls.pure,
            may_alias=possible_alias(reader.arrays, frozenset(assigned), reader.own),
            has_tasks=needs_tasks(reader.directives),
            of_threads=reader.of_threads,
            of_clauses=of_clauses,
            hidden=hidden_values(reader.region.function, reader.directives),
            declared={
                names[array]: extent_box(names[array], extents)
                for array, extents in reader.extents.items()
                if array.is_array and all(extent is not None for extent in extents)
            },
            turns=reader.turns,
            sure=reader.sure,
            legal=reader.context.legal,
            uncertain=reader.uncertain.start if reader.uncertain is not None else None,
            flat={
                array: found.shape.strides
                for array, found in reader.subscripts.items()
                if found.shape is not None
            },
            pointers=reader.pointers.set_inside,
            allocations=reader.own.allocations,
            scratch=reader.own.scratch,
        )

    def _kept(self, private: Mapping[str, int], parallel_start: int | None) -> dict[Variable, Kept]:
        """The variables whose values may be needed after the region, and why."""
        reader = self._reader
        arrays = [array for array in reader.arrays if array.is_array]
        scalars = [array for array in reader.arrays if not array.is_array]
        kept = find_kept(
            reader.text,
            reader.region,
            arrays,
            reader.loops_of_variables,
            private,
            parallel_start,
            reader.own,
            reader.pointers.understood,
        )
        kept |= reader.calls.used_arrays(reader.arrays, reader.own.mentions)
        for array, reason in pointed_into(reader).items():
            if array in self._names:
                kept[array] = Kept(reason, is_final=True)
        for array in arrays:
            unread = reader.subscripts[array].unread
            if unread is not None:
                kept[array] = Kept(unread.reason, is_final=True)
        return kept | {scalar: Kept("a scalar", is_final=True) for scalar in scalars}

    def _private(self) -> dict[str, int]:
        """The variables that loop bodies declare, with the number of loops around."""
        loops = self._reader.loops_of_variables
        return {
            self._names[variable]: len(loops[variable])
            for variable in self._reader.arrays
            if loops.get(variable) and variable.storage == "local" and not variable.is_volatile
        }

    def _untouched(self) -> Iterator[Assumption]:
        """What is assumed of fields that the region does not write itself."""
        reader = self._reader
        pointers = (one for one in reader.arrays if one.type.kind == "pointer")
        effects = (effect for item in self._found for effect in item.effects)
        return untouched_fields(reader.text, [*reader.affine.parameters.values(), *pointers], effects)

    def _happens_before(self) -> isl.UnionMap | None:
        """{ S[i] -> T[j] }: the order that OpenMP's tasks leave, where there are any."""
        reader, parameters = self._reader, self._parameters
        if not needs_tasks(reader.directives):
            return None
        names = {item.name: _loop_names(item, parameters) for item in self._found}
        order = order_of_tasks(
            reader.text, reader.region, reader.directives, self._found, names, parameters, self._ranks()
        )
        return order.align_params(self._context.get_space()).intersect_params(self._context)

    def _ranks(self) -> dict[str, int | None]:
        """Names of the function's variables -> their numbers of subscripts, None for names of the region."""
        function = self._reader.region.function
        known = [*function.parameters, *declared_in(walk(function.body))]
        counts = Counter(variable.name for variable in known)
        return {
            variable.name: None
            if counts[variable.name] > 1 or self._reader.region.holds(variable.span.start)
            else variable.rank
            for variable in known
        }

    def _statement(self, item: Found, relations: Sequence[isl.Map]) -> Statement:
        names, space = _loop_names(item, self._parameters), self._context.get_space()
        accesses: list[Access] = []
        for effect, relation in zip(item.effects, relations, strict=True):
            array = self._names[effect.variable]
            sure = effect.scope.must.set_tuple_name(item.name)
            is_whole = effect.subscripts is not None and not effect.is_partial
            if not is_whole:
                sure = sure.subtract(sure)
            parts = ((relation.intersect_domain(sure), True), (relation.subtract_domain(sure), False))
            for part, is_must in parts:
                aligned = coalesced(part.align_params(space))
                for k, name in enumerate(names):
                    aligned = aligned.set_dim_name(isl.dim_type.in_, k, name)
                if not aligned.is_empty():
                    # What is assigned by a statement is assigned whenever it runs.
                    whenever_run = effect.is_write and is_whole
                    accesses.append(Access(array, aligned, effect.is_write, is_must, whenever_run))
        domain = item.may.set_tuple_name(item.name).align_params(space)
        for k, name in enumerate(names):
            domain = domain.set_dim_name(isl.dim_type.set, k, name)
        return Statement(item.name, domain, tuple(accesses))

    def _array(self, array: Variable, statements: Iterable[Statement]) -> Array:
        name, extents = self._names[array], self._reader.extents[array]
        touched = extent_box(name, extents)
        if any(extent is None for extent in extents):
            touched = isl.Set.empty(touched.get_space())
        for statement in statements:
            for access in statement.accesses:
                if access.array == name:
                    touched = touched.union(access.relation.range())
        cells = coalesced(touched.align_params(self._context.get_space()).intersect_params(self._context))
        return Array(name, self._dimension_names(array), cells)

    def _dimension_names(self, array: Variable) -> tuple[str, ...]:
        """Names of the dimensions: those of the iterators in the first access that writes, if they fit."""
        accesses = [
            effect
            for item in self._found
            for effect in sorted(item.effects, key=lambda effect: not effect.is_write)
            if effect.variable is array and effect.subscripts is not None
        ]
        taken = set(self._parameters)
        names: list[str] = []
        shape = self._reader.subscripts[array].shape
        for k in range(len(self._reader.extents[array])):
            wanted = [
                name
                for effect in accesses
                if (name := self._iterator_of_row(effect, k) if shape else _iterator_name(effect, k))
            ]
            fresh = (f"d{number}" for number in itertools.count(k))
            candidates = filter(is_isl_name, itertools.chain(wanted, fresh))
            names.append(next(name for name in candidates if name not in taken))
            taken.add(names[-1])
        return tuple(names)

    def _iterator_of_row(self, effect: Effect, dimension: int) -> str | None:
        """The iterator in a subscript of a flat array, if there is exactly one."""
        value = self._reader.subscripts[effect.variable].values[effect][dimension]
        if value is None:
            return None
        iterators = enumerate(effect.scope.iterators)
        names = [one.name for k, one in iterators if value.involves_dims(isl.dim_type.in_, k, 1)]
        return names[0] if len(names) == 1 else None

    def _live_out(self, arrays: Iterable[Array], kept: Mapping[Variable, Kept]) -> isl.UnionSet:
        """What exists after the region is needed after it."""
        stays = {
            self._names[variable]
            for variable in kept
            if variable.storage != "local"
            or variable.is_pointer
            or variable.is_array
            or not self._reader.region.holds(variable.span.start)
        }
        cells = (array.cells for array in arrays if array.name in stays)
        return union_of_sets(self._context.get_space(), cells)


def _optional(statements: Iterable[Statement], source: CSource, context: isl.Set) -> isl.UnionSet | None:
    """{ S[i] }: what runs under conditions on data only."""
    guarded = [one.domain for one in statements if source.statements[one.name].guards]
    total = union_of_sets(context.get_space(), guarded)
    return coalesced(total.intersect_params(context)) if guarded else None


def _loop_names(item: Found, taken: Collection[str]) -> list[str]:
    """The iterators' own names, if they are different ones; numbered ones otherwise."""
    names = [iterator.name for iterator in item.source.iterators]
    if len(set(names)) == len(names) and not set(names) & set(taken) and all(map(is_isl_name, names)):
        return names
    return fresh_names("i", len(names), taken)


def _cells(item: Found, relations: Sequence[isl.Map]) -> dict[Expression | Variable, isl.Map]:
    """element or variable -> { S[i] -> A[x] }"""
    pairs = zip(item.effects, relations, strict=True)
    return {effect.node: relation for effect, relation in pairs if effect.node is not None}


def _iterator_name(effect: Effect, dimension: int) -> str | None:
    """The iterator in a subscript, if there is exactly one."""
    if not effect.subscripts:
        return None
    named = named_in(walk(effect.subscripts[dimension]))
    names = {variable.name for variable in named if variable in effect.scope.iterators}
    return names.pop() if len(names) == 1 else None


def _schedule(
    found: Sequence[Found], parameters: Collection[str]
) -> tuple[isl.UnionMap, dict[int, Parallelism]]:
    """{ S[i] -> [t] } and its parallel dimensions, from the paths; dimensions that say nothing are left out.

    Every second level of a path is a loop. Where loops of one level are partly parallel, sequential ones
    and parallel ones get a dimension each.
    """
    levels = max((len(item.path) for item in found), default=0)
    columns: list[tuple[list[str], bool]] = []
    for level in range(levels):
        links = [item.path[level] if level < len(item.path) else None for item in found]
        for is_parallel in (False, True):
            column = [
                _time(link, is_parallel, _loop_names(item, parameters))
                for item, link in zip(found, links, strict=True)
            ]
            if len(set(column)) > 1 or not column[0].isdigit():
                columns.append((column, is_parallel))
    pieces = [
        f"{item.name}[{', '.join(_loop_names(item, parameters))}] -> "
        f"[{', '.join(column[row] for column, _ in columns)}]"
        for row, item in enumerate(found)
    ]
    domains = (item.may.set_tuple_name(item.name) for item in found)
    domain = union_of_sets(parameter_space(()), domains)
    schedule = isl.UnionMap(f"{{ {'; '.join(pieces)} }}").intersect_domain(domain)
    return schedule, {k: "doall" for k, (_, is_parallel) in enumerate(columns) if is_parallel}


def _time(link: Position | Loop | None, is_parallel: bool, names: Sequence[str]) -> str:
    match link:
        case Position(number=number) if not is_parallel:
            return str(number)
        case Loop(dimension=dimension, sign=sign, is_parallel=parallel) if parallel == is_parallel:
            return f"{'-' if sign < 0 else ''}{names[dimension]}"
        case _:
            return "0"


def pointed_into(reader: RegionReader) -> dict[Variable, str]:
    """Arrays that must stay because of pointers into them, and why."""
    found: dict[Variable, str] = {}
    for array, offset in reader.given.items():
        found[array] = f"given to a function in line {reader.text.line(offset)}"
    for pointer, address in reader.pointers.before(reader.region).items():
        name = pointer.name
        what = f"{name} changes inside the region" if pointer is address.array else f"{name} points into it"
        found.setdefault(address.array, what)
    return {array: why for array, why in found.items() if array in reader.arrays}
