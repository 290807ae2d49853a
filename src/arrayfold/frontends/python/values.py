"""Numbers of Python and NumPy in C: their types, and the C expressions that stand for them.

The rules are those of NumPy 2: a number of Python itself ("int", "float") takes the type of the array element
that it meets, and elements of different types meet in the smallest type that holds both.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from arrayfold.frontends.python.text import Code

NumberKind: TypeAlias = Literal[
    "int", "float", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64"
]
DType: TypeAlias = Literal[
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64"
]

DTYPES: tuple[DType, ...] = (
    *("float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32"),
)
C_TYPES: dict[NumberKind, str] = {
    "int": "long long",
    "float": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "float32": "float",
    "float64": "double",
}
_BITS: dict[NumberKind, int] = {
    **dict.fromkeys(("int8", "uint8"), 8),
    **dict.fromkeys(("int16", "uint16"), 16),
    **dict.fromkeys(("int32", "uint32"), 32),
    **dict.fromkeys(("int64", "int"), 64),
}
_RANKS = ("int", "unsigned int", "long long", "float", "double")
LARGEST = 2**63 - 1

CONDITIONAL, OR, AND, EQUAL, LESS, SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 7, 8, 10, 11, 12, 13


def dtype_called(name: str) -> DType | None:
    """The element type of that name, if there is one.

    >>> dtype_called("float32"), dtype_called("int"), dtype_called("complex64")
    ('float32', 'int64', None)
    """
    named: dict[str, DType] = {**{dtype: dtype for dtype in DTYPES}, "int": "int64", "float": "float64"}
    return named.get(name)


def is_whole(kind: NumberKind) -> bool:
    """Whether it is an integer type."""
    return kind in _BITS


def is_unsigned(kind: NumberKind) -> bool:
    """Whether it is an integer type without negative numbers."""
    return kind.startswith("uint")


def is_narrow(kind: NumberKind) -> bool:
    """Whether it is an integer type that C computes with as int."""
    return _BITS.get(kind, 64) < 32


def fits(number: int, kind: NumberKind) -> bool:
    """Whether an integer type has a number."""
    bits = _BITS[kind]
    return 0 <= number < 1 << bits if is_unsigned(kind) else -(1 << bits - 1) <= number < 1 << bits - 1


def promoted(left: NumberKind, right: NumberKind) -> NumberKind:
    """The type of a sum, a difference or a product.

    >>> promoted("float32", "float"), promoted("float32", "int32"), promoted("int", "float")
    ('float32', 'float64', 'float')
    >>> promoted("uint8", "int8"), promoted("uint16", "float32"), promoted("uint32", "int32")
    ('int16', 'float32', 'int64')
    """
    if left == right:
        return left
    weak, strong = (left, right) if left in ("int", "float") else (right, left)
    if weak in ("int", "float"):
        if strong == "float":
            return "float"
        if strong == "int":
            return weak
        return "float64" if weak == "float" and is_whole(strong) else strong
    if is_whole(left) and is_whole(right):
        return _wider(left, right)
    return "float32" if "float32" in (left, right) and (is_narrow(left) or is_narrow(right)) else "float64"


def _wider(left: NumberKind, right: NumberKind) -> NumberKind:
    """The smallest integer type that holds the numbers of two."""
    bits = {is_unsigned(kind): _BITS[kind] for kind in sorted((left, right), key=lambda kind: _BITS[kind])}
    if len(bits) == 1:
        return max(left, right, key=lambda kind: _BITS[kind])
    needed = max(bits[False], 2 * bits[True])
    signed: dict[int, NumberKind] = {16: "int16", 32: "int32", 64: "int64"}
    return signed[needed]


def divided(left: NumberKind, right: NumberKind) -> NumberKind:
    """The type of a true quotient: integers give a floating-point number of 64 bits.

    >>> divided("int", "int"), divided("int32", "int"), divided("float32", "int")
    ('float', 'float64', 'float32')
    """
    kind = promoted(left, right)
    if not is_whole(kind):
        return kind
    return "float" if kind == "int" else "float64"


def natural(left: NumberKind, right: NumberKind) -> str:
    """The C type that C itself gives an operation on two numbers."""
    return max(map(_promoted_in_c, (left, right)), key=_RANKS.index)


def _promoted_in_c(kind: NumberKind) -> str:
    return "int" if is_narrow(kind) else C_TYPES[kind]


def joined(left: NumberKind, right: NumberKind) -> NumberKind | None:
    """The type of a value that is either of two; None if Python would let the type change as it runs.

    >>> joined("int", "float64"), joined("float32", "float64")
    ('float64', None)
    """
    if left == right:
        return left
    if left in ("int", "float") or right in ("int", "float"):
        kind = promoted(left, right)
        is_mixed = is_whole(kind) != is_whole(left) and is_whole(kind) != is_whole(right)
        is_widened = kind == "float64" and "float64" not in (left, right)
        return None if is_mixed or is_widened else kind
    return None


@dataclass(frozen=True)
class Value:
    """A C expression that stands for a number of Python.

    kind        its type
    others      types that it may have in Python instead, with the same value
    level       how tightly it binds
    number      its value, if that is known
    is_natural  whether it is surely an integer that is not negative
    """

    code: Code
    kind: NumberKind
    level: int = ATOM
    number: int | float | None = None
    is_natural: bool = False
    others: frozenset[NumberKind] = frozenset()

    @property
    def kinds(self) -> frozenset[NumberKind]:
        """All types that it may have."""
        return self.others.union([self.kind])

    def inside(self, level: int) -> Code:
        """The expression as an operand that must bind at least so tightly."""
        return self.code if self.level >= level else Code.of("(", self.code, ")")

    def is_exactly(self, kind: NumberKind) -> bool:
        """Whether the value stays what it is in another type."""
        if is_narrow(kind) or is_unsigned(kind):
            return self.kind == kind or (isinstance(self.number, int) and fits(self.number, kind))
        if kind != "float32" or self.kind != "float":
            return True
        return self.number is not None and _fits_float32(self.number)


def number_value(number: float) -> Value:
    """The literal of a number."""
    if not isinstance(number, int):
        return _float_value(number, "float")
    text = f"{number}LL" if abs(number) > 2**31 - 1 else str(number)
    return Value(Code.of(text), "int", ATOM if number >= 0 else UNARY, number, is_natural=number >= 0)


def _float_value(number: float, kind: NumberKind, suffix: str = "") -> Value:
    text = repr(number).replace("inf", "1e999") + suffix
    return Value(Code.of(text), kind, UNARY if text.startswith("-") else ATOM, number)


def converted(value: Value, kind: NumberKind) -> Value:
    """The value as another type; nothing changes where C has the same type for both."""
    if C_TYPES[value.kind] == C_TYPES[kind]:
        return value
    if value.number is not None and not is_whole(kind):
        number = float(value.number)
        if kind != "float32":
            return _float_value(number, kind)
        if _fits_float32(number) and abs(number) != float("inf"):
            return _float_value(number, kind, "f")
    return Value(Code.of(f"({C_TYPES[kind]})", value.inside(UNARY)), kind, UNARY, is_natural=value.is_natural)


def as_branch(value: Value, kind: NumberKind) -> Value:
    """The value as one of two: literals of C are made as wide as the numbers that they stand for."""
    if value.kind == kind == "int" and isinstance(value.number, int):
        return replace(value, code=Code.of(f"{value.number}LL"))
    return converted(value, kind)


def _fits_float32(value: float) -> bool:
    """Whether 32 bits hold a number exactly."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return False
