"""A region of C as it is read: its variables and statements, and what it needs of the parameters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from arrayfold.c.calls import changed_by, globals_of, hidden_state, may_use_any_global, returns_twice
from arrayfold.c.source import CText, Region, assigned_in, loop_variable, variables_with_address
from arrayfold.c.tree import Binary, Call, For, Node, Span, Variable, declared_in, walk
from arrayfold.exact.factors import quotient
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.allocations import SizeReader, find_own_memory
from arrayfold.frontends.c.arrays import (
    extent_box,
    extent_nodes,
    hidden_variables,
    model_names,
    read_extents,
    refuse_unknown_pointers,
    uses_of_arrays,
    variables_of,
)
from arrayfold.frontends.c.assumptions import ContextBuilder, Need
from arrayfold.frontends.c.effects import Effect
from arrayfold.frontends.c.initial import initial_values
from arrayfold.frontends.c.integers import constant, type_ranges
from arrayfold.frontends.c.intervals import interval_of
from arrayfold.frontends.c.jumps import has_jumps
from arrayfold.frontends.c.openmp import OrderDirective, needs_tasks, parallel_loops
from arrayfold.frontends.c.places import Found
from arrayfold.frontends.c.stated import stated_before
from arrayfold.frontends.c.subscripts import SubscriptReader, Subscripts
from arrayfold.frontends.c.walk import RegionWalk
from arrayfold.frontends.options import read_context
from arrayfold.program.model import Kept

_WIDEST = 64
_BEYOND_C = re.compile(r"\d{19,}")


class RegionReader:
    """One region: names, parameters, arrays, statements.

    found    the statements
    arrays   the variables that they access, arrays and scalars
    maps     { S[i] -> A[x] }  of every statement, one for each of its effects
    context  what is known of the parameters, and what is assumed

    on_data  for loops of which data says how often they run

    A value that wraps around for some parameter values makes more cases of everything. So the region is read
    again where it turns out that these values do not occur.

    Its parameters are what the file, its pragmas and an earlier reading say of a region.
    """

    def __init__(
        self,
        text: CText,
        region: Region,
        directives: Sequence[OrderDirective],
        skipped: Sequence[Span],
        pure: frozenset[str] = frozenset(),
        said: Sequence[str] = (),
        before: ContextBuilder | None = None,
        on_data: frozenset[For] = frozenset(),
    ) -> None:
        self.text = text
        self.region = region
        self.directives = directives
        self.skipped = tuple(span for span in skipped if region.holds(span.start))
        variables = variables_of(region.function, region)
        self.names = model_names(variables)
        self.calls = _RegionCalls.of(region, pure)
        self.calls.refuse_second_returns(text)
        self._written = _written(region, on_data) | self.calls.changed(variables)
        known = isl.Set("{ : }") if before is None else before.known.intersect(before.large)
        self.affine = AffineReader(
            text, self.names, self._written, _iterators(region, on_data), known, initial_values(region)
        )
        _refuse_jumps_beside_tasks(text, region, directives)
        parallel = set[For]() if needs_tasks(directives) else parallel_loops(directives)
        self.of_threads = frozenset(
            variable for loop in parallel for variable in declared_in(walk(loop.body))
        )
        of_tasks = {one.statement for one in directives if one.statement is not None}
        region_walk = RegionWalk(text, region, self.affine, self._is_data, parallel, on_data, of_tasks)
        self.found = region_walk.run(region.statements)
        self.loops_of_variables = _with_loops_of_fields(region_walk.loops_of_variables, variables)
        self.uncertain = region_walk.uncertain
        self.turns = region_walk.turns
        self.sure = region_walk.sure
        self.pointers = region_walk.pointers
        self.given = region_walk.given
        accessed = {effect.variable for item in self.found for effect in item.effects}
        self.arrays = [variable for variable in variables if variable in accessed]
        self.own = find_own_memory(text, region, self.affine.parameters.values())
        refuse_unknown_pointers(text, region, self.arrays, self.own)
        count = len(self.affine.needs)
        self.extents = self._read_extents()
        of_extents = self.affine.needs[count:]
        self.subscripts = self._read_subscripts()
        self.found = [self._with_unknown_elements(item) for item in self.found]
        self.own = find_own_memory(text, region, self.affine.parameters.values())
        self.maps = [[self._relation(item.name, effect) for effect in item.effects] for item in self.found]
        self.context = ContextBuilder(text, self.affine.parameters, self._stated(said), before)
        of_extents += self._factors()
        self.must_read_again = self._build_context(of_extents, known)

    def _is_data(self, variable: Variable) -> bool:
        """Whether accesses to a variable are part of the model: arrays, and scalars that are not sizes."""
        if variable.is_array or variable in self._written:
            return True
        return not variable.type.is_integer

    @property
    def _sizes(self) -> SizeReader:
        """Reads how much the function allocates."""
        names = {variable: name for name, variable in self.affine.parameters.items()}
        return SizeReader(self.text, self.region.function, names)

    def _read_extents(self) -> dict[Variable, list[isl.PwAff | None]]:
        function = self.region.function
        changed = frozenset(assigned_in(walk(function.body))) | hidden_variables(function, self.arrays)
        calls = (node.function for node in walk(function.body) if isinstance(node, Call))
        may_change = any(map(may_use_any_global, calls))
        fields = (one for one in self.names if one.holder is not None and one.storage == "global")
        changed |= {one for one in fields if may_change or one.holder in changed}
        found = {array: read_extents(array, self.affine, changed) for array in self.arrays}
        for array, allocation in self.own.allocations.items():
            rows = self._sizes.rows(allocation) if array in found else None
            if rows is not None and rows.is_affine:
                found[array][0] = to_pw_aff(rows, Scope.outside().space)
        return found

    def _read_subscripts(self) -> dict[Variable, Subscripts]:
        """The subscripts of arrays; flat ones get the extents of their shapes."""
        reader = SubscriptReader(self.text, self.affine)
        effects = [effect for item in self.found for effect in item.effects if effect.subscripts is not None]
        found: dict[Variable, Subscripts] = {}
        changed = frozenset(assigned_in(walk(self.region.function.body)))
        written = {effect.variable for item in self.found for effect in item.effects if effect.is_write}
        for array in self.arrays:
            own = [effect for effect in effects if effect.variable is array]
            found[array] = reader.of(array, own, is_written=array in written)
            shape, unread = found[array].shape, found[array].unread
            if unread is not None and self.text.is_translated:
                # Other languages count from the end where a subscript is negative.
                raise unread.error
            if found[array].may_overlap and shape is not None:
                self.extents[array] = [None] * len(shape.strides)
            elif shape is not None:
                self.extents[array] = reader.extents_of(array, shape, changed)
                allocation = self.own.allocations.get(array)
                size = None if allocation is None else self._sizes.count(allocation)
                rows = None if size is None else quotient(size, shape.strides[0])
                if rows is not None and rows.is_affine:
                    self.extents[array][0] = to_pw_aff(rows, Scope.outside().space)
        return found

    def _with_unknown_elements(self, item: Found) -> Found:
        """A statement of which accesses mean any element where their subscripts are not known."""
        effects = tuple(
            effect
            if effect.subscripts is None or self.subscripts[effect.variable].says(effect)
            else replace(effect, subscripts=None, unknown=effect)
            for effect in item.effects
        )
        return replace(item, effects=effects)

    def _relation(self, name: str, effect: Effect) -> isl.Map:
        """{ S[i] -> A[x] }, on the iterations that may reach it."""
        array, extents = self.names[effect.variable], self.extents[effect.variable]
        known = self.subscripts[effect.variable].values.get(effect.unknown or effect)
        relation = isl.Map.from_domain(effect.scope.may)
        for k, value in enumerate(known or (None,) * len(extents)):
            if value is None:
                line = extent_box("", extents[k : k + 1]).reset_tuple_id()
                if effect.unknown is not None and self.subscripts[effect.variable].shape is None:
                    line = line.intersect(_possible_values(effect.unknown, k))
                every = isl.Map.from_domain_and_range(effect.scope.may, line)
                relation = relation.flat_range_product(every)
            else:
                relation = relation.flat_range_product(isl.Map.from_pw_aff(value))
        relation = relation.set_tuple_name(isl.dim_type.in_, name)
        return coalesced(relation.set_tuple_name(isl.dim_type.out, array))

    # ------------------------------------------------ the context

    def _stated(self, said: Sequence[str]) -> isl.Set:
        """{ : }: what the user says of the parameters."""
        stated = isl.Set("{ : }")
        for text in said:
            part = read_context(list(self.affine.parameters), text)
            stated = stated if part is None else stated.intersect(part)
        return stated.intersect(stated_before(self.text, self.region, self.affine))

    def _build_context(self, of_extents: Sequence[Need], known: isl.Set) -> bool:
        """Meet the needs of the region; whether it must be read again, knowing more.

        of_extents  needs of the extents, which come first because the others build on them
        known       { : }  what was known of the parameters while the region was read
        """
        is_new = [self.context.meet(need) for need in of_extents]
        if not any(is_new):
            self._require()
            is_new = [self.context.meet(need) for need in (*self.affine.needs, *self._signed_sizes())]
        final = self.context.known.intersect(self.context.large)
        is_unsure = bool(self.affine.wraps) or not all(one.is_sure for one in self.subscripts.values())
        return any(is_new) or (is_unsure and not known.is_subset(final))

    def _factors(self) -> Iterator[Need]:
        """Bounds of loops that were one are not negative: two of them could have a positive product."""
        scope = Scope.outside()
        for loop in self.region.nodes():
            variable = loop_variable(loop) if isinstance(loop, For) else None
            if variable is None or variable.name not in self.text.split:
                continue
            condition = getattr(loop, "condition", None)
            assert isinstance(condition, Binary)
            size, at = condition.right, condition.right.span.start
            negative = self.affine.value(size, scope).lt_set(constant(scope.space, 0)).params()
            error = self.text.not_affine("this size is always negative", at)
            yield Need(negative, isl.Set("{ : }"), "the product of the sizes is positive", at, error)

    def _signed_sizes(self) -> Iterator[Need]:
        """No size has all of 64 bits where only numbers that C does not have tell when a value wraps."""
        wide = [wrap for wrap in self.affine.wraps if wrap.kind.bits >= _WIDEST]
        if not wide or not any(_BEYOND_C.search(str(item.may)) for item in self.found):
            return
        at = wide[0].offset
        error = self.text.not_affine("this value may wrap around", at)
        for name, variable in self.affine.parameters.items():
            if variable.type.bits >= _WIDEST and variable.type.kind == "unsigned":
                universe = isl.Set(f"[{name}] -> {{ : }}")
                huge = isl.Set(f"[{name}] -> {{ : {name} >= {2 ** (_WIDEST - 1)} }}")
                yield Need(huge, universe, f"{variable.name} fits into a signed type", at, error)

    def _require(self) -> None:
        """What C guarantees of the parameters: sizes are positive and no access leaves its array."""
        for array, extents in self.extents.items():
            if array in self.own.allocations:
                continue
            known = [extent.pos_set().params() for extent in extents if extent is not None]
            subscripts = self.subscripts[array]
            if extents and extents[0] is None and subscripts.shape and not subscripts.may_overlap:
                known += self._rows(array)
            reason = f"{'extent' if len(known) == 1 else 'extents'} of {array.name}"
            self.context.require(known, reason, array.at)
        for item, relations in zip(self.found, self.maps, strict=True):
            for effect, relation in zip(item.effects, relations, strict=True):
                self._require_inside(item, effect, relation)

    def _rows(self, array: Variable) -> list[isl.Set]:
        """{ : }: a flat array has some rows, where its accesses say how many from the first one on.

        Whose last row that they use is another one, such as h - 2, may have no such row.
        """
        if self.subscripts[array].unread is not None:
            return []
        effects = (effect for item in self.found for effect in item.effects)
        relations = (relation for relations in self.maps for relation in relations)
        pairs = zip(effects, relations, strict=True)
        cells = reduce(isl.Set.union, [one.range() for effect, one in pairs if effect.variable is array])
        if cells.is_empty() or not cells.dim_has_upper_bound(isl.dim_type.set, 0):
            return []
        first, last = (end.get_pieces() for end in (cells.dim_min(0), cells.dim_max(0)))
        if len(first) != 1 or len(last) != 1 or not first[0][1].plain_is_zero():
            return []
        if not last[0][1].get_constant_val().is_negone():
            return []
        return [isl.PwAff.from_aff(last[0][1]).nonneg_set().params()]

    def _require_inside(self, item: Found, effect: Effect, relation: isl.Map) -> None:
        array = effect.variable
        if effect.subscripts is None or not array.is_array:
            return
        extents = enumerate(self.extents[array])
        is_known = not array.is_pointer or array in self.own.allocations
        enforced = [extent if k or is_known else None for k, extent in extents]
        surely = relation.intersect_domain(effect.scope.must.set_tuple_name(item.name))
        outside = surely.range().subtract(extent_box(self.names[array], enforced)).params()
        if self.affine.wraps:
            types = type_ranges(self.affine.parameters, ()).params()
            outside = outside.intersect(types).gist(types)
        if outside.intersect(self.context.known).is_empty():
            return
        if self.context.known.is_subset(outside):
            raise self.text.error(f"this access is outside {array.name}, whatever the sizes", effect.offset)
        self.context.rule_out(outside, f"{self._words(effect)} is inside", effect.offset)

    def _words(self, effect: Effect) -> str:
        """An access as the text has it, without comments."""
        span = getattr(effect.node, "span", None)
        if span is None or not span.is_text:
            return f"an element of {effect.variable.name}"
        return " ".join(self.text.plain[span.start : span.end].split())


def _with_loops_of_fields(
    loops: Mapping[Variable, tuple[Variable, ...]], variables: Sequence[Variable]
) -> dict[Variable, tuple[Variable, ...]]:
    """Variable -> the loops around its declaration; those of a field are those of its structure."""
    holders = {one: one.holder for one in variables if one.holder is not None}
    return {**loops, **{one: loops[holder] for one, holder in holders.items() if holder in loops}}


def _refuse_jumps_beside_tasks(text: CText, region: Region, directives: Sequence[OrderDirective]) -> None:
    """Raise where the order that OpenMP says is known for loops and ifs alone."""
    jump = next(has_jumps(region.statements), None) if needs_tasks(directives) else None
    if jump is not None:
        raise text.error(
            "only for loops and ifs can be analysed beside these OpenMP constructs",
            jump.span.start,
            "Understood beside while, switch, break and continue are parallel loops.",
        )


def _possible_values(effect: Effect, dimension: int) -> isl.Set:
    """{ [x] }: the values that a subscript may have by its type."""
    known = interval_of(effect.subscripts[dimension]) if effect.subscripts else None
    return isl.Set("{ [x] }" if known is None else f"{{ [x] : {known[0]} <= x <= {known[1]} }}")


def _iterators(region: Region, on_data: Collection[For]) -> frozenset[Variable]:
    loops = (loop_variable(node) for node in region.nodes() if isinstance(node, For) and node not in on_data)
    return frozenset(variable for variable in loops if variable is not None)


def _written(region: Region, on_data: Collection[For]) -> frozenset[Variable]:
    """The variables that a region declares or assigns, other than by the headers of loops."""
    headers: set[Node] = set()
    for node in region.nodes():
        if isinstance(node, For) and node not in on_data:
            headers |= {inner for part in (node.start, node.step) if part is not None for inner in walk(part)}
    body = [node for node in region.nodes() if node not in headers]
    return frozenset([*declared_in(body), *assigned_in(body)])


# ---------------------------------------------------------------- calls


@dataclass(frozen=True, eq=False)
class _RegionCalls:
    """The calls in a region, and the functions that depend on their arguments alone, as the user says."""

    region: Region
    calls: tuple[Call, ...]
    pure: frozenset[str]

    @classmethod
    def of(cls, region: Region, pure: frozenset[str]) -> _RegionCalls:
        """The calls of a region, in the order of the text."""
        nodes = (inner for node in region.nodes() for inner in _with_extents(node))
        calls = dict.fromkeys(node for node in nodes if isinstance(node, Call))
        return cls(region, tuple(calls), pure)

    def refuse_second_returns(self, text: CText) -> None:
        """Raise at calls of setjmp and the like, after which a region runs again from its middle."""
        for call in self.calls:
            if returns_twice(call.function):
                raise text.error(
                    f"{call.function.name}() inside a region cannot be analysed",
                    call.span.start,
                    "It may return a second time. Call it before the region.",
                )

    def hidden_state(self, written: Collection[Variable]) -> tuple[int, str] | None:
        """Where a call stands that must stay in order, and why, in words; None if there is none.

        written  the variables that the region writes
        """
        seen = variables_with_address(self.region.function)
        shared = [
            one
            for one in written
            if one.storage in ("global", "static") or (one.is_pointer and not one.is_restrict) or one in seen
        ]
        found = ((call.span.start, hidden_state(call.function, shared, self.pure)) for call in self.calls)
        return next(((offset, why) for offset, why in found if why is not None), None)

    def changed(self, variables: Collection[Variable]) -> set[Variable]:
        """The scalars among some variables that calls may change."""
        changed = {one for call in self.calls for one in changed_by(call.function, self.pure)}
        if self._anything() is not None:
            seen = variables_with_address(self.region.function)
            changed |= {
                one
                for one in variables
                if not one.is_array
                and "const" not in one.type.spelling.split()
                and (one.storage == "global" or one in seen)
            }
        return {one for one in variables if one in changed}

    def used_arrays(self, arrays: Collection[Variable], harmless: Collection[Node]) -> dict[Variable, Kept]:
        """The arrays that calls may use without being given them, which must stay where they are.

        harmless  mentions of arrays by which nobody gets to know their address
        """
        named = {one: call for call in self.calls for one in globals_of(call.function, self.pure)}
        kept = {
            array: Kept(f"used by {named[array].function.name}()", is_final=True)
            for array in arrays
            if array.is_array and array in named
        }
        call = self._anything()
        if call is None:
            return kept
        uses = uses_of_arrays(self.region.function, harmless=harmless)
        for array in arrays:
            has_escaped = any(use.how and "sizeof" not in use.how for use in uses.get(array, ()))
            if array.is_array and (
                array.storage == "global" or (array.storage != "parameter" and has_escaped)
            ):
                reason = Kept(f"{call.function.name}(), which has no body here, may use it", is_final=True)
                kept.setdefault(array, reason)
        return kept

    def _anything(self) -> Call | None:
        """A call that may use every variable of the file."""
        return next((call for call in self.calls if may_use_any_global(call.function, self.pure)), None)


def _with_extents(node: Node) -> Iterator[Node]:
    """A node, and if it declares arrays, all inside their extents."""
    yield node
    for variable in declared_in([node]):
        yield from extent_nodes(variable)
