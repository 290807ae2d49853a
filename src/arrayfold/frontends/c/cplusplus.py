"""What C++ adds to C, as libclang shows it: references, containers of the standard library, namespaces."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_REFERENCES = ("LVALUEREFERENCE", "RVALUEREFERENCE")
_CASTS = ("CXX_STATIC_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")
_WHOLE_NUMBERS = (
    *("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT"),
    *("ULONG", "ULONGLONG", "ENUM"),
)
_NAMES = {
    "CXX_FOR_RANGE_STMT": "a range-based for loop",
    "CXX_TRY_STMT": "try",
    "CXX_THROW_EXPR": "throw",
    "LAMBDA_EXPR": "a lambda",
    "CXX_NEW_EXPR": "new",
    "CXX_DELETE_EXPR": "delete",
    "CXX_CONST_CAST_EXPR": "const_cast",
    "CXX_REINTERPRET_CAST_EXPR": "reinterpret_cast",
    "CXX_DYNAMIC_CAST_EXPR": "dynamic_cast",
}


@dataclass(frozen=True, eq=False)
class Container:
    """A container of the standard library whose elements are reached by a subscript.

    kind   vector, array or unique_ptr
    count  how many elements an array has
    """

    kind: str
    element: Any
    count: int | None = None


def without_reference(kind: Any) -> Any:
    """A type; what it refers to if it is a reference."""
    canonical = kind.get_canonical()
    return canonical.get_pointee() if canonical.kind.name in _REFERENCES else kind


def is_reference(kind: Any) -> bool:
    """Whether a type is a reference."""
    return kind.get_canonical().kind.name in _REFERENCES


def container(kind: Any) -> Container | None:
    """What is known of a container; None for other types, and for the bits of vector<bool>."""
    canonical = without_reference(kind).get_canonical()
    if canonical.kind.name != "RECORD":
        return None
    declared = canonical.get_declaration()
    name, parent = declared.spelling, declared.semantic_parent
    if name not in ("vector", "array", "unique_ptr") or parent is None or parent.spelling != "std":
        return None
    element = canonical.get_template_argument_type(0)
    if name == "unique_ptr":
        if element.kind.name != "INCOMPLETEARRAY":
            return None
        return Container(name, element.element_type)
    if name == "vector":
        return None if element.get_canonical().kind.name == "BOOL" else Container(name, element)
    width = element.get_size()
    return Container(name, element, canonical.get_size() // width if width > 0 else None)


def sizes_of(initial: Any) -> list[Any | None]:
    """The expressions that say how many elements a container is made with, outermost first.

    An entry is None where nothing says it: it is copied, listed, or returned by a function.
    """
    cursor = _made(initial)
    if cursor.kind.name == "CXX_NEW_EXPR":
        parts = [child for child in cursor.get_children() if child.kind.is_expression()]
        return [parts[0] if len(parts) == 1 else None]
    if cursor.kind.name != "CALL_EXPR":
        return [None]
    arguments = list(cursor.get_arguments())
    if cursor.spelling == "make_unique" and len(arguments) == 1:
        return [arguments[0]]
    if cursor.spelling == "unique_ptr" and len(arguments) == 1:
        return sizes_of(arguments[0])
    if cursor.spelling != "vector" or not arguments or not _is_size(arguments[0]):
        return [None]
    inner = sizes_of(arguments[1]) if len(arguments) > 1 and container(arguments[1].type) else []
    return [arguments[0], *inner]


def is_plain_start(initial: Any) -> bool:
    """Whether making a container does nothing but set all its elements to a constant or to zero."""
    cursor = _made(initial)
    if cursor.kind.name == "CXX_NEW_EXPR":
        return True
    if cursor.kind.name != "CALL_EXPR":
        return False
    arguments = list(cursor.get_arguments())
    if cursor.spelling in ("make_unique", "array"):
        return True
    if cursor.spelling == "unique_ptr" and len(arguments) == 1:
        return is_plain_start(arguments[0])
    if cursor.spelling != "vector" or len(arguments) > 2:
        return False
    if not arguments:
        return True
    if not _is_size(arguments[0]):
        return False
    rest = arguments[1:]
    return all(is_plain_start(one) if container(one.type) else _is_simple(one) for one in rest)


def subscript(cursor: Any) -> tuple[Any, Any] | None:
    """Base and index of `v[i]` where v is a container; None for other expressions.

    A negative index is outside of a container as it is outside of an array, so its conversion is left out.
    """
    if cursor.kind.name != "CALL_EXPR" or cursor.spelling != "operator[]":
        return None
    base, *_, index = [child for child in cursor.get_children() if child.kind.is_expression()]
    if container(base.type) is None:
        return None
    return base, unconverted(index)


def class_of_field(cursor: Any) -> Any | None:
    """The type of which a member is a field; None for what is no field."""
    declared = cursor.referenced if cursor.kind.name == "MEMBER_REF_EXPR" else None
    if declared is None or declared.kind.name != "FIELD_DECL":
        return None
    return declared.semantic_parent.type


def is_cast(cursor: Any) -> bool:
    """Whether this is static_cast<T>(x) or T(x) on numbers."""
    return cursor.kind.name in _CASTS


def name_of(kind: str) -> str | None:
    """What people call a kind of cursor that is not understood."""
    return _NAMES.get(kind)


def qualified_name(declared: Any) -> str:
    """The name of a function with its namespaces, but for those of C and of the standard library."""
    words = [str(declared.spelling)]
    parent = declared.semantic_parent
    while parent is not None and parent.kind.name in ("NAMESPACE", "CLASS_DECL", "STRUCT_DECL"):
        words.insert(0, str(parent.spelling))
        parent = parent.semantic_parent
    return words[-1] if words[0] in ("std", words[-1]) else "::".join(words)


def full_name(declared: Any) -> str:
    """The name of a function with all its classes, and all its namespaces that have a name."""
    words = [str(declared.spelling)]
    parent = declared.semantic_parent
    while parent is not None and parent.kind.name in ("NAMESPACE", "CLASS_DECL", "STRUCT_DECL"):
        words[:0] = [str(parent.spelling)] * bool(parent.spelling and "(" not in parent.spelling)
        parent = parent.semantic_parent
    return "::".join(words)


def _made(cursor: Any) -> Any:
    """What makes an object, without conversions around it."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "CXX_FUNCTIONAL_CAST_EXPR", "PAREN_EXPR"):
        parts = [child for child in cursor.get_children() if child.kind.is_expression()]
        if len(parts) != 1:
            break
        cursor = parts[0]
    if cursor.kind.name == "CALL_EXPR" and cursor.spelling in ("vector", "unique_ptr"):
        arguments = list(cursor.get_arguments())
        # A move or a copy of what is made right there.
        if len(arguments) == 1 and container(arguments[0].type):
            inner = _made(arguments[0])
            if inner.kind.name == "CALL_EXPR" and inner.spelling in ("vector", "unique_ptr", "make_unique"):
                return inner
    return cursor


