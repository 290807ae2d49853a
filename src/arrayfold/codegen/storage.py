"""Where folded arrays live: declarations, heap or stack, and how elements are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import islpy as isl

from arrayfold.c.allocation import Allocation
from arrayfold.c.arithmetic import NameText, formula_text, parenthesised, subscripted, without_outer
from arrayfold.c.edits import INDENT
from arrayfold.c.tree import Expression, Variable
from arrayfold.codegen.inner_loop import InnerLoop
from arrayfold.codegen.names import Names
from arrayfold.codegen.rotation import MOST_VARIABLES
from arrayfold.codegen.sizes import Sizes
from arrayfold.exact.formula import Formula
from arrayfold.exact.signs import is_at_most
from arrayfold.mapping.layout import Layout, Row, TableRow

STACK_BYTES = 16 * 1024
_LINE = 64


@dataclass(frozen=True)
class BlockPart:
    """A part of memory that several arrays share.

    is_first, is_last  among its arrays, in the order in which they are declared
    """

    block: str
    size: Formula
    offset: Formula
    is_first: bool
    is_last: bool


@dataclass(eq=False)
class StorageUse:
    """What written loops do with an array.

    is_ring  they copy all of its cells, also those without a value
    """

    is_ring: bool = False


@dataclass(frozen=True, eq=False)
class Storage:
    """A folded array in C.

    name          what it is called there
    comment       a line that says what the mapping is
    is_flat       it has one dimension in C, because jumps must not cross declarations with variable extents
    may_allocate  malloc and free mean what they usually mean there
    may_align     it may begin with a cache line, or have rows of whole ones
    tile          coordinates of the tile that come before the subscripts in the layout of a buffer
    is_private    every thread has its own, declared in a parallel loop
    share         the memory that it is a part of, if it has none of its own
    is_automatic  it takes the place of a larger array on the stack, whose memory needs no allocation
    is_linear     the text declares it with one dimension, and so it stays
    is_vector     it is a std::vector wherever C would allocate memory
    first         where in a row loops begin to write, if that should be the start of a cache line
    allocation    where the text allocates it, now with its new size; then it needs no declaration
    is_set        a single cell begins with a value, because compilers do not see that it is written before
    use           what loops do with it, as far as they are written
    """

    variable: Variable
    name: str
    sizes: Sizes
    comment: str
    context: isl.Set
    parameter: NameText
    names: Names
    is_flat: bool = False
    may_allocate: bool = True
    may_align: bool = False
    tile: int = 0
    is_private: bool = False
    share: BlockPart | None = None
    is_automatic: bool = False
    is_linear: bool = False
    is_vector: bool = False
    first: int | None = None
    allocation: Allocation | None = None
    is_set: bool = False
    use: StorageUse = field(default_factory=StorageUse)

    def _beside(self, word: str) -> str:
        """A name for what belongs to it."""
        return self.names.shared(f"{self.name}_{word}")

    @property
    def layout(self) -> Layout:
        """The rows of its addresses."""
        return self.sizes.layout

    @property
    def is_in_block(self) -> bool:
        """Whether it lies in memory that the text allocates or that arrays share, however small it is."""
        return self.share is not None or self.allocation is not None

    @property
    def is_on_heap(self) -> bool:
        """Whether it is allocated: sizes that only the run knows, or large ones."""
        if self.share is not None:
            return True
        if not self.may_allocate or self.is_automatic or self.allocation is not None:
            return False
        size = Formula.product(self.sizes.extents)
        if not size.is_constant:
            return True
        return int(size.as_number()) * max(1, self.variable.element.bits // 8) > STACK_BYTES

    @property
    def lanes(self) -> int | None:
        """How many elements a cache line holds, if the array begins with one where there is room."""
        size = Formula.product(self.sizes.extents)
        is_large = self.is_on_heap or (self.is_automatic and not size.is_constant)
        is_aligned = self.may_align and is_large and len(self.sizes.extents) == 1 and not self.share
        can = is_aligned and self.first is None and self._in_a_line is not None
        return self._in_a_line if can and self._has_room(size + (self._in_a_line or 0)) is not False else None

    @property
    def _in_a_line(self) -> int | None:
        bits = self.variable.element.bits
        return 8 * _LINE // bits if bits and 8 * _LINE % bits == 0 else None

    @property
    def is_aligned(self) -> bool:
        """Whether it lies in a block that is larger, so that cache lines begin where they should."""
        return self.lanes is not None or self._lead is not None

    @property
    def _lead(self) -> int | None:
        """How many elements are in front of the first row, if loops should begin to write with a line."""
        lanes = self._in_a_line
        can = self.may_align and not (self.is_flat or self.is_linear or self.share) and lanes is not None
        can = can and self.allocation is None
        if self.first is None or not can or self._has_room(self._padded_cells) is False:
            return None
        return -self.first % (lanes or 1)

    @property
    def _padded_cells(self) -> Formula:
        """No less than the cells of rows of whole lines, and of what is in front of them."""
        lanes = self._in_a_line or 0
        *outer, row = self.sizes.extents
        return Formula.product(outer) * (row + 2 * lanes if outer else row) + 2 * lanes

    def _has_room(self, cells: Formula) -> bool | None:
        """Whether so many cells are no more than the array had; None if that depends on its sizes."""
        limit = self.sizes.limit
        if limit is None or is_at_most(cells, limit, self.context):
            return True
        return False if is_at_most(limit + 1, cells, self.context) else None

    def declaration(self) -> list[str]:
        """The lines that make it exist."""
        element = written_type(self.variable)
        named, sizes = self._named_sizes()
        if self.is_linear:
            sizes = [self.one_size(sizes)] if sizes else []
        brackets = "".join(f"[{size}]" for size in sizes)
        tables = (line for row in self.layout.tables() for line in row.declaration())
        is_padded = self._lead is not None and len(sizes) > 1
        remark = "; rows of whole cache lines" if is_padded else ""
        lines = [f"/* {self.comment}{remark} */", *tables, *named]
        if self.allocation is not None:
            own = self.variable.name
            cells = f"{element} *{self.name} = ({element} *){own};"
            return [*lines[: len(lines) - len(named)], *([cells] if self.name != own else [])]
        if self.is_aligned:
            return [*lines, *self._in_lines(element, sizes)]
        if not self.is_on_heap:
            initial = " = 0" if self.is_set and not brackets else " = {0}" if self.use.is_ring else ""
            return [*lines, f"{element} {self.name}{brackets}{initial};"]
        if self.is_vector:
            return [*lines, f"std::vector<{element}> {self.name}({' * '.join(sizes)});"]
        inner = "" if self.is_flat else "".join(f"[{size}]" for size in sizes[1:])
        target = f"(*{self.name}){inner}" if inner else f"*{self.name}"
        if self.share is not None:
            offset = parenthesised(formula_text(self.share.offset, self.parameter))
            block = self._shared_block(element) if self.share.is_first else []
            return [*block, *lines, f"{element} {target} = (void *)({self.share.block} + {offset});"]
        return [*lines, *_allocated(f"{element} {target}", self.name, f"sizeof({element}{brackets})")]

    def _named_sizes(self) -> tuple[list[str], list[str]]:
        """The texts of its extents, long ones as constants that are set before."""
        lines: list[str] = []
        texts: list[str] = []
        for k, extent in enumerate(self.sizes.extents):
            text = formula_text(extent, self.parameter)
            if "?" in text:
                name = self._beside(f"size{k or ''}")
                lines.append(f"const long long {name} = {without_outer(text)};")
                text = name
            texts.append(text)
        return lines, texts

    def _room_for(self, cells: Formula, now: str) -> tuple[list[str], Callable[[str], str]]:
        """What tells whether there is room for so many cells, and texts that are zero without it."""
        if self._has_room(cells):
            return [], lambda text: text
        assert self.sizes.limit is not None
        before = formula_text(self.sizes.limit, self.parameter)
        pads = self._beside("pads")
        line = f"const int {pads} = {now} <= {before}; /* whether lines fit into the old size */"
        return [line], lambda text: f"({pads} ? {text} : 0)"

    def _in_lines(self, element: str, sizes: Sequence[str]) -> list[str]:
        """The lines that make it begin with a cache line, or have rows of whole lines.

        An odd number of them, so that the same place of several rows falls into different sets of a cache.
        """
        lanes, lead = self._in_a_line, self._lead or 0
        assert lanes is not None
        block, pitch = self._beside("block"), self._beside("row")
        factors = [f"({parenthesised(sizes[-1])} + {2 * lanes}LL)", *map(parenthesised, sizes[:-1])]
        needed = " * ".join(factors) if len(sizes) > 1 else parenthesised(sizes[0])
        if self._lead is None:
            cells = Formula.product(self.sizes.extents) + lanes
            before, spare = self._room_for(cells, f"{needed} + {lanes}LL")
        else:
            before, spare = self._room_for(self._padded_cells, f"{needed} + {2 * lanes}LL")
        if len(sizes) > 1:
            row = self.sizes.extents[-1]
            if row.is_constant and not before:
                sizes = [*sizes[:-1], str(((int(row.as_number()) // lanes + 1) | 1) * lanes)]
            else:
                padded = f"(({parenthesised(sizes[-1])} / {lanes} + 1) | 1) * {lanes}"
                if before:
                    padded = f"{self._beside('pads')} ? {padded} : {sizes[-1]}"
                before = [*before, f"const size_t {pitch} = {padded};"]
                sizes = [*sizes[:-1], pitch]
        inner = "".join(f"[{size}]" for size in sizes[1:])
        target = f"(*{self.name}){inner}" if inner else f"*{self.name}"
        whole = f"sizeof({element}[{sizes[0]}]{inner})"
        skipped = f"({_LINE} - (size_t){block} % {_LINE}) % {_LINE}"
        if self.is_on_heap:
            after = f" + {lead} * sizeof({element})" if lead else ""
            size = f"{whole} + {spare(f'{_LINE - 1}{after}')}"
            return [
                *before,
                *_allocated(f"char *{block}", block, size),
                f"{element} {target} = (void *)({block} + {spare(f'{skipped}{after}')});",
            ]
        count = f"{whole} / sizeof({element})" if inner else sizes[0]
        skip = spare(f"{skipped} / sizeof({element})" + (f" + {lead}" if lead else ""))
        first = f"{block} + {skip}"
        return [
            *before,
            f"{element} {block}[{count} + {spare(str(lanes - 1 + lead))}];",
            f"{element} {target} = {f'(void *)({first})' if inner else first};",
        ]

    def cells_at(self, values: Mapping[str, int]) -> int:
        """How many elements it takes at some sizes, with all that is in front of it and between its rows."""
        extents = [extent.at(values) for extent in self.sizes.extents]
        limit = self.sizes.limit
        lanes = self._in_a_line or 0

        def has_room(cells: Formula) -> bool:
            return limit is None or cells.at(values) <= limit.at(values)

        if self.sizes.choice is not None and limit is not None:
            now, before = (size.at(values) for size in self.sizes.choice)
            if now > before:
                return max(0, limit.at(values))
        if self._lead is not None and has_room(self._padded_cells):
            if len(extents) > 1:
                extents[-1] = ((extents[-1] // lanes + 1) | 1) * lanes
            return math.prod(extents) + self._lead + lanes - 1
        if self.lanes is not None and has_room(Formula.product(self.sizes.extents) + lanes):
            return extents[0] + lanes - 1
        return math.prod(extents)

    def release(self) -> list[str]:
        """The lines that end it."""
        if self.share is not None:
            return [f"free({self.share.block});"] if self.share.is_last else []
        if self.is_vector:
            return []
        block = self._beside("block") if self.is_aligned else self.name
        return [f"free({block});"] if self.is_on_heap else []

    def _shared_block(self, element: str) -> list[str]:
        assert self.share is not None
        size = formula_text(Formula.extreme("max", [self.share.size, Formula.constant(1)]), self.parameter)
        name = self.share.block
        return _allocated(f"{element} *{name}", name, f"sizeof({element}[{size}])")

    @staticmethod
    def factors(subscripts: Sequence[str], trees: Sequence[Expression]) -> list[str]:
        """Subscripts as factors that are signed."""
        return [
            f"(long long){parenthesised(text)}" if tree.type.kind == "unsigned" else parenthesised(text)
            for text, tree in zip(subscripts, trees, strict=True)
        ]

    def element(
        self,
        factors: Sequence[str],
        inner: InnerLoop | None = None,
        values: Sequence[Formula | None] = (),
        *,
        may_move: bool = False,
    ) -> str:
        """An element, given its coordinates as texts of factors, those of the tile first.

        values    the same as formulas, in an innermost loop
        may_move  the texts hold nothing but parameters and iterators of the new loops
        """

        def coordinate(row: Row | TableRow, modulus: Formula) -> str:
            if inner is None or not isinstance(row, Row):
                return row.text(factors, self.parameter)
            row, name = replace(row, modulus=modulus), self.parameter
            return inner.coordinate(row, factors, values, self.name, name, self.lanes, may_move=may_move)

        return self._in_loop(list(map(coordinate, self.layout.rows, self.sizes.moduli)), inner)

    def element_of_cell(
        self,
        cell: Sequence[Formula],
        text: Callable[[Formula], str],
        known: Callable[[Formula], Formula | None],
        inner: InnerLoop | None,
    ) -> str:
        """An element, given the coordinates of its cell as formulas.

        text   of a formula, in C
        known  the formula in the iterators of loops, if it is one there
        """
        rows: list[str] = []
        for row, modulus in zip(self.layout.rows, self.sizes.moduli, strict=True):
            if not isinstance(row, Row):
                rows.append(row.text([parenthesised(text(entry)) for entry in cell], self.parameter))
                continue
            value = row.offset
            for coefficient, entry in zip(row.coefficients, cell, strict=True):
                value += coefficient * entry
            divisor = row.divisor
            if divisor > 1 and (divided := value * Fraction(1, divisor)).is_whole:
                value, divisor = divided, 1
            whole = Row((Formula.constant(1),), Formula.constant(0), modulus, row.wrap, divisor)
            factors = [parenthesised(text(value))]
            rows.append(
                whole.text(factors, self.parameter)
                if inner is None
                else inner.coordinate(
                    whole, factors, [known(value)], self.name, self.parameter, self.lanes, may_move=True
                )
            )
        return self._in_loop(rows, inner)

    def _in_loop(self, rows: Sequence[str], inner: InnerLoop | None) -> str:
        """An element, given its coordinates, or the variable that holds it in an innermost loop."""
        if inner is not None and self._is_ring and (self.is_private or not inner.is_shared):
            variable = inner.variable_of(self.name, written_type(self.variable), rows)
            if variable is not None:
                self.use.is_ring = True
                return variable
        return self.indexed(rows)

    @property
    def _is_ring(self) -> bool:
        """Whether it is an array of a few numbers on the stack, which variables may stand for."""
        size = Formula.product(self.sizes.extents)
        is_small = bool(self.sizes.extents) and size.is_constant and size.as_number() <= MOST_VARIABLES
        is_plain = self.variable.element.kind in ("signed", "unsigned", "floating")
        is_apart = self.share is None and self.allocation is None and not (self.is_on_heap or self.is_aligned)
        return is_small and is_plain and is_apart and not (self.variable.is_volatile or self.is_linear)

    def indexed(self, rows: Sequence[str]) -> str:
        """An element, given its coordinates."""
        if self.is_linear or (self.is_flat and self.is_on_heap):
            rows = self._flattened(rows)
        if self.allocation is not None:
            rows = rows or ["0"]
        return subscripted(self.name, rows)

    def one_size(self, sizes: Sequence[str]) -> str:
        """The product of its extents, whose texts are given."""
        if any("?" in formula_text(one, self.parameter) for one in self.sizes.extents):
            return " * ".join(map(parenthesised, sizes))
        return formula_text(Formula.product(self.sizes.extents), self.parameter)

    def _flattened(self, rows: Sequence[str]) -> list[str]:
        if len(rows) < 2:
            return list(rows)
        text = rows[0]
        for row, extent in zip(rows[1:], self.sizes.extents[1:], strict=True):
            size = parenthesised(formula_text(extent, self.parameter))
            rest = "" if row in ("0", "(0)") else f" + {row}"
            text = f"(long long){parenthesised(text)} * {size}{rest}"
        return [text]


def _allocated(declared: str, name: str, size: str) -> list[str]:
    """The lines that allocate memory for a pointer that is declared there."""
    return [f"{declared} = malloc({size});", f"if (!{name})", f"{INDENT}abort();"]


def written_type(variable: Variable) -> str:
    """The type of its elements as the source spells it, without const, so that a copy can be written."""
    return variable.written or " ".join(w for w in variable.element.spelling.split() if w != "const")


def parameter_text(parameters: Mapping[str, Variable]) -> NameText:
    """Names of the model as C: unsigned ones are made signed before anything is subtracted."""

    def text(name: str) -> str:
        variable = parameters[name]
        return f"(long long){variable.name}" if variable.type.kind == "unsigned" else variable.name

    return text
