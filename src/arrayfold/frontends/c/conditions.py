"""Which conditions on data of a region surely come out the same: equal texts on values that do not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.c import tree as c
from arrayfold.c.source import SameCondition, StatementSource
from arrayfold.c.tree import CStatement, Expression, bare, children, walk
from arrayfold.exact.isl import coalesced, sets_of
from arrayfold.order.events import Order, order_of
from arrayfold.program.model import Program, Statement
from arrayfold.program.private_values import same_owner

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MOST_CONDITIONS = 40


@dataclass(frozen=True, eq=False)
class _Condition:
    """A condition on data with the statement that evaluates it.

    expression  without what only negates it
    is_negated  whether that was so an odd number of times
    """

    statement: Statement
    source: StatementSource
    expression: Expression
    is_negated: bool


def with_same_conditions(program: Program) -> Program:
    """The program whose source says which conditions on data surely come out the same."""
    conditions = _conditions(program)
    if len(conditions) < 2 or len(conditions) > _MOST_CONDITIONS:
        return program
    order = order_of(program)
    found: dict[str, list[SameCondition]] = {}
    for number, second in enumerate(conditions):
        for first in conditions[:number]:
            same = _compare(program, order, first, second)
            if same is not None:
                found.setdefault(first.statement.name, []).append(same)
                back = replace(same, pairs=same.pairs.reverse())
                found.setdefault(second.statement.name, []).append(back)
    assert program.source is not None
    return replace(program, source=replace(program.source, same_conditions=found)) if found else program


def _conditions(program: Program) -> list[_Condition]:
    """The conditions around statements, in the order of the text; those with side effects are left out."""
    source = program.source
    assert source is not None
    guards = (guard for statement in source.statements.values() for guard in statement.guards)
    evaluated = {guard.evaluated: guard.condition for guard in guards}
    found: list[_Condition] = []
    for statement in program.statements:
        condition = evaluated.get(statement.name)
        if condition is not None and _is_plain(condition):
            found.append(
                _Condition(statement, source.statements[statement.name], *_without_negations(condition))
            )
    return found


def _is_plain(condition: Expression) -> bool:
    """Whether an expression only computes with values that nothing else changes."""
    refused = (c.Assign, c.Call, c.Opaque)
    return all(
        not isinstance(one, refused)
        and not (isinstance(one, c.Reference) and one.variable.is_volatile)
        and not (isinstance(one, c.Unary) and one.operator not in ("+", "-", "!", "~"))
        for one in walk(condition)
    )


def _without_negations(condition: Expression) -> tuple[Expression, bool]:
    expression, is_negated = bare(condition), False
    while isinstance(expression, c.Unary) and expression.operator == "!":
        expression, is_negated = bare(expression.operand), not is_negated
    return expression, is_negated


def _compare(program: Program, order: Order, first: _Condition, second: _Condition) -> SameCondition | None:
    """Evaluations of the first condition that come out like, or opposite to, ones of the second."""
    is_opposite = first.is_negated != second.is_negated
    pairs = _equal(program, first, second, first.expression, second.expression)
    if pairs is None:
        pairs, is_opposite = _opposite(program, first, second), not is_opposite
    if pairs is None:
        return None
    pairs = coalesced(pairs.subtract(_changed_between(program, order, first, pairs)))
    return None if pairs.is_empty() else SameCondition(pairs, is_opposite)


def _opposite(program: Program, first: _Condition, second: _Condition) -> isl.Map | None:
    """{ C[i] -> D[j] }: where two comparisons of whole numbers are each the contrary of the other."""
    left, right = first.expression, second.expression
    if not isinstance(left, c.Binary) or not isinstance(right, c.Binary):
        return None
    operands = (left.left, left.right, right.left, right.right)
    # A floating-point number may be unordered, so that neither comparison holds.
    is_whole = all(one.type.is_integer for one in operands) or left.operator in ("==", "!=")
    if _OPPOSITE.get(left.operator) != right.operator or not is_whole:
        return None
    return _both(program, first, second, ((left.left, right.left), (left.right, right.right)))


def _equal(
    program: Program, first: _Condition, second: _Condition, left: Expression, right: Expression
) -> isl.Map | None:
    """{ C[i] -> D[j] }: the iterations in which two expressions read the same; None if they never do."""
    left, right = bare(left), bare(right)
    all_pairs = isl.Map.from_domain_and_range(first.statement.domain, second.statement.domain)
    cells = first.source.cells.get(left), second.source.cells.get(right)
    if type(left) is not type(right) or left.type != right.type or (cells[0] is None) != (cells[1] is None):
        return None
    if cells[0] is not None and cells[1] is not None:
        array = cells[0].get_tuple_name(isl.dim_type.out)
        if array != cells[1].get_tuple_name(isl.dim_type.out):
            return None
        pairs = cells[0].apply_range(cells[1].reverse()).align_params(all_pairs.get_space())
        for k in range(program.private.get(array, 0)):
            pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        return pairs.intersect(all_pairs)
    match left, right:
        case (c.Number(), c.Number()) if left.value == right.value:
            return all_pairs
        case (c.OtherLiteral(), c.OtherLiteral()) if left.text == right.text:
            return all_pairs
        case (c.Reference(), c.Reference()):
            return _equal_variables(first, second, left, right, all_pairs)
        case (c.Number() | c.OtherLiteral() | c.Subscript(), _):
            return None
        case (c.Unary() | c.Binary(), c.Unary() | c.Binary()) if left.operator != right.operator:
            return None
        case _ if getattr(left, "name", None) != getattr(right, "name", None):
            return None
        case _:
            return _both(program, first, second, tuple(zip(_operands(left), _operands(right), strict=True)))


def _equal_variables(
    first: _Condition, second: _Condition, left: c.Reference, right: c.Reference, all_pairs: isl.Map
) -> isl.Map | None:
    """{ C[i] -> D[j] }: where two variables that are not data have the same value."""
    iterators = first.source.iterators, second.source.iterators
    if left.variable in iterators[0] and right.variable in iterators[1]:
        places = iterators[0].index(left.variable), iterators[1].index(right.variable)
        return all_pairs.equate(isl.dim_type.in_, places[0], isl.dim_type.out, places[1])
    is_fixed = left.variable is right.variable and left.variable not in (*iterators[0], *iterators[1])
    return all_pairs if is_fixed else None


def _operands(node: Expression) -> list[Expression]:
    return [child for child in children(node) if not isinstance(child, CStatement)]


def _both(
    program: Program,
    first: _Condition,
    second: _Condition,
    operands: Sequence[tuple[Expression, Expression]],
) -> isl.Map | None:
    pairs = isl.Map.from_domain_and_range(first.statement.domain, second.statement.domain)
    for left, right in operands:
        found = _equal(program, first, second, left, right)
        if found is None:
            return None
        pairs = pairs.intersect(found)
    return pairs


def _changed_between(program: Program, order: Order, first: _Condition, pairs: isl.Map) -> isl.Map:
    """{ C[i] -> D[j] }: pairs with a write to what they read that is not surely before both, or after both.

    Writes before both leave the same values to both.
    """
    total = isl.Map.empty(pairs.get_space())
    for access in first.statement.accesses:
        writes = program.accesses(writes=True, array=access.array)
        if writes.is_empty():
            continue
        read = isl.UnionMap.from_map(access.relation)
        onto = isl.UnionMap.from_map(pairs)
        # { W[k] -> [C[i] -> D[j]] } for writes to what C[i], and so D[j], reads
        writers = writes.apply_range(read.reverse())
        if access.array in program.private:
            writers = same_owner(writers, program.private[access.array])
        met = writers.apply_range(onto.domain_map().reverse())
        before = isl.UnionMap.from_map(order.before)
        earlier = order.write_times.apply_range(before).apply_range(order.read_times.reverse())
        later = order.read_times.apply_range(before).apply_range(order.write_times.reverse()).reverse()
        ends = onto.domain_map().reverse(), onto.range_map().reverse()
        fine = isl.UnionMap.empty(met.get_space())
        for side in (earlier, later):
            fine = fine.union(side.apply_range(ends[0]).intersect(side.apply_range(ends[1])))
        wrong = met.subtract(fine).intersect_params(program.context).range()
        for part in sets_of(wrong):
            total = total.union(part.unwrap())
    return total
