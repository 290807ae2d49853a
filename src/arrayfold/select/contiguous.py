"""Mappings that keep lines whole: dimensions that innermost loops walk along stay as they are.

Where they walk along a diagonal, diagonals are the lines.

Cells of different places in a line never share an address, so only conflicts between cells at the same place
count, and these are conflicts between lines: a problem with fewer dimensions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts, conflicts_from_differences, conflicts_from_pairs
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced
from arrayfold.exact.lattice import Vector, axes
from arrayfold.judge.verify import verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.piecewise_moduli import RowWidths, fold_in_order
from arrayfold.program.model import Array
from arrayfold.select.choose import Candidate, ask

_METHODS = ("successive-modulo", "linear", "basis", "lattice")


def keep_inner_dimensions(conflicts: Conflicts, request: Request, kept: Sequence[int]) -> Iterator[Candidate]:
    """The mappings that several methods find for lines, each with the dimensions that are kept beside it.

    kept  dimensions of the array, not all of them
    """
    lines = conflicts_of_lines(conflicts, kept)
    for method in _METHODS:
        found = ask(method, lines, request)
        if isinstance(found.mapping, ModularMapping):
            mapping = _with_kept(found.mapping, conflicts, kept)
            try:
                verdict = verify(conflicts, mapping)
            except ArrayfoldError:
                continue
            yield Candidate(method, mapping, verdict, found.seconds)


def keep_diagonals(conflicts: Conflicts, step: Vector) -> Iterator[Candidate]:
    """Mappings whose last row alone moves along a step in several dimensions, and by one cell.

    The other rows tell diagonals apart, each modulo its width; the last one says where on its own a cell is.
    """
    moving = [k for k, by in enumerate(step) if by]
    if len(moving) < 2:
        return
    for pivot in sorted((k for k in moving if abs(step[k]) == 1), key=lambda k: -step[k]):
        units = axes(conflicts.array.rank)
        rows = [_across_step(step, k, pivot) for k in range(len(units)) if k != pivot] + [units[pivot]]
        began = time.monotonic()
        try:
            widths = RowWidths(conflicts.differences, conflicts.context, rows)
            mapping = fold_in_order(conflicts, widths, range(len(rows)))
            verdict = verify(conflicts, mapping)
        except ArrayfoldError:
            continue
        yield Candidate("basis", mapping, verdict, time.monotonic() - began)


def _across_step(step: Vector, axis: int, pivot: int) -> Vector:
    """The row of an axis that stays the same along a step, with the help of one that moves by one."""
    entry = -step[axis] * step[pivot]
    return tuple(int(k == axis) + (entry if k == pivot else 0) for k in range(len(step)))


def conflicts_of_lines(conflicts: Conflicts, kept: Sequence[int]) -> Conflicts:
    """The conflicts between cells at the same place of their lines, without that place.

    kept  the dimensions along lines

    >>> from arrayfold.conflicts.conflicts import conflicts_from_differences
    >>> cells = isl.Set("{ A[t, i] : 0 <= t, i < 9 }")
    >>> differences = isl.Set("{ A[1, -1]; A[-1, 1]; A[2, 0]; A[-2, 0] }")
    >>> plane = conflicts_from_differences(Array("A", ("t", "i"), cells), isl.Set("{ : }"), differences)
    >>> conflicts_of_lines(plane, [1]).differences
    Set("{ A[2]; A[-2] }")
    """
    name = conflicts.name
    array = Array(
        name,
        tuple(axis for k, axis in enumerate(conflicts.array.dimensions) if k not in kept),
        _across(conflicts.array.cells, kept, name),
    )
    if conflicts.some_pairs is None:
        differences = conflicts.differences
        for k in kept:
            differences = differences.fix_val(isl.dim_type.set, k, isl.Val(0))
        return conflicts_from_differences(array, conflicts.context, _across(differences, kept, name))
    pairs = conflicts.some_pairs
    for k in kept:
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    for side in (isl.dim_type.in_, isl.dim_type.out):
        for k in sorted(kept, reverse=True):
            pairs = pairs.project_out(side, k, 1)
        pairs = pairs.set_tuple_name(side, name)
    cells = _across(conflicts.cells, kept, name)
    return conflicts_from_pairs(array, conflicts.context, cells, pairs, None)


def _across(cells: isl.Set, kept: Sequence[int], name: str) -> isl.Set:
    """The cells without some of their dimensions."""
    for k in sorted(kept, reverse=True):
        cells = cells.project_out(isl.dim_type.set, k, 1)
    return coalesced(cells.set_tuple_name(name))


def _with_kept(lines: ModularMapping, conflicts: Conflicts, kept: Sequence[int]) -> ModularMapping:
    """A mapping of lines as one of cells: the dimensions that are kept have rows of their own."""
    rank = conflicts.array.rank
    others = [k for k in range(rank) if k not in kept]
    zero, one = Formula.constant(0), Formula.constant(1)
    rows = [[dict(zip(others, row, strict=True)).get(k, zero) for k in range(rank)] for row in lines.matrix]
    rows += [[one if k == axis else zero for k in range(rank)] for axis in kept]
    moduli = [*lines.moduli, *(conflicts.box[axis][1] for axis in kept)]
    offset = [*lines.offset, *[zero] * len(kept)]
    divisors = [*(lines.divisor(k) for k in range(len(lines.moduli))), *[1] * len(kept)]
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli, offset, divisors)
