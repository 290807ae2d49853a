"""Numbers of Python and NumPy in C: which type an operation on them has.

The rules are those of NumPy 2: a number of Python itself ("int", "float") takes the type of the array element
that it meets, and elements of different types meet in the smallest type that holds both.
"""

from __future__ import annotations

import struct
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["int", "float", "int32", "int64", "float32", "float64"]
DType: TypeAlias = Literal["int32", "int64", "float32", "float64"]

DTYPES: tuple[DType, ...] = ("float32", "float64", "int32", "int64")
C_TYPES: dict[Kind, str] = {
    "int": "long long",
    "float": "double",
    "int32": "int",
    "int64": "long long",
    "float32": "float",
    "float64": "double",
}
_RANKS = ("int", "long long", "float", "double")
LARGEST = 2**63 - 1


def dtype_called(name: str | None) -> DType | None:
    """The element type of that name, if there is one."""
    match name:
        case "int32" | "int64" | "float32" | "float64":
            return name
        case _:
            return None


def is_whole(kind: Kind) -> bool:
    """Whether it is an integer."""
    return kind in ("int", "int32", "int64")


def promoted(left: Kind, right: Kind) -> Kind:
    """The type of a sum, a difference or a product.

    >>> promoted("float32", "float"), promoted("float32", "int32"), promoted("int", "float")
    ('float32', 'float64', 'float')
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
    return "int64" if is_whole(left) and is_whole(right) else "float64"


def divided(left: Kind, right: Kind) -> Kind:
    """The type of a true quotient: whole numbers give a fraction of 64 bits.

    >>> divided("int", "int"), divided("int32", "int"), divided("float32", "int")
    ('float', 'float64', 'float32')
    """
    kind = promoted(left, right)
    if not is_whole(kind):
        return kind
    return "float" if kind == "int" else "float64"


def natural(left: Kind, right: Kind) -> str:
    """The C type that C itself gives an operation on two numbers."""
    return max(C_TYPES[left], C_TYPES[right], key=_RANKS.index)


def joined(left: Kind, right: Kind) -> Kind | None:
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


def fits_float32(value: float) -> bool:
    """Whether a number is one of 32 bits."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return False
