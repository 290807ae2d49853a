"""Whole numbers that go round with the turns of a loop: 0, 1, 0, 1; or two of them that change places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.c import tree as c
from arrayfold.c.source import assigned_in, changed_operand
from arrayfold.c.tree import CStatement, Expression, Variable, bare, declared_in, named_in, walk

Values = Mapping[Variable, int]

_LONGEST_PERIOD = 64
_LONGEST_LIST = 8
_LARGEST = 2**31
_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
    ",": lambda _, b: b,
}


class _Unknown(Exception):
    """A value that the numbers do not determine."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """Numbers that are the same again after some turns of a loop.

    motions  the statements of the body that change them, and do nothing else
    first    the values of those that a turn takes over from the one before, in front of the loop
    turns    for each turn of a period, the values in front of each statement of the body, and behind all
    """

    motions: tuple[CStatement, ...]
    first: Values
    turns: tuple[tuple[Values, ...], ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All of the numbers."""
        return tuple(self.turns[0][-1])

    def text(self, variable: Variable, position: int, number: str) -> str | None:
        """C for a number in front of a statement of the body, in the turn of some number."""
        values = [turn[position].get(variable) for turn in self.turns]
        known = [one for one in values if one is not None]
        return _listed(known, number) if len(known) == len(values) else None


