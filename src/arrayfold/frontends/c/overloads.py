"""Functions of C++ that no name tells apart, and templates."""

from __future__ import annotations

import re

from arrayfold.base.errors import InputError
from arrayfold.c.source import CText
from arrayfold.c.tree import FunctionTree
from arrayfold.frontends.c.clang import Unit

TEMPLATES = "One call in a file that is no header makes an instance of a template, which is then read."
_EXPLICIT = re.compile(r"\btemplate\b(?!\s*<)")


def refuse_overloads(text: CText, unit: Unit, function: FunctionTree) -> None:
    """An InputError for a function that shares its name, or may have instances that no call shows."""
    same = [one for one in unit.functions if one.name == function.name and one is not function]
    if same:
        message = (
            f"there are several functions {function.name}, and the check would not know which one to run"
        )
        raise text.error(message, function.span.start, "Give them different names.")
    explicit = _EXPLICIT.search(text.plain) if function.is_instance else None
    if explicit is not None:
        message = f"{function.name} may have other instances by this explicit instantiation"
        raise text.error(message, explicit.start(), TEMPLATES)


def find_function(text: CText, unit: Unit, name: str) -> FunctionTree:
    """The function of a name, with its class or, if that is enough, without."""
    found = [one for one in unit.functions if one.name == name] or [
        one for one in unit.functions if one.name.endswith(f"::{name}")
    ]
    if found:
        refuse_overloads(text, unit, found[0])
        return found[0]
    for span, unread, why in unit.unread:
        if name in (unread, unread.rpartition("::")[2]):
            raise text.error(f"{unread} {why}", span.start, TEMPLATES)
    known = ", ".join(one.name for one in unit.functions) or "none"
    raise InputError(f"{text.file} has no function {name} with a body; it has: {known}")