def _is_size(cursor: Any) -> bool:
    return unconverted(cursor).type.get_canonical().kind.name in _WHOLE_NUMBERS


def unconverted(cursor: Any) -> Any:
    """An index without its conversion to size_t, unless the text says it."""
    while cursor.kind.name == "UNEXPOSED_EXPR":
        parts = [child for child in cursor.get_children() if child.kind.is_expression()]
        if len(parts) != 1 or parts[0].type.get_canonical().kind.name in ("FLOAT", "DOUBLE"):
            break
        cursor = parts[0]
        if cursor.kind.name == "DECL_REF_EXPR":
            break
    return cursor


def _is_simple(cursor: Any) -> bool:
    """Whether an expression is a number or a variable."""
    literals = ("INTEGER_LITERAL", "FLOATING_LITERAL", "CHARACTER_LITERAL", "CXX_BOOL_LITERAL_EXPR")
    if cursor.kind.name in (*literals, "DECL_REF_EXPR"):
        return True
    inner = [child for child in cursor.get_children() if child.kind.is_expression()]
    around = ("UNEXPOSED_EXPR", "PAREN_EXPR", "UNARY_OPERATOR", "CXX_FUNCTIONAL_CAST_EXPR")
    return cursor.kind.name in around and len(inner) == 1 and _is_simple(inner[0])
