"""Other names for memory: references of C++, and local pointers to structures."""

from __future__ import annotations

from arrayfold.c.source import CText, Region, assigned_in, assigned_variable, variables_with_address
from arrayfold.c.tree import Assign, Declare, Variable, declared_in, named_in, walk
from arrayfold.frontends.c.allocations import allocating_call
from arrayfold.frontends.c.arrays import may_be_one
from arrayfold.frontends.c.region_reader import RegionReader


def refuse_other_names(text: CText, region: Region) -> None:
    """Raise where a region uses a reference of its function to what is not known."""
    for node in region.nodes():
        variables = node.variables if isinstance(node, Declare) else ()
        for one in (*variables, *named_in([node])):
            if one.is_reference and one.storage in ("local", "static"):
                raise text.error(
                    f"{one.name}, a reference, inside a region cannot be analysed",
                    node.span.start,
                    "Write the element that it is another name for.",
                )


def refuse_unknown_structures(text: CText, region: Region, reader: RegionReader) -> None:
    """Raise where a local pointer to structures is set in the region, or leads to what has another name."""
    written = _written(reader)
    inside = {*declared_in(region.nodes()), *assigned_in(region.nodes())}
    for field in reader.arrays:
        root = _outermost(field)
        is_known = not root.is_pointer or root.type.kind == "array" or root.storage != "local"
        if root is field or is_known or (root.is_restrict and root not in inside):
            continue
        if root not in inside and root.initial is not None and allocating_call(root.initial) is not None:
            continue
        sources = _sources(region, root)
        others = [one for one in reader.arrays if _may_meet(region, _outermost(one), root, sources)]
        is_shared = any(
            (field in written or one in written) and may_be_one(field.element, one.element) for one in others
        )
        if root in inside or is_shared:
            raise text.error(
                f"where pointer {root.name} points is not known",
                root.at,
                "Name the structure itself, or an element of an array; or set the pointer before the region, "
                "and declare it with restrict.",
            )


def _outermost(variable: Variable) -> Variable:
    """The variable that a field is a part of, at last."""
    while variable.holder is not None:
        variable = variable.holder
    return variable


def _may_meet(region: Region, other: Variable, root: Variable, sources: set[Variable]) -> bool:
    """Whether another name may mean what a pointer leads to that is made of some variables."""
    if other is root or other in sources:
        return other is not root
    is_own = other.storage == "local" and not other.is_pointer
    return not other.is_restrict and not (is_own and other not in variables_with_address(region.function))


def _sources(region: Region, pointer: Variable) -> set[Variable]:
    """The variables that a pointer is made of, and those that they are made of."""
    nodes = list(walk(region.function.body))
    found, left = set[Variable](), [pointer]
    while left:
        one = left.pop()
        values = [node.value for node in nodes if isinstance(node, Assign) and assigned_variable(node) is one]
        values += [] if one.initial is None else [one.initial]
        named = {other for value in values for other in named_in(walk(value))} - found
        found |= named
        left += named
    return found


def _written(reader: RegionReader) -> set[Variable]:
    return {effect.variable for item in reader.found for effect in item.effects if effect.is_write}


def refuse_changed_sizes(text: CText, reader: RegionReader) -> None:
    """Raise where a size may be an element of what the region writes, as both come from the caller."""
    written = _written(reader)
    outside = [
        one
        for one in written
        if (one.is_pointer or one.is_reference or one.storage == "global") and not one.is_restrict
    ]
    for size in reader.affine.parameters.values():
        if not size.is_reference:
            continue
        for other in sorted(outside, key=lambda one: one.name):
            if other is not size and may_be_one(other.element, size.element):
                raise text.error(
                    f"{size.name} is a reference, and may refer to what the region writes into {other.name}",
                    size.at,
                    f"Take {size.name} by value, or say #pragma arrayfold no_alias.",
                )
