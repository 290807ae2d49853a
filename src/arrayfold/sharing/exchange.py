"""Sizes and times of arrays for other solvers of placement, as the CSV files of minimalloc."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.conflicts.accesses import Accesses
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.program.model import Program
from arrayfold.sharing.interference import arrays_as_cells


def placement_problem(program: Program, sizes: Mapping[str, int], params: Mapping[str, int]) -> str:
    """One line an array: id, the first step in which it is in use, the first one after, and its cells.

    sizes  array -> its cells
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["id", "lower", "upper", "size"])
    for array, ends in find_intervals(program, list(sizes), params).items():
        lines.writerow([array, *ends, sizes[array]])
    return text.getvalue()


def find_intervals(
    program: Program, arrays: Sequence[str], params: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """The first step in which each array is in use at these sizes, and the first one after.

    Steps are those between all begins and ends; the order must be sequential.
    """
    missing = [name for name in program.parameters if name not in params]
    if missing:
        raise InputError(
            f"intervals are numbers, so {missing[0]} needs a value", hint=f"Say --param {missing[0]}=64."
        )
    liveness, name = arrays_as_cells(program, arrays)
    if not liveness.order.is_total:
        raise InputError("in a parallel program an array has no interval of steps in which it is in use")
    accesses = liveness.accesses(liveness.program.array(name))
    here = fix_parameters(params)
    found = {array: _ends(accesses, k, here) for k, array in enumerate(arrays)}
    ends = {array: both for array, both in found.items() if both is not None}
    steps = {time: step for step, time in enumerate(sorted({one for both in ends.values() for one in both}))}
    return {array: (steps[first], steps[end]) for array, (first, end) in ends.items()}


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
