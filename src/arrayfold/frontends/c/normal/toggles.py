"""Numbers that go round in every turn of a loop, `cur ^= 1`, as remainders of its iterator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import assigned_variable
from arrayfold.c.tree import CStatement, Expression, Node, Variable, bare, walk
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import end_of
from arrayfold.frontends.c.normal.turns import (
    CountedLoop,
    is_nested,
    mentions,
    statements_in,
    turns_of,
)
from arrayfold.frontends.c.pointers import is_repeated

_LONGEST_PERIOD = 8


@dataclass(frozen=True, eq=False)
class _Toggle:
    """A statement that lets a number go round: 0, 1, ..., period - 1, 0 and so on.

    first  the number in the first turn before it
    """

    variable: Variable
    statement: CStatement
    period: int
    first: int

    def text(self, number: str, more: int) -> str:
        """The number in a turn, so many steps further."""
        added = (self.first + more) % self.period
        return f"((long long){number} + {added}) % {self.period}" if added else f"{number} % {self.period}"


def toggled_numbers(scene: RegionScene) -> Iterator[Rewriting]:
    """Loops in which a number goes round once a turn."""
    for loop in scene.statements():
        if not isinstance(loop, c.For) or loop in scene.kept or is_nested(scene.region, loop):
            continue
        try:
            toggle = _toggle(scene, loop)
            turns = None if toggle is None else turns_of(scene, loop)
            found = None if turns is None or toggle is None else _rewriting(scene, loop, turns, toggle)
        except (NotInText, InputError):
            continue
        if found is not None:
            yield found


def _rewriting(scene: RegionScene, loop: c.For, turns: CountedLoop, toggle: _Toggle) -> Rewriting | None:
    number = turns.number()
    if number is None:
        return None
    inside = mentions(loop, toggle.variable)
    own = mentions(toggle.statement, toggle.variable)
    end = toggle.statement.span.end
    edits: list[Edit] = []
    for one in inside:
        if any(one is other for other in own):
            continue
        if not one.span.is_text:
            raise NotInText(scene.text.file)
        value = toggle.text(number, int(one.span.start >= end))
        edits.append(Edit(one.span.start, one.span.end, f"({value})"))
    edits.append(
        whole_line(scene.text.text, toggle.statement.span.start, end_of(scene.text, toggle.statement))
    )
    last = end_of(scene.text, loop)
    others = [
        one
        for one in mentions(scene.region.function.body, toggle.variable)
        if not any(one is other for other in inside)
    ]
    start = loop.span.start
    if _is_set_in(scene, loop, toggle.variable) and not is_repeated(scene.region):
        early = [one for one in others if scene.region.start <= one.span.start < start and one.span.is_text]
        edits += [Edit(one.span.start, one.span.end, str(toggle.first)) for one in early]
        others = [one for one in others if not any(one is other for other in early)]
        start = min((start, *(one.span.start for one in early)))
    if is_repeated(scene.region) or any(one.span.start > loop.span.start for one in others):
        total = turns.total()
        if total is None or not scene.stands_alone(loop):
            return None
        count, are_any = total
        value = f"{are_any} ? {toggle.text(count, 0)} : {toggle.first}"
        edits.append(Edit(last, last, f" {toggle.variable.name} = {value};"))
    elif not others:
        edits += _without_declaration(scene, toggle.variable)
    return Rewriting(start, last, tuple(edits))


def _is_set_in(scene: RegionScene, loop: c.For, variable: Variable) -> bool:
    """Whether a variable has its initial value until a loop that alone changes it."""
    inside = list(walk(loop))
    changes = [node for node in walk(scene.region.function.body) if assigned_variable(node) is variable]
    return variable.initial is not None and all(any(node is one for one in inside) for node in changes)


def _without_declaration(scene: RegionScene, variable: Variable) -> Iterator[Edit]:
    for node in walk(scene.region.function.body):
        if isinstance(node, c.Declare) and variable in node.variables:
            end = end_of_statement(scene.text.plain, node.span.start) or node.span.end
            yield from removal(scene.text, node, [variable], end)


# ---------------------------------------------------------------- what goes round


def _toggle(scene: RegionScene, loop: c.For) -> _Toggle | None:
    """The first statement of a loop that lets a number go round, of which the first value is known."""
    for statement in statements_in(loop.body):
        if not isinstance(statement, c.Evaluate):
            continue
        found = _period(bare(statement.expression))
        if found is None:
            continue
        variable, period = found
        changes = [node for node in walk(loop) if assigned_variable(node) is variable]
        if not scene.is_own_integer(variable) or variable.type.bits < 32 or len(changes) != 1:
            continue
        first = _first_value(scene, loop, variable)
        if first is not None and 0 <= first < period <= _LONGEST_PERIOD:
            return _Toggle(variable, statement, period, first)
    return None


def _period(expression: Expression) -> tuple[Variable, int] | None:
    """The variable that an assignment lets go round, and how many values it has."""
    if not isinstance(expression, c.Assign):
        return None
    target = bare(expression.target)
    if not isinstance(target, c.Reference):
        return None
    variable, value = target.variable, bare(expression.value)
    if expression.operator == "^=":
        return (variable, 2) if _number(value) == 1 else None
    if expression.operator != "=":
        return None
    match value:
        case c.Unary(operator="!", operand=operand) if _is(operand, variable):
            return variable, 2
        case c.Binary(operator="-" | "^", left=left, right=right) if _number(left) == 1 and _is(
            right, variable
        ):
            return variable, 2
        case c.Binary(operator="^", left=left, right=right) if _is(left, variable) and _number(right) == 1:
            return variable, 2
        case c.Binary(operator="%", left=left, right=right):
            inner, period = bare(left), _number(right)
            if not isinstance(inner, c.Binary) or inner.operator != "+" or period is None or period < 2:
                return None
            sides = (inner.left, inner.right)
            is_next = any(_is(one, variable) for one in sides) and any(_number(one) == 1 for one in sides)
            return (variable, period) if is_next else None
        case _:
            return None


def _is(expression: Expression, variable: Variable) -> bool:
    inner = bare(expression)
    return isinstance(inner, c.Reference) and inner.variable is variable


def _number(expression: Expression) -> int | None:
    inner = bare(expression)
    return inner.value if isinstance(inner, c.Number) else None


def _first_value(scene: RegionScene, loop: c.For, variable: Variable) -> int | None:
    """The number before a loop, if it is set to a constant."""
    parent = scene.parents.get(loop)
    siblings: Sequence[CStatement] = (
        scene.region.statements
        if parent is None
        else parent.statements
        if isinstance(parent, c.Block)
        else ()
    )
    before = [one for one in siblings if one.span.end <= loop.span.start]
    for statement in reversed(before):
        sets = [node for node in walk(statement) if assigned_variable(node) is variable]
        if sets:
            return _constant_set_by(statement, variable)
        if isinstance(statement, c.Declare) and variable in statement.variables:
            return None if variable.initial is None else _number(variable.initial)
    inside = list(walk(loop))
    elsewhere: list[Node] = [
        node
        for node in walk(scene.region.function.body)
        if assigned_variable(node) is variable and not any(node is one for one in inside)
    ]
    is_once = not elsewhere and not is_repeated(scene.region) and variable.storage == "local"
    return _number(variable.initial) if is_once and variable.initial is not None else None


def _constant_set_by(statement: CStatement, variable: Variable) -> int | None:
    """The constant that a statement sets a variable to, if that is all that it does."""
    if not isinstance(statement, c.Evaluate):
        return None
    expression = bare(statement.expression)
    if isinstance(expression, c.Assign) and expression.operator == "=" and _is(expression.target, variable):
        return _number(expression.value)
    return None
