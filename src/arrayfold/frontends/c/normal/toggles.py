"""Numbers that go round in every turn of a loop, `cur ^= 1`, as remainders of its iterator."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import assigned_variable
from arrayfold.c.tree import CStatement, Expression, Node, Variable, bare, named_in, walk
from arrayfold.frontends.c.normal.cycles import Cycle, changed_numbers, find_cycle
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


def toggled_numbers(scene: RegionScene) -> Iterator[Rewriting]:
    """Loops in which numbers go round, turn by turn."""
    for loop in scene.statements():
        if not isinstance(loop, c.For) or loop in scene.kept or is_nested(scene.region, loop):
            continue
        try:
            turns = turns_of(scene, loop)
            cycle = None if turns is None else _cycle(scene, loop, turns)
            found = None if turns is None or cycle is None else _rewriting(scene, loop, turns, cycle)
        except (NotInText, InputError):
            continue
        if found is not None:
            yield found


def _cycle(scene: RegionScene, loop: c.For, turns: CountedLoop) -> Cycle | None:
    """The numbers that go round in a loop."""
    body = statements_in(loop.body)
    candidates = [
        one
        for one in changed_numbers(body)
        if scene.is_own_integer(one) and one.type.bits >= 32 and one is not turns.count.variable
    ]
    return find_cycle(body, candidates, lambda one: _first_value(scene, loop, one))


def _rewriting(scene: RegionScene, loop: c.For, turns: CountedLoop, cycle: Cycle) -> Rewriting | None:
    """The loop without the numbers, each of which is a formula of the turn's number."""
    number = turns.number()
    body = statements_in(loop.body)
    if number is None or not all(one.span.is_text for one in loop.inner_nodes):
        return None
    own = {node for motion in cycle.motions for node in walk(motion)}
    edits: list[Edit] = []
    for position, statement in enumerate(body):
        if statement in cycle.motions:
            end = end_of(scene.text, statement)
            edits.append(whole_line(scene.text.text, statement.span.start, end))
            continue
        for variable in cycle.variables:
            for one in mentions(statement, variable):
                value = cycle.text(variable, position, number)
                if not one.span.is_text or value is None:
                    return None
                edits.append(Edit(one.span.start, one.span.end, f"({value})"))
    header = [node for part in (loop.start, loop.condition, loop.step) if part for node in walk(part)]
    if set(cycle.variables) & set(named_in(header)):
        return None
    start, last = loop.span.start, end_of(scene.text, loop)
    inside = {*own, *walk(loop)}
    gone: list[Variable] = []
    for variable in cycle.variables:
        others = [one for one in mentions(scene.region.function.body, variable) if one not in inside]
        if variable not in cycle.first:
            if others:
                return None
        elif _is_set_in(scene, loop, variable) and not is_repeated(scene.region):
            early = [
                one
                for one in others
                if scene.region.start <= one.span.start < loop.span.start and one.span.is_text
            ]
            edits += [Edit(one.span.start, one.span.end, str(cycle.first[variable])) for one in early]
            others = [one for one in others if one not in early]
            start = min((start, *(one.span.start for one in early)))
        is_used = any(one.span.start > loop.span.start for one in others)
        if variable in cycle.first and (is_repeated(scene.region) or is_used):
            value = _value_after(scene, loop, turns, cycle, variable)
            if value is None:
                return None
            edits.append(Edit(last, last, f" {variable.name} = {value};"))
        elif not others:
            gone.append(variable)
    return Rewriting(start, last, (*edits, *_without_declarations(scene, gone, own)))


def _value_after(
    scene: RegionScene, loop: c.For, turns: CountedLoop, cycle: Cycle, variable: Variable
) -> str | None:
    """A number behind the loop, as C."""
    total = turns.total()
    if total is None or not scene.stands_alone(loop):
        return None
    count, are_any = total
    value = cycle.text(variable, 0, count)
    return None if value is None else f"{are_any} ? {value} : {cycle.first[variable]}"


def _is_set_in(scene: RegionScene, loop: c.For, variable: Variable) -> bool:
    """Whether a variable has its initial value until a loop that alone changes it."""
    inside = list(walk(loop))
    changes = [node for node in walk(scene.region.function.body) if assigned_variable(node) is variable]
    return variable.initial is not None and all(any(node is one for one in inside) for node in changes)


def _without_declarations(
    scene: RegionScene, variables: Sequence[Variable], gone: Collection[Node]
) -> Iterator[Edit]:
    for node in walk(scene.region.function.body):
        doomed = [one for one in node.variables if one in variables] if isinstance(node, c.Declare) else []
        if isinstance(node, c.Declare) and doomed and node not in gone:
            end = end_of_statement(scene.text.plain, node.span.start) or node.span.end
            yield from removal(scene.text, node, doomed, end)


# ---------------------------------------------------------------- first values


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
