"""Two versions of a region: folded where that takes less memory, and as it was written elsewhere.

A mapping that is smaller for all but a few small sizes is worth having, but at those sizes the array must not
grow. Then the code looks at the sizes and takes the loops as they were, with the array as it was declared.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.c.arithmetic import formula_text
from arrayfold.c.edits import Edit, apply_edits, region_lines
from arrayfold.c.source import CSource
from arrayfold.c.tree import Declare, Label, OtherStatement, Reference, Switch, Variable, walk
from arrayfold.codegen.storage import Storage, written_type
from arrayfold.codegen.unused import is_own


def is_jump(node: object) -> bool:
    """Whether a statement is a goto or a switch."""
    return isinstance(node, Switch) or (isinstance(node, OtherStatement) and node.what == "goto")


def can_stand_twice(source: CSource) -> bool:
    """Whether the text of a region may stand in braces, and a second time after it.

    There arrays are declared once more, so that their extents must mean the same where the region stands.
    """
    region = source.region
    named = {**source.variables, **source.replaced}
    if source.scratch.intersection(named.values()):
        return False
    understood = {variable for name, variable in named.items() if name in source.declared}
    if any(one.is_array and is_own(source, one) for one in {*named.values()} - understood):
        return False
    declarations = (statement for statement in region.statements if isinstance(statement, Declare))
    declared = {variable for one in declarations for variable in one.variables}
    outside = (node for node in walk(region.function.body) if not region.holds(node.span.start))
    return not (
        any(isinstance(node, Label) for node in region.nodes())
        or any(map(is_jump, walk(region.function.body)))
        or any(isinstance(node, Reference) and node.variable in declared for node in outside)
    )


def fold_where_smaller(
    source: CSource, storages: Sequence[Storage], replaced: Sequence[Variable], edits: list[Edit]
) -> list[Edit]:
    """The edits of a region, with the text as it was beside them if arrays may be larger at some sizes.

    replaced  the variables that the edits leave without a declaration, where they are the region's own
    """
    choices = [(one.sizes.choice, one.parameter) for one in storages if one.sizes.choice is not None]
    if not choices:
        return edits
    region, text = source.region, source.text.text
    conditions = dict.fromkeys(
        f"{formula_text(now, parameter)} <= {formula_text(before, parameter)}"
        for (now, before), parameter in choices
    )
    folded = apply_edits(text, edits, region.before, region.after)
    declarations = [
        f"{written_type(one)} {text[one.at : one.span.end]};"
        for one in replaced
        if is_own(source, one) and not region.holds(one.span.start)
    ]
    new = "".join(
        (
            region_lines(source, [f"if ({' && '.join(conditions)}) {{"]),
            folded,
            region_lines(source, ["} else { /* folded it would take more memory here */", *declarations]),
            text[region.start : region.end],
            region_lines(source, ["}"]),
        )
    )
    outside = [edit for edit in edits if edit.start < region.before or edit.end > region.after]
    return [Edit(region.before, region.after, new), *outside]
