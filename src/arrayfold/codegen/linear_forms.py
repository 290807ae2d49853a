"""Expressions as formulas: those of isl's loops, and subscripts in C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl

from arrayfold.c.tree import Binary, Cast, Expression, Number, Parentheses, Reference, Unary, Variable
from arrayfold.formula import Formula

_OPERATIONS: Any = isl.ast_expr_op_type


def formula_in_loops(expression: isl.AstExpr) -> Formula | None:
    """An expression of isl's loops in its iterators and parameters; None if it is no polynomial."""
    kind = expression.get_type()
    if kind == isl.ast_expr_type.int:
        return Formula.constant(expression.get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return Formula.name(expression.get_id().get_name())
    operands: list[Formula] = []
    for k in range(expression.get_op_n_arg()):
        operand = formula_in_loops(expression.get_op_arg(k))
        if operand is None:
            return None
        operands.append(operand)
    match expression.get_op_type():
        case _OPERATIONS.minus:
            return -operands[0]
        case _OPERATIONS.add:
            return operands[0] + operands[1]
        case _OPERATIONS.sub:
            return operands[0] - operands[1]
        case _OPERATIONS.mul:
            return operands[0] * operands[1]
        case _:
            return None


def formula_in_c(expression: Expression, values: Mapping[Variable, Formula | None]) -> Formula | None:
    """A subscript as a formula, given what its variables stand for; None if it is no polynomial of them."""
    match expression:
        case Number(value=value):
            return Formula.constant(value)
        case Reference(variable=variable):
            return values.get(variable)
        case Parentheses(inner=inner) | Cast(operand=inner):
            return formula_in_c(inner, values)
        case Unary(operator="-" | "+" as sign, operand=operand):
            inside = formula_in_c(operand, values)
            return inside if inside is None or sign == "+" else -inside
        case Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            first, second = formula_in_c(left, values), formula_in_c(right, values)
            if first is None or second is None:
                return None
            return (
                first + second if operator == "+" else first - second if operator == "-" else first * second
            )
        case _:
            return None
