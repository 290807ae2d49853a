"""A C file with its regions folded: everything outside them stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.choices import Style
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.c.allocation import Allocation
from arrayfold.c.edits import Edit, NotInText, Rewriter, apply_edits, region_lines
from arrayfold.c.language import is_cplusplus
from arrayfold.c.lexer import CHOSEN_END, CHOSEN_START, identifiers
from arrayfold.c.source import Copy, CSource, CText
from arrayfold.c.tree import Declare, For, If, Reference, Subscript, Variable, subscripts_of, walk
from arrayfold.codegen.allocations import can_go, removal_of_allocations, size_edit
from arrayfold.codegen.alternative import can_stand_twice, fold_where_smaller, is_jump
from arrayfold.codegen.cells import KeptCells
from arrayfold.codegen.checks import assumption_checks, means_the_library
from arrayfold.codegen.groups import find_groups, is_in_group
from arrayfold.codegen.names import Names
from arrayfold.codegen.pragmas import depend_edits
from arrayfold.codegen.regenerate import generate_region
from arrayfold.codegen.sizes import Sizes, declared_extents, find_sizes, is_tiny, plain_sizes
from arrayfold.codegen.storage import BlockPart, Storage, parameter_text
from arrayfold.codegen.unused import (
    LostVariables,
    is_own,
    lost_variables,
    pointer_removals,
    removals_inside,
    removals_of_scratch,
    removals_of_unread,
    unused_variables,
)
from arrayfold.exact.formula import Formula
from arrayfold.mapping.layout import Layout, Row, lay_out_table, lowest, values_equal
from arrayfold.mapping.modular import EmittableMapping, TableMapping
from arrayfold.passes.borders import has_borders
from arrayfold.program.model import Program
from arrayfold.sharing.footprint import SharedBlock

_SHORT_ROW = 64


@dataclass(frozen=True, eq=False)
class StorageFold:
    """A mapping to write into the code, and a remark for the reader of it."""

    mapping: EmittableMapping
    remark: str
    is_live_in: bool = False


@dataclass(frozen=True, eq=False)
class FoldedRegion:
    """A program from a C file, in the order to write, with the arrays that shrink.

    loops  "keep" leaves the loops as they are written, "generate" writes them anew from the schedule;
           None keeps them where the order is the one as written, and nothing is gained by new ones
    style  "fast" writes innermost loops without a modulo, "readable" says the mapping in subscripts
    blocks memory that arrays share
    is_off_stack  arrays are allocated even if they take the place of arrays on the stack
    is_padded     rows may be longer, so that loops begin to write with a cache line
    checks_assumptions  the code tests what is assumed of the parameters, and ends the program where it fails
    unfolded      arrays that keep their declarations, because their folds may take more memory at some sizes
    """

    program: Program
    folds: tuple[StorageFold, ...]
    loops: str | None = None
    style: Style = "fast"
    blocks: tuple[SharedBlock, ...] = ()
    is_off_stack: bool = False
    is_padded: bool = False
    unfolded: tuple[str, ...] = ()
    checks_assumptions: bool = False


def write_c(regions: Sequence[FoldedRegion]) -> bytes:
    """The file of the regions with all of them folded."""
    sources = [_source(region.program) for region in regions]
    text = sources[0].text
    assert all(source.text.data == text.data for source in sources)
    names = Names(text.identifiers)
    edits: list[Edit] = []
    needs_vector = False
    doomed: dict[int, LostVariables] = {}
    needs_stdlib: list[CSource] = []
    for region, source in zip(regions, sources, strict=True):
        storages = _storages(region, source, names)
        stored = zip((fold.mapping for fold in region.folds), storages, strict=True)
        replaced = _replaced_variables(region.program, source, stored)
        edits += fold_where_smaller(
            source, storages, replaced, _region_edits(region, source, storages, names)
        )
        edits += removals_of_scratch(source, replaced)
        changed, gone = _allocation_edits(source, storages, replaced)
        edits += changed
        for one in (*lost_variables(source, replaced), *gone):
            if not source.region.holds(one.declaration.span.start):
                doomed.setdefault(one.declaration.span.start, one).gone.update(one.gone)
        has_checks = region.checks_assumptions and bool(region.program.assumptions)
        allocated = [storage for storage in storages if storage.is_on_heap or storage.is_aligned]
        needs_vector |= any(storage.is_vector for storage in allocated)
        if has_checks or _only_sizes(region) or any(not storage.is_vector for storage in allocated):
            needs_stdlib.append(source)
    edits += [edit for one in doomed.values() for edit in one.removal(text)]
    if needs_stdlib:
        edits += _include(text, min(source.region.function.span.start for source in needs_stdlib))
    if needs_vector:
        edits += _include(text, min(source.region.function.span.start for source in sources), "vector")
    # Where nothing changes, neither do forms that were only written in simpler C to be analysed.
    written = apply_edits(text.text, edits) if edits else text.as_written.decode("latin-1")
    return written.replace(CHOSEN_START, "").replace(CHOSEN_END, "").encode("latin-1")


def _allocation_edits(
    source: CSource, storages: Sequence[Storage], replaced: Sequence[Variable]
) -> tuple[list[Edit], list[LostVariables]]:
    """What gives memory that the text allocates its new size, and takes out what nothing uses any more."""
    in_place = {one.variable: one for one in storages if one.allocation is not None}
    edits = [size_edit(one, source) for one in in_place.values()]
    if any(one.sizes.choice is not None for one in storages):
        return edits, []
    gone = [one for variable, one in source.allocations.items() if variable in {*replaced} - {*in_place}]
    more, lost = removal_of_allocations(source, gone)
    return [*edits, *more], lost


def allocated_cells(region: FoldedRegion, values: Mapping[str, int]) -> dict[str, int]:
    """Array -> elements that the code takes for it at some sizes, padding included; not those in blocks."""
    source = _source(region.program)
    storages = _storages(region, source, Names(source.text.identifiers))
    pairs = zip(region.folds, storages, strict=True)
    return {fold.mapping.array: one.cells_at(values) for fold, one in pairs if one.share is None}


def _source(program: Program) -> CSource:
    if program.source is None:
        raise InputError(f"{program.name} has no C text to rewrite; only C files can be written back")
    return program.source


def _storages(region: FoldedRegion, source: CSource, names: Names) -> list[Storage]:
    program = region.program
    function = source.region.function
    has_jumps = any(map(is_jump, walk(function.body)))
    is_vector = is_cplusplus(source.text.file)
    may_allocate = is_vector or means_the_library(source, "malloc", "free", "abort")
    may_align = region.style == "fast" and means_the_library(source, "size_t") and not is_vector
    if is_vector and region.blocks:
        raise InputError(
            "arrays of a C++ file cannot share memory",
            source.text.place(source.region.before),
            "Leave out --share.",
        )
    storages: list[Storage] = []
    blocks = _block_storages(region, source, names, may_allocate=may_allocate)
    found = _sizes(region, source, names)
    allocations = _allocations_in_place(region, source, found)
    for fold in region.folds:
        name = fold.mapping.array
        variable = source.variables[name]
        if fold.is_live_in and not is_own(source, variable):
            raise InputError(
                f"{name} is read before it is written, so its values come from outside the region",
                source.text.place(variable.span.start),
                "It cannot live elsewhere; leave it out of the temporaries.",
            )
        buffer = program.relocation.buffers.get(name)
        sizes = found[name]
        allocation = allocations.get(variable)
        has_rows = allocation is not None and _has_old_rows(program, name, sizes)
        new_name = _name_of(region, source, fold, names, sizes, allocation, blocks.get(name))
        tile = 0 if buffer is None or buffer.is_persistent else buffer.dimensions
        comment = f"{fold.mapping}: {fold.remark}".replace("*/", "* /")
        storages.append(
            Storage(
                variable,
                new_name,
                sizes,
                comment,
                program.context,
                parameter_text(source.parameters),
                names,
                has_jumps,
                may_allocate,
                may_align,
                tile,
                any(d < tile for d in program.parallel),
                blocks.get(name),
                is_linear=variable in source.flat or is_vector or (allocation is not None and not has_rows),
                is_vector=is_vector,
                is_automatic=not (region.is_off_stack or variable.container)
                and is_own(source, variable)
                and variable.storage == "local"
                and not (has_jumps or name in program.relocation.origins or buffer is not None)
                and variable.is_array,
                first=_first_written(program, name, sizes.layout) if region.is_padded else None,
                allocation=allocation,
                is_set=not sizes.extents and not _is_plainly_written(program, source, name),
            )
        )
    return storages


def _is_plainly_written(program: Program, source: CSource, name: str) -> bool:
    """Whether compilers see that an array of numbers is written before it is read.

    They do where what reads it stands in no fewer loops than what writes it, and that depends on no data.
    """
    if source.variables[name].element.kind not in ("signed", "unsigned", "floating"):
        return True
    users = [
        (source.statements[item.name], access.is_write)
        for item in program.statements
        for access in item.accesses
        if access.array == name and item.name in source.statements
    ]
    depths = [len(one.iterators) for one, is_write in users if is_write and not one.guards]
    least = min((len(one.iterators) for one, is_write in users if not is_write), default=0)
    return bool(depths) and min(depths) <= least


def _name_of(
    region: FoldedRegion,
    source: CSource,
    fold: StorageFold,
    names: Names,
    sizes: Sizes,
    allocation: Allocation | None,
    share: BlockPart | None,
) -> str:
    """What an array is called in the new text: as before, where that means nothing else there."""
    name = fold.mapping.array
    program, variable = region.program, source.variables[name]
    is_of_several = list(source.variables.values()).count(variable) > 1
    is_new = name in program.relocation.origins or name in program.relocation.buffers
    if is_new or is_of_several or variable.holder is not None:
        return names.fresh(name)
    if is_own(source, variable) or _is_gone(source, variable, allocation, share):
        return names.own_or_fresh(variable, source.region.function)
    if allocation is None:
        return names.fresh(f"{variable.name}_folded")
    is_kept = variable.rank == 1 or _has_old_rows(program, name, sizes)
    return variable.name if is_kept else names.fresh(f"{variable.name}_cells")


def _allocations_in_place(
    region: FoldedRegion, source: CSource, sizes: Mapping[str, Sizes]
) -> dict[Variable, Allocation]:
    """pointer -> where the text allocates what becomes the folded array.

    A few cells need no allocation, if it can be taken out.
    """
    program = region.program
    placed = {name for block in region.blocks for name in block.offsets}
    is_certain = all(one.choice is None for one in sizes.values())
    found: dict[Variable, Allocation] = {}
    for name in (fold.mapping.array for fold in region.folds):
        variable = source.variables[name]
        is_moved = name in program.relocation.origins or name in program.relocation.buffers or name in placed
        is_one = list(source.variables.values()).count(variable) == 1
        allocation = source.allocations.get(variable)
        if allocation is None or not is_one or is_moved:
            continue
        size = Formula.product(sizes[name].extents)
        if not (is_certain and is_tiny(program, name, size) and can_go(source.text, allocation)):
            found[variable] = allocation
    return found


def _is_gone(source: CSource, variable: Variable, kept: Allocation | None, share: BlockPart | None) -> bool:
    """Whether a pointer goes together with the memory that it was for."""
    before = source.allocations.get(variable)
    return before is not None and kept is None and share is None and can_go(source.text, before)


def _has_old_rows(program: Program, name: str, sizes: Sizes) -> bool:
    """Whether the inner dimensions of a folded array are those that its pointer points to."""
    declared = declared_extents(program, name)
    assert program.source is not None
    is_flat = program.source.variables[name] in program.source.flat or declared is None
    return (
        not is_flat
        and len(sizes.extents) == len(declared or ()) > 1
        and sizes.extents[1:] == tuple((declared or ())[1:])
    )


def _sizes(region: FoldedRegion, source: CSource, names: Names) -> dict[str, Sizes]:
    """Array -> how much memory it gets, by itself or together with others."""
    program = region.program
    found: dict[str, Sizes] = {}
    for fold in region.folds:
        mapping = fold.mapping
        if isinstance(mapping, TableMapping):
            layout = lay_out_table(mapping, names.fresh(f"{source.variables[mapping.array].name}_at"))
            found[mapping.array] = Sizes(layout, (mapping.size,), (mapping.size,))
        elif is_in_group(program, mapping.array, region.blocks):
            found[mapping.array] = plain_sizes(program, mapping)
        else:
            found[mapping.array] = find_sizes(program, mapping)
    mappings = {fold.mapping.array: fold.mapping for fold in region.folds}
    for group in find_groups(program, mappings, region.blocks):
        found |= group.with_limits()
    if region.is_off_stack or not can_stand_twice(source):
        found = {name: replace(one, choice=None) for name, one in found.items()}
    return found


def _first_written(program: Program, name: str, layout: Layout) -> int | None:
    """Where in a row the loop with most accesses begins to write, if rows are long and do not wrap.

    None if it does not always begin there; buffers are made so that all tiles but those at the border do.
    """
    row = layout.rows[-1] if layout.rows else None
    if not isinstance(row, Row) or row.wrap != "none":
        return None
    if row.modulus.is_constant and row.modulus.as_number() < _SHORT_ROW:
        return None
    writers = [
        (statement.domain.dim(isl.dim_type.set), len(statement.accesses), access.relation)
        for statement in program.statements
        if program.source and not isinstance(program.source.statements[statement.name].node, Copy)
        for access in statement.accesses
        if access.is_write and access.array == name
    ]
    if not writers:
        return None
    *_, cells = max(writers, key=lambda item: item[:2])
    cells = cells.intersect_params(program.context)
    first = lowest(row, cells.range(), program.context)
    return (
        first
        if first is None or name in program.relocation.buffers or _begins_at(row, cells, first)
        else None
    )


def _begins_at(row: Row, cells: isl.Map, first: int) -> bool:
    """Whether the innermost loop around accesses { S[i] -> A[x] } meets a value of a row whenever it runs."""
    innermost = cells.dim(isl.dim_type.in_) - 1
    here = cells.intersect_range(values_equal(row, cells.get_space().range(), first))
    runs, begins = (one.domain().project_out(isl.dim_type.set, innermost, 1) for one in (cells, here))
    return bool(runs.is_subset(begins))


def _block_storages(
    region: FoldedRegion, source: CSource, names: Names, *, may_allocate: bool
) -> dict[str, BlockPart]:
    """array -> its part of a block; the first one of each declares it."""
    found: dict[str, BlockPart] = {}
    for block in region.blocks:
        if not may_allocate:
            raise InputError(
                f"malloc has another meaning in {source.region.function.name}, but shared memory needs it",
                source.text.place(source.region.before),
                "Give that variable another name, or leave out --share.",
            )
        name = names.fresh(block.name)
        order = [fold.mapping.array for fold in region.folds if fold.mapping.array in block.offsets]
        for array in order:
            found[array] = BlockPart(
                name, block.size, block.offsets[array], array == order[0], array == order[-1]
            )
    return found


# ---------------------------------------------------------------- a region


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


def _region_edits(
    region: FoldedRegion, source: CSource, storages: Sequence[Storage], names: Names
) -> list[Edit]:
    _refuse_other_configurations(source, storages)
    program = region.program
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
        return _new_loops(region, source, storages, names)
    if not storages:
        return []
    may_change = region.loops is None and region.style == "fast" and _has_plain_loops(source)
    # Of arrays in one block compilers do not see that they are apart; new loops say so.
    is_better = _has_modulo(storages) or bool(region.blocks) or _has_borders(program, source)
    if may_change and is_better and not _has_directives(source):
        try:
            return _new_loops(region, source, storages, names)
        except ArrayfoldError:
            # These loops must stay as they are; their subscripts say the mapping.
            pass
    try:
        return _kept_loops(region, source, storages)
    except NotInText:
        plain = replace(region, style="readable") if region.loops == "keep" else region
        return _new_loops(plain, source, storages, names)


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


def _only_sizes(region: FoldedRegion) -> dict[str, int]:
    """The only parameter values for which the folds of a region hold; none if they hold for all."""
    tables = (fold.mapping for fold in region.folds if isinstance(fold.mapping, TableMapping))
    return {name: value for table in tables for name, value in table.params.items()}


def _size_check(region: FoldedRegion, source: CSource) -> list[str]:
    """The lines that end the program at sizes for which the folds of a region do not hold."""
    sizes = _only_sizes(region)
    if not sizes:
        return []
    if not means_the_library(source, "abort"):
        raise InputError(
            f"abort has another meaning in {source.region.function.name}, which needs it at other sizes",
            source.text.place(source.region.before),
            "Give that variable another name.",
        )
    text = parameter_text(source.parameters)
    return [f"if ({' || '.join(f'{text(name)} != {value}' for name, value in sizes.items())})", "  abort();"]


def _kept_loops(region: FoldedRegion, source: CSource, storages: Sequence[Storage]) -> list[Edit]:
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
    before, after = _around(region, source, storages, unused_variables(source, replaced, []))
    return [
        Edit(source.region.before, source.region.before, region_lines(source, before)),
        *changed,
        *gone,
        *depend_edits(source, storages),
        *removals_inside(source, replaced),
        Edit(source.region.after, source.region.after, region_lines(source, after)),
    ]


def _around(
    region: FoldedRegion, source: CSource, storages: Sequence[Storage], unused: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The lines before a region, in which its arrays begin to exist, and those after it, in which they end.

    unused  mentions of variables that it does not use any more
    """
    unused = [line for line in unused if line not in {f"(void){one.name};" for one in source.allocations}]
    declarations = (line for one in storages for line in one.declaration())
    assumed = (f"/* assumed: {one} */" for one in region.program.assumptions)
    comments = (line.replace("*/", "* /", line.count("*/") - 1) for line in assumed)
    checks = assumption_checks(source, region.program.assumptions) if region.checks_assumptions else []
    before = [*comments, *unused, *checks, *_size_check(region, source), *declarations]
    return before, [line for storage in storages for line in storage.release()]


