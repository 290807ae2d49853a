"""An array in two parts that lie beside each other in another one, the second part turned round.

Half of a triangle turned round and laid on the other half is a box. So each part has a linear part of its
own in the mapping, where one lattice for all cells would leave gaps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.errors import InputError
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff
from arrayfold.exact.isl import coalesced, fresh_name, fresh_names
from arrayfold.exact.lattice import Vector
from arrayfold.passes.merge import Embedding, merged
from arrayfold.program.model import Array, Problem, Program


@dataclass(frozen=True)
class Split:
    """One array in two parts.

    array   its name
    sums    of the least and the largest index along each axis
    axis    along which it is split, in the middle
    order   of the axes of the second part
    turned  which axes of the second part are reversed
    middle  1 or 0: the part to which cells in the very middle belong
    """

    name: ClassVar[str] = "split"
    flags: ClassVar[tuple[str, ...]] = ("--pieces",)
    array: str
    sums: tuple[Formula, ...]
    axis: int
    order: tuple[int, ...]
    turned: tuple[bool, ...]
    middle: int = 1

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program in which the array lies in another one."""
        if not isinstance(program, Program):
            raise InputError("only arrays of a program can be split, but the file gives conflicts")
        with as_budget(budget).limit(f"{self.array} in two parts"):
            return merged(program, self.embedding(program))

    def embedding(self, program: Program) -> Embedding:
        """Where the cells are in the array that takes its place."""
        name = fresh_name("memory", [array.name for array in program.arrays])
        array = program.array(self.array)
        first, second = self.parts(array, name)
        return Embedding(name, {self.array: coalesced(first.union(second))}, 2)

    def parts(self, array: Array, name: str) -> tuple[isl.Map, isl.Map]:
        """{ A[x] -> U[0, x] } and { A[x] -> U[1, y] } for the two parts."""
        names = fresh_names("x", array.rank, [n for one in self.sums for n in one.names()])
        conditions = self.conditions(names)
        turned = [f"({self.sums[k]}) - {names[k]}" if self.turned[k] else names[k] for k in self.order]
        start = f"{array.name}[{', '.join(names)}]"
        params = sorted({n for one in self.sums for n in one.names()})
        first, second = (
            isl.Map(f"[{', '.join(params)}] -> {{ {start} -> {name}[{', '.join(ends)}] : {when} }}")
            for ends, when in zip((["0", *names], ["1", *turned]), conditions, strict=True)
        )
        return first.intersect_domain(array.cells), second.intersect_domain(array.cells)

    def place(self, cell: Vector, sizes: Mapping[str, int]) -> Vector:
        """Where a cell is at these sizes."""
        sums = [one.at(sizes) for one in self.sums]
        if 2 * cell[self.axis] >= sums[self.axis] + self.middle:
            return (0, *cell)
        return (1, *(sums[k] - cell[k] if self.turned[k] else cell[k] for k in self.order))

    def conditions(self, names: Sequence[str]) -> tuple[str, str]:
        """Which cells are in the first part, and which in the second."""
        middle = self.sums[self.axis] + self.middle
        return f"2*{names[self.axis]} >= {middle}", f"2*{names[self.axis]} < {middle}"


def splits(array: Array, cells: isl.Set) -> Iterator[Split]:
    """The ways to split an array that are looked at, simple ones first.

    cells  { A[x] } those that need addresses
    """
    sums: list[Formula] = []
    for k in range(array.rank):
        ends = [end.get_pieces() for end in (cells.dim_min(k), cells.dim_max(k))]
        if any(len(pieces) != 1 for pieces in ends):
            return
        total = sum((from_aff(pieces[0][1]) for pieces in ends), start=Formula.constant(0))
        if not (total.is_affine and total.is_polynomial):
            return
        sums.append(total)
    axes = range(array.rank)
    turns = sorted(itertools.product((False, True), repeat=array.rank), key=sum, reverse=True)
    choices = itertools.product(itertools.permutations(axes), turns, axes, (1, 0))
    for order, turned, axis, middle in choices:
        yield Split(array.name, tuple(sums), axis, order, turned, middle)
