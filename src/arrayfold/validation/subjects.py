"""What is to be executed of folded regions: their functions, contexts, and arrays that are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import islpy as isl

from arrayfold.mapping.modular import TableMapping
from arrayfold.validation.compare import Subject, Validation, validate

if TYPE_CHECKING:
    from arrayfold.c.source import CSource
    from arrayfold.codegen import FoldedRegion


_CONTEXT = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+arrayfold[ \t]+context\b", re.MULTILINE)
_OF_NEW_ARRAYS = 64 * 1024


def validate_code(
    regions: Sequence[FoldedRegion],
    code: bytes,
    file: str,
    *,
    has_context: bool = True,
    deadline: float = float("inf"),
) -> Validation:
    """Execute the text that regions come from and the one that was written of them, and compare.

    code         the new text, as `codegen.write_c` gives it
    file         what the new text is called in messages
    has_context  the user has narrowed the context beyond what the text says; if not, only those sizes are
                 left out that the result says are excluded, so that nothing is assumed in silence
    deadline     from then on the smallest sizes are enough
    """
    found: dict[str, Subject] = {}
    text = None
    for region in regions:
        source = region.program.source
        assert source is not None
        text = source.text
        name = source.region.function.name
        original, start = text.original, source.region.start
        subject = found.get(name, Subject(name, (), (), more=0))
        found[name] = Subject(
            name,
            (*subject.regions, start if original is None else original.offset(start)),
            (*subject.contexts, _context(region, source, is_given=has_context)),
            subject.gone | _gone(region, source),
            {**subject.fixed, **_fixed(region, source)},
            max(subject.more, _more(region, source)),
        )
    assert text is not None
    texts = (text.file, text.as_written), (file, code)
    return validate(*texts, text.arguments, list(found.values()), deadline)


def _context(region: FoldedRegion, source: CSource, *, is_given: bool) -> isl.Set:
    """The context, or what is stated of it, with parameters called as in the text."""
    program = region.program
    context = program.context
    if not is_given and program.signature is None and not _CONTEXT.search(source.text.as_written):
        context = isl.Set.universe(context.get_space())
        for assumption in program.assumptions:
            context = context.intersect(assumption.where)
    for name, variable in source.parameters.items():
        at = context.find_dim_by_name(isl.dim_type.param, name)
        if at >= 0:
            context = context.set_dim_name(isl.dim_type.param, at, variable.name)
    return context


def _gone(region: FoldedRegion, source: CSource) -> frozenset[str]:
    """Arrays whose values are not needed after the region, though they outlast it."""
    folded = {fold.mapping.array for fold in region.folds} | set(region.program.extra_temporaries)
    variables = [source.variables[name] for name in folded if name in source.variables]
    return frozenset(one.name for one in (*variables, *source.replaced.values()))


def _fixed(region: FoldedRegion, source: CSource) -> dict[str, int]:
    """The only sizes for which the folds hold, if they are tables."""
    tables = (fold.mapping for fold in region.folds if isinstance(fold.mapping, TableMapping))
    return {
        source.parameters[name].name: value
        for table in tables
        for name, value in table.params.items()
        if name in source.parameters
    }


def _more(region: FoldedRegion, source: CSource) -> int:
    """How many bytes more an array may take, where values get arrays that the function did not have."""
    relocation = region.program.relocation
    folded = [fold.mapping for fold in region.folds]
    own = (source.variables.get(mapping.array) for mapping in folded)
    are_own = all(variable is not None and variable.storage == "local" for variable in own)
    has_tables = any(isinstance(mapping, TableMapping) for mapping in folded)
    is_same = are_own and not has_tables and relocation.moved is None and not relocation.buffers
    return 0 if is_same else _OF_NEW_ARRAYS
