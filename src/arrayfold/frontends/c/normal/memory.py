"""Regions without allocations at their beginning and without what ends the use of pointers at their end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from arrayfold.c import tree as c
from arrayfold.c.edits import Edit
from arrayfold.c.tree import CStatement, Expression, bare
from arrayfold.frontends.c.allocations import allocating_call, fails_to_allocate, is_null, is_null_test
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import end_of

_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(end)?scop[ \t]*\r?\n?")


def smaller_regions(scene: RegionScene) -> Iterator[Rewriting]:
    """The pragmas behind the allocations that a region begins with, and before what it ends with."""
    region, statements = scene.region, scene.region.statements
    text, plain = scene.text.text, scene.text.plain
    before = _count(statements, _begins)
    behind = _count(statements[::-1], _ends)
    if before + behind >= len(statements):
        return
    if (
        before
        and any(map(_allocates, statements[:before]))
        and _PRAGMA.fullmatch(plain[region.before : region.start])
    ):
        start, end = statements[0].span.start, end_of(scene.text, statements[before - 1])
        rest = plain[end : plain.find("\n", end)]
        pragma = Edit(end, end, "\n#pragma scop" + "\n" * bool(rest.strip()))
        yield Rewriting(start, end, (Edit(region.before, region.start, ""), pragma))
    if behind and _PRAGMA.fullmatch(plain[region.end : region.after]):
        first, last = statements[-behind], statements[-1]
        start, end = first.span.start, end_of(scene.text, last)
        line = text.rfind("\n", 0, start) + 1
        at = line if not text[line:start].strip() else start
        new = "#pragma endscop\n" if at == line else "\n#pragma endscop\n"
        yield Rewriting(start, end, (Edit(at, at, new), Edit(region.end, region.after, "")))


def _count(statements: Sequence[CStatement], fits: Callable[[CStatement], bool]) -> int:
    """How many statements fit before the first that does not; of those, the last is no mere declaration."""
    count = 0
    while count < len(statements) and fits(statements[count]):
        count += 1
    while count and isinstance(statements[count - 1], c.Declare) and not _allocates(statements[count - 1]):
        if fits is _ends:
            break
        count -= 1
    return count


def _begins(statement: CStatement) -> bool:
    """Whether a statement may stand before a region: an allocation, its test, or a declaration."""
    is_declared = isinstance(statement, c.Declare)
    return is_declared or _allocates(statement) or is_null_test(statement)


def _allocates(statement: CStatement) -> bool:
    match statement:
        case c.Declare(variables=variables):
            return any(one.initial is not None and allocating_call(one.initial) for one in variables)
        case c.Evaluate(expression=expression):
            inner = bare(expression)
            if isinstance(inner, c.Call):
                return inner.function.name == "posix_memalign"
            return isinstance(inner, c.Assign) and allocating_call(inner.value) is not None
        case c.If():
            return is_null_test(statement) and any(
                isinstance(node, c.Assign) or (isinstance(node, c.Call) and fails_to_allocate(node))
                for node in c.walk(statement.condition)
            )
        case _:
            return False


def _ends(statement: CStatement) -> bool:
    """Whether a statement may stand behind a region: it frees memory, or changes pointers alone."""
    match statement:
        case c.Evaluate(expression=expression):
            return _ends_use(expression)
        case c.Declare(variables=variables):
            return all(one.initial is not None and _is_pointer(one.initial) for one in variables)
        case c.If(condition=condition, then=then, otherwise=None):
            return _is_pointer(condition) and _ends(then)
        case _:
            return False


def _ends_use(expression: Expression) -> bool:
    match bare(expression):
        case c.Call(function=function, arguments=(argument,)):
            return function.name == "free" and _is_pointer(_without_casts(argument))
        case c.Assign(operator="=", target=target, value=value):
            return _is_pointer(target) and (_is_pointer(value) or is_null(value))
        case c.Binary(operator=",", left=left, right=right):
            return _ends_use(left) and _ends_use(right)
        case _:
            return False


def _without_casts(expression: Expression) -> Expression:
    inner = bare(expression)
    while isinstance(inner, c.Cast):
        inner = bare(inner.operand)
    return inner


def _is_pointer(expression: Expression) -> bool:
    """Whether an expression is a pointer by name."""
    inner = bare(expression)
    return isinstance(inner, c.Reference) and inner.variable.type.kind == "pointer"
