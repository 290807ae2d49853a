"""Memory: objects of bytes that hold whole values, and pointers that know the bounds of their array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.terms import Poison
from arrayfold.validation.types import ValueType

Address: TypeAlias = "tuple[Object | None, int, float, float]"
"""An object, an offset in bytes, and the bounds of the array in it within which the pointer may move."""

NULL: Address = (None, 0, 0, 0)
UNBOUNDED = float("inf")


def is_address(value: Any) -> TypeGuard[Address]:
    """Whether a value is a pointer."""
    return type(value) is tuple


def is_structure(value: Any) -> TypeGuard[list[tuple[int, Any]]]:
    """Whether a value is a structure: the offsets and values of what is in it."""
    return type(value) is list


class Object:
    """A piece of memory.

    cells    offset in bytes -> what was stored there
    unit     the width of all its cells; -1 if there are several widths
    initial  what a cell holds that nothing was stored in; None if that was never set
    fills    stretches that were set to zero bytes, the last one last
    is_open  its size is unknown; low and high then tell what was touched or pointed at
    gone     why it does not exist any more
    row      bytes of what a pointer to it points at: if one byte of that exists, all of it does
    shape    the extents of its dimensions but the first, for messages; none for what is not an array
    """

    __slots__ = (
        *("base", "cells", "fills", "gone", "high", "initial", "is_heap", "is_open", "low", "name"),
        *("number", "row", "shape", "size", "unit", "widths"),
    )

    def __init__(self, name: str, size: float, number: int, turn: int = 0) -> None:
        self.name = name
        self.size = size
        self.number = number
        # Aligned as malloc aligns, and not more; in another way in each turn.
        self.base = number * 0x1000000 + 16 * ((number + turn) % 4)
        self.cells: dict[int, Any] = {}
        self.unit = 0
        self.widths: dict[int, int] = {}
        self.initial: Callable[[int, ValueType], Any] | None = None
        self.fills: list[tuple[int, int]] = []
        self.is_heap = False
        self.is_open = False
        self.gone = ""
        self.shape: tuple[int, ...] = (1,)
        self.row = 1
        self.low = 0
        self.high = 0

    def pointer(self) -> Address:
        """A pointer to its start."""
        if self.is_open:
            return (self, 0, -UNBOUNDED, UNBOUNDED)
        return (self, 0, self.low, self.low + self.size)

    def reach(self, offset: int) -> None:
        """A pointer to this byte was made: it exists, or is right behind the end; the size is unknown."""
        self.low = min(self.low, offset)
        self.high = max(self.high, offset)

    def touched(self) -> tuple[int, int]:
        """The bytes of an object of unknown size that must exist, because they were touched or pointed at."""
        return self.low - self.low % self.row, self.high + -self.high % self.row

    def end(self, reason: str) -> None:
        """Whatever uses it from now on is a fault."""
        self.gone = reason
        self.unit = -1

    def check_width(self, offset: int, width: int, spot: Spot, *, is_store: bool) -> None:
        """Called where an access is not like all others of the object before: remember, or refuse."""
        if self.gone:
            raise Fault(self.gone, spot)
        if self.is_open:
            self.reach(offset)
            self.reach(offset + width)
        if self.unit == 0 and offset % width == 0 and not self.is_open:
            self.unit = width
            return
        if self.unit > 0:
            self.widths = dict.fromkeys(self.cells, self.unit)
        self.unit = -1
        for other in range(offset - 15, offset + width):
            length = self.widths.get(other)
            overlaps = length is not None and other + length > offset
            if overlaps and (other, length) != (offset, width):
                if is_store and other >= offset and other + (length or 0) <= offset + width:
                    del self.widths[other]
                    self.cells.pop(other, None)
                    continue
                raise Unsupported(f"{self.name} is accessed with elements of several sizes", spot)
        if is_store:
            self.widths[offset] = width

    def missing(self, offset: int, kind: ValueType, zero: Callable[[ValueType], Any]) -> Any:
        """What is read where nothing was stored."""
        for low, high in reversed(self.fills):
            if low <= offset < high:
                return zero(kind)
        if self.initial is not None:
            return self.initial(offset, kind)
        width = getattr(kind, "size", 1)
        return Poison(f"{self.cell(offset, width)} was never set")

    def cell(self, offset: int, width: int) -> str:
        """The name of a cell for people."""
        if not self.shape:
            return self.name if offset == 0 else f"{self.name}, byte {offset}"
        index, subscripts = offset // (width or 1), list[int]()
        for extent in reversed(self.shape[1:]):
            index, last = divmod(index, extent or 1)
            subscripts.append(last)
        return self.name + "".join(f"[{one}]" for one in (index, *reversed(subscripts)))
