"""Which arrays are in use at the same time, so that they cannot have one place one after the other.

Each array counts as one cell: in use from the first write of any of its cells to the last read of any. So the
liveness of cells, with whatever order the program has, is that of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.conflicts.liveness import Liveness, analyse
from arrayfold.exact.isl import fresh_names, points
from arrayfold.exact.relations import relation
from arrayfold.passes.merge import Embedding, merged
from arrayfold.program.model import Array, Program


@dataclass(frozen=True, eq=False)
class Interference:
    """Pairs of arrays that are in use at the same time, at some sizes.

    arrays  in the order of the program
    pairs   numbers of two of them, the smaller one first
    """

    arrays: tuple[str, ...]
    pairs: frozenset[tuple[int, int]]

    def are_apart(self, first: int, second: int) -> bool:
        """Whether two arrays need places of their own."""
        return (min(first, second), max(first, second)) in self.pairs


def find_interference(program: Program, arrays: Sequence[str]) -> Interference:
    """Which arrays interfere."""
    liveness, name = arrays_as_cells(program, arrays)
    pairs = liveness.conflicts(name, "live-write", with_moments=False).pairs_one_way
    pairs = pairs.project_out(isl.dim_type.param, 0, pairs.dim(isl.dim_type.param))
    found = {(min(a, b), max(a, b)) for a, b in points(pairs.wrap().flatten()) if a != b}
    return Interference(tuple(arrays), frozenset(found))


def arrays_as_cells(program: Program, arrays: Sequence[str]) -> tuple[Liveness, str]:
    """The liveness of a program in which each array is one cell of another one, and the name of that."""
    (name,) = fresh_names("arrays", 1, [array.name for array in program.arrays])
    places = {one: _number_of_cells(program.array(one), name, k) for k, one in enumerate(arrays)}
    whole = merged(program, Embedding(name, places))
    return replace(analyse(whole), temporaries=(name,)), name


def _number_of_cells(array: Array, name: str, number: int) -> isl.Map:
    """{ A[x] -> N[number] }"""
    cells = [f"x{k}" for k in range(array.rank)]
    return relation(cells, [str(number)], names=(array.name, name)).intersect_domain(array.cells)
