"""Expressions that affine conditions decide: clamps, minima and maxima, wrap-around at an edge."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import Choice
from arrayfold.c.tree import Expression, Span, bare
from arrayfold.frontends.c.affine import AffineReader, Scope, Truth, quotients

_NOWHERE = Span(-1, -1, is_text=False)


def choice_of(expression: Expression, scope: Scope, affine: AffineReader) -> Choice | None:
    """What an affine condition decides in an expression, if one does; its parts are not looked at."""
    match expression:
        case c.Conditional(condition=condition, then=then, otherwise=otherwise):
            truth = affine.truth(condition, scope)
            return _one_of(expression, (then, otherwise), truth, scope)
        case c.Call(function=c.Function(returned=returned)) if returned is not None:
            return _of_call(expression, bare(returned), scope, affine)
        case c.Binary(operator="%", type=kind) if kind.is_integer:
            return _of_remainder(expression, scope, affine)
        case _:
            return None


def _one_of(
    expression: Expression, values: Sequence[Expression], truth: Truth, scope: Scope
) -> Choice | None:
    """The first value where something holds, and the second elsewhere."""
    return Choice(expression, scope.may, truth.must, *values) if truth.is_exact else None


def _of_call(call: c.Call, returned: Expression, scope: Scope, affine: AffineReader) -> Choice | None:
    """A function that returns one of its arguments, such as a minimum."""
    if not isinstance(returned, c.Conditional):
        return None
    arguments = dict(zip(call.function.parameters, call.arguments, strict=False))
    found: list[Expression] = []
    for part in map(bare, (returned.then, returned.otherwise)):
        if not isinstance(part, c.Reference) or part.variable not in arguments:
            return None
        kind = part.variable.type
        found.append(arguments[part.variable])
        if (kind.kind, kind.bits) != (call.type.kind, call.type.bits):
            return None
    wraps = len(affine.wraps)
    try:
        inside = affine.inside_call(call, scope)
    except NotAffine:
        inside = None
    del affine.wraps[wraps:]
    if inside is None:
        return None
    return _one_of(call, found, affine.truth(returned.condition, inside), scope)


def _of_remainder(expression: c.Binary, scope: Scope, affine: AffineReader) -> Choice | None:
    """`x % n` where x stays below 2n: x, or x - n. With a constant that is no edge, but a pattern."""
    wraps = len(affine.wraps)
    try:
        right = affine.attempt(expression.right, scope)
        left = affine.attempt(expression.left, scope)
    except NotAffine:
        return None
    finally:
        del affine.wraps[wraps:]
    if right.is_cst():
        return None
    stays, turns = (quotients(left, right, number) for number in (0, 1))
    if not scope.may.is_subset(stays.union(turns)):
        return None
    less = c.Binary(_NOWHERE, expression.type, "-", expression.left, expression.right)
    return Choice(expression, scope.may, stays, expression.left, less)
