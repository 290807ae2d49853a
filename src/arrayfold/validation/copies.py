"""memset, memcpy and memmove: bytes are set and copied as the values that they are parts of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.memory import NULL, Address, Object, is_address
from arrayfold.validation.types import (
    ArrayType,
    Floating,
    Integer,
    Other,
    Pointer,
    ValueType,
    leaves,
    size_of,
)

Scalar: TypeAlias = "Integer | Floating | Pointer | Other"


@dataclass(frozen=True)
class Bytes:
    """A call that sets or copies bytes.

    kinds  the types of its arguments as they are written
    place  where it stands in the text, for those who watch accesses
    """

    m: Interpreter
    kinds: Sequence[ValueType]
    place: int
    spot: Spot

    def set(self, arguments: Sequence[Any]) -> Any:
        """memset(pointer, byte, count)."""
        pointer, value, count = arguments
        size = self.m.whole(count, self.spot)
        target = self._block(pointer, size)
        if type(value) is not int:
            raise Unsupported("memset with a byte that data decides", self.spot)
        if value & 0xFF == 0 and (target[0] is None or target[0].initial is None):
            self._clear(target, size)
            return target
        for offset, kind in list(self._values(size, self.kinds[:1])):
            self._store(target, offset, kind, self._repeated(value & 0xFF, kind))
        return target

    def copy(self, arguments: Sequence[Any]) -> Any:
        """memcpy(target, origin, count)."""
        target, origin, count = arguments
        size = self.m.whole(count, self.spot)
        to, start = self._block(target, size), self._block(origin, size)
        if size and to[0] is start[0] and abs(to[1] - start[1]) < size:
            raise Fault("memcpy of bytes that overlap", self.spot)
        self._move(to, start, size)
        return to

    def move(self, arguments: Sequence[Any]) -> Any:
        """memmove(target, origin, count)."""
        target, origin, count = arguments
        size = self.m.whole(count, self.spot)
        to, start = self._block(target, size), self._block(origin, size)
        self._move(to, start, size)
        return to

    # ------------------------------------------------ blocks

    def _block(self, pointer: Any, size: int) -> Address:
        if not is_address(pointer):
            raise Unsupported("a pointer that comes out of data", self.spot)
        if pointer[0] is None:
            if size:
                raise Fault("a null pointer is dereferenced", self.spot)
            return NULL
        obj, offset, low, high = pointer
        assert obj is not None
        if offset < low or offset + size > high:
            self.m.outside(pointer, size, self.spot)
        if obj.gone:
            raise Fault(obj.gone, self.spot)
        if obj.is_open and size:
            obj.reach(offset)
            obj.reach(offset + size)
        return pointer

    def _clear(self, target: Address, size: int) -> None:
        obj, start, *_ = target
        if obj is None or not size:
            return
        for offset in [at for at in obj.cells if start <= at < start + size]:
            del obj.cells[offset]
            obj.widths.pop(offset, None)
        obj.fills.append((start, start + size))
        if self._is_watched:
            for offset, _ in self._values(size, self.kinds[:1]):
                self.m.saw(obj, start + offset, self.place, self.spot, is_write=True)

    def _move(self, to: Address, start: Address, size: int) -> None:
        source = start[0]
        if source is None or not size:
            return
        kinds = (self.kinds[1], self.kinds[0])
        parts = list(self._values(size, kinds, source.unit, source))
        values = [self._load(source, start[1] + offset, kind) for offset, kind in parts]
        for (offset, kind), value in zip(parts, values, strict=True):
            self._store(to, offset, kind, value)

    # ------------------------------------------------ values

    def _values(
        self, size: int, kinds: Sequence[ValueType], unit: int = 0, source: Object | None = None
    ) -> Iterator[tuple[int, Scalar]]:
        """Where values begin among so many bytes, and their types: those that one of the pointers says."""
        nothing: tuple[int, list[tuple[int, Scalar]]] = 0, []
        period, parts = next((one for kind in kinds if (one := _layout(kind)) is not None), nothing)
        if not period and unit > 0 and source is not None and source.initial is None and not source.fills:
            # Nobody says what is there; what was stored says it itself, and the rest was never set.
            period, parts = unit, [(0, Other("bytes", unit))]
        if not period or size % period:
            raise Unsupported("bytes of which the text does not say what they are", self.spot)
        # Sizes at the end of their types are too many values to write down.
        self.m.spend(size // period * len(parts))
        for first in range(0, size, period):
            for offset, kind in parts:
                yield first + offset, kind

    def _load(self, obj: Object, offset: int, kind: Scalar) -> Any:
        if obj.unit != kind.size or offset % kind.size:
            obj.check_width(offset, kind.size, self.spot, is_store=False)
        if self._is_watched:
            self.m.saw(obj, offset, self.place, self.spot, is_write=False)
        value = obj.cells.get(offset)
        return obj.missing(offset, kind, self.m.zero) if value is None else value

    def _store(self, target: Address, offset: int, kind: Scalar, value: Any) -> None:
        obj, start, *_ = target
        assert obj is not None
        at = start + offset
        if obj.unit != kind.size or at % kind.size:
            obj.check_width(at, kind.size, self.spot, is_store=True)
        if self._is_watched:
            self.m.saw(obj, at, self.place, self.spot, is_write=True)
        obj.cells[at] = value

    def _repeated(self, byte: int, kind: Scalar) -> Any:
        """The value whose bytes are all the same."""
        if byte == 0:
            return self.m.zero(kind)
        if isinstance(kind, Floating):
            return self.m.terms.make("bytes", kind.tag, byte)
        if not isinstance(kind, Integer):
            raise Unsupported("memset of something other than numbers", self.spot)
        return kind.wrapped(int.from_bytes(bytes([byte]) * kind.size, "little"))

    @property
    def _is_watched(self) -> bool:
        return self.m.races is not None or self.m.lanes is not None


def _layout(kind: ValueType) -> tuple[int, list[tuple[int, Scalar]]] | None:
    """The size of what a pointer points at, and the numbers and pointers in it; None if that is unknown."""
    if not isinstance(kind, Pointer):
        return None
    inner = kind.target
    while isinstance(inner, ArrayType):
        inner = inner.element
    size = size_of(inner)
    parts: list[tuple[int, Scalar]] = []
    for at, one in leaves(inner):
        if not isinstance(one, Integer | Floating | Pointer):
            return None
        parts.append((at, one))
    return (size, parts) if isinstance(size, int) and size > 0 and parts else None


BYTES: dict[str, Callable[[Bytes, Sequence[Any]], Any]] = {
    f"{before}{name}": function
    for before in ("", "__builtin_")
    for name, function in (("memset", Bytes.set), ("memcpy", Bytes.copy), ("memmove", Bytes.move))
}
