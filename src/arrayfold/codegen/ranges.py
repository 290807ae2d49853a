"""What the expressions of isl's loops are as formulas, and between which numbers: whether an int holds them.

Sizes may be any number of their type also where no loop runs, and there nothing may overflow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl

from arrayfold.exact.formula import Formula

# islpy's types do not know the members whose names are Python's keywords with an underscore.
OPERATIONS: Any = isl.ast_expr_op_type
NODES: Any = isl.ast_node_type

Range = tuple[int, int]
_INT: Range = (-(2**31), 2**31 - 1)
_ONE_OR_NONE: Range = (0, 1)


def parts_of(node: isl.AstNode) -> list[isl.AstNode]:
    """The nodes right inside of a node."""
    kind = node.get_type()
    if kind == NODES.for_:
        return [node.for_get_body()]
    if kind == NODES.if_:
        return [node.if_get_then_node()] + ([node.if_get_else_node()] if node.if_has_else_node() else [])
    if kind == NODES.block:
        children = node.block_get_children()
        return [children.get_at(k) for k in range(children.n_ast_node())]
    return [node.mark_get_node()] if kind == NODES.mark else []


def operands_of(node: isl.AstExpr) -> list[isl.AstExpr]:
    """The operands of an operation."""
    return [node.get_op_arg(k) for k in range(node.get_op_n_arg())]


def formula_in_loops(expression: isl.AstExpr) -> Formula | None:
    """An expression of isl's loops in its iterators and parameters; None if it is no polynomial."""
    kind = expression.get_type()
    if kind == isl.ast_expr_type.int:
        return Formula.constant(expression.get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return Formula.name(expression.get_id().get_name())
    operands = [known for one in operands_of(expression) if (known := formula_in_loops(one)) is not None]
    if len(operands) < expression.get_op_n_arg():
        return None
    match expression.get_op_type():
        case OPERATIONS.minus:
            return -operands[0]
        case OPERATIONS.add:
            return operands[0] + operands[1]
        case OPERATIONS.sub:
            return operands[0] - operands[1]
        case OPERATIONS.mul:
            return operands[0] * operands[1]
        case _:
            return None


def constant_of(node: isl.AstExpr) -> int | None:
    """The value of a number, or of a sum of numbers, which C would take as an int whatever it is."""
    if node.get_type() == isl.ast_expr_type.int:
        return node.get_val().to_python()
    if node.get_type() != isl.ast_expr_type.op or node.get_op_type() not in (OPERATIONS.add, OPERATIONS.sub):
        return None
    left, right = map(constant_of, operands_of(node))
    if left is None or right is None:
        return None
    return left + right if node.get_op_type() == OPERATIONS.add else left - right


@dataclass(frozen=True, eq=False)
class Ranges:
    """Names of parameters and iterators -> the smallest and the largest value that they may have."""

    names: Mapping[str, Range]

    @staticmethod
    def of(parameters: Mapping[str, Range], root: isl.AstNode) -> Ranges:
        """With the iterators of all loops, each by its bounds; one name may have several loops."""
        names = dict(parameters)
        _add_iterators(root, names)
        return Ranges(names)

    def fits(self, node: isl.AstExpr) -> bool:
        """Whether an int holds the value of an expression, and of all that it is made of."""
        if node.get_type() != isl.ast_expr_type.op:
            return _is_inside(self.range(node), _INT)
        operands = operands_of(node)
        if not all(map(self.fits, operands)) or not _is_inside(self.range(node), _INT):
            return False
        if node.get_op_type() == OPERATIONS.fdiv_q:
            # Where the value is negative, it is taken from the divisor less one.
            (low, _), (_, divisor) = map(self.range, operands)
            return divisor - 1 - low <= _INT[1]
        return True

    def all_fit(self, root: isl.AstNode, parallel: Collection[str]) -> bool:
        """Whether an int holds all expressions of loops, and how often those of some iterators run."""
        kind = root.get_type()
        if kind == NODES.for_:
            start, end = root.for_get_init(), root.for_get_cond()
            name = root.for_get_iterator().get_id().get_name()
            if not (self.fits(start) and self.fits(end)):
                return False
            low, high = self.names[name]
            if name in parallel and not root.for_is_degenerate() and high - low >= _INT[1]:
                return False
        elif (kind == NODES.if_ and not self.fits(root.if_get_cond())) or (
            kind == NODES.user and not all(map(self.fits, operands_of(root.user_get_expr())[1:]))
        ):
            return False
        return all(self.all_fit(part, parallel) for part in parts_of(root))

    def range(self, node: isl.AstExpr) -> Range:
        """The smallest and the largest value of an expression."""
        kind = node.get_type()
        if kind == isl.ast_expr_type.int:
            value = node.get_val().to_python()
            return value, value
        if kind == isl.ast_expr_type.id:
            return self.names[node.get_id().get_name()]
        return _of_operation(node.get_op_type(), list(map(self.range, operands_of(node))))


def _add_iterators(node: isl.AstNode, names: dict[str, Range]) -> None:
    """Bounds of the iterators of loops, from outside to inside."""
    if node.get_type() == NODES.for_:
        name = node.for_get_iterator().get_id().get_name()
        known = Ranges({**names, name: _INT})
        low, high = known.range(node.for_get_init())
        if not node.for_is_degenerate():
            high = max(low, _last(node.for_get_cond(), name, known))
        before = names.get(name, (low, high))
        names[name] = min(low, before[0]), max(high, before[1])
    for part in parts_of(node):
        _add_iterators(part, names)


def _last(condition: isl.AstExpr, name: str, known: Ranges) -> int:
    """The largest value that the condition of a loop lets an iterator have."""
    operands = operands_of(condition)
    kind = condition.get_op_type()
    if kind in (OPERATIONS.and_, OPERATIONS.and_then):
        return min(_last(one, name, known) for one in operands)
    left = operands[0]
    is_bound = left.get_type() == isl.ast_expr_type.id and left.get_id().get_name() == name
    if is_bound and kind in (OPERATIONS.le, OPERATIONS.lt):
        return known.range(operands[1])[1] - (kind == OPERATIONS.lt)
    return _INT[1]


def _of_operation(kind: Any, operands: list[Range]) -> Range:
    """The range of a result; truth values are 0 and 1."""
    op = OPERATIONS
    lows, highs = zip(*operands, strict=True)
    match kind:
        case op.max:
            return max(lows), max(highs)
        case op.min:
            return min(lows), min(highs)
        case op.minus:
            return -highs[0], -lows[0]
        case op.add:
            return lows[0] + lows[1], highs[0] + highs[1]
        case op.sub:
            return lows[0] - highs[1], highs[0] - lows[1]
        case op.mul:
            return _ends([a * b for a in operands[0] for b in operands[1]])
        case op.div | op.pdiv_q | op.fdiv_q:
            return _ends([a // b for a in operands[0] for b in operands[1] if b])
        case op.pdiv_r | op.zdiv_r:
            return min(lows[0], 0), max(highs[1] - 1, 0)
        case op.cond | op.select:
            return min(lows[1:]), max(highs[1:])
        case _:
            return _ONE_OR_NONE


def _ends(values: list[int]) -> Range:
    return (min(values), max(values)) if values else _INT


def _is_inside(one: Range, other: Range) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]
