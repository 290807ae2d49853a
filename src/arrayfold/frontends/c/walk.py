"""A region as statements of the model: domains, accesses, and the path of loops to each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.source import (
    BreakCondition,
    Choice,
    CText,
    Guard,
    Implied,
    PointerSource,
    Region,
    StatementSource,
    loop_variable,
)
from arrayfold.c.tree import CStatement, CType, Span, Variable, bare
from arrayfold.exact.isl import coalesced, is_bounded
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.assumptions import Need
from arrayfold.frontends.c.changes import ChangeReader, Changes
from arrayfold.frontends.c.effects import Effect, EffectReader
from arrayfold.frontends.c.induction import Induction
from arrayfold.frontends.c.jumps import RANGE, as_chain, jumps_out, with_late_condition
from arrayfold.frontends.c.loop_headers import (
    RefusedHeader,
    refuse_bound,
    refuse_changed_iterator,
    refused_headers,
    step_of,
)
from arrayfold.frontends.c.loops import LoopReader, earlier_iterations
from arrayfold.frontends.c.on_data import LoopsOnData, as_while
from arrayfold.frontends.c.places import Ends, Found, Loop, Place, reached_by, within
from arrayfold.frontends.c.pointers import PointerReader, elements_moved, with_elements_moved
from arrayfold.frontends.c.stated import asserted, is_silent
from arrayfold.frontends.c.strided import Strided, add_parameters, need_of, needs_of
from arrayfold.frontends.c.values import ValueTracker

_REFUSED = {
    "goto": "Use for loops and ifs.",
    "return": "End the region before it.",
    RANGE: "Write its values one by one.",
}
# A conflict is about three instances, and nothing but being the first tells one turn of a while loop from
# another. So the first one and three more stand for all.
_TURNS = 4
_INT = CType("int", "signed", 32, "int")
_VOID = CType("void", "other", 0, "void")


@dataclass(frozen=True, eq=False)
class _Before:
    """What a walk had found before it went through a loop to see where it ends."""

    found: int
    names: frozenset[str]
    needs: int
    wraps: int
    parameters: dict[str, Variable]
    uncertain: Span | None


class RegionWalk:
    """Goes through a region in the order of the text.

    uncertain  what data decides although no condition of the model says it: how often a loop runs
    turns      statement that says whether an iteration runs -> what is known of that
    sure       condition and outcome -> { C[i] }, evaluations that come out so whatever the data
    """

    def __init__(
        self,
        text: CText,
        region: Region,
        affine: AffineReader,
        is_data: Callable[[Variable], bool],
        parallel: Collection[c.For],
        on_data: Collection[c.For] = (),
        of_tasks: Collection[CStatement] = (),
    ) -> None:
        self._on_data = {loop: as_while(loop) for loop in on_data}
        self._with_steps = {self._on_data[loop] for loop in on_data if loop.step is not None}
        self._text = text
        self._affine = affine
        self.pointers = PointerReader(affine, region)
        self._effects = EffectReader(text, affine, is_data, self.pointers)
        self._region = region
        self._loops = LoopReader(text, affine)
        self._changes = ChangeReader(affine)
        self._parallel = parallel
        self._of_tasks = of_tasks
        self._values = ValueTracker(affine, region)
        self._labels = {node.name for node in region.nodes() if isinstance(node, c.Label)}
        self._names: set[str] = set()
        self._breaks: list[list[Place]] = []
        self._continues: list[list[Place]] = []
        self.found: list[Found] = []
        self.loops_of_variables: dict[Variable, tuple[Variable, ...]] = {}
        self.uncertain: Span | None = None
        self.turns: dict[str, BreakCondition] = {}
        self.sure: dict[tuple[str, bool], isl.Set] = {}

    def run(self, statements: Sequence[CStatement]) -> list[Found]:
        """Every statement of the region, in the order of the text."""
        scope = self._values.before(replace(Scope.outside(), pointers=self.pointers.before(self._region)))
        self._sequence(statements, Place(scope), 0)
        return self.found

    @property
    def given(self) -> Mapping[Variable, int]:
        """Arrays that functions get by pointers into them, and where."""
        return self._effects.given

    # ------------------------------------------------ statements

    def _sequence(self, statements: Sequence[CStatement], place: Place, number: int) -> tuple[int, Place]:
        """Go through statements that run one after another; the number of the next one, and its place."""
        for statement in statements:
            number, place = self._settled(place, number)
            number, place = self._one(statement, place, number, None)
        return number, place

    def _one(self, statement: CStatement, place: Place, number: int, label: str | None) -> tuple[int, Place]:
        number, place = self._any(statement, place, number, label)
        if statement in self._of_tasks:
            # What it assigns may be a copy of its own.
            place = place.in_scope(self._values.without_assigned(statement, place.scope))
        return number, place

    def _any(self, statement: CStatement, place: Place, number: int, label: str | None) -> tuple[int, Place]:
        match statement:
            case c.Block(statements=statements):
                return self._sequence(statements, place, number)
            case c.Label(name=name, statement=inner):
                return self._one(inner, place, number, name)
            case c.Evaluate():
                return self._evaluate(statement, place, number, label)
            case c.Declare(variables=variables):
                return self._declare(variables, place, number)
            case c.If():
                return self._if(statement, place, number)
            case c.For() if statement in self._on_data:
                return self._for_on_data(statement, place, number)
            case c.For():
                known = self._for(statement, replace(place, path=place.at(number)))
                scope = self._values.without_assigned(statement, place.scope)
                return number + 1, place.in_scope(known(scope))
            case c.While():
                return self._while(statement, place, number)
            case c.Switch():
                return self._switch(statement, place, number)
            case c.Jump():
                return number, self._jump(statement, place)
            case c.Case():
                raise self._text.error("this case belongs to no switch of the region", statement.span.start)
            case c.OtherStatement(what=what):
                raise self._text.error(
                    f"{what} inside a region cannot be analysed", statement.span.start, _REFUSED.get(what)
                )

    def _evaluate(
        self, statement: c.Evaluate, place: Place, number: int, label: str | None
    ) -> tuple[int, Place]:
        condition = asserted(self._text, statement)
        if condition is not None:
            return self._assert(statement, condition, place, number)
        if is_silent(statement):
            return number, place
        inner = bare(statement.expression)
        if isinstance(inner, c.Binary) and inner.operator == ",":
            for part in (inner.left, inner.right):
                single = c.Evaluate(Span(part.span.start, part.span.end, is_text=False), part)
                number, place = self._evaluate(single, place, number, None)
            return number, place
        pointer = self.pointers.target(statement.expression)
        if pointer is not None:
            return number, self._point(pointer, statement.expression, place)
        effects = self._effects.of_statement(statement.expression, place.scope)
        self._add(statement, place, number, effects, label, self._effects.choices)
        return number + 1, place.in_scope(self._values.evaluated(statement.expression, place.scope))

    def _assert(
        self, statement: c.Evaluate, condition: c.Expression, place: Place, number: int
    ) -> tuple[int, Place]:
        """What is asserted of sizes and iterators holds; what is asserted of data is read."""
        scope, offset = place.scope, statement.span.start
        truth = self._affine.truth(condition, scope)
        fails = scope.must.subtract(truth.may).params()
        if not fails.is_empty():
            error = self._text.error("this never holds", offset)
            self._affine.needs.append(Need(fails, scope.may.params(), "this is asserted", offset, error))
        effects = self._effects.of_value(condition, scope)
        if not effects:
            return number, place
        self._add(statement, place, number, effects)
        return number + 1, place

    def _point(self, pointer: Variable, value: c.Expression, place: Place) -> Place:
        """The place behind what sets a pointer, which is no statement of the model."""
        address = self._effects.of_pointer(value, place.scope)
        if address is None or not self.pointers.can_follow(pointer):
            raise self._text.error(
                f"where pointer {pointer.name} points after this is not known",
                value.span.start,
                "Understood are an array, sums with multiples of iterators and sizes, and p += size.",
            )
        pointers = {**place.scope.pointers, pointer: address}
        text = None if self.pointers.target(value) is not None else value
        known = self._values.defined(pointer, text, place.scope)
        return place.in_scope(replace(place.scope, pointers=pointers, definitions=known))

    def _declare(self, variables: Sequence[Variable], place: Place, number: int) -> tuple[int, Place]:
        for variable in variables:
            self.loops_of_variables[variable] = place.scope.iterators
            if variable.initial is None or variable.storage == "static":
                place = place.in_scope(self._values.declared(variable, place.scope))
                continue
            if self.pointers.can_follow(variable):
                place = self._point(variable, variable.initial, place)
                continue
            values = variable.initial
            if variable.is_array and not variable.is_pointer and _is_list(values):
                effects = self._effects.of_value(values, place.scope)
                effects.append(Effect(variable, None, True, place.scope, variable.span.start))
                self._add(variable, place, number, effects)
                number += 1
                continue
            if variable.is_array:
                raise self._text.error(
                    f"{variable.name} is initialised inside the region"
                    if not variable.is_pointer
                    else f"pointer {variable.name} may point to anything, so aliasing cannot be excluded",
                    variable.span.start,
                    "Declare it before the region, or assign its elements in a loop.",
                )
            effects = self._effects.of_value(variable.initial, place.scope)
            effects.append(Effect(variable, (), True, place.scope, variable.span.start, node=variable))
            self._add(variable, place, number, effects, None, self._effects.choices)
            place = place.in_scope(self._values.declared(variable, place.scope))
            number += 1
        return number, place

    def _add(
        self,
        node: c.Evaluate | Variable | c.Expression,
        place: Place,
        number: int,
        effects: Sequence[Effect],
        label: str | None = None,
        choices: Sequence[Choice] = (),
    ) -> str:
        name = label if label and label not in self._names else f"S_{len(self.found)}"
        while name in self._names or (name != label and name in self._labels):
            name += "_"
        self._names.add(name)
        may, must = coalesced(place.scope.may), coalesced(place.scope.must)
        own = tuple(
            replace(one, among=one.among.set_tuple_name(name), where=one.where.set_tuple_name(name))
            for one in choices
        )
        pointers = {
            variable: PointerSource(
                address.array, tuple(address.index.mapped(place.scope.lifted).terms.items())
            )
            for variable, address in place.scope.pointers.items()
            if address.index is not None
        }
        source = StatementSource(node, place.scope.iterators, place.guards, choices=own, pointers=pointers)
        self.found.append(Found(name, source, may, must, place.at(number), tuple(effects)))
        return name

    # ------------------------------------------------ branches

    def _if(self, node: c.If, place: Place, number: int) -> tuple[int, Place]:
        scope = place.scope
        truth = self._affine.truth(node.condition, scope)
        inside = outside = place
        effects, choices = self._effects.of_value(node.condition, scope), self._effects.choices
        if not truth.is_exact or any(effect.variable not in scope.values for effect in effects):
            name = self._add(node.condition, place, number, effects, None, choices)
            number += 1
            if not truth.is_exact:
                for holds, must in ((True, truth.must), (False, truth.negated().must)):
                    self.sure[name, holds] = must.set_tuple_name(name)
                inside, outside = (place.under(Guard(node.condition, holds, name)) for holds in (True, False))
        fails = truth.negated()
        inside = inside.in_scope(scope.narrowed(truth.may, truth.must))
        outside = outside.in_scope(scope.narrowed(fails.may, fails.must))
        number, inside = self._one(node.then, inside, number, None)
        if node.otherwise is not None:
            number, outside = self._one(node.otherwise, outside, number, None)
        after = place.in_scope(self._values.after_choice(scope, truth, inside.scope, outside.scope))
        return number, self._joined(node, after, (inside, outside)) if jumps_out(node) else after

    def _switch(self, node: c.Switch, place: Place, number: int) -> tuple[int, Place]:
        self._breaks.append([])
        number, end = self._one(as_chain(self._text, node), place, number, None)
        exits = (end, *self._breaks.pop())
        after = place.in_scope(self._values.without_assigned(node, place.scope))
        return number, self._joined(node, after, exits) if jumps_out(node) else after

    def _joined(self, node: CStatement, place: Place, exits: Sequence[Place]) -> Place:
        """The place behind a statement that some jump leaves.

        place  where it begins, with what is known of values behind it
        exits  where it may end without such a jump
        """
        alive = [one for one in exits if not one.is_dead]
        if not alive:
            return place.dead()
        may, must = (reduce(isl.Set.union, sets) for sets in reached_by(alive))
        joined = place.in_scope(replace(place.scope, may=coalesced(may), must=coalesced(must)))
        first = alive[0]
        is_exact = all(one.guards == first.guards and one.unsure is None for one in alive)
        if is_exact or len(alive) == 1:
            return replace(joined, guards=first.guards, unsure=first.unsure)
        return replace(joined, unsure=node.span)

    def _settled(self, place: Place, number: int) -> tuple[int, Place]:
        """The place with a condition of its own where none of the text says whether it is reached.

        A statement without accesses stands for it.
        """
        if place.unsure is None:
            return number, place
        condition = c.Opaque(replace(place.unsure, is_text=False), _VOID, "a jump")
        self.uncertain = self.uncertain or place.unsure
        name = self._add(condition, place, number, ())
        return number + 1, replace(place.under(Guard(condition, True, name)), unsure=None)

    def _jump(self, node: c.Jump, place: Place) -> Place:
        targets = self._breaks if node.what == "break" else self._continues
        if not targets:
            raise self._text.error(
                f"this {node.what} leaves the region", node.span.start, "Put its whole loop into the region."
            )
        targets[-1].append(place)
        return place.dead()

    # ------------------------------------------------ loops

    def _for(self, loop: c.For, place: Place) -> Callable[[Scope], Scope]:
        """Go through a loop over an iterator; what adds to a scope what is known behind the loop."""
        variable = loop_variable(loop)
        try:
            if variable is None or loop.step is None:
                raise self._text.error(
                    "this loop has no start or no step",
                    loop.span.start,
                    "Write it as for (i = start; i < end; i++).",
                )
            return self._over(loop, variable, loop.condition, place)
        except RefusedHeader as refused:
            reason, changed = refused.error, [variable] if variable is not None else []
        except InputError as error:
            if variable is not None:
                raise
            reason, changed = error, []
        if loop in self._parallel:
            raise reason
        raise LoopsOnData(reason, changed, [loop])

    def _over(
        self, loop: c.For, variable: Variable, condition: c.Expression | None, place: Place
    ) -> Callable[[Scope], Scope]:
        if loop in self._parallel and "break" in jumps_out(loop.body):
            raise self._text.error(
                "this loop is parallel and has a break", loop.span.start, "OpenMP does not allow that."
            )
        scope = self._values.without_assigned(loop.body, place.scope)
        known = {**place.scope.values, **elements_moved(place.scope)}
        changes = self._changes.of_turn(loop.body)
        counted, strided = Induction.of(changes, known), Strided.of(changes, place.scope)
        with refused_headers():
            if not variable.type.is_integer:
                raise self._text.error(f"loop iterator {variable.name} is not an integer", loop.span.start)
            refuse_changed_iterator(self._text, loop, variable)
            step = step_of(self._text, self._affine, loop, variable)
            endless = replace(loop, condition=as_while(loop).condition) if condition is None else loop
            turns = self._loops.of(endless, variable, step, scope, counted)
            if turns is None:
                assert condition is not None
                refuse_bound(self._text, self._affine, condition, scope.inside(variable))
            if condition is None and "break" not in jumps_out(loop.body):
                raise self._endless(loop)
        link = Loop(len(scope.iterators), 1 if step > 0 else -1, loop in self._parallel)
        inner = with_elements_moved(scope, turns.counted, place.scope)
        self._note_changes({**dict.fromkeys(counted.amounts), **strided.changes}, changes, place)
        within_loop = within(place, inner, variable, turns.domain, link)
        known_inside = strided.inside(turns.distance, step, within_loop.scope, place.scope)
        self._turns(loop, within_loop.in_scope(known_inside), None)
        if "break" in jumps_out(loop.body):
            return lambda behind: behind
        values = counted.behind(turns.domain, turns.counted, link.sign)
        count = self._changes.turns(loop) if strided.before else None

        def add_known(behind: Scope) -> Scope:
            behind = with_elements_moved(behind, values, place.scope)
            if count is None:
                return behind
            add_parameters(count, self._changes, self._affine)
            runs = place.scope.may.params()
            self._affine.needs += [need_of(one, loop, count, self._text, runs) for one in strided.before]
            return strided.behind(count, behind, place.scope)

        return add_known

    def _note_changes(self, used: Collection[Variable], changes: Changes, place: Place) -> None:
        """What must hold for what each turn adds to variables."""
        pairs = [(one, change) for one in used if (change := changes[one]) is not None]
        runs = place.scope.may.params()
        self._affine.needs += needs_of(pairs, self._changes, self._affine, self._text, runs)

    def _endless(self, loop: c.For) -> InputError:
        hint = "Write it as for (i = start; i < end; i++)."
        return self._text.error("nothing says where this loop ends", loop.span.start, hint)

    def _for_on_data(self, loop: c.For, place: Place, number: int) -> tuple[int, Place]:
        """A loop of which data says how often it runs: its start, and a loop without an iterator."""
        if loop.start is not None:
            number, place = self._one(loop.start, place, number, None)
        return self._while(self._on_data[loop], place, number)

    def _while(self, loop: c.While, place: Place, number: int) -> tuple[int, Place]:
        """A loop without an iterator: turns from 0 on, of which each ends the loop or not."""
        scope = self._values.without_assigned(loop, place.scope)
        after = number + 1, place.in_scope(scope)
        is_once = loop.is_late and self._affine.truth(loop.condition, scope).may.is_empty()
        if is_once and not jumps_out(loop.body):
            return self._one(loop.body, place, number, None)
        if not is_once:
            self.uncertain = self.uncertain or loop.span
        variable = Variable(self._name_of_turns(scope), _INT, "local", loop.span, _INT, at=loop.span.start)
        space = scope.inside(variable).space
        last = space.dim(isl.dim_type.set) - 1
        domain = isl.Set.universe(space).lower_bound_val(isl.dim_type.set, last, 0)
        domain = domain.upper_bound_val(isl.dim_type.set, last, 0 if is_once else _TURNS - 1)
        link = Loop(last, 1, is_parallel=False)
        inner = within(replace(place, path=place.at(number)), scope, variable, domain, link)
        if is_once:
            self._body(loop, inner, 0, None)
        else:
            self._turns(loop, inner, with_late_condition(loop))
        return after

    def _name_of_turns(self, scope: Scope) -> str:
        taken = self._text.identifiers | {one.name for one in scope.iterators}
        name = "turn"
        while name in taken:
            name += "_"
        return name

    def _turns(self, loop: c.For | c.While, place: Place, condition: c.If | None) -> None:
        """Go through the body of a loop.

        place      in the loop, reached by the iterations that its header allows
        condition  what ends a loop without an iterator, before each turn or after it
        """
        if condition is None and "break" not in jumps_out(loop.body):
            self._body(loop, place, 0, condition)
            return
        ends = self._ends(loop, place, condition)
        place = ends.place_before(place, loop)
        if isinstance(loop, c.For) and loop.condition is None and not is_bounded(place.scope.may):
            raise LoopsOnData(self._endless(loop), [], [loop])
        number, inside = self._settled(place, 0)
        breaks = self._body(loop, inside, number, condition)
        if place.unsure is not None:
            self._know_turns(inside, place.scope.may.subtract(ends.later(ends.may)), breaks)

    def _know_turns(self, place: Place, surely: isl.Set, breaks: Sequence[Place]) -> None:
        """Where an iteration of a loop runs, all before it ran, and none of them came to a break.

        place   inside of the loop, under the condition that the iteration runs
        surely  { [outer, i] }  iterations that run whenever the loop does
        """
        name, link = place.guards[-1].evaluated, place.path[-1]
        assert isinstance(link, Loop)
        earlier = earlier_iterations(place.scope.may, link.sign).set_tuple_name(isl.dim_type.in_, name)
        ran = earlier.intersect_range(place.scope.may).set_tuple_name(isl.dim_type.out, name)
        implied = [Implied(True, ran)]
        for one in breaks:
            inner = one.guards[len(place.guards) :]
            if len(inner) == 1 and one.unsure is None:
                failed = earlier.intersect_range(one.scope.may)
                failed = failed.set_tuple_name(isl.dim_type.out, inner[0].evaluated)
                implied.append(Implied(not inner[0].must_hold, failed))
        self.turns[name] = BreakCondition(surely.set_tuple_name(name), tuple(implied))

    def _body(self, loop: c.For | c.While, place: Place, number: int, condition: c.If | None) -> list[Place]:
        """Go through the body of a loop, and its condition; the places of what ends the loop in there."""
        self._breaks.append([])
        self._continues.append([])
        is_late = isinstance(loop, c.While) and loop.is_late
        if condition is not None and not is_late:
            number, place = self._one(condition, place, number, None)
            number, place = self._settled(place, number)
        body, step = loop.body, None
        if isinstance(loop, c.While) and loop in self._with_steps and isinstance(body, c.Block):
            body, step = body.statements
        number, end = self._one(body, place, number, None)
        exits = (end, *self._continues.pop())
        if step is not None:
            known = self._values.without_assigned(loop.body, place.scope)
            end = self._joined(loop, place.in_scope(known), exits) if len(exits) > 1 else end
            number, end = self._settled(end, number)
            self._one(step, end, number, None)
        if condition is not None and is_late:
            known = self._values.without_assigned(loop.body, place.scope)
            end = self._joined(loop, place.in_scope(known), exits) if len(exits) > 1 else end
            number, end = self._settled(end, number)
            self._one(condition, end, number, None)
        return self._breaks.pop()

    def _ends(self, loop: c.For | c.While, place: Place, condition: c.If | None) -> Ends:
        """The iterations that break, each taken for itself."""
        before = self._remember()
        scope = place.scope
        each = replace(place, scope=replace(scope, must=scope.may), guards=())
        breaks = self._body(loop, each, 0, condition)
        self._forget(before)
        link = place.path[-1]
        assert isinstance(link, Loop)
        nowhere = isl.Set.empty(scope.may.get_space())
        may, must = (reduce(isl.Set.union, sets, nowhere) for sets in reached_by(breaks))
        return Ends(may, must, link.sign)

    def _remember(self) -> _Before:
        affine = self._affine
        counts = len(self.found), frozenset(self._names), len(affine.needs), len(affine.wraps)
        return _Before(*counts, dict(affine.parameters), self.uncertain)

    def _forget(self, before: _Before) -> None:
        affine = self._affine
        del self.found[before.found :], affine.needs[before.needs :], affine.wraps[before.wraps :]
        self._names = set(before.names)
        self.turns = {name: found for name, found in self.turns.items() if name in before.names}
        affine.parameters = before.parameters
        self.uncertain = before.uncertain


def _is_list(values: c.Expression) -> bool:
    """Whether the initial values of an array are a list in braces, or a string."""
    return isinstance(values, c.OtherLiteral) or (isinstance(values, c.Opaque) and values.what == "init list")
