"""Static arrays that a function uses as scratch memory and that nothing else can see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arrayfold.c import tree as c
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import CText, Region
from arrayfold.c.tree import Variable, named_in, walk


def scratch_arrays(text: CText, region: Region) -> Iterator[Variable]:
    """Static arrays of the region that nothing outside of its function names.

    Whether values last until the next call is no matter where each is written before it is read.
    """
    start, end = region.function.span.start, region.function.span.end
    for variable in dict.fromkeys(named_in(region.nodes())):
        is_static = variable.storage in ("static", "global") and variable.is_array and not variable.is_pointer
        if not is_static or variable.initial is not None or variable.is_volatile:
            continue
        seen = {
            variable.at,
            *(
                node.span.start
                for node in walk(region.function.body)
                if isinstance(node, c.Reference) and node.variable is variable
            ),
        }
        places = re.finditer(rf"(?<![\w.])(?<!->){re.escape(variable.name)}\b", text.plain)
        if variable.storage == "static":
            places = (one for one in places if start <= one.start() < end)
        elif not _is_declared_alone(text, variable) or _includes_after(text, variable):
            continue
        if all(one.start() in seen for one in places):
            yield variable


def _is_declared_alone(text: CText, variable: Variable) -> bool:
    """Whether a variable of file scope is static and the only one that its declaration declares."""
    declared = text.plain[variable.span.start : end_of_statement(text.plain, variable.span.start)]
    return (
        variable.span.is_text
        and variable.at > variable.span.start >= 0
        and bool(re.match(r"static\b[^,;={}]*;\Z", declared))
    )


def _includes_after(text: CText, variable: Variable) -> bool:
    """Whether text of other files follows the declaration of a variable."""
    include = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
    return include.search(text.plain, variable.span.end) is not None
