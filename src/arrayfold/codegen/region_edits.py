"""The edits that fold a region, in the loops as they are written or in new ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.c.edits import INDENT, Edit, NotInText, Rewriter, region_lines
from arrayfold.c.lexer import identifiers
from arrayfold.c.source import CSource
from arrayfold.c.tree import Declare, For, If, Reference, Subscript, Variable, subscripts_of, walk
from arrayfold.codegen.cells import KeptCells
from arrayfold.codegen.checks import assumption_checks, means_the_library
from arrayfold.codegen.names import Names
from arrayfold.codegen.pragmas import depend_edits
from arrayfold.codegen.regenerate import generate_region
from arrayfold.codegen.region import FoldedRegion
from arrayfold.codegen.storage import Storage, parameter_text
from arrayfold.codegen.unused import (
    pointer_removals,
    removals_inside,
    removals_of_unread,
    unused_variables,
)
from arrayfold.mapping.layout import Row
from arrayfold.passes.borders import has_borders
from arrayfold.program.model import Program


def edits_of(region: FoldedRegion, storages: Sequence[Storage], names: Names) -> list[Edit]:
    """What changes in the text of a region, and in the lines around it."""
    program, source = region.program, region.source
    _refuse_other_configurations(source, storages)
    if program.domain().intersect_params(program.context).is_empty():
        return []
    is_same = program.is_as_written and dict(program.parallel) == dict(source.parallel)
    # Loops with copies between them are new ones.
    as_written = is_same and not program.relocation.buffers
    if region.loops == "keep" and not as_written:
        raise InputError("the loops as written cannot be kept in another order")
    if region.loops == "keep" and program.relocation.moved is not None:
        raise InputError("the loops as written cannot be kept where values have other places")
    if not as_written or region.loops == "generate" or program.relocation.moved is not None:
        return _new_loops(region, storages, names)
    # Where nothing folds, new loops are worth it to who asked for a fast order and gets the one of the text.
    if not storages and program.chosen is None:
        return []
    may_change = region.loops is None and region.style == "fast" and _has_plain_loops(source)
    # Of arrays in one block compilers do not see that they are apart; new loops say so.
    is_better = _has_modulo(storages) or bool(region.blocks) or _has_borders(program, source)
    if may_change and is_better and not _has_directives(source):
        try:
            return _new_loops(region, storages, names)
        except ArrayfoldError:
            # These loops must stay as they are; their subscripts say the mapping.
            pass
    try:
        return _kept_loops(region, storages) if storages else []
    except NotInText:
        plain = replace(region, style="readable") if region.loops == "keep" else region
        return _new_loops(plain, storages, names)


def _refuse_other_configurations(source: CSource, storages: Sequence[Storage]) -> None:
    """Text that the preprocessor leaves out is not analysed, so it must not use what moves."""
    names = {storage.variable.name for storage in storages} | {one.name for one in source.replaced.values()}
    for span in source.skipped:
        shared = names & identifiers(source.text.text[span.start : span.end])
        if shared:
            raise InputError(
                f"this part of the region is left out by the preprocessor and uses {min(shared)}",
                source.text.place(span.start),
                "Fold a file that holds one configuration only.",
            )


def _has_plain_loops(source: CSource) -> bool:
    """Whether new loops can say what OpenMP says of these: no clauses, variables of threads alone."""
    if not source.parallel:
        return True
    inside = source.text.plain[source.region.start : source.region.end]
    pragmas = re.findall(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b([^\n]*)", inside, re.MULTILINE)
    accessed = set(source.variables.values()) - source.of_threads
    declared = (node for node in source.region.nodes() if isinstance(node, Declare))
    return all(pragma.split() == ["parallel", "for"] for pragma in pragmas) and not any(
        variable in accessed for node in declared for variable in node.variables
    )


def _has_directives(source: CSource) -> bool:
    """Whether lines for the preprocessor stand in the region, which new loops would not have."""
    inside = source.text.plain[source.region.start : source.region.end]
    return bool(re.search(r"^[ \t]*#[ \t]*(?!pragma\b)\w", inside, re.MULTILINE))


def _has_modulo(storages: Sequence[Storage]) -> bool:
    rows = (row for storage in storages for row in storage.layout.rows)
    return any(isinstance(row, Row) and row.wrap != "none" for row in rows)


def _has_borders(program: Program, source: CSource) -> bool:
    """Whether new loops would be without conditions that these have in their innermost loops."""
    on_data = {guard.condition for statement in source.statements.values() for guard in statement.guards}
    loops = (node for node in source.region.nodes() if isinstance(node, For))
    innermost = (
        list(walk(loop.body)) for loop in loops if not any(isinstance(one, For) for one in walk(loop.body))
    )
    if any(isinstance(one, If) and one.condition not in on_data for body in innermost for one in body):
        return True
    return has_borders(program)


def _size_check(region: FoldedRegion) -> list[str]:
    """The lines that end the program at sizes for which the folds of a region do not hold."""
    sizes, source = region.only_sizes(), region.source
    if not sizes:
        return []
    if not means_the_library(source, "abort"):
        raise InputError(
            f"abort has another meaning in {source.region.function.name}, which needs it at other sizes",
            source.text.place(source.region.before),
            "Give that variable another name.",
        )
    text = parameter_text(source.parameters)
    others = " || ".join(f"{text(name)} != {value}" for name, value in sizes.items())
    return [f"if ({others})", f"{INDENT}abort();"]


def _kept_loops(region: FoldedRegion, storages: Sequence[Storage]) -> list[Edit]:
    source = region.source
    by_variable = {storage.variable: storage for storage in storages}
    replaced = list(by_variable)
    cells = KeptCells(region.program, source, by_variable)

    def element(variable: Variable, texts: Sequence[str], node: Reference | Subscript) -> str | None:
        by_cell = cells.element(node)
        if by_cell is not None:
            return by_cell
        storage = by_variable.get(variable)
        # Flat elements without a cell are parts of pointers, which go.
        if storage is None or variable in source.flat or len(texts) != variable.rank:
            return None
        return storage.element(storage.factors(texts, subscripts_of(node)))

    rewriter = Rewriter(source.text, lambda _: None, element, cells.element)
    for statement in source.region.statements:
        rewriter.visit(statement)
    gone = list(pointer_removals(source, replaced))
    if not gone:
        gone += removals_of_unread(source, replaced, rewriter.found)
    changed = [edit for edit in rewriter.found if not any(one.start <= edit.start < one.end for one in gone)]
    before, after = _around(region, storages, unused_variables(source, replaced, []))
    return [
        Edit(source.region.before, source.region.before, region_lines(source, before)),
        *changed,
        *gone,
        *depend_edits(source, storages),
        *removals_inside(source, replaced),
        Edit(source.region.after, source.region.after, region_lines(source, after)),
    ]


def _around(
    region: FoldedRegion, storages: Sequence[Storage], unused: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The lines before a region, in which its arrays begin to exist, and those after it, in which they end.

    unused  mentions of variables that it does not use any more
    """
    source = region.source
    unused = [line for line in unused if line not in {f"(void){one.name};" for one in source.allocations}]
    declarations = (line for one in storages for line in one.declaration())
    assumed = (f"/* assumed: {one} */" for one in region.program.assumptions)
    comments = (line.replace("*/", "* /", line.count("*/") - 1) for line in assumed)
    checks = assumption_checks(source, region.program.assumptions) if region.checks_assumptions else []
    before = [*comments, *unused, *checks, *_size_check(region), *declarations]
    return before, [line for storage in storages for line in storage.release()]


