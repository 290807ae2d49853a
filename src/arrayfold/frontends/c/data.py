"""The data that a C function takes and uses, with types as far as values are made up and compared by them.

libclang comes without types, so this file is checked loosely; nothing of libclang leaves it.
"""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from arrayfold.c.source import CText
from arrayfold.frontends.c import cplusplus, definitions
from arrayfold.frontends.c.libclang import library, translation_unit

ScalarKind: TypeAlias = Literal["integer", "truth", "real", "long real", "complex"]

_QUALIFIER = re.compile(r"\b(?:const|volatile|restrict|__restrict|_Atomic)\b\s*")
_SCALARS: Mapping[str, ScalarKind] = {
    **dict.fromkeys(("CHAR_S", "CHAR_U", "SCHAR", "UCHAR", "SHORT", "USHORT", "INT", "UINT"), "integer"),
    **dict.fromkeys(("LONG", "ULONG", "LONGLONG", "ULONGLONG", "ENUM"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "HALF", "FLOAT16"), "real"),
    "BOOL": "truth",
    "LONGDOUBLE": "long real",
}


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


@dataclass(frozen=True)
class FunctionData:
    """A function seen from a caller that must make up what it takes.

    parameters  their types, in order
    globals     every variable of the file and of its headers that has a name
    called      its name with its namespaces
    """

    parameters: tuple[DataType, ...]
    returns: DataType | None
    globals: Mapping[str, GlobalData]
    called: str


def function_data(text: CText, name: str) -> FunctionData:
    """The data of a function of a file that parses."""
    unit = translation_unit(text.file, text.data, text.arguments)
    variables: dict[str, GlobalData] = {}
    parameters: tuple[DataType, ...] = ()
    returns: DataType | None = None
    called = name
    for cursor in _declared(unit.cursor):
        if cursor.kind.name == "VAR_DECL":
            known = variables.get(cursor.spelling)
            has_value = not library().clang_Cursor_getVarDeclInitializer(cursor).kind.is_invalid()
            data = _data(cursor.type)
            if known is not None:
                has_value = has_value or known.has_value
                data = known.type if isinstance(data, ArrayData) and data.count is None else data
            variables[cursor.spelling] = GlobalData(data, has_value)
    for cursor in definitions.definitions_of(unit.cursor, name):
        parameters = tuple(_data(child.type) for child in cursor.get_arguments())
        is_void = cursor.result_type.get_canonical().kind.name == "VOID"
        returns = None if is_void else _data(cursor.result_type)
        called = cplusplus.full_name(cursor) + definitions.arguments_of(cursor)
    return FunctionData(parameters, returns, variables, called)


def _declared(cursor: Any) -> Iterator[Any]:
    """The declarations of a file, those in namespaces among them."""
    for child in cursor.get_children():
        if child.kind.name in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            yield from _declared(child)
        else:
            yield child


def _data(kind: Any, around: tuple[str, ...] = ()) -> DataType:
    """A type; `around` names the structures that it is part of."""
    kind = cplusplus.without_reference(kind)
    canonical = kind.get_canonical()
    name = canonical.kind.name
    held = cplusplus.container(canonical)
    if held is not None and held.count is None:
        element = _data(held.element, around)
        return PointerData(_constant(element) if canonical.is_const_qualified() else element)
    spelling = _QUALIFIER.sub("", canonical.spelling).strip()
    is_const = bool(canonical.is_const_qualified())
    if name == "POINTER":
        pointee = canonical.get_pointee()
        if pointee.kind.name == "VOID":
            return PointerData(ScalarData("unsigned char", "integer"), bool(kind.is_const_qualified()))
        return PointerData(_data(pointee, around), is_const)
    if name in ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY"):
        element = _data(canonical.element_type, around)
        count = int(canonical.element_count) if name == "CONSTANTARRAY" else None
        # The qualifiers of an array are those of its elements: they get lost in `const` typedefs of arrays.
        is_const = bool(kind.is_const_qualified()) or is_const
        return ArrayData(_constant(element) if is_const else element, count)
    if name in _SCALARS:
        return ScalarData(spelling, _SCALARS[name], is_const)
    if name == "COMPLEX":
        return ScalarData(spelling, "complex", is_const)
    if name == "RECORD":
        return _record(canonical, spelling, is_const, around)
    return OtherData(spelling)


def _constant(data: DataType) -> DataType:
    if isinstance(data, ArrayData):
        return replace(data, element=_constant(data.element))
    return data if isinstance(data, OtherData) else replace(data, is_const=True)


def _record(canonical: Any, spelling: str, is_const: bool, around: tuple[str, ...]) -> DataType:
    declaration = canonical.get_declaration().get_definition()
    if spelling in around or declaration is None or declaration.location.is_in_system_header:
        return OtherData(spelling, is_around=spelling in around)
    fields = tuple(
        (field.spelling if "(" not in field.spelling else "", _data(field.type, (*around, spelling)))
        for field in canonical.get_fields()
        if not (field.is_bitfield() and not field.spelling)
    )
    return RecordData(spelling, fields, declaration.kind.name == "UNION_DECL", is_const)
