"""Storage mappings: cell -> address, `(M x + o) mod b` row by row, or looked up in a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, TypeAlias

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters, integer, smallest_point
from arrayfold.exact.relations import relation
from arrayfold.mapping.subscripts import c_subscripts, python_subscripts, quasi_affine


@dataclass(frozen=True)
class ModularMapping:
    """A modular mapping: address = (matrix . cell + offset) mod moduli, one row a modulus.

    Rows are in the order in which a method found them: the earlier ones tell most conflicts apart. It holds
    at all parameter values, so that `where` names none.

    divisors  of the rows, where cells have a stride: a row is `floor((matrix . cell + offset)/divisor) mod
              modulus`; none if nothing is divided

    >>> from arrayfold.exact.formula_parse import read_formula as f
    >>> fold = ModularMapping("A", ("t", "i"), ((f("-1"), f("1")),), (f("0"),), (f("2*N - 1"),))
    >>> print(fold)
    A[t, i] -> [(i - t) mod (2*N - 1)]
    >>> fold.size, fold.address((1, 0), {"N": 4})
    (2*N - 1, (6,))
    """

    array: str
    dimensions: tuple[str, ...]
    matrix: tuple[tuple[Formula, ...], ...]
    offset: tuple[Formula, ...]
    moduli: tuple[Formula, ...]
    divisors: tuple[int, ...] = ()
    where: ClassVar[str] = ""

    @staticmethod
    def of(
        array: str,
        dimensions: Sequence[str],
        rows: Sequence[Sequence[Formula | int]],
        moduli: Sequence[Formula],
        offset: Sequence[Formula] | None = None,
        divisors: Sequence[int] = (),
    ) -> ModularMapping:
        """A mapping without its trivial rows: those modulo 1 say nothing."""
        shift = offset if offset is not None else [Formula.constant(0)] * len(rows)
        kept = [k for k, modulus in enumerate(moduli) if modulus != Formula.constant(1)]
        return ModularMapping(
            array,
            tuple(dimensions),
            tuple(tuple(_formula(entry) for entry in rows[k]) for k in kept),
            tuple(shift[k] for k in kept),
            tuple(moduli[k] for k in kept),
            tuple(divisors[k] for k in kept) if any(divisors[k] > 1 for k in kept if divisors) else (),
        )

    def divisor(self, k: int) -> int:
        """What row k is divided by before its modulo, rounding down."""
        return self.divisors[k] if self.divisors else 1

    def without_divisors(self) -> ModularMapping:
        """The same rows, undivided, modulo their moduli times what they were divided by.

        Two cells whose difference each row takes to a multiple of its divisor share an address iff they share
        one here.

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> print(ModularMapping("A", ("i",), ((f("1"),),), (f("0"),), (f("N"),), (3,)).without_divisors())
        A[i] -> [i mod (3*N)]
        """
        if not self.divisors:
            return self
        moduli = (modulus * by for modulus, by in zip(self.moduli, self.divisors, strict=True))
        return replace(self, moduli=tuple(moduli), divisors=())

    @property
    def size(self) -> Formula:
        """How many addresses there are: the product of the moduli, 1 for a single cell."""
        return Formula.product(self.moduli)

    @staticmethod
    def identity(
        array: str, dimensions: Sequence[str], box: Sequence[tuple[Formula, Formula]]
    ) -> ModularMapping:
        """Every cell of a box keeps an address of its own: `x - low` in each dimension.

        box  lower end and length in each dimension
        """
        rank = len(dimensions)
        rows = [[int(j == k) for j in range(rank)] for k in range(rank)]
        return ModularMapping.of(
            array, dimensions, rows, [length for _, length in box], [-low for low, _ in box]
        )

    def row(self, k: int) -> Formula:
        """Row k before it is divided and its modulo, a formula of the dimensions and parameters."""
        terms = [
            entry * Formula.name(name) for entry, name in zip(self.matrix[k], self.dimensions, strict=True)
        ]
        return sum(terms, start=self.offset[k])

    def at(self, params: Mapping[str, int]) -> ModularMapping:
        """The mapping for these parameter values."""
        return self.with_formulas(lambda formula: formula.substitute(params))

    def with_formulas(self, new: Callable[[Formula], Formula]) -> ModularMapping:
        """The mapping with other coefficients, offsets and moduli in place of these."""
        return replace(
            self,
            matrix=tuple(tuple(map(new, row)) for row in self.matrix),
            offset=tuple(map(new, self.offset)),
            moduli=tuple(map(new, self.moduli)),
        )

    def address(self, cell: Sequence[int], params: Mapping[str, int]) -> tuple[int, ...]:
        """The address of a cell, one coordinate a row."""
        values = {**params, **dict(zip(self.dimensions, cell, strict=True))}
        return tuple(
            self.row(k).at(values) // self.divisor(k) % modulus.at(params)
            for k, modulus in enumerate(self.moduli)
        )

    def linearised(self) -> ModularMapping:
        """The one-dimensional form `c1.x + b1*(c2.x + b2*(...)) mod b1*b2*...` of the same size, undivided.

        It is valid if each modulus exceeds the width of the differences on which the rows before it
        vanish, as successive modulo makes them; the order of the rows matters (DIY15 §4.1).

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> two = ModularMapping.of("A", ("x", "y"), ((1, -1), (0, 1)), (f("2*N - 1"), f("2")))
        >>> print(two.linearised())
        A[x, y] -> [(x + (2*N - 2)*y) mod (4*N - 2)]
        """
        columns = [Formula.constant(0)] * len(self.dimensions)
        shift, stride = Formula.constant(0), Formula.constant(1)
        for row, offset, modulus in zip(self.matrix, self.offset, self.moduli, strict=True):
            columns = [column + entry * stride for column, entry in zip(columns, row, strict=True)]
            shift, stride = shift + offset * stride, stride * modulus
        return ModularMapping.of(self.array, self.dimensions, [columns], [stride], [shift])

    def reduced(self) -> ModularMapping:
        """The same addresses with simpler coefficients: multiples of the modulus are left out.

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> print(ModularMapping.of("A", ("t", "i"), ((f("2*N^2"), f("N")),), (f("N^2 + N"),)).reduced())
        A[t, i] -> [((-2*N)*t + N*i) mod (N^2 + N)]
        """
        rows = zip(self.matrix, self.offset, self.without_divisors().moduli, strict=True)
        found = [
            ([entry.rest(modulus) for entry in row], offset.rest(modulus)) for row, offset, modulus in rows
        ]
        return replace(self, matrix=tuple(tuple(row) for row, _ in found), offset=tuple(o for _, o in found))

    def with_powers_of_two(self) -> ModularMapping:
        """The same rows, constant moduli rounded up to powers of two; others stay as they are."""
        moduli = (
            Formula.constant(1 << (int(modulus.as_number()) - 1).bit_length())
            if modulus.is_constant
            else modulus
            for modulus in self.moduli
        )
        return replace(self, moduli=tuple(moduli))

    def to_c(self, subscripts: Sequence[str], cells: isl.Set | None = None) -> str:
        """The subscripts of the folded array in C, one a modulus: `[0]` where a single cell is left.

        subscripts  C expressions without side effects, one a dimension; they may stand there several times
        cells       { A[x] } with the context, as `conflicts.cells`: a row that they show never to be negative
                    needs one `%`, and none where it is never as large as its modulus

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> rows = ModularMapping.of("A", ("y", "x"), ((1, 0), (0, 1)), (f("3"), f("N")))
        >>> rows.to_c(["y - 1", "x"], isl.Set("[N] -> { A[y, x] : 0 <= y, x < N }"))
        '[(y - 1) % 3][x]'
        >>> rows.to_c(["y", "x"])
        '[(y % 3 + 3) % 3][(x % N + N) % N]'
        """
        return c_subscripts(self, subscripts, cells)

    def to_python(self, subscripts: Sequence[str]) -> str:
        """The subscripts of the folded array in Python, one a modulus: `[0]` where a single cell is left.

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> linear = ModularMapping.of("A", ("y", "x"), ((f("N"), 1),), (f("2*N + 1"),))
        >>> linear.to_python(["y - 1", "x"])
        '[(N*(y - 1) + x) % (2*N + 1)]'
        """
        return python_subscripts(self, subscripts)

    def to_isl(self, cells: isl.Set | None = None) -> isl.Map:
        """{ A[x] -> [address] }; moduli and coefficients must be numbers, offsets affine.

        cells  { A[x] } with the context: on these alone, where moduli may be parameters, too, as long as a
               row takes few multiples of its own

        >>> from arrayfold.exact.formula_parse import read_formula as f
        >>> row = ModularMapping.of("A", ("x",), ((1,),), (f("N"),))
        >>> row.to_isl(isl.Set("[N] -> { A[x] : 0 <= x < N }"))
        Map("[N] -> { A[x] -> [x] : 0 <= x < N }")
        """
        if cells is not None:
            return quasi_affine(self, cells)
        rows: list[str] = []
        for k, modulus in enumerate(self.moduli):
            numbers = all(entry.is_constant for entry in self.matrix[k])
            if not (modulus.is_constant and numbers and self.offset[k].is_affine):
                raise NotAffine(
                    f"row {k + 1} of {self} is not affine for all parameter values; fix them first",
                    hint="mapping.at(params).to_isl() does, and to_isl(cells) may say it on some cells.",
                )
            terms = [f"{entry}*{name}" for entry, name in zip(self.matrix[k], self.dimensions, strict=True)]
            value = f"({' + '.join([*terms, str(self.offset[k])])})"
            rows.append(f"floor({value}/{self.divisor(k)}) mod {modulus}")
        names = sorted({name for entry in self.offset for name in entry.names()})
        return relation(self.dimensions, rows, names=(self.array, ""), parameters=names)

    def __str__(self) -> str:
        rows = [
            f"{_print_row(self, k)} mod {_parenthesised(modulus)}" for k, modulus in enumerate(self.moduli)
        ]
        return f"{self.array}[{', '.join(self.dimensions)}] -> [{', '.join(rows)}]"


@dataclass(frozen=True, eq=False)
class RelationMapping:
    """A mapping that is no modular one: any relation from cells to addresses.

    relation  { A[x] -> [address] }
    """

    array: str
    relation: isl.Map
    where: ClassVar[str] = ""

    def address(self, cell: Sequence[int], params: Mapping[str, int]) -> tuple[int, ...]:
        """The address of a cell, the smallest one if there are several."""
        image = self.relation.intersect_params(fix_parameters(params))
        for k, value in enumerate(cell):
            image = image.fix_val(isl.dim_type.in_, k, integer(value))
        return smallest_point(image.range())

    def __str__(self) -> str:
        return str(self.relation)


@dataclass(frozen=True)
class TableMapping:
    """A mapping that lists the address of every cell, for one value of each parameter.

    params  the only parameter values that it is meant for
    table   cells with their addresses, counted from zero

    >>> table = TableMapping("A", ("i",), {"N": 3}, (((0,), 0), ((1,), 1), ((2,), 0)))
    >>> print(table, table.where, table.size)
    A[i] -> table of 3 entries at N = 3 only 2
    >>> table.address((2,), {"N": 3})
    (0,)
    """

    array: str
    dimensions: tuple[str, ...]
    params: Mapping[str, int]
    table: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def size(self) -> Formula:
        """How many addresses there are."""
        return Formula.constant(1 + max((address for _, address in self.table), default=0))

    @property
    def where(self) -> str:
        """The parameter values that it is limited to, in words."""
        return print_sizes(self.params)

    def address(self, cell: Sequence[int], params: Mapping[str, int]) -> tuple[int, ...]:
        """The address of a cell; the parameter values must be those of the table."""
        assert all(params[name] == value for name, value in self.params.items())
        return (self._addresses[tuple(cell)],)

    @cached_property
    def _addresses(self) -> dict[tuple[int, ...], int]:
        return dict(self.table)

    def __str__(self) -> str:
        entries = "1 entry" if len(self.table) == 1 else f"{len(self.table)} entries"
        return f"{self.array}[{', '.join(self.dimensions)}] -> table of {entries}"


EmittableMapping: TypeAlias = ModularMapping | TableMapping
AddressMapping: TypeAlias = ModularMapping | RelationMapping | TableMapping


def print_sizes(params: Mapping[str, int]) -> str:
    """Parameter values that something is limited to, as `at N = 3 only`; nothing without parameters."""
    return f"at {', '.join(f'{name} = {value}' for name, value in params.items())} only" if params else ""


def _formula(entry: Formula | int) -> Formula:
    return entry if isinstance(entry, Formula) else Formula.constant(entry)


def _parenthesised(formula: Formula) -> str:
    return str(formula) if formula.is_atom else f"({formula})"


def _print_row(mapping: ModularMapping, k: int) -> str:
    """A row with its positive terms first: `(i - t + 1)`, or `floor((i - t + 1)/2)`."""
    terms = [
        (int(entry.as_number()), name) if entry.is_constant else (1, f"{_parenthesised(entry)}*{name}")
        for entry, name in zip(mapping.matrix[k], mapping.dimensions, strict=True)
    ]
    offset = mapping.offset[k]
    terms.append((int(offset.as_number()), "") if offset.is_constant else (1, _parenthesised(offset)))
    divisor = mapping.divisor(k)
    text = ""
    for value, name in sorted(terms, key=lambda term: term[0] < 0):
        if value:
            number = "" if name and abs(value) == 1 else str(abs(value))
            sign = " - " if value < 0 else " + "
            text += (sign if text else sign.strip(" +")) + "*".join(filter(None, (number, name)))
    is_plain = re.fullmatch(r"\w*", text)
    printed = text or "0" if is_plain else f"({text})"
    return printed if divisor == 1 else f"floor({printed}/{divisor})"
