"""How much memory a folded array gets in C: at no size more than it was declared with.

A modulus may exceed the cells that there are: at small sizes, or because it has slack. Then no address wraps,
and the array needs no more than what it had. Each dimension of the declaration is counted for one row, and a
row gets its modulus or the product of its dimensions, whichever is less.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents, fit, to_pw_aff
from arrayfold.exact.isl import origin
from arrayfold.exact.signs import is_at_least, is_at_most
from arrayfold.mapping.layout import Layout, Row, lay_out, row_values
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.program.model import Program

_ZERO, _ONE = Formula.constant(0), Formula.constant(1)
_MOST_ASSIGNMENTS = 256
_LINE = 64


@dataclass(frozen=True)
class Sizes:
    """The rows of a folded array as they are written.

    moduli   of the rows, at least 1 at all sizes
    extents  cells of each dimension in C, at least 1 and at most the modulus
    limit    cells that there are for it, those for alignment and padding included; None if that is unknown
    is_within  it is shown that there are never more
    choice     otherwise, cells now and before, if the loops as written should run where there would be more
    """

    layout: Layout
    moduli: tuple[Formula, ...]
    extents: tuple[Formula, ...]
    limit: Formula | None = None
    is_within: bool = True
    choice: tuple[Formula, Formula] | None = None


def plain_sizes(program: Program, mapping: ModularMapping) -> Sizes:
    """As many cells as the moduli say."""
    cells = accessed_cells(program, mapping.array)
    layout = lay_out(mapping, cells, program.context)
    moduli = tuple(at_least_one(row.modulus, program.context) for row in layout.rows)
    return Sizes(layout, moduli, moduli)


def find_sizes(program: Program, mapping: ModularMapping) -> Sizes:
    """Sizes of a folded array of the text, if possible such that it never takes more than what it was.

    A constant number of cells that a cache line holds is not compared: the alignment of the stack
    alone may take as much.
    """
    context = program.context
    plain = plain_sizes(program, mapping)
    layout, moduli = plain.layout, plain.moduli
    box, declared = _declared(program, mapping.array), declared_extents(program, mapping.array)
    if box is None or declared is None:
        return plain
    limit = Formula.product(declared)
    size = Formula.product(moduli)
    if is_tiny(program, mapping.array, size) or is_at_most(size, limit, context):
        return Sizes(layout, moduli, moduli, limit)
    rows = [row for row in layout.rows if isinstance(row, Row)]
    cells = legal_cells(program, mapping.array).intersect(box)
    reaches = [reach_of(row, cells, context) for row in rows]
    for caps in _caps(rows, declared):
        fitted = [
            _fitted(row, modulus, reach, cap, cells.params(), context)
            for row, modulus, reach, cap in zip(rows, moduli, reaches, caps, strict=True)
        ]
        known = [one for one in fitted if one is not None]
        if len(known) == len(rows):
            layout = replace(layout, rows=tuple(row for row, _ in known))
            return Sizes(layout, moduli, tuple(extent for _, extent in known), limit)
    return Sizes(layout, moduli, moduli, limit, is_within=False, choice=(size, limit))


def is_never_larger(program: Program, mapping: EmittableMapping) -> bool:
    """Whether an array is shown to take no more cells than before at any size."""
    return not isinstance(mapping, ModularMapping) or find_sizes(program, mapping).is_within


def accessed_cells(program: Program, name: str) -> isl.Set:
    """{ A[x] }: the cells of an array that the program accesses."""
    cells = program.accesses(writes=True, array=name).union(program.accesses(writes=False, array=name))
    return cells.range().extract_set(program.array(name).cells.get_space()).intersect_params(program.context)


def is_tiny(program: Program, name: str, size: Formula) -> bool:
    """Whether an array has a constant number of cells, which a cache line holds."""
    return size.is_constant and size.as_number() <= cells_of_line(program, name)


def cells_of_line(program: Program, name: str) -> int:
    """How many cells of an array a cache line holds; 1 where their size is not known."""
    bits = 0 if program.source is None else program.source.variables[name].element.bits
    return 8 * _LINE // bits if bits else 1


def legal_cells(program: Program, name: str) -> isl.Set:
    """{ A[x] }: the cells that are accessed at sizes at which the program may run."""
    legal = None if program.source is None else program.source.legal
    cells = accessed_cells(program, name)
    return cells if legal is None else cells.intersect_params(legal)


def declared_extents(program: Program, name: str) -> list[Formula] | None:
    """The extents that an array is declared with, nowhere more; None where the text does not say them."""
    box = _declared(program, name)
    if box is None:
        return None
    ends = (box.dim_max(k).add_constant_val(isl.Val(1)) for k in range(box.dim(isl.dim_type.set)))
    return [fit(end, program.context, "min") for end in ends]


def _declared(program: Program, name: str) -> isl.Set | None:
    """{ A[x] }: the cells that an array is declared with; None where the text does not say that.

    Where its extents are not understood, there are at least the cells that are accessed, and one.
    """
    box = None if program.source is None else program.source.declared.get(name)
    if box is None and has_unknown_extents(program, name):
        box = legal_cells(program, name).union(origin(program.array(name).cells.get_space()))
    return None if box is None else box.align_params(program.context.get_space())


def has_unknown_extents(program: Program, name: str) -> bool:
    """Whether an array of the text is declared with extents that are not understood."""
    source = program.source
    made = {name for buffer in program.relocation.buffers.values() for name in (buffer.name, *buffer.borders)}
    if source is None or name in source.declared or name in program.relocation.origins or name in made:
        return False
    variable = source.variables.get(name)
    if variable is None or variable in source.allocations or variable in source.scratch:
        return variable is not None
    return variable.is_array and variable.storage == "local" and not variable.is_pointer


def at_least_one(size: Formula, context: isl.Set) -> Formula:
    """The formula, raised to one where it is not seen to be at least that."""
    return size if is_at_least(size, 1, context) else Formula.extreme("max", [size, _ONE])


def _caps(rows: Sequence[Row], declared: Sequence[Formula]) -> Iterator[list[Formula]]:
    """Products of declared extents for the rows, where each dimension counts for one row that uses it."""
    users = [
        [k for k, row in enumerate(rows) if row.coefficients[d] != Formula.constant(0)]
        for d in range(len(declared))
    ]
    if not rows or math.prod(len(who) or 1 for who in users) > _MOST_ASSIGNMENTS:
        return
    for chosen in itertools.product(*(who or [len(rows) - 1] for who in users)):
        yield [
            Formula.product(extent for extent, who in zip(declared, chosen, strict=True) if who == k)
            for k in range(len(rows))
        ]


def _fitted(
    row: Row,
    modulus: Formula,
    reach: tuple[Row, Formula] | None,
    cap: Formula,
    where: isl.Set,
    context: isl.Set,
) -> tuple[Row, Formula] | None:
    """The row and its extent if that is at most the cap.

    where  { : }  the sizes at which the array is accessed
    """
    if is_at_most(modulus, cap, context):
        return row, modulus
    if reach is None or not is_at_most(reach[1], cap, where):
        return None
    return reach[0], at_least_one(Formula.extreme("min", [modulus, cap]), context)


def reach_of(row: Row, cells: isl.Set, context: isl.Set) -> tuple[Row, Formula] | None:
    """The row moved so that it is never negative, and what is above all its values before the modulo."""
    if all(entry.is_constant for entry in row.coefficients) and row.offset.is_affine:
        image = cells.apply(isl.Map.from_pw_aff(row_values(row, cells.get_space())))
        low = Formula.constant(0) if row.wrap == "none" else extents(image, context)[0][0]
        if not low.is_affine or image.is_empty():
            return None
        above = image.dim_max(0).sub(to_pw_aff(low))
        return _moved(row, low), fit(above.add_constant_val(isl.Val(1)), context, "max")
    if row.wrap == "none" or row.divisor > 1:
        return None
    low, high = row.offset, row.offset
    for coefficient, (start, length) in zip(row.coefficients, extents(cells, context), strict=True):
        ends = coefficient * start, coefficient * (start + length - 1)
        if is_at_most(coefficient, _ZERO, context):
            ends = ends[1], ends[0]
        elif not is_at_least(coefficient, 0, context):
            return None
        low, high = low + ends[0], high + ends[1]
    return _moved(row, low), high - low + 1


def _moved(row: Row, low: Formula) -> Row:
    offset = row.offset - low * row.divisor
    return row if row.wrap == "none" else replace(row, offset=offset, wrap="nonnegative")
