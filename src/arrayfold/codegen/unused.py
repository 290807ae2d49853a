"""Variables that the new code does not use any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from arrayfold.c.edits import Edit, NotInText, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import CSource, CText, assigned_in
from arrayfold.c.tree import (
    Block,
    Declare,
    Evaluate,
    Expression,
    Reference,
    Subscript,
    Variable,
    array_access,
    named_in,
    walk,
)


def is_own(source: CSource, variable: Variable) -> bool:
    """Whether the declaration can go; other arrays stay declared and a new one takes their place."""
    if variable in source.scratch:
        return True
    if variable.storage != "local" or variable.is_pointer:
        return False
    return not any(
        isinstance(node, Reference) and node.variable is variable and not source.region.holds(node.span.start)
        for node in walk(source.region.function.body)
    )


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
        if variable in source.scratch and variable.storage == "global":
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
