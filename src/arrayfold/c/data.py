"""Types of C data as far as somebody must know them who makes up values and compares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ScalarKind: TypeAlias = Literal["integer", "truth", "real", "long real", "complex"]


@dataclass(frozen=True)
class ScalarData:
    """A number.

    name  its type without qualifiers, as C can read it
    """

    name: str
    kind: ScalarKind
    is_const: bool = False


@dataclass(frozen=True)
class ArrayData:
    """An array; its count is None where it is not a constant."""

    element: DataType
    count: int | None


@dataclass(frozen=True)
class PointerData:
    """A pointer to data."""

    target: DataType
    is_const: bool = False


@dataclass(frozen=True)
class RecordData:
    """A structure or a union; a field without a name holds fields that are reached without it."""

    name: str
    fields: tuple[tuple[str, DataType], ...]
    is_union: bool
    is_const: bool = False


@dataclass(frozen=True)
class OtherData:
    """Anything else, such as a function or a type without a definition.

    is_around  whether it is a structure that this one is part of, as in a list
    """

    name: str
    is_around: bool = False


DataType: TypeAlias = ScalarData | ArrayData | PointerData | RecordData | OtherData


@dataclass(frozen=True)
class GlobalData:
    """A variable outside of functions."""

    type: DataType
    has_value: bool


def is_constant(data: DataType) -> bool:
    """Whether nothing of it may be written."""
    match data:
        case ArrayData(element=element):
            return is_constant(element)
        case ScalarData(is_const=is_const) | PointerData(is_const=is_const) | RecordData(is_const=is_const):
            return is_const
        case OtherData():
            return True
