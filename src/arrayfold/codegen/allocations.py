"""Memory that the text allocates: with its new size, or not at all where its values are elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from arrayfold.c import tree as c
from arrayfold.c.allocation import Allocation
from arrayfold.c.arithmetic import formula_text, parenthesised
from arrayfold.c.edits import Edit, NotInText, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import CSource, CText
from arrayfold.c.tree import CStatement, Expression, Variable, bare, walk
from arrayfold.codegen.storage import Storage, written_type
from arrayfold.codegen.unused import LostVariables
from arrayfold.exact.formula import Atom, Extreme, Formula

_ROUNDED = ("aligned_alloc",)


# ---------------------------------------------------------------- the new size


def size_edit(storage: Storage, source: CSource) -> Edit:
    """The edit that lets the text allocate as much as the folded array needs.

    Where the loops as written run at some sizes, they have what the text allocates there.
    """
    allocation = storage.allocation
    assert allocation is not None
    unit = f"sizeof({written_type(storage.variable)})"
    spans = allocation.arguments
    was = [parenthesised(source.text.text[slice(*span)].strip()) for span in spans]

    def chosen(new: str, old: str) -> str:
        if storage.sizes.choice is None:
            return new
        now, before = (formula_text(one, storage.parameter) for one in storage.sizes.choice)
        return f"{now} <= {before} ? {new} : {old}"

    if allocation.function == "calloc":
        counts = f"{chosen(_cells(storage), was[0])}, {chosen(unit, was[1])}"
        return Edit(spans[0][0], spans[1][1], counts)
    size = f"{unit} * {parenthesised(_cells(storage))}"
    if allocation.function in _ROUNDED:
        # The size must be a multiple of the alignment.
        size = f"({size} + {was[0]} - 1) / {was[0]} * {was[0]}"
    return Edit(*spans[-1], " " * (len(spans) > 1) + chosen(size, was[-1]))


def _cells(storage: Storage) -> str:
    """How many cells the folded array has, as C."""
    sizes = storage.sizes
    lengths = [_maybe_none(one) for one in sizes.extents] if len(sizes.extents) == 1 else sizes.extents
    extents = [formula_text(one, storage.parameter) for one in lengths]
    cells = storage.one_size(extents)
    return f"1LL * {cells}" if any("?" in text for text in extents) and len(extents) > 1 else cells


def _maybe_none(size: Formula) -> Formula:
    """A size that is at least one, without that: allocations of nothing are none in the original, too."""
    atom = next(iter(_atoms([size])), None)
    if not isinstance(atom, Extreme) or atom.kind != "max" or size != Formula.atom(atom):
        return size
    rest = [one for one in atom.arguments if one != Formula.constant(1)]
    is_cut = any(isinstance(inner, Extreme) and inner.kind == "min" for inner in _atoms(rest))
    return Formula.extreme("max", rest) if is_cut else size


def _atoms(formulas: Sequence[Formula]) -> list[Atom]:
    return [atom for one in formulas for monomial, _ in one.terms for atom, _ in monomial]


# ---------------------------------------------------------------- memory that is gone


def removal_of_allocations(
    source: CSource, gone: Collection[Allocation]
) -> tuple[list[Edit], list[LostVariables]]:
    """What takes pointers out of a function that has no use for them any more.

    Where one is allocated inside of a condition, it stays, with one element.
    """
    edits: list[Edit] = []
    lost: list[LostVariables] = []
    clean = [one for one in gone if can_go(source.text, one)]
    edits += [_one_element(one) for one in gone if one not in clean]
    variables = {one.variable for one in clean}
    nodes = list(walk(source.region.function.body))
    tests = {test: holds for one in clean for test, holds in one.tests}
    statements: list[CStatement] = [
        one for each in clean for one in each.frees if isinstance(one, c.Evaluate)
    ]
    statements += [one.statement for each in clean for one in each.setters if one.statement is not None]
    removed: list[tuple[int, int]] = []
    for node in nodes:
        if isinstance(node, c.If):
            is_never, pruned = _without_tests(node.condition, tests)
            is_empty = bare(node.condition) in tests and _does_nothing(node.then, statements)
            if (is_never or is_empty) and node.otherwise is None:
                pruned = [_without_statement(source.text, node, nodes)]
            edits += pruned
            removed += [(edit.start, edit.end) for edit in pruned]
        elif isinstance(node, c.Declare) and variables.intersection(node.variables):
            lost.append(LostVariables(node, {one.at for one in node.variables if one in variables}))
    edits += [_without_statement(source.text, one, nodes) for one in statements]
    edits += [Edit(test.span.start, test.span.end, str(int(holds))) for test, holds in tests.items()]

    def is_inside(edit: Edit) -> bool:
        return any(
            start <= edit.start and edit.end <= end and (edit.start, edit.end) != (start, end)
            for start, end in removed
        )

    return [edit for edit in edits if not is_inside(edit)], lost


def _does_nothing(statement: CStatement, gone: Collection[CStatement]) -> bool:
    """Whether nothing of a statement is left if some go."""
    if isinstance(statement, c.Block):
        return all(_does_nothing(one, gone) for one in statement.statements)
    return statement in gone


def can_go(text: CText, allocation: Allocation) -> bool:
    """Whether all that is done with a pointer can be taken out of the text."""
    are_statements = all(
        isinstance(one.whole, Variable) or one.statement is not None for one in allocation.setters
    ) and all(isinstance(one, c.Evaluate) for one in allocation.frees)
    name = re.compile(rf"\b{re.escape(allocation.variable.name)}\b")
    tests = (text.plain[test.span.start : test.span.end] for test, _ in allocation.tests)
    mentions = len(allocation.frees) + len(allocation.tests)
    mentions += sum(isinstance(one.whole, Expression) for one in allocation.setters)
    # Those that are left are in its own size: sizeof *t.
    rest = [
        one
        for one in allocation.mentions
        if allocation.arguments[0][0] <= one.span.start < allocation.arguments[-1][1]
    ]
    is_all = mentions + len(rest) == len(allocation.mentions)
    return are_statements and is_all and all(len(name.findall(one)) == 1 for one in tests)


def _one_element(allocation: Allocation) -> Edit:
    element = written_type(allocation.variable)
    spans = allocation.arguments
    if allocation.function == "calloc":
        return Edit(spans[0][0], spans[1][1], f"1, sizeof({element})")
    if allocation.function in _ROUNDED:
        return Edit(*spans[-1], " 0")
    return Edit(*spans[-1], " " * (len(spans) > 1) + f"sizeof({element})")


def _without_tests(condition: Expression, tests: dict[Expression, bool]) -> tuple[bool, list[Edit]]:
    """Whether a condition fails if some tests have known outcomes, and what takes these tests out if not."""
    inner = bare(condition)
    if not isinstance(inner, c.Binary) or inner.operator != "||":
        return tests.get(inner) is False, []
    left, right = inner.left.span, inner.right.span
    is_left_gone, of_left = _without_tests(inner.left, tests)
    is_right_gone, of_right = _without_tests(inner.right, tests)
    if is_left_gone and is_right_gone:
        return True, []
    if is_left_gone:
        return False, [Edit(left.start, right.start, ""), *of_right]
    return False, [*of_left, *([Edit(left.end, right.end, "")] if is_right_gone else [])]


def _without_statement(text: CText, statement: CStatement, nodes: Sequence[c.Node]) -> Edit:
    """The edit that takes a statement out, or leaves an empty one where one must be."""
    end = end_of_statement(text.plain, statement.span.start) or statement.span.end
    if isinstance(statement, c.If):
        end = max(statement.span.end, end if not isinstance(statement.then, c.Block) else 0)
    if not statement.span.is_text:
        raise NotInText(text.file)
    is_alone = any(isinstance(node, c.Block) and statement in node.statements for node in nodes)
    return (
        whole_line(text.text, statement.span.start, end) if is_alone else Edit(statement.span.start, end, ";")
    )
