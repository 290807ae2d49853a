"""Expressions of isl's loops as formulas."""

from __future__ import annotations

from typing import Any

import islpy as isl

from arrayfold.exact.formula import Formula

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
