"""libclang itself: parsing, functions that its Python binding lacks, and what it shows of declarations.

libclang comes without types, so this file and `clang` are checked loosely; nothing of libclang leaves them.
"""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from clang import cindex as untyped_cindex

from arrayfold.base.carried import carried_file, carried_files, note_file
from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.language import is_cplusplus
from arrayfold.c.lexer import identifiers
from arrayfold.c.source import CText
from arrayfold.c.tree import CType, Span, StorageKind, TypeKind
from arrayfold.frontends.c import cplusplus_headers
from arrayfold.frontends.c.cplusplus import without_reference
from arrayfold.frontends.c.headers import DIRECTORY, provided_headers

cindex: Any = untyped_cindex

# Words of a declaration, and what follows them.
_SPECIFIERS = re.compile(r"((?:[A-Za-z_]\w*\s*)+)(\W|\Z)")
_QUALIFIERS = frozenset(["auto", "const", "extern", "register", "restrict", "static"])
_CLASSES: dict[str, TypeKind] = {
    **dict.fromkeys(("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "INT128"), "signed"),
    **dict.fromkeys(
        ("BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "UINT128"), "unsigned"
    ),
    **dict.fromkeys(("FLOAT", "DOUBLE", "LONGDOUBLE", "FLOAT128", "HALF", "FLOAT16"), "floating"),
    **dict.fromkeys(("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY"), "array"),
    **dict.fromkeys(("FUNCTIONPROTO", "FUNCTIONNOPROTO"), "function"),
    "POINTER": "pointer",
}


def translation_unit(file: str, data: bytes, arguments: Sequence[str] = ()) -> Any:
    """What libclang makes of a file."""
    headers = [(path, text.encode()) for path, text in _headers(file)]
    headers += [(name, text) for name, text in carried_files().items() if name != file]
    added = ["-isystem", DIRECTORY, "-fno-color-diagnostics", "-Wno-everything"]
    options = [*arguments, *added]
    language, standard = "c", "-std=gnu11"
    if is_cplusplus(file):
        language, standard = "c++", "-std=gnu++17"
        # libclang may find headers of a compiler that it does not understand.
        options = ["-nostdinc++", *arguments, "-isystem", cplusplus_headers.DIRECTORY, *added]
    if not any(argument.startswith("-std") for argument in arguments):
        options.insert(0, standard)
    flags = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    try:
        unit = cindex.Index.create().parse(
            file, args=["-x", language, *options], unsaved_files=[(file, data), *headers], options=flags
        )
    except cindex.TranslationUnitLoadError:
        words = " ".join(arguments) or "none"
        raise InputError(f"{file}: clang cannot parse this file; the options after -- are: {words}") from None
    given = {path for path, _ in headers}
    for name in sorted({str(include.include.name) for include in unit.get_includes()} - given):
        note_file(name, Path(name).read_bytes)
    return unit


def _headers(file: str) -> list[tuple[str, str]]:
    further = cplusplus_headers.provided_headers() if is_cplusplus(file) else []
    return [*provided_headers(), *further]


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
    pointers = [ctypes.c_void_p, *[ctypes.POINTER(ctypes.c_uint)] * 3]
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


def identifiers_in_header(name: str) -> frozenset[str]:
    """Every identifier in an included file, those in the bodies of macros among them."""
    data = carried_file(name)
    return _identifiers_on_disk(name) if data is None else frozenset(identifiers(data.decode("latin-1")))


@cache
def _identifiers_on_disk(name: str) -> frozenset[str]:
    provided = dict([*provided_headers(), *cplusplus_headers.provided_headers()])
    try:
        text = provided[name] if name in provided else Path(name).read_text("latin-1")
    except OSError:
        return frozenset()
    return frozenset(identifiers(text))


class Locations:
    """Places in the files of one translation unit; each file is asked for its name once."""

    def __init__(self) -> None:
        self._file, self._offset = ctypes.c_void_p(), ctypes.c_uint()
        self._results = (ctypes.byref(self._file), None, None, ctypes.byref(self._offset))
        self._ask = library().clang_getFileLocation
        self._names: dict[int | None, str | None] = {None: None}

    def of(self, location: Any) -> tuple[str | None, int]:
        """File and offset: of the text itself, also in a macro's argument; of the use for a macro's body."""
        try:
            self._ask(location, *self._results)
        except ctypes.ArgumentError as error:
            # So ctypes says that the stack is too deep; the arguments are right.
            raise RecursionError(str(error)) from error
        address = self._file.value
        if address not in self._names:
            handle = ctypes.cast(self._file, cindex.c_object_p)
            self._names[address] = cindex.File(handle).name
        return self._names[address], self._offset.value


@cache
def _visitor() -> Any:
    def collect(child: Any, _: Any, found: list[Any]) -> int:
        found.append(child)
        return 1

    return cindex.callbacks["cursor_visit"](collect)


def children_of(cursor: Any) -> list[Any]:
    """What is directly inside of a cursor; the binding's own function takes several times as long."""
    found: list[Any] = []
    library().clang_visitChildren(cursor, _visitor(), found)
    for child in found:
        # The unit must live as long as its cursors.
        child._tu = cursor._tu
    return found


def kind_of(cursor: Any) -> str:
    """The name of a cursor's kind, which the binding looks up in several steps."""
    return _kind_name(cursor._kind_id)


@cache
def _kind_name(number: int) -> str:
    return str(cindex.CursorKind.from_id(number).name)


def is_expression(cursor: Any) -> bool:
    """Whether a cursor is an expression."""
    return _is_expression(cursor._kind_id)


@cache
def _is_expression(number: int) -> bool:
    return bool(cindex.CursorKind.from_id(number).is_expression())


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


# ---------------------------------------------------------------- declarations


def declared_purity(declared: Any) -> Literal["const", "pure"] | None:
    """What attributes of a declaration promise; those of declarations before it count too."""
    kinds = {kind_of(child) for one in (declared, declared.canonical) for child in children_of(one)}
    if "CONST_ATTR" in kinds:
        return "const"
    return "pure" if "PURE_ATTR" in kinds else None


def initializer_of(cursor: Any) -> Any | None:
    """What a variable begins with, if its declaration says so."""
    found = library().clang_Cursor_getVarDeclInitializer(cursor)
    if found.kind.is_invalid():
        return None
    found._tu = cursor._tu
    return found


def declared_names(cursor: Any) -> list[str]:
    """The names that a declaration at the top of a file makes known."""
    if kind_of(cursor) == "ENUM_DECL":
        return [child.spelling for child in children_of(cursor)]
    return [cursor.spelling]


def c_type(kind: Any) -> CType:
    """A type of libclang as ours."""
    kind = without_reference(kind)
    canonical = kind.get_canonical()
    name = canonical.kind.name
    if name == "ENUM":
        # An enumeration without negative values has no sign.
        name = canonical.get_declaration().enum_type.get_canonical().kind.name
    has_size = _CLASSES.get(name, "other") in ("signed", "unsigned", "floating", "other")
    # libclang dies of the size of what has no type of its own, such as a member function.
    has_size &= name not in ("UNEXPOSED", "INVALID", "OVERLOAD", "DEPENDENT")
    bits = 8 * max(0, canonical.get_size()) if has_size else 0
    return CType(kind.spelling, _CLASSES.get(name, "other"), bits, canonical.spelling, name == "BOOL")


def storage(cursor: Any) -> StorageKind:
    """Where a variable lives."""
    if cursor.kind.name == "PARM_DECL":
        return "parameter"
    around = cursor.semantic_parent.kind.name if cursor.semantic_parent is not None else ""
    is_outside = around in ("TRANSLATION_UNIT", "NAMESPACE", "LINKAGE_SPEC", "CLASS_DECL", "STRUCT_DECL")
    if is_outside or cursor.storage_class == cindex.StorageClass.EXTERN:
        return "global"
    return "static" if cursor.storage_class == cindex.StorageClass.STATIC else "local"


def written_type(text: str, start: int, macros: Mapping[str, Any], element: CType) -> str | None:
    """How a declaration spells the type of elements with macros, if that is all that they stand for.

    start   where the words of the declaration begin; negative if they are in another file
    macros  name -> its definition
    """
    match = _SPECIFIERS.match(text, start) if start >= 0 else None
    if match is None:
        return None
    words = match.group(1).split()
    following = match.group(2)
    if following != "*" and (following != "(" or words[-1] in macros):
        words.pop()
    words = [word for word in words if word not in _QUALIFIERS]
    if not set(words) & macros.keys():
        return None
    meant = [word for name in words for word in _expanded(name, macros) if word not in _QUALIFIERS]
    same = [word for word in element.spelling.split() if word not in _QUALIFIERS]
    return " ".join(words) if meant == same else None


def _expanded(word: str, macros: Mapping[str, Any], depth: int = 8) -> list[str]:
    """The tokens that a macro without arguments stands for; the word itself if it is none."""
    if word not in macros or not depth:
        return [word]
    _, *body = (token.spelling for token in macros[word].get_tokens())
    return [part for token in body for part in _expanded(token, macros, depth - 1)]
