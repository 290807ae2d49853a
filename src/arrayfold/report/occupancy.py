"""Occupancy vectors and schedules: the table and the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl
from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.exact.lattice import Vector
from arrayfold.fold.result import FoldResult
from arrayfold.methods.occupancy_vectors import OccupancyResult, OccupiedArray
from arrayfold.methods.occupancy_vectors.schedules import affine_text
from arrayfold.report.data import fold_data
from arrayfold.report.plain_table import PlainTable
from arrayfold.report.tables import fold_report
from arrayfold.run.outcome import NotRun, RunReport


def occupancy_data(
    result: OccupancyResult, code: FoldResult | None = None, runs: Sequence[RunReport | NotRun] = ()
) -> dict[str, Any]:
    """What `occupancy --json` prints; `code` is what was written with -o."""
    data: dict[str, Any] = {
        "arrays": [_array(array) for array in result.arrays],
        "schedule": dict(result.schedule) or None,
    }
    if result.constraints is not None:
        data["constraints"] = schedule_constraints(result)
    if result.why:
        data["why"] = result.why
    if code is not None:
        data["code"] = fold_data([code], runs)
    return data


def _array(array: OccupiedArray) -> dict[str, Any]:
    size = None if array.mapping is None else str(array.mapping.size)
    data: dict[str, Any] = {
        "name": array.name,
        "given_schedule": _list(array.given),
        "affine": _list(array.affine),
        "universal": _list(array.universal),
        "proved": array.is_proved,
        "size": "0" if array.is_dropped else size,
        "mapping": None if array.mapping is None else str(array.mapping),
    }
    if array.why:
        data["why"] = dict(array.why)
    return data


def _list(vector: Vector | None) -> list[int] | None:
    return None if vector is None else list(vector)


def schedule_constraints(result: OccupancyResult) -> list[str]:
    """The inequalities and equations of the legal schedules, with names such as S.i for coefficients."""
    assert result.constraints is not None
    lines: list[str] = []
    for constraint in result.constraints.remove_redundancies().get_constraints():
        entries = [
            constraint.get_coefficient_val(isl.dim_type.set, k).to_python() for k in range(len(result.names))
        ]
        left = affine_text(zip(entries, result.names, strict=True), constraint.get_constant_val().to_python())
        lines.append(f"{left} {'=' if constraint.is_equality() else '>='} 0")
    return sorted(lines)


def occupancy_report(
    result: OccupancyResult,
    code: FoldResult | None = None,
    runs: Sequence[RunReport | NotRun] = (),
    *,
    with_constraints: bool,
) -> RenderableType:
    """The table of vectors, the schedule, and what is missing; then what the written code does."""
    titles = ("array", "this schedule", "all affine ones", "all schedules", "store", "cells", "verdict")
    table = PlainTable(*titles)
    notes: list[str] = []
    for array in result.arrays:
        table.add_row(
            array.name,
            _text(array.given),
            _text(array.affine),
            _text(array.universal),
            Text("" if array.mapping is None else str(array.mapping)),
            "0" if array.is_dropped else "" if array.mapping is None else str(array.mapping.size),
            _verdict(array),
        )
        notes += [f"note: {array.name}: {reason}" for reason in dict.fromkeys(array.why.values())]
    times = [f"  {statement}: {time}" for statement, time in result.schedule.items()]
    lines = ["schedule", *times] if times else [f"no schedule: {result.why}"]
    if with_constraints and result.constraints is not None and not result.why:
        lines += ["all schedules for these vectors", *(f"  {line}" for line in schedule_constraints(result))]
    written = [] if code is None else [Text("code"), fold_report([code], runs)]
    return Group(table, Text("\n".join([*lines, *notes])), *written)


def _text(vector: Vector | None) -> str:
    return "none" if vector is None else f"({', '.join(map(str, vector))})"


def _verdict(array: OccupiedArray) -> str:
    if array.is_dropped:
        return "never read"
    if array.mapping is None:
        return "none"
    return "proved" if array.is_proved else "not proved"
