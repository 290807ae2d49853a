"""What `fold --json` prints, read back and evaluated without the tool."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import CodeType
from typing import Any

from fuzz.affine import Values
from support.reference import Cell

_FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "F": Fraction,
    "floor": lambda value: Fraction(math.floor(value)),
    "max": max,
    "min": min,
}


@cache
def _compiled(text: str) -> CodeType:
    python = re.sub(r"\b(\d+)\b", r"F(\1)", text.replace("^", "**"))
    return compile(python, text, "eval")


def value(text: str, params: Values) -> Fraction:
    """The value of a printed formula: `2*N + 1`, `floor((N + 1)/2)`, `max(N, 2)`, `N^2`."""
    return Fraction(eval(_compiled(text), _FUNCTIONS, dict(params)))


@dataclass(frozen=True)
class PrintedMapping:
    """The mapping in an entry of `arrays`."""

    entry: Mapping[str, Any]

    @property
    def only_at(self) -> Values | None:
        """The only sizes that it is for."""
        return self.entry.get("only_at")

    def moduli(self, params: Values) -> list[Fraction]:
        return [value(text, params) for text in self.entry["moduli"]]

    def is_whole(self, params: Values) -> bool:
        texts = [*(text for row in self.entry["matrix"] for text in row), *self.entry["offset"]]
        return all(value(text, params).denominator == 1 for text in texts)

    def addresses(self, cells: list[Cell], params: Values) -> dict[Cell, tuple[int, ...]]:
        """The address of each cell; a table need not have all of them."""
        if "table" in self.entry:
            table = {tuple(cell): (address,) for cell, address in self.entry["table"]}
            return {cell: table[cell] for cell in cells if cell in table}
        rows = [[value(text, params) for text in row] for row in self.entry["matrix"]]
        offsets = [value(text, params) for text in self.entry["offset"]]
        divisors = self.entry.get("divisors") or [1] * len(rows)
        lines = list(zip(rows, offsets, divisors, self.moduli(params), strict=True))
        return {
            cell: tuple(
                int((sum(a * x for a, x in zip(row, cell, strict=True)) + offset) // divisor % modulus)
                for row, offset, divisor, modulus in lines
            )
            for cell in cells
        }
