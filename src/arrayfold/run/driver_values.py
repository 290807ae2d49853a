"""C code that makes up the values of data of any type, field by field, and that puts them out again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from arrayfold.base.errors import InputError
from arrayfold.frontends.c.data import (
    ArrayData,
    DataType,
    OtherData,
    PointerData,
    RecordData,
    ScalarData,
    is_constant,
)

_POINTED = 64
_SIZE = "__SIZE_TYPE__"


def type_name(data: DataType, what: str) -> str:
    """The type of an element as C can read it."""
    name = data.name if isinstance(data, ScalarData | RecordData) else ""
    if isinstance(data, PointerData):
        name = f"{type_name(data.target, what)} *"
    if not name or "(" in name:
        kind = data.name if isinstance(data, OtherData) else "a type without a name"
        raise InputError(f"cannot make up a value of {what}, which is of type {kind}")
    return name


def fill(place: str, data: DataType, what: str, depth: int = 0) -> list[str]:
    """Lines that give a place new values; what is constant stays as it is.

    what  what the place is called in messages
    """
    if is_constant(data) and not isinstance(data, OtherData):
        return []
    match data:
        case ScalarData(kind="integer"):
            return [f"{place} = ({data.name})arrayfold_integer();"]
        case ScalarData(kind="truth"):
            return [f"{place} = arrayfold_integer() & 1;"]
        case ScalarData(kind="complex"):
            return [f"__real__ {place} = arrayfold_real();", f"__imag__ {place} = arrayfold_real();"]
        case ScalarData():
            return [f"{place} = arrayfold_real();"]
        case ArrayData(element, count):
            return _each(str(count or 0), depth, lambda k: fill(f"{place}[{k}]", element, what, depth + 1))
        case RecordData():
            parts = (fill(*part, depth) for part in _fields(place, data, what))
            return [line for lines in parts for line in lines]
        case PointerData(target=OtherData(is_around=True)):
            return []
        case PointerData(target):
            return point_to_new_memory(place, target, str(_POINTED), what, depth)
        case OtherData():
            raise InputError(f"cannot make up a value of {what}, which is of type {data.name}")


def point_to_new_memory(place: str, target: DataType, count: str, what: str, depth: int = 0) -> list[str]:
    """Lines that make a pointer point to as many new elements as a C expression says."""
    name = type_name(target, what)
    written = _writable(target)
    pointer, number = f"arrayfold_p{depth}", f"arrayfold_n{depth}"
    return [
        "{",
        f"  {_SIZE} {number} = {count};",
        f"  {name} *{pointer} = arrayfold_allocate({number}, sizeof({name}));",
        *_indent(_each(number, depth, lambda k: fill(f"{pointer}[{k}]", written, what, depth + 1))),
        f"  {place} = (void *){pointer};",
        "}",
    ]


def put(place: str, data: DataType, depth: int = 0) -> list[str]:
    """Lines that put out all values of a place, without padding and without addresses."""
    match data:
        case ScalarData(kind="integer" | "truth"):
            return [f"arrayfold_put_integer((long long){place});"]
        case ScalarData(kind="long real"):
            return [f"arrayfold_put_long_real({place});"]
        case ScalarData(kind="complex"):
            return [f"arrayfold_put_long_real(__{part}__ {place});" for part in ("real", "imag")]
        case ScalarData():
            return [f"arrayfold_put_real({place});"]
        case ArrayData(element, count):
            return _each(str(count or 0), depth, lambda k: put(f"{place}[{k}]", element, depth + 1))
        case RecordData():
            parts = (put(inner, kind, depth) for inner, kind, _ in _fields(place, data, ""))
            return [line for lines in parts for line in lines]
        case PointerData(target=OtherData()):
            return []
        case PointerData(target):
            room = f"arrayfold_room({place}) / sizeof *{place}"
            return _each(room, depth, lambda k: put(f"{place}[{k}]", target, depth + 1))
        case OtherData():
            return []


def put_elements(place: str, element: DataType, count: str) -> list[str]:
    """Lines that put out as many elements from a pointer on as a C expression says."""
    return _each(count, 0, lambda k: put(f"{place}[{k}]", element, 1))


def _fields(place: str, record: RecordData, what: str) -> Iterable[tuple[str, DataType, str]]:
    """The places of a structure's fields; of a union the one with most in it, for all share their memory."""
    fields = record.fields
    if record.is_union:
        fields = sorted(fields, key=lambda field: -_weight(field[1]))[:1]
    for name, data in fields:
        yield (f"{place}.{name}", data, f"{what}.{name}") if name else (place, data, what)


def _weight(data: DataType) -> int:
    """About how many bytes a value takes."""
    match data:
        case ArrayData(element, count):
            return _weight(element) * (count or 0)
        case RecordData(fields=fields, is_union=is_union):
            weights = [_weight(field) for _, field in fields]
            return max(weights, default=0) if is_union else sum(weights)
        case ScalarData(name, kind):
            if kind in ("long real", "complex"):
                return 16
            return next((bytes_ for word, bytes_ in _WIDTHS if word in name), 4)
        case PointerData() | OtherData():
            return 8


_WIDTHS = (("long", 8), ("double", 8), ("short", 2), ("char", 1), ("_Bool", 1))


def _writable(data: DataType) -> DataType:
    """What a constant of the function is for the caller who makes it up."""
    match data:
        case ScalarData(name, kind):
            return ScalarData(name, kind)
        case PointerData(target):
            return PointerData(target)
        case RecordData(name, fields, is_union):
            return RecordData(name, fields, is_union)
        case ArrayData(element, count):
            return ArrayData(_writable(element), count)
        case OtherData():
            return data


def _each(count: str, depth: int, body: Callable[[str], list[str]]) -> list[str]:
    index, end = f"arrayfold_k{depth}", f"arrayfold_end{depth}"
    lines = body(index)
    if not lines:
        return []
    head = f"for ({_SIZE} {index} = 0, {end} = {count}; {index} < {end}; {index}++) {{"
    return [head, *_indent(lines), "}"]


def _indent(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
