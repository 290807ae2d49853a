"""C's arithmetic as closures: whole numbers are computed, data becomes terms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.memory import NULL
from arrayfold.validation.types import Floating, Frame, Integer, Other, Pointer, Struct, ValueType

Run: TypeAlias = Callable[[Frame], Any]

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def in_order(*steps: Run) -> Run:
    """Steps one after another; the result is that of the last one."""
    *first, last = steps
    if not first:
        return last

    def run(f: Frame) -> Any:
        for step in first:
            step(f)
        return last(f)

    return run


def _quotient(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda a, b: -(-a % abs(b)) if a < 0 else a % abs(b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def arithmetic(m: Interpreter, op: str, kind: Integer | Floating, left: Run, right: Run, spot: Spot) -> Run:
    """`left op right`, both of which have the type of the result."""
    tag = kind.tag
    if isinstance(kind, Floating):
        return lambda f: m.combine(op, tag, left(f), right(f))
    low, high, is_signed, wrapped = kind.low, kind.high, kind.is_signed, kind.wrapped
    exact, divides = _EXACT[op], op in ("/", "%")

    def computed(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is not int or type(b) is not int:
            return m.combine(op, tag, a, b)
        if divides and b == 0:
            raise Fault("division by zero", spot)
        value = exact(a, b)
        # A remainder overflows where its quotient does.
        if low <= value <= high and not (divides and b == -1 and a == low and is_signed):
            return value
        if is_signed:
            raise Fault(f"{a} {op} {b} overflows", spot)
        return wrapped(value)

    return computed


def shift(m: Interpreter, op: str, kind: Integer, left: Run, right: Run, spot: Spot) -> Run:
    """`left << right` and `left >> right` in the promoted type of the left side."""
    bits, low, high, tag, wrapped = kind.bits, kind.low, kind.high, kind.tag, kind.wrapped

    def shifted(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is not int or type(b) is not int:
            return m.combine(op, tag, a, b)
        if not 0 <= b < bits:
            raise Fault(f"a shift by {b} of a number with {bits} bits", spot)
        if op == ">>":
            return a >> b
        value = a << b
        if kind.is_signed and (a < 0 or not low <= value <= high):
            raise Fault(f"{a} << {b} overflows", spot)
        return wrapped(value)

    return shifted


def comparison(m: Interpreter, op: str, kind: ValueType, left: Run, right: Run) -> Run:
    """`left op right` as 0 or 1, both of which have the type of the comparison."""
    compare, tag = COMPARISONS[op], kind.tag

    def decided(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is int and type(b) is int:
            return int(compare(a, b))
        if type(a) is tuple and type(b) is tuple:
            return int(compare(_linear(a), _linear(b)))
        return m.combine(op, tag, a, b)

    return decided


def _linear(address: Any) -> int:
    obj, offset = address[0], address[1]
    return 0 if obj is None else obj.base + offset


def unary(m: Interpreter, op: str, kind: Integer | Floating, run: Run, spot: Spot) -> Run:
    """`-x` and `~x` in the type of x, which is promoted already."""
    tag = kind.tag
    if isinstance(kind, Floating):
        return lambda f: m.combine(op, tag, run(f))
    low, high, wrapped, is_signed = kind.low, kind.high, kind.wrapped, kind.is_signed

    def computed(f: Frame) -> Any:
        value = run(f)
        if type(value) is not int:
            return m.combine(op, tag, value)
        value = -value if op == "-" else ~value
        if low <= value <= high:
            return value
        if is_signed:
            raise Fault(f"{op}{-value} overflows", spot)
        return wrapped(value)

    return computed


def convert(m: Interpreter, run: Run, origin: ValueType, target: ValueType, spot: Spot) -> Run:
    """A value of one type as a value of another."""
    if isinstance(target, Integer):
        return _to_integer(m, run, origin, target, spot)
    if isinstance(target, Floating):
        if origin == target:
            return run
        if not isinstance(origin, Integer | Floating):
            raise Unsupported(f"a conversion of {origin.tag} to a number", spot)
        tag = target.tag
        return lambda f: m.combine("convert", tag, run(f))
    if isinstance(target, Pointer) and isinstance(origin, Integer):
        return lambda f: _to_pointer(run(f), spot)
    if isinstance(target, Struct) and not isinstance(origin, Struct):
        raise Unsupported("a conversion to a structure", spot)
    return run


def _to_pointer(value: Any, spot: Spot) -> Any:
    if value == 0 and type(value) is int:
        return NULL
    raise Unsupported("a number is used as an address", spot)


def _to_integer(m: Interpreter, run: Run, origin: ValueType, target: Integer, spot: Spot) -> Run:
    if origin == target:
        return run
    if isinstance(origin, Struct | Other):
        raise Unsupported(f"a conversion of {origin.tag} to a number", spot)
    low, high, wrapped, tag = target.low, target.high, target.wrapped, target.tag

    def converted(f: Frame) -> Any:
        value = run(f)
        if type(value) is int:
            return value if low <= value <= high else wrapped(value)
        return wrapped(_linear(value)) if type(value) is tuple else m.combine("convert", tag, value)

    return converted