def _new_loops(region: FoldedRegion, storages: Sequence[Storage], names: Names) -> list[Edit]:
    source = region.source
    mappings = [fold.mapping for fold in region.folds]
    replaced = replaced_variables(region, storages)
    new = generate_region(region.program, source, storages, mappings, replaced, names, region.style)
    shared = [storage for storage in storages if not storage.is_private]
    before, after = _around(region, shared, unused_variables(source, replaced, new.iterators))
    before += new.declarations
    if not new.is_affine:
        # The pragmas around the region say that it is a sequence of affine loops.
        everything = region_lines(source, [*before, *new.lines, *after])
        return [Edit(source.region.before, source.region.after, everything)]
    return [
        Edit(source.region.before, source.region.before, region_lines(source, before)),
        Edit(source.region.start, source.region.end, region_lines(source, new.lines)),
        Edit(source.region.after, source.region.after, region_lines(source, after)),
    ]


def replaced_variables(region: FoldedRegion, storages: Sequence[Storage]) -> list[Variable]:
    """The variables that new loops do not use: folded ones, and those whose values all are elsewhere."""
    origins = region.program.relocation.origins
    stored = zip(region.folds, storages, strict=True)
    folded = [storage.variable for fold, storage in stored if fold.mapping.array not in origins]
    elsewhere = sorted(region.source.replaced.values(), key=lambda one: one.span.start)
    return [*dict.fromkeys([*folded, *elsewhere])]
