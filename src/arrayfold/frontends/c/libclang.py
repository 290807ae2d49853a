"""libclang itself: parsing, and the functions of the library that its Python binding lacks.

libclang comes without types, so this file and `clang` are checked loosely; nothing of libclang leaves them.
"""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from clang import cindex as untyped_cindex

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.lexer import identifiers
from arrayfold.c.source import CText
from arrayfold.c.tree import Span
from arrayfold.frontends.c.headers import DIRECTORY, provided_headers

cindex: Any = untyped_cindex


def translation_unit(file: str, data: bytes, arguments: Sequence[str] = ()) -> Any:
    """What libclang makes of a file."""
    headers = [(path, text.encode()) for path, text in provided_headers()]
    options = [*arguments, "-isystem", DIRECTORY, "-fno-color-diagnostics", "-Wno-everything"]
    if not any(argument.startswith("-std") for argument in arguments):
        options.insert(0, "-std=gnu11")
    flags = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    try:
        return cindex.Index.create().parse(
            file, args=["-x", "c", *options], unsaved_files=[(file, data), *headers], options=flags
        )
    except cindex.TranslationUnitLoadError:
        words = " ".join(arguments) or "none"
        raise InputError(f"{file}: clang cannot parse this file; the options after -- are: {words}") from None


def raise_errors(unit: Any, file: str, data: bytes) -> None:
    """The first error of the C compiler as an InputError; libclang drops statements after one."""
    for diagnostic in unit.diagnostics:
        if diagnostic.severity < cindex.Diagnostic.Error:
            continue
        message = str(diagnostic.spelling)
        location = diagnostic.location
        hint = None
        if "file not found" in message:
            hint = f"Say where it is: arrayfold fold {file} -- -I DIRECTORY"
        elif "undeclared identifier" in message:
            hint = f"If it is a macro of your build, define it: arrayfold fold {file} -- -DNAME=VALUE"
        if location.file is not None and location.file.name == file:
            place = CText(file, data, ()).place(location.offset)
        else:
            name = location.file.name if location.file is not None else file
            place = SourcePosition(str(name), int(location.line), int(location.column), "")
        raise InputError(f"C error: {message}", place, hint)


class _EvalResult(ctypes.c_void_p):
    pass


@cache
def library() -> Any:
    """The library, with prototypes for the functions that the binding lacks."""
    library = cindex.conf.lib
    pointers = [ctypes.POINTER(cindex.c_object_p), *[ctypes.POINTER(ctypes.c_uint)] * 3]
    library.clang_getFileLocation.argtypes = [cindex.SourceLocation, *pointers]
    library.clang_getFileLocation.restype = None
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        getattr(library, name).argtypes = [cindex.Cursor]
        getattr(library, name).restype = ctypes.c_int
    library.clang_Cursor_getVarDeclInitializer.argtypes = [cindex.Cursor]
    library.clang_Cursor_getVarDeclInitializer.restype = cindex.Cursor
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = _EvalResult
    for name, result in (
        ("clang_EvalResult_getKind", ctypes.c_int),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong),
        ("clang_EvalResult_getAsDouble", ctypes.c_double),
        ("clang_EvalResult_dispose", None),
    ):
        getattr(library, name).argtypes = [_EvalResult]
        getattr(library, name).restype = result
    return library


@cache
def identifiers_in_header(name: str) -> frozenset[str]:
    """Every identifier in an included file, those in the bodies of macros among them."""
    provided = dict(provided_headers())
    try:
        text = provided[name] if name in provided else Path(name).read_text("latin-1")
    except OSError:
        return frozenset()
    return frozenset(identifiers(text))


def file_location(location: Any) -> tuple[str | None, int]:
    """File and offset: of the text itself, also inside a macro's argument; of the use for a macro's body."""
    file, line, column, offset = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    library().clang_getFileLocation(
        location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
    )
    return (cindex.File(file).name if file else None), offset.value


def evaluate(cursor: Any) -> int | float | None:
    """The value of a constant expression."""
    functions = library()
    result = functions.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = functions.clang_EvalResult_getKind(result)
        if kind == 1:
            return int(functions.clang_EvalResult_getAsLongLong(result))
        return float(functions.clang_EvalResult_getAsDouble(result)) if kind == 2 else None
    finally:
        functions.clang_EvalResult_dispose(result)


def skipped_parts(unit: Any, name: str) -> tuple[Span, ...]:
    """The parts of a file that the preprocessor leaves out."""

    class Ranges(ctypes.Structure):
        _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))

    functions = library()
    functions.clang_getSkippedRanges.argtypes = [ctypes.c_void_p, cindex.c_object_p]
    functions.clang_getSkippedRanges.restype = ctypes.POINTER(Ranges)
    functions.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(Ranges)]
    file = unit.get_file(name)
    found = functions.clang_getSkippedRanges(unit, file)
    if not found:
        return ()
    ranges = [found.contents.ranges[k] for k in range(found.contents.count)]
    spans = tuple(Span(item.start.offset, item.end.offset) for item in ranges)
    functions.clang_disposeSourceRangeList(found)
    return spans
