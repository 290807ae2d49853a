"""Which arrays are in use at the same time, so that they cannot have one place one after the other.

Each array counts as one cell: in use from the first write of any of its cells to the last read of any. So the
liveness of cells, with whatever order the program has, is that of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import Accesses, Liveness, analyse
from arrayfold.exact.isl import fix_parameters, fresh_names, points
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


@dataclass(frozen=True)
class Interval:
    """When an array is in use, in steps between all begins and ends; the last step does not belong to it."""

    array: str
    lower: int
    upper: int


def find_interference(program: Program, arrays: Sequence[str]) -> Interference:
    """Which arrays interfere."""
    liveness, name = _arrays_as_cells(program, arrays)
    pairs = liveness.conflicts(name, "live-write", with_moments=False).pairs_one_way
    pairs = pairs.project_out(isl.dim_type.param, 0, pairs.dim(isl.dim_type.param))
    found = {(min(a, b), max(a, b)) for a, b in points(pairs.wrap().flatten()) if a != b}
    return Interference(tuple(arrays), frozenset(found))


def find_intervals(program: Program, arrays: Sequence[str], params: Mapping[str, int]) -> list[Interval]:
    """When arrays are in use at these sizes; the order must be sequential."""
    missing = [name for name in program.parameters if name not in params]
    if missing:
        raise InputError(
            f"intervals are numbers, so {missing[0]} needs a value", hint=f"Say --param {missing[0]}=64."
        )
    liveness, name = _arrays_as_cells(program, arrays)
    if not liveness.order.is_total:
        raise InputError("in a parallel program an array has no interval of steps in which it is in use")
    accesses = liveness.accesses(liveness.program.array(name))
    here = fix_parameters(params)
    found = {array: _ends(accesses, k, here) for k, array in enumerate(arrays)}
    ends = {array: both for array, both in found.items() if both is not None}
    steps = {time: step for step, time in enumerate(sorted({one for both in ends.values() for one in both}))}
    return [Interval(array, steps[first], steps[end]) for array, (first, end) in ends.items()]


def _arrays_as_cells(program: Program, arrays: Sequence[str]) -> tuple[Liveness, str]:
    (name,) = fresh_names("arrays", 1, [array.name for array in program.arrays])
    places = {one: _number_of_cells(program.array(one), name, k) for k, one in enumerate(arrays)}
    whole = merged(program, arrays, Embedding(name, places))
    return replace(analyse(whole), temporaries=(name,)), name


def _number_of_cells(array: Array, name: str, number: int) -> isl.Map:
    """{ A[x] -> N[number] }"""
    cells = [f"x{k}" for k in range(array.rank)]
    return relation(cells, [str(number)], names=(array.name, name)).intersect_domain(array.cells)


def _ends(accesses: Accesses, number: int, here: isl.Set) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """When an array is first written, and the first time at which it is not in use; None if it never is.

    The latter is the time of the last read, because the write of the same instance comes after it, or right
    after the last write if nothing reads what that wrote.
    """

    def times(relation: isl.Map) -> isl.Set:
        mine = relation.fix_val(isl.dim_type.in_, 0, isl.Val(number)).intersect_params(here)
        found = mine.range()
        return found.project_out(isl.dim_type.param, 0, found.dim(isl.dim_type.param))

    written, read = times(accesses.writes), times(accesses.reads)
    if written.is_empty():
        return None
    (first,), (last,) = points(written.lexmin()), points(written.union(read).lexmax())
    # Times are whole, so that half a unit later nothing happens before the next one.
    is_read = not read.is_empty() and points(read.lexmax()) == [last]
    return (*first, 0), (*last, 0 if is_read else 1)
