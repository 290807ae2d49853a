"""How fast an expression grows with an iterator: of isl's loops, and of subscripts in C."""

from __future__ import annotations

from typing import Any

import islpy as isl

from arrayfold.c.tree import Binary, Cast, Expression, Number, Parentheses, Reference, Unary, Variable, walk

_OPERATIONS: Any = isl.ast_expr_op_type


def slope_in_loops(expression: isl.AstExpr, iterator: str) -> int | None:
    """The coefficient of an iterator in an expression of isl's loops; None if it is not linear in it."""
    kind = expression.get_type()
    if kind == isl.ast_expr_type.int:
        return 0
    if kind == isl.ast_expr_type.id:
        return int(expression.get_id().get_name() == iterator)
    operands = [expression.get_op_arg(k) for k in range(expression.get_op_n_arg())]
    slopes = [slope_in_loops(operand, iterator) for operand in operands]
    if None in slopes:
        return None
    left, right = ([slope or 0 for slope in slopes] + [0])[:2]
    match expression.get_op_type():
        case _OPERATIONS.minus:
            return -left
        case _OPERATIONS.add:
            return left + right
        case _OPERATIONS.sub:
            return left - right
        case _OPERATIONS.mul:
            numbers = [_number(operand) for operand in operands]
            if numbers[0] is not None:
                return numbers[0] * right
            if numbers[1] is not None:
                return numbers[1] * left
            return None if left or right else 0
        case _:
            return None if any(slopes) else 0


def _number(expression: isl.AstExpr) -> int | None:
    if expression.get_type() != isl.ast_expr_type.int:
        return None
    return expression.get_val().to_python()


def slopes_in_tree(expression: Expression, iterators: frozenset[Variable]) -> dict[Variable, int] | None:
    """The coefficients of iterators in a subscript; None if it is not linear, or uses other variables.

    Variables that are no iterators may change with them, so only the ones of the caller count as fixed.
    """
    match expression:
        case Number():
            return {}
        case Reference(variable=variable):
            return {variable: 1}
        case Parentheses(inner=inner):
            return slopes_in_tree(inner, iterators)
        case Cast(operand=operand):
            return slopes_in_tree(operand, iterators)
        case Unary(operator="-" | "+" as sign, operand=operand):
            inner = slopes_in_tree(operand, iterators)
            return None if inner is None else _scaled(inner, -1 if sign == "-" else 1)
        case Binary(operator="+" | "-" as sign, left=left, right=right):
            first, second = (slopes_in_tree(side, iterators) for side in (left, right))
            if first is None or second is None:
                return None
            signed = _scaled(second, -1 if sign == "-" else 1)
            return {key: first.get(key, 0) + signed.get(key, 0) for key in (*first, *signed)}
        case Binary(operator="*", left=left, right=right):
            for number, other in ((left, right), (right, left)):
                factor = _constant(number)
                inner = slopes_in_tree(other, iterators)
                if factor is not None and inner is not None:
                    return _scaled(inner, factor)
            return None if _variables(expression) & iterators else dict.fromkeys(_variables(expression), 0)
        case _:
            return None if _variables(expression) & iterators else dict.fromkeys(_variables(expression), 0)


def _constant(expression: Expression) -> int | None:
    match expression:
        case Number(value=value):
            return value
        case Parentheses(inner=inner) | Cast(operand=inner):
            return _constant(inner)
        case Unary(operator="-", operand=operand):
            value = _constant(operand)
            return None if value is None else -value
        case _:
            return None


def _variables(expression: Expression) -> frozenset[Variable]:
    return frozenset(node.variable for node in walk(expression) if isinstance(node, Reference))


def _scaled(slopes: dict[Variable, int], factor: int) -> dict[Variable, int]:
    return {variable: factor * slope for variable, slope in slopes.items()}
