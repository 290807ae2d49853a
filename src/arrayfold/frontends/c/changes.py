"""By how much a turn of a loop changes variables: a polynomial of the sizes, whichever way it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import assigned_in, assigned_variable, loop_variable
from arrayfold.c.tree import CStatement, Expression, Variable, bare, declared_in, walk
from arrayfold.exact.formula import Formula
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.jumps import jumps_out
from arrayfold.frontends.c.polynomials import PolynomialReader

_UNKNOWN = None
_ZERO = Formula.constant(0)


@dataclass(frozen=True)
class Change:
    """What a turn adds to a variable.

    turns  loops and how often they run, which is right where it is not negative
    """

    by: Formula
    turns: tuple[tuple[c.For, Formula], ...] = ()

    def __add__(self, other: Change) -> Change:
        return Change(self.by + other.by, (*self.turns, *other.turns))


Changes: TypeAlias = Mapping[Variable, "Change | None"]
NOTHING = Change(_ZERO)


class ChangeReader:
    """Finds out by how much a turn of a loop changes variables; None where nobody knows.

    parameters  those in what it found, which need not be parameters of the region so far
    """

    def __init__(self, affine: AffineReader) -> None:
        self._affine = affine
        self._sums = PolynomialReader(affine)
        self.parameters: dict[str, Variable] = {}

    def of_turn(self, body: CStatement) -> Changes:
        """What one turn with a body adds."""
        continued: list[Changes] = []
        end = self._behind(body, {}, continued)
        return reduce(_either, [*continued, *([end] if end is not None else [])], None) or {}

    def turns(self, loop: c.For) -> Formula | None:
        """How often `for (j = 2; j < w; j += 3)` runs, if that is not negative; None if unknown."""
        variable = loop_variable(loop)
        condition = None if loop.condition is None else bare(loop.condition)
        if variable is None or loop.step is None or not isinstance(condition, c.Binary):
            return None
        step = self._step(bare(loop.step), variable)
        amount = None if step is None or not step.is_constant else int(step.as_number())
        if assigned_variable(bare(loop.step)) is not variable or not amount:
            return None
        is_changed = variable in assigned_in(walk(loop.body))
        if is_changed or getattr(bare(condition.left), "variable", None) is not variable:
            return None
        first, end = self._first(loop), self._formula(condition.right)
        if first is None or end is None:
            return None
        match condition.operator:
            case "<" | "<=" if amount > 0:
                distance = end - first + (condition.operator == "<=")
            case ">" | ">=" if amount < 0:
                distance = first - end + (condition.operator == ">=")
            case _:
                return None
        if distance.is_constant:
            return Formula.constant(max(0, -(-int(distance.as_number()) // abs(amount))))
        return distance if abs(amount) == 1 and distance.is_affine else None

    def _first(self, loop: c.For) -> Formula | None:
        match loop.start:
            case c.Declare(variables=(c.Variable(initial=initial),)) if initial is not None:
                return self._formula(initial)
            case c.Evaluate(expression=c.Assign(value=value)):
                return self._formula(value)
            case _:
                return None

    # ------------------------------------------------ statements

    def _behind(self, statement: CStatement, before: Changes, continued: list[Changes]) -> Changes | None:
        """What was added in a turn when it is behind a statement; None if no turn gets there.

        before     what was added before the statement
        continued  what was added where the turn ends with a continue
        """
        match statement:
            case c.Block(statements=statements):
                for one in statements:
                    following = self._behind(one, before, continued)
                    if following is None:
                        return None
                    before = following
                return before
            case c.Label(statement=inner):
                return self._behind(inner, before, continued)
            case c.Evaluate(expression=expression):
                return _sum(before, self._of_expression(expression))
            case c.If(condition=condition, then=then, otherwise=otherwise):
                before = _sum(before, dict.fromkeys(assigned_in(walk(condition)), _UNKNOWN))
                ends = [self._behind(then, before, continued)]
                ends.append(before if otherwise is None else self._behind(otherwise, before, continued))
                return reduce(_either, [one for one in ends if one is not None], None)
            case c.Jump(what=what):
                if what == "continue":
                    continued.append(before)
                return None
            case c.For():
                return _sum(before, self._of_loop(statement))
            case _:
                if "continue" in jumps_out(statement):
                    continued.append(_sum(before, _all_unknown(statement)))
                return _sum(before, _all_unknown(statement))

    def _of_loop(self, loop: c.For) -> Changes:
        """All turns of a loop together do as often what each of them does."""
        unknown = _all_unknown(loop)
        count = None if "break" in jumps_out(loop.body) else self.turns(loop)
        if count is None:
            return unknown
        header, inner = loop_variable(loop), self.of_turn(loop.body)
        found: dict[Variable, Change | None] = {}
        for one in unknown:
            change = None if one is header else inner.get(one, NOTHING)
            if change is not None and change.by.terms:
                turns = change.turns if count.is_constant else (*change.turns, (loop, count))
                change = Change(change.by * count, turns)
            found[one] = change
        return found

    # ------------------------------------------------ expressions

    def _of_expression(self, expression: Expression) -> Changes:
        inner = bare(expression)
        found: dict[Variable, Change | None] = dict.fromkeys(assigned_in(walk(inner)), _UNKNOWN)
        if isinstance(inner, c.Binary) and inner.operator == ",":
            return _sum(self._of_expression(inner.left), self._of_expression(inner.right))
        variable = assigned_variable(inner)
        if variable is not None and len(found) == 1:
            amount = self._step(inner, variable)
            found[variable] = None if amount is None else Change(amount)
        return found

    def _step(self, change: Expression, variable: Variable) -> Formula | None:
        match change:
            case c.Unary(operator="x++" | "++"):
                return Formula.constant(1)
            case c.Unary(operator="x--" | "--"):
                return Formula.constant(-1)
            case c.Assign(operator="+=" | "-=" as operator, value=value):
                amount = self._formula(value)
                return None if amount is None else amount if operator == "+=" else -amount
            case c.Assign(operator="=", value=value):
                inner = bare(value)
                if not isinstance(inner, c.Binary) or inner.operator not in ("+", "-"):
                    return None
                left, right = bare(inner.left), bare(inner.right)
                if getattr(left, "variable", None) is variable:
                    amount = self._formula(right)
                    return None if amount is None else amount if inner.operator == "+" else -amount
                if inner.operator == "+" and getattr(right, "variable", None) is variable:
                    return self._formula(left)
                return None
            case _:
                return None

    def _formula(self, expression: Expression) -> Formula | None:
        """The value of an expression whose variables stay the same in the region."""
        needs, wraps = len(self._affine.needs), len(self._affine.wraps)
        before = dict(self._affine.parameters)
        try:
            value = self._sums.read(expression, Scope.outside()).as_formula()
        except NotAffine:
            value = None
        is_plain = len(self._affine.needs) == needs and len(self._affine.wraps) == wraps
        del self._affine.needs[needs:], self._affine.wraps[wraps:]
        self.parameters.update(self._affine.parameters)
        self._affine.parameters = before
        if value is None or not is_plain or not value.is_polynomial:
            return None
        is_small = not value.is_constant or abs(value.as_number()) < 1 << 30
        return value if is_small else None


def _either(first: Changes | None, second: Changes) -> Changes:
    if first is None:
        return second
    found: dict[Variable, Change | None] = {}
    for one in (*first, *second):
        left, right = first.get(one, NOTHING), second.get(one, NOTHING)
        is_same = left is not None and right is not None and left.by == right.by
        found[one] = Change(left.by, (*left.turns, *right.turns)) if left and right and is_same else None
    return found


def _sum(first: Changes, second: Changes) -> Changes:
    total = dict(first)
    for one, change in second.items():
        before = total.get(one, NOTHING)
        total[one] = None if before is None or change is None else before + change
    return total


def _all_unknown(statement: CStatement) -> Changes:
    nodes = list(walk(statement))
    return dict.fromkeys((*declared_in(nodes), *assigned_in(nodes)), _UNKNOWN)
