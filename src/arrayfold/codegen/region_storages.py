"""Where the folded arrays of a region live: their sizes, names, and the memory that they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.allocation import Allocation
from arrayfold.c.language import is_cplusplus
from arrayfold.c.source import Copy, CSource
from arrayfold.c.tree import Variable, walk
from arrayfold.codegen.allocations import can_go
from arrayfold.codegen.alternative import can_stand_twice, is_jump
from arrayfold.codegen.checks import means_the_library
from arrayfold.codegen.groups import find_groups, is_in_group
from arrayfold.codegen.names import Names
from arrayfold.codegen.region import FoldedRegion, StorageFold
from arrayfold.codegen.sizes import Sizes, declared_extents, find_sizes, is_tiny, plain_sizes
from arrayfold.codegen.storage import BlockPart, Storage, parameter_text
from arrayfold.codegen.unused import begins_without_values, is_own
from arrayfold.exact.formula import Formula
from arrayfold.mapping.layout import Layout, Row, lay_out_table, lowest, values_equal
from arrayfold.mapping.modular import TableMapping
from arrayfold.program.model import Program

_SHORT_ROW = 64


def storages_of(region: FoldedRegion, names: Names) -> list[Storage]:
    """The storage of each array that shrinks, in the order of the folds."""
    program, source = region.program, region.source
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
    blocks = _parts_of_blocks(region, names, may_allocate=may_allocate)
    found = _sizes(region, names)
    allocations = _allocations_in_place(region, found)
    for fold in region.folds:
        _refuse_values_from_outside(fold, source)
        name = fold.mapping.array
        variable = source.variables[name]
        buffer = program.relocation.buffers.get(name)
        sizes = found[name]
        allocation = allocations.get(variable)
        has_rows = allocation is not None and _has_old_rows(program, name, sizes)
        new_name = _name_of(region, fold, names, sizes, allocation, blocks.get(name))
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


def _refuse_values_from_outside(fold: StorageFold, source: CSource) -> None:
    variable = source.variables[fold.mapping.array]
    if fold.is_live_in and not begins_without_values(source, variable):
        raise InputError(
            f"{fold.mapping.array} is read before it is written, so its values come from outside the region",
            source.text.place(variable.span.start),
            "It cannot live elsewhere; leave it out of the temporaries.",
        )


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
    fold: StorageFold,
    names: Names,
    sizes: Sizes,
    allocation: Allocation | None,
    share: BlockPart | None,
) -> str:
    """What an array is called in the new text: as before, where that means nothing else there."""
    name = fold.mapping.array
    program, source = region.program, region.source
    variable = source.variables[name]
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


def _allocations_in_place(region: FoldedRegion, sizes: Mapping[str, Sizes]) -> dict[Variable, Allocation]:
    """pointer -> where the text allocates what becomes the folded array.

    A few cells need no allocation, if it can be taken out.
    """
    program, source = region.program, region.source
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


def _sizes(region: FoldedRegion, names: Names) -> dict[str, Sizes]:
    """Array -> how much memory it gets, by itself or together with others."""
    program, source = region.program, region.source
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


def _parts_of_blocks(region: FoldedRegion, names: Names, *, may_allocate: bool) -> dict[str, BlockPart]:
    """array -> its part of a block; the first one of each declares it."""
    source = region.source
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
