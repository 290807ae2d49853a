"""C files with `#pragma scop` regions -> programs."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.source import CSource, CText, Region, assigned_variable, loop_variable
from arrayfold.c.tree import Declare, Expression, For, Reference, Span, Variable, walk
from arrayfold.exact.isl import coalesced, fresh_names, parameter_space
from arrayfold.exact.relations import union_of_sets
from arrayfold.frontends.c.affine import AffineReader
from arrayfold.frontends.c.arrays import (
    extent_box,
    find_kept,
    hidden_variables,
    is_isl_name,
    model_names,
    possible_alias,
    read_extents,
    refuse_unknown_pointers,
    variables_of,
)
from arrayfold.frontends.c.assumptions import ContextBuilder, Need
from arrayfold.frontends.c.calls import CallsOfRegion
from arrayfold.frontends.c.clang import parse_c
from arrayfold.frontends.c.conditions import with_same_conditions
from arrayfold.frontends.c.effects import Effect
from arrayfold.frontends.c.integers import type_ranges
from arrayfold.frontends.c.openmp import (
    Directive,
    needs_tasks,
    parallel_around,
    parallel_loops,
    private_names,
    read_directives,
)
from arrayfold.frontends.c.regions import PragmaOption, active_pragmas, find_pure, find_regions, find_wishes
from arrayfold.frontends.c.tasks import order_of_tasks
from arrayfold.frontends.c.walk import Found, Loop, Position, RegionWalk
from arrayfold.frontends.options import apply_options, read_context
from arrayfold.order.guarded import with_guarded_order
from arrayfold.program.model import Access, Array, Kept, Parallelism, Program, Statement

_WIDEST = 64
_BEYOND_C = re.compile(r"\d{19,}")


def read_c(
    file: str,
    data: bytes,
    arguments: Sequence[str] = (),
    origin: Callable[[int], SourcePosition | None] | None = None,
    context: str | None = None,
) -> list[Program]:
    """The regions of a C file as programs, in the order of the file.

    origin   where the text of a byte comes from, if the C was made from another language
    context  what the user says of the parameters, so that nothing more than needed is assumed of them
    """
    unit = parse_c(file, data, arguments)
    text = CText(file, data, tuple(arguments), unit.macros, origin, unit.names)
    pragmas = active_pragmas(text, unit)
    programs: list[Program] = []
    pure = find_pure(text, unit, pragmas)
    for region in find_regions(text, unit, pragmas):
        directives = read_directives(text, region, pragmas, unit.skipped)
        wishes = find_wishes(text, region.function, pragmas)
        said = [wish.argument for wish in wishes if wish.clause == "context"] + ([context] if context else [])
        reader = _RegionReader(text, region, directives, unit.skipped, pure, said)
        while reader.must_read_again:
            reader = _RegionReader(text, region, directives, unit.skipped, pure, said, reader.context)
        private = private_names(text, region, pragmas)
        program = reader.program(private, parallel_around(text, region, pragmas))
        programs.append(_apply_pragmas(program, text, wishes))
    return programs


def _apply_pragmas(program: Program, text: CText, wishes: Iterable[PragmaOption]) -> Program:
    """The program with what its own pragmas say."""
    for wish in wishes:
        try:
            if wish.clause == "temporary":
                for name in filter(None, (part.strip() for part in wish.argument.split(","))):
                    program = program.with_temporary(name)
            elif wish.clause == "no_alias":
                program = program.without_aliases()
            elif wish.clause != "pure":
                said = {wish.clause: wish.argument}
                narrowed = apply_options(program, context=said.get("context"), live_out=said.get("live_out"))
                assert isinstance(narrowed, Program)
                program = narrowed
        except InputError as error:
            inside = error.place.column - 1 if error.place else 0
            raise text.error(error.message, wish.at + inside, error.hint) from None
    return program


class _RegionReader:
    """One region: names, parameters, arrays, statements.

    A value that wraps around for some parameter values makes more cases of everything. So the region is read
    again where it turns out that these values do not occur.
    """

    def __init__(
        self,
        text: CText,
        region: Region,
        directives: Sequence[Directive],
        skipped: Sequence[Span],
        pure: frozenset[str] = frozenset(),
        said: Sequence[str] = (),
        before: ContextBuilder | None = None,
    ) -> None:
        self._text = text
        self._skipped = skipped
        self._region = region
        self._variables = variables_of(region.function, region)
        self._names = model_names(self._variables)
        self._iterators = frozenset(
            variable
            for node in region.nodes()
            if isinstance(node, For) and (variable := loop_variable(node)) is not None
        )
        loop_headers = {
            inner
            for node in region.nodes()
            if isinstance(node, For)
            for part in (node.start, node.step)
            if part is not None
            for inner in walk(part)
        }
        assigned = (assigned_variable(node) for node in region.nodes() if node not in loop_headers)
        declared = {
            variable
            for node in region.nodes()
            if node not in loop_headers
            for variable in getattr(node, "variables", ())
        }
        self._calls = CallsOfRegion.of(region, pure)
        self._calls.refuse_second_returns(text)
        self._written = frozenset(
            declared
            | {variable for variable in assigned if variable is not None}
            | self._calls.changed(self._variables)
        )
        known = isl.Set("{ : }") if before is None else before.known.intersect(before.large)
        self._affine = AffineReader(text, self._names, self._written, self._iterators, known)
        self._directives = directives
        parallel = set[For]() if needs_tasks(directives) else parallel_loops(directives)
        self._of_threads = frozenset(
            variable
            for loop in parallel
            for node in walk(loop.body)
            if isinstance(node, Declare)
            for variable in node.variables
        )
        self._walk = RegionWalk(text, region, self._affine, self._is_data, parallel)
        self._found = self._walk.run(region.statements)
        self._arrays = self._accessed_arrays()
        refuse_unknown_pointers(text, region, self._arrays)
        assigned_anywhere = {assigned_variable(node) for node in walk(region.function.body)}
        changed = frozenset(one for one in assigned_anywhere if one is not None)
        changed |= hidden_variables(region.function, self._arrays)
        count = len(self._affine.needs)
        self._extents = {array: read_extents(array, self._affine, changed) for array in self._arrays}
        of_extents = self._affine.needs[count:]
        self._maps = [[self._relation(item.name, effect) for effect in item.effects] for item in self._found]
        said_of_parameters = isl.Set("{ : }")
        for part in said:
            stated = read_context(list(self._affine.parameters), part)
            said_of_parameters = (
                said_of_parameters if stated is None else said_of_parameters.intersect(stated)
            )
        self.context = ContextBuilder(text, self._affine.parameters, said_of_parameters, before)
        is_new = [self.context.meet(need) for need in of_extents]
        if not any(is_new):
            self._require()
            is_new = [self.context.meet(need) for need in (*self._affine.needs, *self._signed_sizes())]
        final = self.context.known.intersect(self.context.large)
        self.must_read_again = any(is_new) or (bool(self._affine.wraps) and not known.is_subset(final))

    def _signed_sizes(self) -> Iterator[Need]:
        """No size has all of 64 bits where only numbers that C does not have tell when a value wraps."""
        wide = [wrap for wrap in self._affine.wraps if wrap.kind.bits >= _WIDEST]
        if not wide or not any(_BEYOND_C.search(str(item.may)) for item in self._found):
            return
        at = wide[0].offset
        error = self._text.not_affine("this value may wrap around", at)
        for name, variable in self._affine.parameters.items():
            if variable.type.bits >= _WIDEST and variable.type.kind == "unsigned":
                everything = isl.Set(f"[{name}] -> {{ : }}")
                huge = isl.Set(f"[{name}] -> {{ : {name} >= {2 ** (_WIDEST - 1)} }}")
                yield Need(huge, everything, f"{variable.name} fits into a signed type", at, error)

    def _is_data(self, variable: Variable) -> bool:
        """Whether accesses to a variable are part of the model: arrays, and scalars that are no sizes."""
        if variable.is_array or variable in self._written:
            return True
        return not variable.type.is_integer

    # ------------------------------------------------ the program

    def program(self, private: Mapping[str, int], parallel_start: int | None) -> Program:
        """The region as a program.

        private         variables of which each thread has its own
        parallel_start  where a parallel construct around the region begins, if there is one
        """
        found, arrays, extents, maps = self._found, self._arrays, self._extents, self._maps
        context = self.context.known
        legal = self.context.legal
        if not context.is_subset(legal):
            # At other sizes the program may do anything, also nothing.
            found = [replace(item, may=coalesced(item.may.intersect_params(legal))) for item in found]
            maps = [[coalesced(one.intersect_params(legal)) for one in relations] for relations in maps]
        statements = tuple(
            self._statement(item, relations, context) for item, relations in zip(found, maps, strict=True)
        )
        schedule, parallel = _schedule(found, self._affine.parameters)
        kept = find_kept(
            self._text,
            self._region,
            [array for array in arrays if array.is_array],
            self._walk.loops_of_variables,
            private,
            parallel_start,
        )
        kept |= self._calls.used_arrays(arrays)
        kept |= {array: Kept("a scalar", is_final=True) for array in arrays if not array.is_array}
        model_arrays = tuple(
            self._array(array, found, extents[array], statements, context) for array in arrays
        )
        schedule = schedule.align_params(context.get_space())
        source = CSource(
            self._text,
            self._region,
            {
                item.name: replace(item.source, cells=_cells(item, relations))
                for item, relations in zip(found, maps, strict=True)
            },
            {self._names[array]: array for array in arrays},
            dict(self._affine.parameters),
            schedule,
            parallel,
            tuple(span for span in self._skipped if self._region.holds(span.start)),
            impure=self._calls.hidden_state(self._assigned(found)),
            pure=self._calls.pure,
            may_alias=possible_alias(arrays, frozenset(self._assigned(found))),
            has_tasks=needs_tasks(self._directives),
            of_threads=self._of_threads,
            declared={
                self._names[array]: extent_box(self._names[array], extents[array])
                for array in arrays
                if array.is_array and all(extent is not None for extent in extents[array])
            },
            legal=legal,
        )
        program = Program(
            name=self._region.name,
            context=context,
            statements=statements,
            arrays=model_arrays,
            schedule=schedule,
            parallel=parallel,
            happens_before=self._happens_before(found, context),
            live_in=isl.UnionSet.empty(context.get_space()),
            live_out=self._live_out(model_arrays, kept, context),
            temporaries=None,
            kept={self._names[array]: reason for array, reason in kept.items()},
            source=source,
            optional=_optional(statements, source, context),
            assumptions=self.context.assumptions(),
            private=self._private(arrays),
        )
        return with_guarded_order(with_same_conditions(program))

    def _private(self, arrays: Iterable[Variable]) -> dict[str, int]:
        """The variables that loop bodies declare, with the number of loops around."""
        loops = self._walk.loops_of_variables
        return {
            self._names[variable]: len(loops[variable])
            for variable in arrays
            if loops.get(variable) and variable.storage == "local" and not variable.is_volatile
        }

    def _happens_before(self, found: Sequence[Found], context: isl.Set) -> isl.UnionMap | None:
        """{ S[i] -> T[j] }: the order that OpenMP's tasks leave, where there are any."""
        if not needs_tasks(self._directives):
            return None
        parameters = list(self._affine.parameters)
        names = {item.name: _loop_names(item, parameters) for item in found}
        order = order_of_tasks(
            self._text, self._region, self._directives, found, names, parameters, self._ranks()
        )
        return order.align_params(context.get_space()).intersect_params(context)

    def _ranks(self) -> dict[str, int | None]:
        """Names of the function's variables -> their numbers of subscripts, None for names of the region."""
        function = self._region.function
        declared = [
            variable
            for node in walk(function.body)
            if isinstance(node, Declare)
            for variable in node.variables
        ]
        counts = Counter(variable.name for variable in (*function.parameters, *declared))
        return {
            variable.name: None
            if counts[variable.name] > 1 or self._region.holds(variable.span.start)
            else variable.rank
            for variable in (*function.parameters, *declared)
        }

    def _accessed_arrays(self) -> list[Variable]:
        accessed = {effect.variable for item in self._found for effect in item.effects}
        return [variable for variable in self._variables if variable in accessed]

    def _assigned(self, found: Sequence[Found]) -> set[Variable]:
        return {effect.variable for item in found for effect in item.effects if effect.is_write}

    def _relation(self, name: str, effect: Effect) -> isl.Map:
        """{ S[i] -> A[x] }, on the iterations that may reach it."""
        array = self._names[effect.variable]
        domain = effect.scope.may
        if effect.subscripts is None:
            cells = extent_box(array, self._extents[effect.variable])
            relation = isl.Map.from_domain_and_range(domain, cells)
        else:
            relation = isl.Map.from_domain(domain)
            for subscript in effect.subscripts:
                value = self._affine.subscript(subscript, effect.scope)
                relation = relation.flat_range_product(isl.Map.from_pw_aff(value))
        relation = relation.set_tuple_name(isl.dim_type.in_, name)
        return coalesced(relation.set_tuple_name(isl.dim_type.out, array))

    def _statement(self, item: Found, relations: Sequence[isl.Map], context: isl.Set) -> Statement:
        accesses: list[Access] = []
        for effect, relation in zip(item.effects, relations, strict=True):
            array = self._names[effect.variable]
            sure = effect.scope.must.set_tuple_name(item.name)
            is_whole = effect.subscripts is not None and not effect.is_partial
            if not is_whole:
                sure = sure.subtract(sure)
            parts = ((relation.intersect_domain(sure), True), (relation.subtract_domain(sure), False))
            for part, is_must in parts:
                aligned = coalesced(part.align_params(context.get_space()))
                for k, name in enumerate(_loop_names(item, self._affine.parameters)):
                    aligned = aligned.set_dim_name(isl.dim_type.in_, k, name)
                if not aligned.is_empty():
                    # What is assigned by a statement is assigned whenever it runs.
                    whenever_run = effect.is_write and is_whole
                    accesses.append(Access(array, aligned, effect.is_write, is_must, whenever_run))
        domain = item.may.set_tuple_name(item.name).align_params(context.get_space())
        for k, name in enumerate(_loop_names(item, self._affine.parameters)):
            domain = domain.set_dim_name(isl.dim_type.set, k, name)
        return Statement(item.name, domain, tuple(accesses))

    def _array(
        self,
        array: Variable,
        found: Sequence[Found],
        extents: Sequence[isl.PwAff | None],
        statements: Iterable[Statement],
        context: isl.Set,
    ) -> Array:
        name = self._names[array]
        touched = extent_box(name, extents)
        if any(extent is None for extent in extents):
            touched = isl.Set.empty(touched.get_space())
        for statement in statements:
            for access in statement.accesses:
                if access.array == name:
                    touched = touched.union(access.relation.range())
        cells = coalesced(touched.align_params(context.get_space()).intersect_params(context))
        return Array(name, self._dimension_names(array, found), cells)

    def _dimension_names(self, array: Variable, found: Sequence[Found]) -> tuple[str, ...]:
        """Names of the dimensions: those of the iterators in the first access that writes, if they fit."""
        accesses = [
            effect
            for item in found
            for effect in sorted(item.effects, key=lambda effect: not effect.is_write)
            if effect.variable is array and effect.subscripts is not None
        ]
        taken = set(self._affine.parameters)
        names: list[str] = []
        for k in range(array.rank):
            wanted = [
                name
                for effect in accesses
                if effect.subscripts and (name := _iterator_name(effect, k)) is not None
            ]
            fresh = (f"d{number}" for number in itertools.count(k))
            candidates = filter(is_isl_name, itertools.chain(wanted, fresh))
            names.append(next(name for name in candidates if name not in taken))
            taken.add(names[-1])
        return tuple(names)

    def _live_out(
        self, arrays: Iterable[Array], kept: Mapping[Variable, Kept], context: isl.Set
    ) -> isl.UnionSet:
        """What exists after the region is needed after it."""
        stays = {
            self._names[variable]
            for variable in kept
            if variable.storage != "local"
            or variable.is_pointer
            or variable.is_array
            or not self._region.holds(variable.span.start)
        }
        return union_of_sets(context.get_space(), (one.cells for one in arrays if one.name in stays))

    # ------------------------------------------------ the context

    def _require(self) -> None:
        """What C guarantees of the parameters: sizes are positive and no access leaves its array."""
        for array, extents in self._extents.items():
            known = [extent.pos_set().params() for extent in extents if extent is not None]
            reason = f"{'extent' if len(known) == 1 else 'extents'} of {array.name}"
            self.context.require(known, reason, array.at)
        for item, relations in zip(self._found, self._maps, strict=True):
            for effect, relation in zip(item.effects, relations, strict=True):
                self._require_inside(item, effect, relation)

    def _require_inside(self, item: Found, effect: Effect, relation: isl.Map) -> None:
        array = effect.variable
        if effect.subscripts is None or not array.is_array:
            return
        extents = enumerate(self._extents[array])
        enforced = [None if k == 0 and array.is_pointer else extent for k, extent in extents]
        surely = relation.intersect_domain(effect.scope.must.set_tuple_name(item.name))
        outside = surely.range().subtract(extent_box(self._names[array], enforced)).params()
        if self._affine.wraps:
            types = type_ranges(self._affine.parameters, ()).params()
            outside = outside.intersect(types).gist(types)
        if outside.intersect(self.context.known).is_empty():
            return
        if self.context.known.is_subset(outside):
            raise self._text.error(f"this access is outside {array.name}, whatever the sizes", effect.offset)
        self.context.rule_out(outside, f"{self._words(effect)} is inside", effect.offset)

    def _words(self, effect: Effect) -> str:
        """An access as the text has it."""
        span = getattr(effect.node, "span", None)
        if span is None or not span.is_text:
            return f"an element of {effect.variable.name}"
        return " ".join(self._text.text[span.start : span.end].split())


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
    assert effect.subscripts is not None
    names = {
        node.variable.name
        for node in walk(effect.subscripts[dimension])
        if isinstance(node, Reference) and node.variable in effect.scope.iterators
    }
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
