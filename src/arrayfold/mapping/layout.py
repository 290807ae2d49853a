"""Addresses between mapping and C: rows with what is known of their range.

This is the place where faster forms plug in: a row says how far it can leave its modulus, and whoever
prints it picks the form.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.arithmetic import NameText, formula_text, is_wide, parenthesised, sum_of, wrapped
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents, to_pw_aff
from arrayfold.exact.isl import integer
from arrayfold.exact.signs import is_at_least
from arrayfold.mapping.modular import ModularMapping, TableMapping

WrapKind: TypeAlias = Literal["none", "nonnegative", "any"]
_MOST_TURNS = 4
_MOST_ENTRIES = 100_000
_LINE = 90


@dataclass(frozen=True)
class Row:
    """One coordinate of an address: floor((coefficients . subscripts + offset)/divisor) mod modulus.

    wrap  "none" if the value always lies in [0, modulus), "nonnegative" if it is never below zero
    """

    coefficients: tuple[Formula, ...]
    offset: Formula
    modulus: Formula
    wrap: WrapKind
    divisor: int = 1

    def text(self, subscripts: Sequence[str], name: NameText) -> str:
        """The coordinate as C; each subscript is the text of a factor."""
        terms: list[tuple[int, str]] = []
        for coefficient, subscript in zip(self.coefficients, subscripts, strict=True):
            if coefficient.is_constant:
                terms.append((int(coefficient.as_number()), subscript))
            else:
                terms.append(
                    (1, f"(long long){parenthesised(formula_text(coefficient, name))} * {subscript}")
                )
        if self.offset.is_constant:
            terms.append((int(self.offset.as_number()), ""))
        else:
            terms.append((1, parenthesised(formula_text(self.offset, name))))
        value = sum_of(terms)
        # C rounds to zero, which is down where v is not negative, and floor(v/d) mod b = (v mod d*b)/d.
        if self.divisor > 1 and self.wrap == "any":
            return f"{wrapped(value, formula_text(self.modulus * self.divisor, name))} / {self.divisor}"
        if self.divisor > 1:
            value = f"{parenthesised(value)} / {self.divisor}"
        if self.wrap == "none":
            return value
        modulus = formula_text(self.modulus, name)
        if self.wrap == "nonnegative":
            return f"{parenthesised(value)} % {parenthesised(modulus)}"
        if not (is_wide(value) or is_wide(modulus) or modulus.isdecimal()):
            # What is left of the division and the modulus together may be too much for an int.
            value = f"(long long){parenthesised(value)}"
        return wrapped(value, modulus)


@dataclass(frozen=True)
class TableRow:
    """An address that is looked up by the row-major position of a cell in the box of all cells.

    lows, lengths  of the box, dimension by dimension
    addresses      for each position of the box; what stands where there is no cell does not matter
    """

    table: str
    lows: tuple[int, ...]
    lengths: tuple[int, ...]
    addresses: tuple[int, ...]
    modulus: Formula

    def text(self, subscripts: Sequence[str], name: NameText) -> str:
        """The address as C; each subscript is the text of a factor."""
        del name
        terms: list[tuple[int, str]] = []
        start, stride = 0, 1
        for low, length, subscript in reversed(list(zip(self.lows, self.lengths, subscripts, strict=True))):
            terms.insert(0, (stride, subscript))
            start, stride = start + stride * low, stride * length
        return f"{self.table}[{sum_of([*terms, (-start, '')])}]"

    def declaration(self) -> list[str]:
        """The lines that hold the table, of the narrowest type that is wide enough."""
        size = int(self.modulus.as_number())
        width = "char" if size <= 1 << 8 else "short" if size <= 1 << 16 else "int"
        lines = textwrap.wrap(", ".join(map(str, self.addresses)), _LINE)
        return [
            f"static const unsigned {width} {self.table}[] = {{",
            *(f"  {line}" for line in lines),
            "};",
        ]


@dataclass(frozen=True)
class Layout:
    """The rows of a folded array in the order of its C dimensions, the contiguous one last."""

    array: str
    rows: tuple[Row | TableRow, ...]

    def tables(self) -> list[TableRow]:
        """The rows that need a table."""
        return [row for row in self.rows if isinstance(row, TableRow)]


def lay_out_table(mapping: TableMapping, name: str) -> Layout:
    """The one row of a table that is called by this name in C."""
    cells = [cell for cell, _ in mapping.table]
    lows = tuple(map(min, *cells)) if len(cells) > 1 else cells[0]
    highs = tuple(map(max, *cells)) if len(cells) > 1 else cells[0]
    lengths = tuple(high - low + 1 for low, high in zip(lows, highs, strict=True))
    if math.prod(lengths) > _MOST_ENTRIES:
        raise InputError(
            f"the cells of {mapping.array} span a box of {math.prod(lengths)} entries, "
            f"and tables of up to {_MOST_ENTRIES} are written",
            hint="Another method, or smaller sizes.",
        )
    addresses = dict(mapping.table)
    box = itertools.product(*(range(low, high + 1) for low, high in zip(lows, highs, strict=True)))
    return Layout(
        mapping.array,
        (TableRow(name, lows, lengths, tuple(addresses.get(cell, 0) for cell in box), mapping.size),),
    )


def lay_out(mapping: ModularMapping, cells: isl.Set, context: isl.Set) -> Layout:
    """The rows of a mapping for the cells that are accessed.

    cells  { A[x] }
    """
    rows = [
        _in_range(
            Row(mapping.matrix[k], mapping.offset[k], mapping.moduli[k], "any", mapping.divisor(k)),
            cells,
            context,
        )
        for k in range(len(mapping.moduli))
    ]
    return Layout(mapping.array, tuple(sorted(rows, key=_last_dimension)))


def lowest(row: Row, cells: isl.Set, context: isl.Set) -> int | None:
    """The least value of a row at cells { A[x] }, if it is the same at all sizes."""
    if not all(entry.is_constant for entry in row.coefficients) or not row.offset.is_affine:
        return None
    ((low, _),) = extents(cells.apply(isl.Map.from_pw_aff(row_values(row, cells.get_space()))), context)
    return int(low.as_number()) if low.is_constant else None


def values_equal(row: Row, space: isl.Space, value: int) -> isl.Set:
    """{ A[x] }: where a row with numbers as coefficients has a value, before its modulo."""
    return row_values(row, space).eq_set(to_pw_aff(Formula.constant(value), space))


def wraps(mapping: ModularMapping, cells: isl.Set) -> bool:
    """Whether some address of the cells { A[x] } needs its modulo."""
    layout = lay_out(mapping, cells, cells.params())
    return any(isinstance(row, Row) and row.wrap != "none" for row in layout.rows)


def _last_dimension(row: Row) -> int:
    used = [k for k, coefficient in enumerate(row.coefficients) if coefficient != Formula.constant(0)]
    return max(used, default=-1)


def _in_range(plain: Row, cells: isl.Set, context: isl.Set) -> Row:
    """The row, moved by multiples of its modulus or from its least value on, and how it wraps then."""
    offset, modulus, by = plain.offset, plain.modulus, plain.divisor
    numbers = all(entry.is_constant for entry in plain.coefficients)
    is_affine = numbers and offset.is_affine and modulus.is_affine
    if not is_affine:
        return _with(plain, plain.offset, "nonnegative" if _is_nonnegative(plain, cells) else "any")
    space = cells.get_space()
    value = row_values(plain, space)
    outside = value.lt_set(to_pw_aff(Formula.constant(0), space)).union(
        value.ge_set(to_pw_aff(modulus, space))
    )
    if cells.is_disjoint(outside):
        return _with(plain, offset, "none")
    image = cells.apply(isl.Map.from_pw_aff(value))
    line = to_pw_aff(modulus, image.get_space())
    at = isl.PwAff("{ [v] -> [v] }")
    ((low, _),) = extents(image, context)
    if low.is_affine:
        start = to_pw_aff(low, image.get_space())
        below, beyond = at.lt_set(start), at.sub(start).ge_set(line)
        if image.intersect(below.union(beyond)).is_empty():
            return _with(plain, offset - low * by, "none")
    for turns in range(_MOST_TURNS):
        shifted = at.add(line.scale_val(isl.Val(turns)))
        if image.intersect(shifted.lt_set(at.sub(at))).is_empty():
            return _with(plain, offset + modulus * (by * turns), "nonnegative")
    return plain


def row_values(row: Row, space: isl.Space) -> isl.PwAff:
    """{ A[x] -> [v] }: a row with numbers as coefficients, divided, before its modulo."""
    value = to_pw_aff(row.offset, space)
    for k, entry in enumerate(row.coefficients):
        axis = isl.PwAff.from_aff(
            isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, k)
        )
        value = value.add(axis.scale_val(integer(int(entry.as_number()))))
    return value if row.divisor == 1 else value.scale_down_val(integer(row.divisor)).floor()


def _with(row: Row, offset: Formula, wrap: WrapKind) -> Row:
    return replace(row, offset=offset, wrap=wrap)


def _is_nonnegative(row: Row, cells: isl.Set) -> bool:
    """Whether every term is: coefficients are sums of positive terms, subscripts are never negative."""
    sizes = cells.params()
    for k, coefficient in enumerate(row.coefficients):
        if coefficient == Formula.constant(0):
            continue
        negative = cells.upper_bound_val(isl.dim_type.set, k, isl.Val(-1))
        if not negative.is_empty() or not is_at_least(coefficient, 0, sizes):
            return False
    return is_at_least(row.offset, 0, sizes)
