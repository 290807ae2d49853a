"""Variables that each turn of a loop changes by a constant: affine functions of its iterator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import assigned_in, assigned_variable, loop_variable
from arrayfold.c.tree import CStatement, Expression, Variable, bare, declared_in, walk
from arrayfold.exact.isl import coalesced, integer, is_bounded
from arrayfold.frontends.c import integers
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.jumps import jumps_out

_UNKNOWN = None
_MOST_TURNS = 1 << 20


@dataclass(frozen=True, eq=False)
class Induction:
    """Variables that are counted along in a loop.

    before   { [outer] -> [v] }  their values before the loop
    amounts  by how much each turn changes them
    """

    before: Mapping[Variable, isl.PwAff]
    amounts: Mapping[Variable, int]

    @classmethod
    def of(cls, loop: c.For, values: Mapping[Variable, isl.PwAff], affine: AffineReader) -> Induction:
        """The variables of a loop that are known before it and change by a constant in each turn."""
        found = _amounts(loop.body, affine)
        amounts = {
            one: amount
            for one, amount in found.items()
            if amount is not None and one in values and _is_counted(one)
        }
        return cls({one: values[one] for one in amounts}, amounts)

    def inside(self, distance: isl.PwAff, step: int, scope: Scope) -> Mapping[Variable, isl.PwAff]:
        """{ [outer, i] -> [v] } at the start of each turn, for types that do not wrap around.

        distance  { [outer, i] -> [d] }  how far the iterator is from its start, in the direction of the step
        """
        turns = _turns(distance, step)
        return {
            one: _plus(scope.lifted(value), turns, self.amounts[one])
            for one, value in self.before.items()
            if one.type.kind == "signed" or one.is_pointer
        }

    def all_inside(
        self, distance: isl.PwAff, step: int, scope: Scope, domain: isl.Set, affine: AffineReader
    ) -> Mapping[Variable, isl.PwAff]:
        """The same, with variables of other types that do not wrap around in the turns of a domain."""
        known = dict(self.inside(distance, step, scope))
        turns = _turns(distance, step)
        possible = affine.within_types(scope).intersect(domain)
        for one, value in self.before.items():
            if one in known:
                continue
            counted = _plus(scope.lifted(value), turns, self.amounts[one])
            later = counted.add_constant_val(integer(self.amounts[one]))
            parts = (*integers.leaving(counted, one.type), *integers.leaving(later, one.type))
            if all(part.intersect(possible).is_empty() for part in parts):
                known[one] = counted
        return known

    def behind(
        self, domain: isl.Set, inside: Mapping[Variable, isl.PwAff], sign: int
    ) -> Mapping[Variable, isl.PwAff]:
        """{ [outer] -> [v] } behind a loop that ends with its last turn.

        domain  { [outer, i] }
        inside  { [outer, i] -> [v] }
        """
        if not inside or not is_bounded(domain):
            return {}
        last = domain.dim(isl.dim_type.set) - 1
        turns = domain.project_onto_map(isl.dim_type.set, 0, last).reverse()
        ending = turns.lexmax_pw_multi_aff() if sign > 0 else turns.lexmin_pw_multi_aff()
        found: dict[Variable, isl.PwAff] = {}
        for one, value in inside.items():
            after = value.pullback_pw_multi_aff(ending).add_constant_val(integer(self.amounts[one]))
            unchanged = self.before[one].subtract_domain(turns.domain())
            found[one] = coalesced(after.union_add(unchanged))
        return found


def _is_counted(variable: Variable) -> bool:
    """Whether a step of a variable is one of whole numbers; a pointer's are those of its index."""
    return variable.is_pointer or (not variable.type.is_boolean and variable.type.bits >= 32)


def _turns(distance: isl.PwAff, step: int) -> isl.PwAff:
    if abs(step) == 1:
        return distance
    return distance.scale_down_val(integer(abs(step))).floor()


def _plus(value: isl.PwAff, turns: isl.PwAff, amount: int) -> isl.PwAff:
    return value.add(turns.scale_val(integer(amount)))


# ---------------------------------------------------------------- how much a turn adds

_Amounts: TypeAlias = Mapping[Variable, "int | None"]


def _amounts(body: CStatement, affine: AffineReader) -> _Amounts:
    """By how much a turn of a loop changes variables, whichever way it takes; None where nobody knows."""
    continued: list[_Amounts] = []
    end = _behind(body, {}, continued, affine)
    return reduce(_either, [*continued, *([end] if end is not None else [])], None) or {}


def _either(first: _Amounts | None, second: _Amounts) -> _Amounts:
    if first is None:
        return second
    names = (*first, *second)
    return {one: first.get(one, 0) if first.get(one, 0) == second.get(one, 0) else None for one in names}


def _sum(first: _Amounts, second: _Amounts) -> _Amounts:
    total = dict(first)
    for one, amount in second.items():
        before = total.get(one, 0)
        total[one] = None if before is None or amount is None else before + amount
    return total


