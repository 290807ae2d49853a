"""Folding in the space of the schedule (Mor14 §2.3.1, §2.4 and §3).

What conflicts there are time stamps of writes: their differences give a modulus for each dimension of the
schedule, one after the other, and the new subscript of a cell is the time at which it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import maps_of
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.piecewise_moduli import RowWidths, fold_in_order


def find_published(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The dimensions of the schedule as rows, each modulo its width where those before it are equal.

    A width on differences of time stamps is the width of a row on differences of cells, where the row takes a
    cell to its time.
    """
    del request
    rows = time_rows(conflicts)
    widths = RowWidths(conflicts.differences, conflicts.context, rows)
    return [fold_in_order(conflicts, widths, range(len(rows)))]


def time_rows(conflicts: Conflicts) -> list[Vector]:
    """How the time at which a cell is written depends on its indices, for each dimension of the schedule.

    Constants are left out, which shifts addresses and changes no difference.
    """
    times = _write_times(conflicts)
    if not times.is_single_valued():
        raise MethodNotApplicable(
            "some cells are written at several times; "
            "`--mode reallocate` gives every statement an array of its own"
        )
    dimensions = isl.PwMultiAff.from_map(times)
    rows: list[Vector] = []
    for k in range(times.dim(isl.dim_type.out)):
        found = {_linear_part(piece) for _, piece in dimensions.get_pw_aff(k).get_pieces()}
        if len(found) > 1:
            raise MethodNotApplicable("the times of writes are not one linear function of the indices")
        rows += [row for row in found if any(row)]
    return rows


def _write_times(conflicts: Conflicts) -> isl.Map:
    """{ A[x] -> [t] }: when the cells are written."""
    program = conflicts.program
    if program is None or program.schedule is None:
        raise MethodNotApplicable("there is no schedule")
    writes = program.accesses(writes=True, array=conflicts.name).intersect_params(program.context)
    parts = maps_of(writes.reverse().apply_range(program.schedule))
    if len({part.dim(isl.dim_type.out) for part in parts}) != 1:
        raise MethodNotApplicable("the schedule has no fixed number of dimensions")
    return reduce(isl.Map.union, parts).intersect_domain(conflicts.cells)


def _linear_part(time: isl.Aff) -> Vector:
    entries = [time.get_coefficient_val(isl.dim_type.in_, k) for k in range(time.dim(isl.dim_type.in_))]
    if time.dim(isl.dim_type.div) or not all(entry.is_int() for entry in entries):
        raise MethodNotApplicable("the times of writes are not linear in the indices")
    return tuple(entry.to_python() for entry in entries)


METHOD = Method(
    "schedule-space",
    "fold along the dimensions of the schedule",
    "Mor14 §2.3.1",
    find_published,
    is_general=False,
)