def _new_loops(
    region: FoldedRegion, source: CSource, storages: Sequence[Storage], names: Names
) -> list[Edit]:
    mappings = [fold.mapping for fold in region.folds]
    replaced = _replaced_variables(region.program, source, zip(mappings, storages, strict=True))
    new = generate_region(region.program, source, storages, mappings, replaced, names, region.style)
    shared = [storage for storage in storages if not storage.is_private]
    before, after = _around(region, source, shared, unused_variables(source, replaced, new.iterators))
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


def _replaced_variables(
    program: Program, source: CSource, stored: Iterable[tuple[EmittableMapping, Storage]]
) -> list[Variable]:
    """The variables that new loops do not use: folded ones, and those whose values all are elsewhere."""
    folded = [
        storage.variable for mapping, storage in stored if mapping.array not in program.relocation.origins
    ]
    return [*dict.fromkeys([*folded, *sorted(source.replaced.values(), key=lambda one: one.span.start)])]


def _include(text: CText, before: int, header: str = "stdlib.h") -> list[Edit]:
    """`#include <stdlib.h>` for malloc, after the other includes or in front of the function.

    Includes inside conditionals do not count.
    """
    depth = 0
    last: int | None = None
    for match in re.finditer(r"^[ \t]*#[ \t]*(\w+)([^\n]*)\n", text.text[:before], re.MULTILINE):
        if text.plain[match.start() : match.end()].lstrip()[:1] != "#":
            continue
        word = match.group(1)
        depth += (word in ("if", "ifdef", "ifndef")) - (word == "endif")
        if word == "include" and depth == 0:
            if re.match(rf"\s*<\s*{re.escape(header)}\s*>", match.group(2)):
                return []
            last = match.end()
    newline = "\r\n" if "\r\n" in text.text else "\n"
    if last is not None:
        return [Edit(last, last, f"#include <{header}>{newline}")]
    line_start = text.text.rfind("\n", 0, before) + 1
    is_alone = not text.text[line_start:before].strip()
    at = line_start if is_alone else before
    return [Edit(at, at, ("" if is_alone else newline) + f"#include <{header}>{newline}{newline}")]
