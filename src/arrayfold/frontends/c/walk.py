"""A region as statements of the model: domains, accesses, and the path of loops to each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

import islpy as isl

from arrayfold.c import tree as c
from arrayfold.c.source import (
    CText,
    Guard,
    Region,
    StatementSource,
    assigned_variable,
    loop_variable,
)
from arrayfold.c.tree import CStatement, Expression, Span, Variable, bare, walk
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.effects import Effect, EffectReader
from arrayfold.frontends.c.loops import LoopReader
from arrayfold.frontends.c.values import ValueTracker

_REFUSED = {
    "while": "Only for loops with affine bounds can be analysed.",
    "do while": "Only for loops with affine bounds can be analysed.",
    "goto": "Use for loops and ifs.",
    "break": "Put the condition into the loop bound, or an if around the statements that remain.",
    "continue": "Put the remaining statements into an if.",
    "return": "End the region before it.",
    "switch": "Use ifs.",
}


@dataclass(frozen=True)
class Position:
    """The place of a statement in a sequence."""

    number: int


@dataclass(frozen=True)
class Loop:
    """A loop on the way to a statement: which iterator, up or down, in order or in parallel."""

    dimension: int
    sign: int
    is_parallel: bool


Path: TypeAlias = tuple[Position | Loop, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """A statement as it was found in the region.

    may, must  { [i] }  the iterations in which it may, or surely does, run
    """

    name: str
    source: StatementSource
    may: isl.Set
    must: isl.Set
    path: Path
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class _Around:
    """What is around statements: the way to them, and the conditions on data under which they run."""

    path: Path = ()
    guards: tuple[Guard, ...] = ()

    def at(self, number: int) -> Path:
        """The way to the statement with a number."""
        return (*self.path, Position(number))


class RegionWalk:
    """Goes through a region in the order of the text."""

    def __init__(
        self,
        text: CText,
        region: Region,
        affine: AffineReader,
        is_data: Callable[[Variable], bool],
        parallel: Collection[c.For],
    ) -> None:
        self._text = text
        self._affine = affine
        self._effects = EffectReader(text, affine, is_data)
        self._loops = LoopReader(text, affine)
        self._parallel = parallel
        self._values = ValueTracker(affine, region)
        self._labels = {node.name for node in region.nodes() if isinstance(node, c.Label)}
        self._names: set[str] = set()
        self.found: list[Found] = []
        self.loops_of_variables: dict[Variable, tuple[Variable, ...]] = {}

    def run(self, statements: Sequence[CStatement]) -> list[Found]:
        """Every statement of the region, in the order of the text."""
        self._sequence(statements, Scope.outside(), _Around(), 0)
        return self.found

    # ------------------------------------------------ statements

    def _sequence(
        self, statements: Sequence[CStatement], scope: Scope, around: _Around, number: int
    ) -> tuple[int, Scope]:
        """Go through statements that run one after another; the number of the next one, and what is known."""
        for statement in statements:
            number, scope = self._one(statement, scope, around, number, None)
        return number, scope

    def _one(
        self, statement: CStatement, scope: Scope, around: _Around, number: int, label: str | None
    ) -> tuple[int, Scope]:
        match statement:
            case c.Block(statements=statements):
                after, inner = self._sequence(statements, scope, around, number)
                return after, replace(scope, values=inner.values)
            case c.Label(name=name, statement=inner):
                return self._one(inner, scope, around, number, name)
            case c.Evaluate():
                return self._evaluate(statement, scope, around, number, label)
            case c.Declare(variables=variables):
                return self._declare(variables, scope, around, number)
            case c.If():
                return self._if(statement, scope, around, number)
            case c.For():
                self._for(statement, scope, replace(around, path=around.at(number)))
                return number + 1, self._values.without_assigned(statement, scope)
            case c.OtherStatement(what=what):
                raise self._text.error(
                    f"{what} inside a region cannot be analysed", statement.span.start, _REFUSED.get(what)
                )

    def _evaluate(
        self, statement: c.Evaluate, scope: Scope, around: _Around, number: int, label: str | None
    ) -> tuple[int, Scope]:
        inner = bare(statement.expression)
        if isinstance(inner, c.Binary) and inner.operator == ",":
            for part in (inner.left, inner.right):
                single = c.Evaluate(Span(part.span.start, part.span.end, is_text=False), part)
                number, scope = self._evaluate(single, scope, around, number, None)
            return number, scope
        effects = self._effects.of_statement(statement.expression, scope)
        source = StatementSource(statement, scope.iterators, around.guards)
        self._add(source, scope, around.at(number), effects, label)
        return number + 1, self._values.evaluated(statement.expression, scope)

    def _declare(
        self, variables: Sequence[Variable], scope: Scope, around: _Around, number: int
    ) -> tuple[int, Scope]:
        for variable in variables:
            self.loops_of_variables[variable] = scope.iterators
            if variable.initial is None or variable.storage == "static":
                scope = self._values.declared(variable, scope)
                continue
            if variable.is_array:
                raise self._text.error(
                    f"{variable.name} is initialised inside the region"
                    if not variable.is_pointer
                    else f"pointer {variable.name} may point to anything, so aliasing cannot be excluded",
                    variable.span.start,
                    "Declare it before the region, or assign its elements in a loop.",
                )
            effects = self._effects.of_value(variable.initial, scope)
            effects.append(Effect(variable, (), True, scope, variable.span.start, node=variable))
            source = StatementSource(variable, scope.iterators, around.guards)
            self._add(source, scope, around.at(number), effects, None)
            scope = self._values.declared(variable, scope)
            number += 1
        return number, scope

    def _add(
        self, source: StatementSource, scope: Scope, path: Path, effects: Sequence[Effect], label: str | None
    ) -> str:
        name = label if label and label not in self._names else f"S_{len(self.found)}"
        while name in self._names or (name != label and name in self._labels):
            name += "_"
        self._names.add(name)
        found = Found(name, source, coalesced(scope.may), coalesced(scope.must), path, tuple(effects))
        self.found.append(found)
        return name

    # ------------------------------------------------ control

    def _if(self, node: c.If, scope: Scope, around: _Around, number: int) -> tuple[int, Scope]:
        truth = self._affine.truth(node.condition, scope)
        inside = outside = around
        effects = self._effects.of_value(node.condition, scope)
        if not truth.is_exact or any(effect.variable not in scope.values for effect in effects):
            source = StatementSource(node.condition, scope.iterators, around.guards)
            name = self._add(source, scope, around.at(number), effects, None)
            number += 1
            if not truth.is_exact:
                inside, outside = (
                    replace(around, guards=(*around.guards, Guard(node.condition, holds, name)))
                    for holds in (True, False)
                )
        fails = truth.negated()
        holds, other = (scope.narrowed(one.may, one.must) for one in (truth, fails))
        number, holds = self._one(node.then, holds, inside, number, None)
        if node.otherwise is not None:
            number, other = self._one(node.otherwise, other, outside, number, None)
        return number, self._values.after_choice(scope, truth, holds, other)

    def _for(self, loop: c.For, scope: Scope, around: _Around) -> None:
        variable = loop_variable(loop)
        if variable is None or loop.condition is None or loop.step is None:
            raise self._text.error(
                "this loop has no start, no condition or no step",
                loop.span.start,
                "Write it as for (i = start; i < end; i++).",
            )
        if not variable.type.is_integer:
            raise self._text.error(f"loop iterator {variable.name} is not an integer", loop.span.start)
        self._refuse_changed_iterator(loop, variable)
        step = self._step(loop, variable)
        scope = self._values.without_assigned(loop.body, scope)
        domain = self._loops.of(loop, variable, step, scope)
        if domain is None:
            self._refuse_bound(loop.condition, scope.inside(variable))
        inner = Scope(
            (*scope.iterators, variable),
            coalesced(domain.intersect(scope.may.add_dims(isl.dim_type.set, 1))),
            coalesced(domain.intersect(scope.must.add_dims(isl.dim_type.set, 1))),
            scope.values,
        )
        link = Loop(len(scope.iterators), 1 if step > 0 else -1, loop in self._parallel)
        self._one(loop.body, inner, replace(around, path=(*around.path, link)), 0, None)

    def _refuse_changed_iterator(self, loop: c.For, variable: Variable) -> None:
        for node in walk(loop.body):
            if assigned_variable(node) is variable or (
                isinstance(node, c.For) and loop_variable(node) is variable
            ):
                raise self._text.error(
                    f"loop iterator {variable.name} changes inside its loop",
                    node.span.start,
                    "Use another variable.",
                )

    def _step(self, loop: c.For, variable: Variable) -> int:
        assert loop.step is not None
        node = bare(loop.step)
        amount: Expression | None = None
        number, sign = 0, 1
        match node:
            case c.Unary(operator="x++" | "++" | "x--" | "--" as operator):
                number = 1 if "+" in operator else -1
            case c.Assign(operator="+=" | "-=" as operator, value=value):
                amount, sign = value, 1 if operator == "+=" else -1
            case c.Assign(operator="=", value=value):
                amount, sign = self._added(bare(value), variable)
            case _:
                pass
        if amount is not None:
            number = self._affine.constant(amount) or 0
            if abs(number) >= 1 << (variable.type.bits - 1):
                # `i += -1` adds a very large number to an unsigned i, which is the same.
                number -= (1 << variable.type.bits) * (1 if number > 0 else -1)
            number *= sign
        if not number:
            raise self._text.not_affine(
                "the step of this loop is not a constant",
                loop.step.span.start,
                "Write i++, i--, i += 2 or the like.",
            )
        if assigned_variable(node) is not variable:
            raise self._text.error(f"the step does not change {variable.name}", loop.step.span.start)
        return number

    def _added(self, value: Expression, variable: Variable) -> tuple[Expression | None, int]:
        """`i + c`, `c + i` or `i - c`: c and its sign."""
        if isinstance(value, c.Binary) and value.operator in ("+", "-"):
            left, right = bare(value.left), bare(value.right)
            if getattr(left, "variable", None) is variable:
                return right, 1 if value.operator == "+" else -1
            if getattr(right, "variable", None) is variable and value.operator == "+":
                return left, 1
        return None, 1

    def _refuse_bound(self, condition: Expression, scope: Scope) -> NoReturn:
        """Raise the error that says what in a loop condition is not affine."""
        match condition:
            case c.Binary(operator="&&" | "||", left=left, right=right):
                parts = [left, right]
            case _ if bare(condition) is not condition:
                parts = [bare(condition)]
            case c.Unary(operator="!", operand=operand):
                parts = [operand]
            case c.Binary(left=left, right=right):
                self._affine.value(bare(left), scope)
                self._affine.value(bare(right), scope)
                parts = []
            case _:
                self._affine.value(condition, scope)
                parts = []
        for part in parts:
            if not self._affine.truth(part, scope).is_exact:
                self._refuse_bound(part, scope)
        raise self._text.not_affine("this loop condition is not affine", condition.span.start)
