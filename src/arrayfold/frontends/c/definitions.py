"""The functions with bodies of a C or C++ file, members of classes and instances of templates among them."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_AROUND = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL", "CLASS_DECL", "STRUCT_DECL")
_CLASSES = ("CLASS_DECL", "STRUCT_DECL", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION")
_CLASS_TEMPLATES = _CLASSES[2:]
_PARAMETERS = ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER")
_FUNCTIONS = ("FUNCTION_DECL", "CXX_METHOD")


@dataclass(frozen=True, eq=False)
class Template:
    """A template with functions in it, and what the file makes of it by its calls.

    instances  function -> its instances with a body, each with other types or numbers
    """

    cursor: Any
    instances: dict[str, list[Any]]


def functions(cursors: Sequence[Any]) -> Iterator[Any]:
    """The functions among declarations, those in namespaces and classes among them, but no templates."""
    for cursor in cursors:
        if cursor.kind.name in _FUNCTIONS:
            if not _is_of_template(cursor):
                yield cursor
        elif cursor.kind.name in _AROUND:
            yield from functions(list(cursor.get_children()))


def templates(cursors: Sequence[Any]) -> list[Template]:
    """The templates among declarations, with the instances that calls in these declarations need."""
    found = [Template(cursor, {}) for cursor in _template_cursors(cursors)]
    if not found:
        return []
    seen: set[str] = set()
    waiting = list(cursors)
    while waiting:
        for cursor in waiting.pop().walk_preorder():
            called = cursor.referenced if cursor.kind.name in ("CALL_EXPR", "DECL_REF_EXPR") else None
            if called is None or called.kind.name not in _FUNCTIONS:
                continue
            instance = called.get_definition()
            if instance is None:
                continue
            around = next((one for one in found if _holds(one, instance)), None)
            if around is None or _is_of_template(instance) or instance.get_usr() in seen:
                continue
            seen.add(instance.get_usr())
            around.instances.setdefault(function_name(instance), []).append(instance)
            waiting.append(instance)
    return found


def refusals(template: Template, *, is_header: bool) -> Iterator[tuple[Any, str, str]]:
    """The functions of a template that cannot be read: the cursor, the name, and why."""
    for cursor in template.cursor.walk_preorder():
        is_function = cursor.kind.name in ("FUNCTION_TEMPLATE", *_FUNCTIONS)
        if not is_function or not cursor.is_definition():
            continue
        name = function_name(cursor)
        made = template.instances.get(name, [])
        if len(made) == 1 and not is_header:
            continue
        if not made:
            why = "is a template of which no call in this file makes an instance"
        elif is_header:
            why = "is a template in a header, and other files may make other instances of it"
        else:
            several = ", ".join(sorted(_instance_name(one) for one in made))
            why = f"is a template with several instances: {several}"
        yield cursor, name, why


def spelled_types(template: Template, instance: Any) -> dict[int, dict[str, str]]:
    """The parameters of a template that declare variables, by the place of the variable's name.

    An entry says what each parameter stands for in the instance.
    """
    names = [one.spelling for one in template.cursor.get_children() if one.kind.name in _PARAMETERS]
    found: dict[str, str] = {}
    for holder in (instance, instance.semantic_parent.type):
        if names and holder.get_num_template_arguments() == len(names):
            kinds = (holder.get_template_argument_type(k).get_canonical() for k in range(len(names)))
            found = {name: kind.spelling for name, kind in zip(names, kinds, strict=True)}
    return {
        cursor.location.offset: {
            part.spelling: found[part.spelling]
            for part in cursor.walk_preorder()
            if part.kind.name == "TYPE_REF" and found.get(part.spelling)
        }
        for cursor in template.cursor.walk_preorder()
        if cursor.kind.name == "VAR_DECL"
    }


def definitions_of(unit: Any, name: str) -> list[Any]:
    """The functions of a file that have a body and a name, instances of templates among them."""
    cursors = list(unit.get_children())
    places = ((cursor, cursor.location.file) for cursor in cursors)
    own = [cursor for cursor, place in places if place is not None and place.name == unit.spelling]
    made = [one for each in templates(own) for one in each.instances.get(name, [])]
    return [
        *(one for one in functions(cursors) if function_name(one) == name and one.is_definition()),
        *made,
    ]


def function_name(cursor: Any) -> str:
    """The name of a function, with its classes if it is a member."""
    words = [str(cursor.spelling)]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind.name in _CLASSES:
        words.insert(0, str(parent.spelling))
        parent = parent.semantic_parent
    return "::".join(words)


def class_of(cursor: Any) -> Any | None:
    """The class whose objects a function is a member of; None for static members and other functions."""
    is_member = cursor.kind.name == "CXX_METHOD" and not cursor.is_static_method()
    return cursor.semantic_parent if is_member else None


def arguments_of(cursor: Any) -> str:
    """What the instance of a template of functions is made with, as C++ writes it; nothing for others."""
    count = cursor.get_num_template_arguments()
    if count <= 0:
        return ""
    kinds = (cursor.get_template_argument_kind(k).name for k in range(count))
    texts = [
        cursor.get_template_argument_type(k).spelling
        if kind == "TYPE"
        else str(cursor.get_template_argument_value(k))
        for k, kind in enumerate(kinds)
    ]
    return f"<{', '.join(texts)}>"


def _instance_name(cursor: Any) -> str:
    around = cursor.semantic_parent
    outer = f"{around.type.spelling}::" if around.kind.name in _CLASSES else ""
    return f"{outer}{cursor.spelling}{arguments_of(cursor)}"


def _template_cursors(cursors: Sequence[Any]) -> Iterator[Any]:
    for cursor in cursors:
        kind = cursor.kind.name
        if kind in ("FUNCTION_TEMPLATE", *_CLASS_TEMPLATES) or (
            kind in _FUNCTIONS and _is_of_template(cursor)
        ):
            yield cursor
        elif kind in _AROUND:
            yield from _template_cursors(list(cursor.get_children()))


def _is_of_template(cursor: Any) -> bool:
    """Whether a function is a member of a template of classes, whose types are not known yet."""
    parent = cursor.semantic_parent
    while parent is not None and parent.kind.name in _CLASSES:
        if parent.kind.name in _CLASS_TEMPLATES:
            return True
        parent = parent.semantic_parent
    return False


def _holds(template: Template, cursor: Any) -> bool:
    outer, inner = template.cursor.extent, cursor.extent
    is_same_file = outer.start.file is not None and str(outer.start.file) == str(inner.start.file)
    return is_same_file and outer.start.offset <= inner.start.offset <= inner.end.offset <= outer.end.offset
