"""Variables that the new code does not use any more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from arrayfold.c.calls import only_computes
from arrayfold.c.edits import Edit, NotInText, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import CSource, CText, assigned_in
from arrayfold.c.tree import (
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    Node,
    Opaque,
    Reference,
    Subscript,
    Variable,
    array_access,
    named_in,
    walk,
)


def is_own(source: CSource, variable: Variable) -> bool:
    """Whether the declaration can go; other arrays stay declared and a new one takes their place."""
    if variable not in source.scratch and (variable.storage != "local" or variable.is_pointer):
        return False
    return not any(
        isinstance(node, Reference) and node.variable is variable and not source.region.holds(node.span.start)
        for node in walk(source.region.function.body)
    )


def begins_without_values(source: CSource, variable: Variable) -> bool:
    """Whether nothing gives an array values that last until its region begins.

    Static memory has those of the last call, or zeros, and declarations may set more than the region shows.
    """
    declared = variable
    while declared.holder is not None:
        declared = declared.holder
    is_local = variable.storage == declared.storage == "local"
    return is_own(source, variable) and is_local and variable.initial is declared.initial is None


def unused_variables(
    source: CSource, folded: Collection[Variable], iterators: Sequence[Variable]
) -> list[str]:
    """Mentions of variables that may not be used any more, so that compilers do not complain."""
    replaced = [variable for variable in folded if not is_own(source, variable)]
    indexing = [
        node.variable
        for tree in _sizes_and_subscripts(source, folded)
        for node in walk(tree)
        if isinstance(node, Reference)
        and not node.variable.is_array
        and not source.region.holds(node.variable.span.start)
        and node.variable not in _iterators(source)
    ]
    elsewhere = {
        variable
        for variable, count in _mentions(source.region.function.body).items()
        if variable not in replaced
        and count > indexing.count(variable) + _mentions_inside(source, variable, iterators)
    }
    lost = [*dict.fromkeys([*replaced, *iterators, *indexing])]
    return [
        f"(void){variable.name};"
        for variable in lost
        if variable not in elsewhere and variable.storage != "global"
    ]


def _sizes_and_subscripts(source: CSource, folded: Collection[Variable]) -> Iterator[Expression]:
    for variable in folded:
        yield from (extent for extent in variable.extents if not isinstance(extent, int | None))
        if variable in source.allocations:
            yield from source.allocations[variable].call.arguments
    for node in source.region.nodes():
        if isinstance(node, Subscript):
            access = array_access(node)
            if access is not None and access[0] in folded and len(access[1]) == access[0].rank:
                yield from access[1]


def _iterators(source: CSource) -> set[Variable]:
    return {variable for statement in source.statements.values() for variable in statement.iterators}


def _mentions(body: Block) -> Counter[Variable]:
    found = Counter(node.variable for node in walk(body) if isinstance(node, Reference))
    for node in walk(body):
        if isinstance(node, Declare):
            for variable in node.variables:
                for extent in variable.extents:
                    if not isinstance(extent, int | None):
                        found.update(n.variable for n in walk(extent) if isinstance(n, Reference))
    return found


def _mentions_inside(source: CSource, variable: Variable, gone: Collection[Variable]) -> int:
    """How often the region names a variable that its new text does not name at all."""
    if variable not in gone:
        return 0
    return sum(isinstance(node, Reference) and node.variable is variable for node in source.region.nodes())


@dataclass(frozen=True, eq=False)
class LostVariables:
    """A declaration and what it loses.

    gone  where their names stand
    """

    declaration: Declare
    gone: set[int]

    def removal(self, text: CText) -> list[Edit]:
        """The edits that take them out."""
        end = end_of_statement(text.plain, self.declaration.span.start) or self.declaration.span.end
        gone = [variable for variable in self.declaration.variables if variable.at in self.gone]
        return removal(text, self.declaration, gone, end)


def lost_variables(source: CSource, replaced: Sequence[Variable]) -> Iterator[LostVariables]:
    """The declarations of variables that a region does not use any more."""
    doomed = [variable for variable in replaced if is_own(source, variable)]
    fields = dict.fromkeys(
        one for one in named_in(walk(source.region.function.body)) if one.holder is not None
    )
    stay = {one.holder for one in fields if one not in doomed}
    doomed += {one.holder for one in doomed if one.holder is not None and one.holder not in stay}
    for node in walk(source.region.function.body):
        if isinstance(node, Declare) and any(variable in doomed for variable in node.variables):
            yield LostVariables(node, {variable.at for variable in node.variables if variable in doomed})


def removals_inside(source: CSource, replaced: Sequence[Variable]) -> Iterator[Edit]:
    """Declarations inside of a region go together with it; those outside may be of several regions."""
    for one in lost_variables(source, replaced):
        if source.region.holds(one.declaration.span.start):
            yield from one.removal(source.text)


def removals_of_scratch(source: CSource, replaced: Collection[Variable]) -> Iterator[Edit]:
    """The edits that take out arrays of file scope that nothing names any more."""
    text = source.text
    for variable in replaced:
        if variable.storage == "global" and is_own(source, variable):
            start = variable.span.start
            yield whole_line(text.text, start, end_of_statement(text.plain, start) or variable.span.end)


def pointer_removals(source: CSource, replaced: Collection[Variable]) -> Iterator[Edit]:
    """The edits that take out what sets pointers into arrays that go, in a region that keeps its loops."""
    text = source.text
    doomed = _pointers_into(source, replaced)
    for node in source.region.nodes():
        if isinstance(node, Declare):
            gone = [one for one in node.variables if one in doomed]
            if gone:
                yield from LostVariables(node, {one.at for one in gone}).removal(text)
        elif isinstance(node, Evaluate) and next(assigned_in(walk(node)), None) in doomed:
            end = end_of_statement(text.plain, node.span.start)
            if end is None or not node.span.is_text:
                raise NotInText(text.file)
            yield Edit(node.span.start, end, ";")


def _pointers_into(source: CSource, arrays: Collection[Variable]) -> set[Variable]:
    """The pointers that the region sets and that point into some arrays."""
    return {
        pointer
        for statement in source.statements.values()
        for pointer, one in statement.pointers.items()
        if one.array in arrays and pointer in source.pointers
    }


def removals_of_unread(
    source: CSource, replaced: Collection[Variable], edits: Sequence[Edit]
) -> Iterator[Edit]:
    """The edits that take out variables of a region all of whose uses other edits take out."""
    text = source.text
    nodes = list(source.region.nodes())
    blocks = [source.region.statements, *(node.statements for node in nodes if isinstance(node, Block))]
    declarations = [
        node
        for node in (one for block in blocks for one in block)
        if isinstance(node, Declare)
        and node.span.is_text
        and not any(map(replaced.__contains__, node.variables))
    ]
    pragmas = re.findall(r"^\s*#.*", text.plain[source.region.start : source.region.end], re.MULTILINE)
    uses: dict[Variable, list[Reference]] = {}
    for node in nodes:
        if isinstance(node, Reference):
            uses.setdefault(node.variable, []).append(node)
    gone: set[Variable] = set()
    lost: set[Reference] = set()

    def is_unread(variable: Variable) -> bool:
        name = re.compile(rf"\b{re.escape(variable.name)}\b")
        mine = uses.get(variable, [])
        around = [_edit_around(edits, node.span.start) for node in mine if node not in lost]
        return (
            bool(mine)
            and all(edit is not None and not name.search(edit.text) for edit in around)
            and is_plain_value(source, variable)
            and name.match(text.plain, variable.at) is not None
            and not any(map(name.search, pragmas))
        )

    variables = [one for node in declarations for one in node.variables]
    while found := {one for one in variables if one not in gone and is_unread(one)}:
        gone |= found
        initial = (node for one in found if one.initial is not None for node in walk(one.initial))
        lost |= {node for node in initial if isinstance(node, Reference)}
    for node in declarations:
        at = {one.at for one in node.variables if one in gone}
        if at:
            yield from LostVariables(node, at).removal(text)


def _edit_around(edits: Sequence[Edit], at: int) -> Edit | None:
    return next((edit for edit in edits if edit.start <= at < edit.end), None)


def _names(node: Node, variable: Variable) -> bool:
    return isinstance(node, Reference) and node.variable is variable


def is_plain_value(source: CSource, variable: Variable) -> bool:
    """Whether a variable is a local scalar with an initial value, without effects, and no macro names it."""
    if variable.initial is None or variable.storage != "local" or variable.is_array or variable.is_pointer:
        return False
    nodes = list(walk(variable.initial))
    calls = (node.function for node in nodes if isinstance(node, Call))
    return (
        all(node.span.is_text for node in source.region.nodes() if _names(node, variable))
        and not any(isinstance(node, Opaque) for node in nodes)
        and not any(assigned_in(nodes))
        and not (variable.is_volatile or any(one.is_volatile for one in named_in(nodes)))
        and all(only_computes(function, source.pure) for function in calls)
    )
