"""C's types as far as executing a program needs them, with its integer promotions and conversions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

Frame: TypeAlias = list[Any]
"""The variables of one call of a function, by number."""

ElementCount: TypeAlias = "int | Callable[[Frame], int] | None"
"""A number of elements or bytes: constant, known when the type was met, or unknown."""


@dataclass(frozen=True)
class Integer:
    """An integer type; two's complement."""

    bits: int
    is_signed: bool
    is_bool: bool = False

    @cached_property
    def low(self) -> int:
        """The smallest value."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @cached_property
    def high(self) -> int:
        """The largest value."""
        return 1 if self.is_bool else (1 << (self.bits - self.is_signed)) - 1

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bits // 8

    @property
    def tag(self) -> str:
        """The type in names of terms: `long` and `long long` of the same size are the same."""
        return "bool" if self.is_bool else f"{'i' if self.is_signed else 'u'}{self.bits}"

    def wrapped(self, value: int) -> int:
        """A whole number as this type holds it after a conversion."""
        if self.low <= value <= self.high:
            return value
        if self.is_bool:
            return 1
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if value > self.high else value


@dataclass(frozen=True)
class Floating:
    """A floating type: its values are opaque."""

    tag: str
    size: int


@dataclass(frozen=True, eq=False)
class Pointer:
    """A pointer."""

    target: ValueType
    size: int = 8
    tag: str = "pointer"


@dataclass(frozen=True, eq=False)
class ArrayType:
    """An array; a count that the run knows was fixed where the type was met, and so were its bytes."""

    element: ValueType
    count: ElementCount
    bytes: Callable[[Frame], int] | None = None
    tag: str = "array"


@dataclass(frozen=True, eq=False)
class Struct:
    """A structure or a union: name -> offset in bytes, and type."""

    size: int
    members: Mapping[str, tuple[int, ValueType]] = field(default_factory=dict[str, "tuple[int, ValueType]"])
    tag: str = "struct"


@dataclass(frozen=True, eq=False)
class Other:
    """void, functions, and what the interpreter has no values for."""

    tag: str
    size: int = 1


ValueType: TypeAlias = "Integer | Floating | Pointer | ArrayType | Struct | Other"

INT = Integer(32, is_signed=True)
LONG = Integer(64, is_signed=True)
SIZE = Integer(64, is_signed=False)
DOUBLE = Floating("double", 8)
VOID = Other("void")


def promoted(kind: Integer) -> Integer:
    """The type in which arithmetic on a type is done [C11 6.3.1.1]."""
    return INT if kind.bits < INT.bits or kind.is_bool else kind


def common_type(left: ValueType, right: ValueType) -> Integer | Floating:
    """The type of an operation on two arithmetic types [C11 6.3.1.8]."""
    floats = [kind for kind in (left, right) if isinstance(kind, Floating)]
    if floats:
        return max(floats, key=lambda kind: ("complex" in kind.tag, kind.size))
    assert isinstance(left, Integer)
    assert isinstance(right, Integer)
    left, right = promoted(left), promoted(right)
    if left.is_signed == right.is_signed:
        return max(left, right, key=lambda kind: kind.bits)
    signed, unsigned = (left, right) if left.is_signed else (right, left)
    return signed if signed.bits > unsigned.bits else unsigned


def size_of(kind: ValueType) -> ElementCount:
    """The bytes of a type; None if its size is unknown."""
    if not isinstance(kind, ArrayType):
        return kind.size
    if kind.bytes is not None:
        return kind.bytes
    element, count = size_of(kind.element), kind.count
    if element is None or count is None:
        return None
    if isinstance(element, int) and isinstance(count, int):
        return element * count

    def product(frame: Frame) -> int:
        return value_of(element, frame) * value_of(count, frame)

    return product


def value_of(count: int | Callable[[Frame], int], frame: Frame) -> int:
    """A count as a number."""
    return count if isinstance(count, int) else count(frame)


def shape_of(kind: ValueType, frame: Frame) -> tuple[int, ...]:
    """The extents of an array as numbers, the first as 1; nothing for what is not an array."""
    shape: list[int] = []
    while isinstance(kind, ArrayType):
        shape.append(1 if not shape or kind.count is None else value_of(kind.count, frame))
        kind = kind.element
    return tuple(shape)


def leaves(kind: ValueType, offset: int = 0) -> list[tuple[int, ValueType]]:
    """The scalars in a type whose size is constant, each with its offset."""
    if isinstance(kind, Struct):
        return [leaf for at, member in kind.members.values() for leaf in leaves(member, offset + at)]
    if isinstance(kind, ArrayType):
        size = size_of(kind.element)
        assert isinstance(size, int)
        assert isinstance(kind.count, int)
        return [leaf for k in range(kind.count) for leaf in leaves(kind.element, offset + k * size)]
    return [(offset, kind)]
