"""C's arithmetic as closures: whole numbers are computed, data becomes terms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.machine import Machine
from arrayfold.validation.memory import NULL
from arrayfold.validation.types import CType, Floating, Frame, Integer, Other, Pointer, Struct

Run: TypeAlias = Callable[[Frame], Any]

_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def in_order(*steps: Run) -> Run:
    """Steps one after another, whose results do not matter."""
    if len(steps) == 1:
        return steps[0]

    def run(f: Frame) -> None:
        for step in steps:
            step(f)

    return run


def _quotient(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _remainder(left: int, right: int) -> int:
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def arithmetic(m: Machine, op: str, kind: Integer | Floating, left: Run, right: Run, spot: Spot) -> Run:
    """`left op right`, both of which have the type of the result."""
    tag = kind.tag
    if isinstance(kind, Floating):
        return lambda f: m.combine(op, tag, left(f), right(f))
    low, high, is_signed, wrapped = kind.low, kind.high, kind.is_signed, kind.wrapped
    if op in ("/", "%"):
        divide = _quotient if op == "/" else _remainder

        def divided(f: Frame) -> Any:
            a, b = left(f), right(f)
            if type(a) is int and type(b) is int:
                if b == 0:
                    raise Fault("division by zero", spot)
                if is_signed and b == -1 and a == low:
                    raise Fault(f"{a} {op} {b} overflows", spot)
                return divide(a, b)
            return m.combine(op, tag, a, b)

        return divided
    exact = _EXACT[op]

    def computed(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is int and type(b) is int:
            value = exact(a, b)
            if low <= value <= high:
                return value
            if is_signed:
                raise Fault(f"{a} {op} {b} overflows", spot)
            return wrapped(value)
        return m.combine(op, tag, a, b)

    return computed


def shift(m: Machine, op: str, kind: Integer, left: Run, right: Run, spot: Spot) -> Run:
    """`left << right` and `left >> right` in the promoted type of the left side."""
    bits, low, high, tag, is_signed, wrapped = (
        *(kind.bits, kind.low, kind.high, kind.tag, kind.is_signed),
        kind.wrapped,
    )

    def shifted(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is not int or type(b) is not int:
            return m.combine(op, tag, a, b)
        if not 0 <= b < bits:
            raise Fault(f"a shift by {b} of a number with {bits} bits", spot)
        if op == ">>":
            return a >> b
        value = a << b
        if is_signed and (a < 0 or not low <= value <= high):
            raise Fault(f"{a} << {b} overflows", spot)
        return wrapped(value)

    return shifted


def comparison(m: Machine, op: str, kind: CType, left: Run, right: Run) -> Run:
    """`left op right` as 0 or 1, both of which have the type of the comparison."""
    compare, tag = COMPARISONS[op], kind.tag
    if isinstance(kind, Pointer):

        def compared(f: Frame) -> Any:
            a, b = left(f), right(f)
            if type(a) is tuple and type(b) is tuple:
                return int(compare(_linear(a), _linear(b)))
            return m.combine(op, tag, a, b)

        return compared

    def decided(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is int and type(b) is int:
            return int(compare(a, b))
        return m.combine(op, tag, a, b)

    return decided


def _linear(address: Any) -> int:
    obj, offset = address[0], address[1]
    return 0 if obj is None else obj.base + offset


def unary(m: Machine, op: str, kind: Integer | Floating, run: Run, spot: Spot) -> Run:
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


def convert(m: Machine, run: Run, origin: CType, target: CType, spot: Spot) -> Run:
    """A value of one type as a value of another."""
    if isinstance(target, Integer):
        return _to_integer(m, run, origin, target, spot)
    if isinstance(target, Floating):
        return _to_floating(m, run, origin, target, spot)
    if isinstance(target, Pointer) and isinstance(origin, Integer):
        return lambda f: _to_pointer(run(f), spot)
    if isinstance(target, Struct) and not isinstance(origin, Struct):
        raise Unsupported("a conversion to a structure", spot)
    return run


def _to_pointer(value: Any, spot: Spot) -> Any:
    if value == 0 and type(value) is int:
        return NULL
    raise Unsupported("a number is used as an address", spot)


def _to_integer(m: Machine, run: Run, origin: CType, target: Integer, spot: Spot) -> Run:
    if isinstance(origin, Integer):
        if origin == target:
            return run
        if target.low <= origin.low and origin.high <= target.high:
            return _kept(m, run, target.tag)
    if isinstance(origin, Struct | Other):
        raise Unsupported(f"a conversion of {origin.tag} to a number", spot)
    wrapped, tag, is_bool = target.wrapped, target.tag, target.is_bool

    def converted(f: Frame) -> Any:
        value = run(f)
        if type(value) is int:
            return wrapped(value)
        if type(value) is tuple:
            return wrapped(int(_linear(value) != 0) if is_bool else _linear(value))
        return m.combine("convert", tag, value)

    return converted


def _kept(m: Machine, run: Run, tag: str) -> Run:
    """A conversion to a type that has every value of the old one."""

    def converted(f: Frame) -> Any:
        value = run(f)
        return value if type(value) is int else m.combine("convert", tag, value)

    return converted


def _to_floating(m: Machine, run: Run, origin: CType, target: Floating, spot: Spot) -> Run:
    if isinstance(origin, Floating) and origin.tag == target.tag:
        return run
    if not isinstance(origin, Integer | Floating):
        raise Unsupported(f"a conversion of {origin.tag} to a number", spot)
    tag = target.tag
    return lambda f: m.combine("convert", tag, run(f))
