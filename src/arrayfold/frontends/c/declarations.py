"""What libclang shows of declarations: types, storage, purity, and how a type is spelt."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from arrayfold.c.tree import CType, Storage, TypeKind
from arrayfold.frontends.c.libclang import cindex

# Words of a declaration, and what follows them.
_SPECIFIERS = re.compile(r"((?:[A-Za-z_]\w*\s*)+)(\W|\Z)")
_QUALIFIERS = frozenset(["auto", "const", "extern", "register", "restrict", "static"])


def declared_purity(declared: Any) -> Literal["const", "pure"] | None:
    """What attributes of a declaration promise; those of declarations before it count too."""
    kinds = {child.kind.name for one in (declared, declared.canonical) for child in one.get_children()}
    if "CONST_ATTR" in kinds:
        return "const"
    return "pure" if "PURE_ATTR" in kinds else None


def declared_names(cursor: Any) -> list[str]:
    """The names that a declaration at the top of a file makes known."""
    if cursor.kind.name == "ENUM_DECL":
        return [child.spelling for child in cursor.get_children()]
    return [cursor.spelling]


def c_type(kind: Any) -> CType:
    """A type of libclang as ours."""
    canonical = kind.get_canonical()
    name = canonical.kind.name
    classes: dict[str, TypeKind] = {
        **dict.fromkeys(("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "INT128"), "signed"),
        **dict.fromkeys(
            ("BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "UINT128"), "unsigned"
        ),
        **dict.fromkeys(("FLOAT", "DOUBLE", "LONGDOUBLE", "FLOAT128", "HALF", "FLOAT16"), "floating"),
        **dict.fromkeys(("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY"), "array"),
        **dict.fromkeys(("FUNCTIONPROTO", "FUNCTIONNOPROTO"), "function"),
        "POINTER": "pointer",
    }
    if name == "ENUM":
        # An enumeration without negative values has no sign.
        name = canonical.get_declaration().enum_type.get_canonical().kind.name
    has_size = classes.get(name, "other") in ("signed", "unsigned", "floating", "other")
    bits = 8 * max(0, canonical.get_size()) if has_size else 0
    return CType(kind.spelling, classes.get(name, "other"), bits, canonical.spelling, name == "BOOL")


def storage(cursor: Any) -> Storage:
    """Where a variable lives."""
    if cursor.kind.name == "PARM_DECL":
        return "parameter"
    if cursor.storage_class == cindex.StorageClass.EXTERN:
        return "global"
    is_outside = cursor.semantic_parent is not None and cursor.semantic_parent.kind.name == "TRANSLATION_UNIT"
    if is_outside:
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
