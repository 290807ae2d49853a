"""Sizes of containers of C++, `in.size()`, which no region changes: variables that are set before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arrayfold.c import tree as c
from arrayfold.c.edits import Edit
from arrayfold.c.source import assigned_in
from arrayfold.c.tree import Variable, declared_in, walk
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText

_SIZE = re.compile(r"(\w+)\s*\.\s*size\s*\(\s*\)")


def named_sizes(scene: RegionScene) -> Iterator[Rewriting]:
    """Calls of size() in a region, for one container after the other.

    What would change it, such as push_back, is refused in a region anyway.
    """
    text, region = scene.text, scene.region
    nodes = list(walk(region.function.body))
    known = [*region.function.parameters, *declared_in(nodes)]
    calls: dict[Variable, list[c.Opaque]] = {}
    for node in region.nodes():
        if not isinstance(node, c.Opaque) or node.what != "a call of size" or not node.span.is_text:
            continue
        found = _SIZE.fullmatch(text.text, node.span.start, node.span.end)
        named = [one for one in known if found is not None and one.name == found.group(1)]
        if len(named) == 1 and named[0].container in ("vector", "array"):
            calls.setdefault(named[0], []).append(node)
    line = text.text.rfind("\n", 0, region.before) + 1
    for variable, uses in calls.items():
        if region.holds(variable.at):
            continue
        (extent, *_) = variable.extents
        before: tuple[Edit, ...] = ()
        if isinstance(extent, c.Number | c.Reference) and not _is_set(nodes, extent):
            size = f"(unsigned long)({TreeText(text).expression(extent)})"
        elif isinstance(extent, int):
            size = f"{extent}ul"
        else:
            size = scene.fresh(f"{variable.name}_size")
            before = (Edit(line, line, f"    const auto {size} = {variable.name}.size();\n"),)
        edits = [Edit(one.span.start, one.span.end, size) for one in uses]
        start, end = min(one.start for one in edits), max(one.end for one in edits)
        yield Rewriting(start, end, (*before, *edits))


def _is_set(nodes: list[c.Node], extent: c.Expression) -> bool:
    """Whether a variable may have changed since a container was made with it as its size."""
    if not isinstance(extent, c.Reference):
        return False
    changed = set(assigned_in(nodes))
    return extent.variable in changed or extent.variable.storage not in ("local", "parameter")
