"""A C file with its regions folded: everything outside them stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from arrayfold.c.edits import Edit, apply_edits
from arrayfold.c.lexer import CHOSEN_END, CHOSEN_START
from arrayfold.c.source import CSource, CText
from arrayfold.c.tree import Variable
from arrayfold.codegen.allocations import removal_of_allocations, size_edit
from arrayfold.codegen.alternative import fold_where_smaller
from arrayfold.codegen.names import Names
from arrayfold.codegen.region import FoldedRegion
from arrayfold.codegen.region_edits import edits_of, replaced_variables
from arrayfold.codegen.region_storages import storages_of
from arrayfold.codegen.storage import Storage
from arrayfold.codegen.unused import (
    LostVariables,
    lost_variables,
    removals_of_scratch,
)


def write_c(regions: Sequence[FoldedRegion]) -> bytes:
    """The file of the regions with all of them folded."""
    sources = [region.source for region in regions]
    text = sources[0].text
    assert all(source.text.data == text.data for source in sources)
    names = Names(text.identifiers)
    edits: list[Edit] = []
    needs_vector = False
    doomed: dict[int, LostVariables] = {}
    needs_stdlib: list[CSource] = []
    for region, source in zip(regions, sources, strict=True):
        storages = storages_of(region, names)
        replaced = replaced_variables(region, storages)
        edits += fold_where_smaller(source, storages, replaced, edits_of(region, storages, names))
        edits += removals_of_scratch(source, replaced)
        changed, gone = _allocation_edits(source, storages, replaced)
        edits += changed
        for one in (*lost_variables(source, replaced), *gone):
            if not source.region.holds(one.declaration.span.start):
                doomed.setdefault(one.declaration.span.start, one).gone.update(one.gone)
        has_checks = region.checks_assumptions and bool(region.program.assumptions)
        allocated = [storage for storage in storages if storage.is_on_heap or storage.is_aligned]
        needs_vector |= any(storage.is_vector for storage in allocated)
        if has_checks or region.only_sizes() or any(not storage.is_vector for storage in allocated):
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
    storages = storages_of(region, Names(region.source.text.identifiers))
    pairs = zip(region.folds, storages, strict=True)
    return {fold.mapping.array: one.cells_at(values) for fold, one in pairs if one.share is None}


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
