"""C expressions that stand for numbers of Python, with their types."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arrayfold.frontends.python.text import Code
from arrayfold.frontends.python.types import C_TYPES, Kind, fits_float32, is_whole

CONDITIONAL, OR, AND, EQUAL, LESS, SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 7, 8, 10, 11, 12, 13


@dataclass(frozen=True)
class Value:
    """A C expression that stands for a number of Python.

    kind        its type
    others      types that it may have in Python instead, with the same value
    level       how tightly it binds
    number      its value, if that is known
    is_natural  whether it is surely a whole number that is not negative
    """

    code: Code
    kind: Kind
    level: int = ATOM
    number: int | float | None = None
    is_natural: bool = False
    others: frozenset[Kind] = frozenset()

    @property
    def kinds(self) -> frozenset[Kind]:
        """All types that it may have."""
        return self.others.union([self.kind])

    def inside(self, level: int) -> Code:
        """The expression as an operand that must bind at least so tightly."""
        return self.code if self.level >= level else Code.of("(", self.code, ")")


def number_value(number: float) -> Value:
    """A number as such."""
    kind: Kind = "int" if isinstance(number, int) else "float"
    text = str(number) if isinstance(number, int) else repr(number)
    if isinstance(number, int) and abs(number) > 2**31 - 1:
        text += "LL"
    text = text.replace("inf", "1e999")
    level = UNARY if text.startswith("-") else ATOM
    return Value(Code.of(text), kind, level, number, is_natural=isinstance(number, int) and number >= 0)


def converted(value: Value, kind: Kind) -> Value:
    """The value as another type; nothing changes where C has the same type for both."""
    if C_TYPES[value.kind] == C_TYPES[kind]:
        return value
    if value.number is not None and not is_whole(kind):
        number = float(value.number)
        text = repr(number).replace("inf", "1e999")
        level = UNARY if text.startswith("-") else ATOM
        if kind != "float32":
            return Value(Code.of(text), kind, level, number)
        if fits_float32(number) and abs(number) != float("inf"):
            return Value(Code.of(f"{text}f"), kind, level, number)
    return Value(Code.of(f"({C_TYPES[kind]})", value.inside(UNARY)), kind, UNARY, is_natural=value.is_natural)


def as_branch(value: Value, kind: Kind) -> Value:
    """The value as one of two: literals of C are made as wide as the numbers that they stand for."""
    if value.kind == kind == "int" and isinstance(value.number, int):
        text = str(value.number) + "LL"
        return replace(value, code=Code.of(text))
    return converted(value, kind) if C_TYPES[value.kind] != C_TYPES[kind] else value


def is_exactly(value: Value, kind: Kind) -> bool:
    """Whether the value stays what it is in another type."""
    if kind != "float32" or value.kind != "float":
        return True
    return value.number is not None and fits_float32(value.number)