def _listed(values: Sequence[int], number: str) -> str | None:
    """C for the entry of a list that repeats."""
    count, start = len(values), values[0]
    period = next(
        p for p in range(1, count + 1) if count % p == 0 and [*values[:p]] * (count // p) == [*values]
    )
    values = values[:period]
    if period == 1:
        return str(start)
    if 0 <= start < period:
        if all(one == (start + k) % period for k, one in enumerate(values)):
            return _remainder(number, start, period)
        if all(one == (start - k) % period for k, one in enumerate(values)):
            return f"{period - 1} - {_remainder(number, period - 1 - start, period)}"
    if period > _LONGEST_LIST:
        return None
    parts = [f"{number} % {period} == {k} ? {one} : " for k, one in enumerate(values[:-1])]
    return "".join(parts) + str(values[-1])


def _remainder(number: str, more: int, period: int) -> str:
    return f"((long long){number} + {more}) % {period}" if more else f"{number} % {period}"


def find_cycle(
    body: Sequence[CStatement],
    candidates: Sequence[Variable],
    first_value: Callable[[Variable], int | None],
) -> Cycle | None:
    """How numbers go round that the body of a loop changes; None if it changes none in this way.

    candidates  whole numbers of the function's own
    """
    left: list[Variable] = list(candidates)
    while left:
        motions = [one for one in body if _is_motion(one, left)]
        inside = [node for one in body if one not in motions for node in walk(one)]
        changed: set[Variable] = {*assigned_in(inside), *declared_in(inside)}
        moved = {*assigned_in(node for one in motions for node in walk(one))}
        moved |= {*declared_in(node for one in motions for node in walk(one))}
        good: list[Variable] = [one for one in left if one not in changed and one in moved]
        if len(good) < len(left):
            left = good
            continue
        carried = _carried(motions, left)
        first = {one: value for one in carried if (value := first_value(one)) is not None}
        if len(first) < len(carried):
            left = [one for one in left if one not in carried or one in first]
            continue
        turns = _turns(body, motions, first)
        is_moving = turns is not None and any(turn[0] != turns[0][0] for turn in turns)
        return Cycle(tuple(motions), first, turns) if turns is not None and is_moving else None
    return None


def _is_motion(statement: CStatement, variables: Sequence[Variable]) -> bool:
    """Whether a statement changes numbers, and does and looks at nothing else."""
    match statement:
        case c.Evaluate(expression=expression):
            has_effect = any(changed_operand(one) is not None for one in walk(expression))
            return has_effect and _is_of(expression, variables)
        case c.Declare(variables=declared):
            return all(
                one in variables and one.initial is not None and _is_of(one.initial, variables)
                for one in declared
            )
        case c.If(condition=condition, then=then, otherwise=otherwise):
            parts = (then,) if otherwise is None else (then, otherwise)
            return _is_of(condition, variables) and all(_is_motion(one, variables) for one in parts)
        case c.Block(statements=statements):
            return bool(statements) and all(_is_motion(one, variables) for one in statements)
        case c.While(condition=condition, body=body, is_late=True):
            inner = bare(condition)
            return isinstance(inner, c.Number) and inner.value == 0 and _is_motion(body, variables)
        case _:
            return False


def _is_of(expression: Expression, variables: Sequence[Variable]) -> bool:
    """Whether an expression is made of numbers, constants and operators that are known here."""
    for node in walk(expression):
        match node:
            case c.Number() | c.Parentheses() | c.Assign() | c.Conditional() | c.Unary():
                pass
            case c.Reference(variable=variable):
                if variable not in variables:
                    return False
            case c.Cast(type=kind):
                if not kind.is_integer or kind.bits < 32:
                    return False
            case c.Binary(operator=operator):
                if operator not in _OPERATORS and operator not in ("/", "%"):
                    return False
            case _:
                return False
    return True


def _carried(motions: Sequence[CStatement], variables: Sequence[Variable]) -> list[Variable]:
    """The numbers that a turn takes over from the one before."""
    found: list[Variable] = []
    while True:
        known = dict.fromkeys(found, 0)
        try:
            for one in motions:
                _run(one, known)
        except _Missing as missing:
            found.append(missing.variable)
            continue
        except _Unknown:
            return list(variables)
        # What only some turns set is taken over by the others.
        partly = {
            one
            for motion in motions
            if isinstance(motion, c.If)
            for one in assigned_in(walk(motion))
            if one in variables and one not in found
        }
        return [*found, *partly]


class _Missing(_Unknown):
    def __init__(self, variable: Variable) -> None:
        self.variable = variable


def _turns(
    body: Sequence[CStatement], motions: Sequence[CStatement], first: Values
) -> tuple[tuple[Values, ...], ...] | None:
    """The values in each turn of a period; None if there is no short one that begins with the first turn."""
    values = dict(first)
    turns: list[tuple[Values, ...]] = []
    try:
        for _ in range(_LONGEST_PERIOD):
            steps: list[Values] = [dict(values)]
            for one in body:
                if one in motions:
                    _run(one, values)
                steps.append(dict(values))
            turns.append(tuple(steps))
            values = {one: values[one] for one in first}
            if values == first:
                return tuple(turns)
    except _Unknown:
        pass
    return None


def _run(statement: CStatement, values: dict[Variable, int]) -> None:
    match statement:
        case c.Evaluate(expression=expression):
            _value(expression, values)
        case c.Declare(variables=declared):
            for one in declared:
                assert one.initial is not None
                values[one] = _value(one.initial, values)
        case c.If(condition=condition, then=then, otherwise=otherwise):
            if _value(condition, values):
                _run(then, values)
            elif otherwise is not None:
                _run(otherwise, values)
        case c.Block(statements=statements):
            for one in statements:
                _run(one, values)
        case c.While(body=body):
            _run(body, values)
        case _:
            raise _Unknown


def _value(expression: Expression, values: dict[Variable, int]) -> int:
    """The value of an expression, which may change the numbers."""
    match expression:
        case c.Number(value=number):
            result = number
        case c.Parentheses(inner=operand) | c.Cast(operand=operand):
            result = _value(operand, values)
        case c.Reference(variable=variable):
            if variable not in values:
                raise _Missing(variable)
            result = values[variable]
        case c.Conditional(condition=condition, then=then, otherwise=otherwise):
            result = _value(then if _value(condition, values) else otherwise, values)
        case c.Binary(operator="&&" | "||" as operator, left=left, right=right):
            decided = bool(_value(left, values)) == (operator == "||")
            result = int(operator == "||") if decided else int(_value(right, values) != 0)
        case c.Binary(operator=operator, left=left, right=right):
            result = _operated(operator, _value(left, values), _value(right, values))
        case c.Assign() | c.Unary(operator="x++" | "x--" | "++" | "--"):
            result = _assigned(expression, values)
        case c.Unary(operator=operator, operand=operand):
            operand_value = _value(operand, values)
            known = {
                "-": -operand_value,
                "+": operand_value,
                "~": ~operand_value,
                "!": int(not operand_value),
            }
            if operator not in known:
                raise _Unknown
            result = known[operator]
        case _:
            raise _Unknown
    if not -_LARGEST <= result < _LARGEST or (expression.type.kind == "unsigned" and result < 0):
        raise _Unknown
    return result


def _assigned(expression: c.Assign | c.Unary, values: dict[Variable, int]) -> int:
    target = changed_operand(expression)
    inner = None if target is None else bare(target)
    if not isinstance(inner, c.Reference):
        raise _Unknown
    variable = inner.variable
    if isinstance(expression, c.Assign) and expression.operator == "=":
        values[variable] = _value(expression.value, values)
        return values[variable]
    if variable not in values:
        raise _Missing(variable)
    before = values[variable]
    if isinstance(expression, c.Assign):
        values[variable] = _operated(expression.operator[:-1], before, _value(expression.value, values))
        return values[variable]
    values[variable] = before + (1 if "+" in expression.operator else -1)
    return before if expression.operator.startswith("x") else values[variable]


def _operated(operator: str, left: int, right: int) -> int:
    if operator in _OPERATORS:
        return _OPERATORS[operator](left, right)
    if operator not in ("/", "%") or right == 0:
        raise _Unknown
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if operator == "/" else left - right * quotient


def changed_numbers(body: Sequence[CStatement]) -> Iterator[Variable]:
    """The variables that a body sets or declares, each once."""
    nodes = [node for one in body for node in walk(one)]
    named = set(named_in(nodes))
    yield from dict.fromkeys(one for one in (*assigned_in(nodes), *declared_in(nodes)) if one in named)
