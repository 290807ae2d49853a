"""What the text itself says of sizes: assertions, and tests before a region that leave the function."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from arrayfold.c import tree as c
from arrayfold.c.source import CText, Region, assigned_in, variables_with_address
from arrayfold.c.tree import CStatement, Expression, named_in, walk
from arrayfold.frontends.c.affine import AffineReader, Scope, Truth

_ASSERT = re.compile(r"assert\s*\(")
ASSUMING = ("__builtin_assume", "__pencil_assume", "__builtin_expect_with_assumption")
# What says something of a variable to a compiler, and does nothing.
SILENT = ("__pencil_kill", "__pencil_use", "__pencil_def")


def asserted(text: CText, statement: CStatement) -> Expression | None:
    """The condition of an assert(), or of what a compiler is told to assume."""
    if not isinstance(statement, c.Evaluate):
        return None
    expression = c.bare(statement.expression)
    if isinstance(expression, c.Call) and expression.function.name in ASSUMING and expression.arguments:
        return expression.arguments[0]
    if statement.span.is_text or not _ASSERT.match(text.plain, statement.span.start):
        return None
    found = (node.condition for node in walk(statement.expression) if isinstance(node, c.Conditional))
    return next(found, None)


def is_silent(statement: c.Evaluate) -> bool:
    """Whether a statement does nothing but say something of a variable."""
    expression = c.bare(statement.expression)
    return isinstance(expression, c.Call) and expression.function.name in SILENT


def stated_before(text: CText, region: Region, affine: AffineReader) -> isl.Set:
    """{ : }: what holds of parameters where a region begins, by assertions and early returns before it."""
    function = region.function
    changed = {*assigned_in(walk(function.body)), *variables_with_address(function)}
    known = set(affine.parameters)
    stated = isl.Set("{ : }")
    scope = Scope.outside()
    for condition, holds in _tests(text, region):
        named = set(named_in(walk(condition)))
        if named & changed or any(one.storage not in ("parameter", "local") for one in named):
            continue
        before = dict(affine.parameters), len(affine.wraps)
        truth = affine.truth(condition, scope)
        is_clean = set(affine.parameters) <= known and len(affine.wraps) == before[1]
        affine.parameters = before[0]
        del affine.wraps[before[1] :]
        if is_clean:
            stated = stated.intersect(_possible(truth, holds=holds).params())
    return stated


def _possible(truth: Truth, *, holds: bool) -> isl.Set:
    return truth.may if holds else truth.must.complement()


def _tests(text: CText, region: Region) -> Iterator[tuple[Expression, bool]]:
    """Conditions that were tested on every way to a region, and whether they hold there."""
    for statement in region.function.body.statements:
        if statement.span.start >= region.start:
            return
        condition = asserted(text, statement)
        if condition is not None:
            yield condition, True
        if isinstance(statement, c.If) and statement.otherwise is None and _leaves(statement.then):
            yield statement.condition, False


def _leaves(statement: CStatement) -> bool:
    """Whether a statement returns."""
    match statement:
        case c.OtherStatement(what="return"):
            return True
        case c.Block(statements=statements):
            return bool(statements) and _leaves(statements[-1])
        case _:
            return False
