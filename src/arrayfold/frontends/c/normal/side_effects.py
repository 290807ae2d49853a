"""Assignments and increments inside of expressions become statements where their order is clear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.calls import only_computes
from arrayfold.c.edits import Edit, NotInText
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.tree import CStatement, Expression, Node, bare, children, named_in, walk
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText, end_of, header_of, literal, with_node

_STEPS = ("x++", "x--", "++", "--")


class _Unclear(Exception):
    """What comes first may not be evaluated at all, so it cannot be evaluated before."""


def hoisted_effects(scene: RegionScene) -> Iterator[Rewriting]:
    """For each statement with side effects inside of expressions, the first of them as a statement."""
    for statement in scene.statements():
        try:
            found = _in_statement(scene, statement)
        except (_Unclear, NotInText, InputError):
            continue
        if found is not None:
            yield found


def effects_of(expression: Expression) -> bool:
    """Whether something is assigned or incremented in an expression."""
    return any(map(_is_effect, walk(expression)))


def _is_effect(node: Node) -> bool:
    return isinstance(node, c.Assign) or (isinstance(node, c.Unary) and node.operator in _STEPS)


# ---------------------------------------------------------------- what comes first


def _first(expression: Expression, *, is_whole: bool) -> Expression | None:
    """The side effect, or the comma, that is evaluated first and surely; None if there is none.

    is_whole  the expression is a statement, or the value that one assigns: then its own effect may stay
    """
    inner = bare(expression)
    match inner:
        case c.Assign(target=target, value=value):
            return (
                _of_parts(bare(target)) or _first(value, is_whole=is_whole) or (None if is_whole else inner)
            )
        case c.Unary(operator=operator, operand=operand) if operator in _STEPS:
            return _of_parts(bare(operand)) or (None if is_whole else inner)
        case c.Binary(operator=",", left=left, right=right) if is_whole:
            return inner if _first(left, is_whole=True) or _first(right, is_whole=True) else None
        case c.Binary(operator=","):
            return inner
        case c.Binary(operator="&&" | "||", left=left, right=right):
            return _first(left, is_whole=False) or _unconditional(right)
        case c.Conditional(condition=condition, then=then, otherwise=otherwise):
            first = _first(condition, is_whole=False)
            return first or _unconditional(then) or _unconditional(otherwise)
        case c.Cast(operand=operand, type=kind) if kind.spelling == "void":
            return _first(operand, is_whole=is_whole)
        case c.Opaque():
            return _unconditional(inner)
        case _:
            return _of_parts(inner)


def _of_parts(expression: Expression) -> Expression | None:
    parts = (child for child in children(expression) if not isinstance(child, CStatement))
    found = (_first(part, is_whole=False) for part in parts)
    return next((one for one in found if one is not None), None)


def _unconditional(expression: Expression) -> None:
    if effects_of(expression):
        raise _Unclear


# ---------------------------------------------------------------- statements


def _in_statement(scene: RegionScene, statement: CStatement) -> Rewriting | None:
    match statement:
        case c.Evaluate(expression=expression):
            return _in_expression(scene, statement, expression, end_of(scene.text, statement))
        case c.Declare(variables=(variable,)) if variable.initial is not None and not variable.is_array:
            end = end_of_statement(scene.text.plain, statement.span.start)
            return _in_expression(scene, statement, variable.initial, end or 0, is_whole=False)
        case c.If(condition=value) | c.Switch(value=value):
            return _in_header(scene, statement, value)
        case c.While():
            return _in_loop(scene, statement)
        case _:
            return None


@dataclass(frozen=True)
class _Hoisted:
    """A side effect as a statement, and what stands for its value afterwards."""

    node: Expression
    statement: str
    value: str
    is_later: bool


def _hoisted(scene: RegionScene, whole: Expression, node: Expression, *, may_be_later: bool) -> _Hoisted:
    """How a side effect of an expression leaves it."""
    texts = TreeText(scene.text)
    if isinstance(node, c.Binary):
        return _Hoisted(node, f"{texts.expression(node.left)};", f"({texts.expression(node.right)})", False)
    operand = node.target if isinstance(node, c.Assign) else getattr(node, "operand", node)
    target = bare(operand)
    variable = target.variable if isinstance(target, c.Reference) else None
    if variable is None or not scene.is_own_scalar(variable):
        calls = (one.function for one in walk(whole) if isinstance(one, c.Call))
        is_volatile = any(one.is_volatile for one in named_in(walk(whole)))
        is_hidden = not isinstance(target, c.Reference | c.Subscript)
        if is_hidden or is_volatile or not all(map(only_computes, calls)):
            raise _Unclear
    name = texts.expression(target)
    if not isinstance(node, c.Unary) or not node.operator.startswith("x"):
        return _Hoisted(node, f"{texts.expression(node)};", name, False)
    others = [one for one in named_in(walk(whole)) if one is variable]
    if may_be_later and variable is not None and len(others) == 1:
        return _Hoisted(node, f"{name}{node.operator[1:]};", name, True)
    if not node.type.is_integer:
        raise _Unclear
    back = f"({name} {'-' if node.operator == 'x++' else '+'} 1)"
    is_narrow = node.type.bits < 32
    return _Hoisted(
        node, f"{name}{node.operator[1:]};", f"({node.type.spelling}){back}" if is_narrow else back, False
    )


def _edit(scene: RegionScene, whole: Expression, hoisted: _Hoisted, start: int, end: int) -> Edit:
    """The expression without its side effect; it stands between two offsets."""
    span = hoisted.node.span
    if all(one.span.is_text for one in walk(hoisted.node)):
        return Edit(span.start, span.end, hoisted.value)
    new = with_node(whole, hoisted.node, literal(hoisted.node, hoisted.value))
    return Edit(start, end, TreeText(scene.text).expression(new))


def _in_expression(
    scene: RegionScene, statement: CStatement, expression: Expression, end: int, *, is_whole: bool = True
) -> Rewriting | None:
    first = _first(expression, is_whole=is_whole)
    if first is None or not end:
        return None
    hoisted = _hoisted(scene, expression, first, may_be_later=True)
    start = expression.span.start
    if not all(one.span.is_text for one in walk(first)) and not is_whole:
        raise _Unclear
    edit = _edit(scene, expression, hoisted, start, end - 1)
    before, after = ("", hoisted.statement) if hoisted.is_later else (hoisted.statement, "")
    return scene.beside(statement, end, before, after, [edit])


def _in_header(scene: RegionScene, statement: c.If | c.Switch, value: Expression) -> Rewriting | None:
    first = _first(value, is_whole=False)
    if first is None:
        return None
    hoisted = _hoisted(scene, value, first, may_be_later=False)
    edit = _edit(scene, value, hoisted, *header_of(scene.text, statement))
    return scene.beside(statement, end_of(scene.text, statement), hoisted.statement, "", [edit])


def _in_loop(scene: RegionScene, loop: c.While) -> Rewriting | None:
    """A while loop whose condition changes something: it is evaluated inside."""
    first = _first(loop.condition, is_whole=False)
    if first is None:
        return None
    text, (start, end) = scene.text, header_of(scene.text, loop)
    hoisted = _hoisted(scene, loop.condition, first, may_be_later=False)
    new = with_node(loop.condition, first, literal(first, hoisted.value))
    condition = TreeText(text).expression(new)
    body, last = loop.body.span.start, end_of(text, loop.body)
    if loop.is_late:
        if any(isinstance(one, c.Jump) and one.what == "continue" for one in walk(loop.body)):
            raise _Unclear
        edits = (
            Edit(body, body, "{ "),
            Edit(last, last, f" {hoisted.statement} }}"),
            Edit(start, end, condition),
        )
    else:
        edits = (
            Edit(start, end, "1"),
            Edit(body, body, f"{{ {hoisted.statement} if (!({condition})) break; "),
            Edit(last, last, " }"),
        )
    return Rewriting(loop.span.start, end_of(text, loop), edits)
