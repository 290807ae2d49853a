"""Where folded arrays live: declarations, heap or stack, and how elements are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.c.tree import CType, Expression, Variable
from arrayfold.codegen.address import Layout, Row
from arrayfold.codegen.formulas import NameText, formula_text, parenthesised
from arrayfold.codegen.inner_loop import InnerLoop
from arrayfold.formula import Formula
from arrayfold.formula_isl import to_pw_aff

STACK_BYTES = 16 * 1024
_LINE = 64


@dataclass(frozen=True)
class Share:
    """A part of memory that several arrays share.

    is_first, is_last  among its arrays, in the order in which they are declared
    """

    block: str
    size: Formula
    offset: Formula
    is_first: bool
    is_last: bool


@dataclass(frozen=True, eq=False)
class Storage:
    """A folded array in C.

    name          what it is called there
    comment       a line that says what the mapping is
    is_flat       it has one dimension in C, because jumps must not cross declarations with variable extents
    may_allocate  malloc and free mean what they usually mean there
    block         if it is to begin with a line of the cache, the name of what malloc returns
    tile          coordinates of the tile that come before the subscripts in the layout of a buffer
    is_private    every thread has its own, declared in a parallel loop
    share         the memory that it is a part of, if it has none of its own
    is_automatic  it takes the place of a larger array on the stack, whose memory needs no allocation
    first         where in a row loops begin to write, if that should be the begin of a line of the cache
    pitch         the name of the length that rows then have
    """

    variable: Variable
    name: str
    layout: Layout
    comment: str
    extents: tuple[Formula, ...]
    parameter: NameText
    is_flat: bool = False
    may_allocate: bool = True
    block: str | None = None
    tile: int = 0
    is_private: bool = False
    share: Share | None = None
    is_automatic: bool = False
    first: int | None = None
    pitch: str = ""

    @property
    def is_on_heap(self) -> bool:
        """Whether it is allocated: sizes that only the run knows, or large ones."""
        if self.share is not None:
            return True
        if not self.may_allocate or self.is_automatic:
            return False
        size = Formula.product(self.extents)
        if not size.is_constant:
            return True
        return int(size.as_number()) * max(1, self.variable.element.bits // 8) > STACK_BYTES

    @property
    def lanes(self) -> int | None:
        """How many elements a line of the cache holds, if the array begins with a line."""
        is_large = self.is_on_heap or (self.is_automatic and not Formula.product(self.extents).is_constant)
        is_aligned = self.block is not None and is_large and len(self.extents) == 1 and not self.share
        return self._in_a_line if is_aligned and self.first is None else None

    @property
    def _in_a_line(self) -> int | None:
        bits = self.variable.element.bits
        return 8 * _LINE // bits if bits and 8 * _LINE % bits == 0 else None

    @property
    def is_aligned(self) -> bool:
        """Whether it lies in a block that is larger, so that lines of the cache begin where they should."""
        return self.lanes is not None or self._lead is not None

    @property
    def _lead(self) -> int | None:
        """How many elements are in front of the first row, if loops should begin to write with a line."""
        can = self.block is not None and not (self.is_flat or self.share) and self._in_a_line is not None
        return None if self.first is None or not can else -self.first % (self._in_a_line or 1)

    def declaration(self) -> list[str]:
        """The lines that make it exist."""
        element = plain_type(self.variable.element)
        sizes = [formula_text(extent, self.parameter) for extent in self.extents]
        brackets = "".join(f"[{size}]" for size in sizes)
        tables = (line for row in self.layout.tables() for line in row.declaration())
        is_padded = self._lead is not None and len(sizes) > 1
        remark = "; rows of whole cache lines" if is_padded else ""
        lines = [f"/* {self.comment}{remark} */", *tables]
        lanes = self.lanes
        if self._lead is not None:
            return [*lines, *self._in_lines(element, sizes)]
        if not self.is_on_heap and lanes is None:
            return [*lines, f"{element} {self.name}{brackets};"]
        if not self.is_on_heap and lanes is not None:
            skipped = f"({_LINE} - (size_t){self.block} % {_LINE}) % {_LINE} / sizeof({element})"
            return [
                *lines,
                f"{element} {self.block}[{sizes[0]} + {lanes - 1}];",
                f"{element} *{self.name} = {self.block} + {skipped};",
            ]
        inner = "" if self.is_flat else "".join(f"[{size}]" for size in sizes[1:])
        target = f"(*{self.name}){inner}" if inner else f"*{self.name}"
        if self.share is not None:
            offset = parenthesised(formula_text(self.share.offset, self.parameter))
            block = self._shared_block(element) if self.share.is_first else []
            return [*block, *lines, f"{element} {target} = (void *)({self.share.block} + {offset});"]
        skipped = f"({_LINE} - (size_t){self.block} % {_LINE}) % {_LINE}"
        if lanes is None:
            return [
                *lines,
                f"{element} {target} = malloc(sizeof({element}{brackets}));",
                f"if (!{self.name})",
                "  abort();",
            ]
        return [
            *lines,
            f"char *{self.block} = malloc(sizeof({element}{brackets}) + {_LINE - 1});",
            f"if (!{self.block})",
            "  abort();",
            f"{element} {target} = (void *)({self.block} + {skipped});",
        ]

    def _in_lines(self, element: str, sizes: Sequence[str]) -> list[str]:
        """The lines that make it exist with rows of whole lines of the cache.

        An odd number of them, so that the same place of several rows falls into different sets of a cache.
        """
        lanes, lead = self._in_a_line, self._lead
        assert lanes is not None
        assert lead is not None
        pitch: list[str] = []
        if len(sizes) > 1:
            row = self.extents[-1]
            if row.is_constant:
                sizes = [*sizes[:-1], str(((int(row.as_number()) // lanes + 1) | 1) * lanes)]
            else:
                lines = f"({parenthesised(sizes[-1])} / {lanes} + 1) | 1"
                pitch = [f"const size_t {self.pitch} = ({lines}) * {lanes};"]
                sizes = [*sizes[:-1], self.pitch]
        inner = "".join(f"[{size}]" for size in sizes[1:])
        target = f"(*{self.name}){inner}" if inner else f"*{self.name}"
        whole = f"sizeof({element}[{sizes[0]}]{inner})"
        skipped = f"({_LINE} - (size_t){self.block} % {_LINE}) % {_LINE}"
        if self.is_on_heap:
            after = f" + {lead} * sizeof({element})" if lead else ""
            return [
                *pitch,
                f"char *{self.block} = malloc({whole} + {_LINE - 1}{after});",
                f"if (!{self.block})",
                "  abort();",
                f"{element} {target} = (void *)({self.block} + {skipped}{after});",
            ]
        count = f"{whole} / sizeof({element})" if inner else sizes[0]
        first = f"{self.block} + {skipped} / sizeof({element})" + (f" + {lead}" if lead else "")
        return [
            *pitch,
            f"{element} {self.block}[{count} + {lanes - 1 + lead}];",
            f"{element} {target} = {f'(void *)({first})' if inner else first};",
        ]

    def release(self) -> list[str]:
        """The lines that end it."""
        if self.share is not None:
            return [f"free({self.share.block});"] if self.share.is_last else []
        block = self.block if self.is_aligned else self.name
        return [f"free({block});"] if self.is_on_heap else []

    def _shared_block(self, element: str) -> list[str]:
        assert self.share is not None
        size = formula_text(Formula.extreme("max", [self.share.size, Formula.constant(1)]), self.parameter)
        name = self.share.block
        return [f"{element} *{name} = malloc(sizeof({element}[{size}]));", f"if (!{name})", "  abort();"]

    def element(
        self,
        subscripts: Sequence[str],
        trees: Sequence[Expression],
        inner: InnerLoop | None = None,
        values: Sequence[Formula | None] = (),
    ) -> str:
        """An element, given the texts of the original subscripts; in an innermost loop also as formulas."""
        return self.element_at(self.factors(subscripts, trees), inner, values)

    @staticmethod
    def factors(subscripts: Sequence[str], trees: Sequence[Expression]) -> list[str]:
        """Subscripts as factors that are signed."""
        return [
            f"(long long){parenthesised(text)}" if tree.type.kind == "unsigned" else parenthesised(text)
            for text, tree in zip(subscripts, trees, strict=True)
        ]

    def element_at(
        self, factors: Sequence[str], inner: InnerLoop | None, values: Sequence[Formula | None]
    ) -> str:
        """An element, given its coordinates as texts of factors, those of the tile first."""
        if inner is None:
            return self.indexed([row.text(factors, self.parameter) for row in self.layout.rows])
        return self.indexed(
            [
                inner.coordinate(
                    replace(row, modulus=extent), factors, values, self.name, self.parameter, self.lanes
                )
                if isinstance(row, Row)
                else row.text(factors, self.parameter)
                for row, extent in zip(self.layout.rows, self.extents, strict=True)
            ]
        )

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
        for row, extent in zip(self.layout.rows, self.extents, strict=True):
            if not isinstance(row, Row):
                rows.append(row.text([parenthesised(text(entry)) for entry in cell], self.parameter))
                continue
            value = row.offset
            for coefficient, entry in zip(row.coefficients, cell, strict=True):
                value += coefficient * entry
            whole = Row((Formula.constant(1),), Formula.constant(0), extent, row.wrap)
            factors = [parenthesised(text(value))]
            rows.append(
                whole.text(factors, self.parameter)
                if inner is None
                else inner.coordinate(whole, factors, [known(value)], self.name, self.parameter, self.lanes)
            )
        return self.indexed(rows)

    def indexed(self, rows: Sequence[str]) -> str:
        """An element, given its coordinates."""
        if self.is_flat and self.is_on_heap:
            rows = [self._flattened(rows)]
        return self.name + "".join(f"[{row}]" for row in rows)

    def _flattened(self, rows: Sequence[str]) -> str:
        text = rows[0]
        for row, extent in zip(rows[1:], self.extents[1:], strict=True):
            size = parenthesised(formula_text(extent, self.parameter))
            text = f"(long long){parenthesised(text)} * {size} + {row}"
        return text


def positive_extents(layout: Layout, context: isl.Set) -> tuple[Formula, ...]:
    """The moduli, raised to 1 where sizes exist at which nothing is stored."""
    extents: list[Formula] = []
    for row in layout.rows:
        modulus = row.modulus
        if modulus.is_affine:
            too_small = to_pw_aff(modulus).lt_set(to_pw_aff(Formula.constant(1)))
            if not context.intersect(too_small.params()).is_empty():
                modulus = Formula.extreme("max", [modulus, Formula.constant(1)])
        elif not modulus.is_constant:
            modulus = Formula.extreme("max", [modulus, Formula.constant(1)])
        extents.append(modulus)
    return tuple(extents)


def plain_type(element: CType) -> str:
    """The type without const, so that the copy can be written."""
    return " ".join(word for word in element.spelling.split() if word != "const")


def parameter_text(parameters: Mapping[str, Variable]) -> NameText:
    """Names of the model as C: unsigned ones are made signed before anything is subtracted."""

    def text(name: str) -> str:
        variable = parameters[name]
        return f"(long long){variable.name}" if variable.type.kind == "unsigned" else variable.name

    return text