def _behind(
    statement: CStatement, before: _Amounts, continued: list[_Amounts], affine: AffineReader
) -> _Amounts | None:
    """What was added in a turn when it is behind a statement; None if no turn gets there.

    before     what was added before the statement
    continued  what was added where the turn ends with a continue
    """
    match statement:
        case c.Block(statements=statements):
            for one in statements:
                following = _behind(one, before, continued, affine)
                if following is None:
                    return None
                before = following
            return before
        case c.Label(statement=inner):
            return _behind(inner, before, continued, affine)
        case c.Evaluate(expression=expression):
            return _sum(before, _of_expression(expression, affine))
        case c.If(condition=condition, then=then, otherwise=otherwise):
            before = _sum(before, dict.fromkeys(assigned_in(walk(condition)), _UNKNOWN))
            ends = [_behind(then, before, continued, affine)]
            ends.append(before if otherwise is None else _behind(otherwise, before, continued, affine))
            return reduce(_either, [one for one in ends if one is not None], None)
        case c.Jump(what=what):
            if what == "continue":
                continued.append(before)
            return None
        case c.For():
            return _sum(before, _of_loop(statement, affine))
        case _:
            if "continue" in jumps_out(statement):
                continued.append(_sum(before, _all_unknown(statement)))
            return _sum(before, _all_unknown(statement))


def _all_unknown(statement: CStatement) -> _Amounts:
    nodes = list(walk(statement))
    return dict.fromkeys((*declared_in(nodes), *assigned_in(nodes)), _UNKNOWN)


def _of_expression(expression: Expression, affine: AffineReader) -> _Amounts:
    inner = bare(expression)
    found: dict[Variable, int | None] = dict.fromkeys(assigned_in(walk(inner)), _UNKNOWN)
    if isinstance(inner, c.Binary) and inner.operator == ",":
        return _sum(_of_expression(inner.left, affine), _of_expression(inner.right, affine))
    variable = assigned_variable(inner)
    if variable is not None and len(found) == 1:
        found[variable] = _step(inner, variable, affine)
    return found


def _step(change: Expression, variable: Variable, affine: AffineReader) -> int | None:
    match change:
        case c.Unary(operator="x++" | "++"):
            return 1
        case c.Unary(operator="x--" | "--"):
            return -1
        case c.Assign(operator="+=" | "-=" as operator, value=value):
            amount = _constant(value, affine)
            return None if amount is None else amount if operator == "+=" else -amount
        case c.Assign(operator="=", value=value):
            inner = bare(value)
            if not isinstance(inner, c.Binary) or inner.operator not in ("+", "-"):
                return None
            left, right = bare(inner.left), bare(inner.right)
            if getattr(left, "variable", None) is variable:
                amount = _constant(right, affine)
                return None if amount is None else amount if inner.operator == "+" else -amount
            if inner.operator == "+" and getattr(right, "variable", None) is variable:
                return _constant(left, affine)
            return None
        case _:
            return None


def _constant(expression: Expression, affine: AffineReader) -> int | None:
    try:
        value = affine.constant(expression)
    except NotAffine:
        return None
    return value if value is not None and abs(value) < 1 << 30 else None


def _of_loop(loop: c.For, affine: AffineReader) -> _Amounts:
    """A loop with a constant number of turns does in all of them as often what it does in one."""
    unknown = _all_unknown(loop)
    count = None if "break" in jumps_out(loop.body) else _constant_turns(loop, affine)
    if count is None:
        return unknown
    header, inner = loop_variable(loop), _amounts(loop.body, affine)
    return {
        one: None if one is header or (amount := inner.get(one, 0)) is None else amount * count
        for one in unknown
    }


def _constant_turns(loop: c.For, affine: AffineReader) -> int | None:
    """How often the body of `for (j = 2; j < 9; j += 3)` runs; None if that is no constant."""
    variable = loop_variable(loop)
    condition = None if loop.condition is None else bare(loop.condition)
    if variable is None or loop.step is None or not isinstance(condition, c.Binary):
        return None
    amount = _step(bare(loop.step), variable, affine)
    if assigned_variable(bare(loop.step)) is not variable or not amount:
        return None
    if (
        variable in assigned_in(walk(loop.body))
        or getattr(bare(condition.left), "variable", None) is not variable
    ):
        return None
    match loop.start:
        case c.Declare(variables=(c.Variable(initial=initial),)) if initial is not None:
            first = _constant(initial, affine)
        case c.Evaluate(expression=c.Assign(value=value)):
            first = _constant(value, affine)
        case _:
            first = None
    end = _constant(condition.right, affine)
    if first is None or end is None:
        return None
    match condition.operator:
        case "<" | "<=" if amount > 0:
            count = -(-(end - first + (condition.operator == "<=")) // amount)
        case ">" | ">=" if amount < 0:
            count = -(-(first - end + (condition.operator == ">=")) // -amount)
        case _:
            return None
    return max(0, count) if count < _MOST_TURNS else None
