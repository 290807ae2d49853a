"""Variables that a region declares and that are used behind it: declared before it, set where they were."""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.c import tree as c
from arrayfold.c.edits import Edit
from arrayfold.c.tree import Variable, declared_in, named_in, walk
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText, end_of

_QUALIFIERS = frozenset(["const", "register", "constexpr"])


def declared_results(scene: RegionScene) -> Iterator[Rewriting]:
    """Declarations at the top of a region of which something behind it names a variable."""
    region, text = scene.region, scene.text
    nodes = list(walk(region.function.body))
    later = set(named_in(node for node in nodes if node.span.start >= region.end))
    line = text.text.rfind("\n", 0, region.before) + 1
    for statement in region.statements:
        if not isinstance(statement, c.Declare) or later.isdisjoint(statement.variables):
            continue
        names = [one.name for one in (*region.function.parameters, *declared_in(nodes))]
        is_plain = all(_is_plain(one) and names.count(one.name) == 1 for one in statement.variables)
        if not is_plain or not statement.span.is_text:
            continue
        writer = TreeText(text)
        sets = [
            f"{one.name} = {writer.expression(one.initial)};"
            for one in statement.variables
            if one.initial is not None
        ]
        indent = text.text[text.text.rfind("\n", 0, statement.span.start) + 1 : statement.span.start]
        indent = indent if not indent.strip() else ""
        new = "".join(f"{indent}{_type(one)} {one.name};\n" for one in statement.variables)
        start, end = statement.span.start, end_of(text, statement)
        yield Rewriting(start, end, (Edit(line, line, new), Edit(start, end, " ".join(sets) or ";")))


def _is_plain(variable: Variable) -> bool:
    """Whether a variable is a number that is set like any other."""
    is_number = variable.type.is_integer or variable.type.kind == "floating"
    return (
        is_number and variable.storage == "local" and not variable.is_volatile and not variable.is_reference
    )


def _type(variable: Variable) -> str:
    """The type of a variable that may be assigned."""
    kind = variable.type
    spelling = kind.canonical if "auto" in kind.spelling.split() else kind.spelling
    return " ".join(word for word in spelling.split() if word not in _QUALIFIERS)
