"""Sizes and times of arrays for other solvers of placement, as the CSV files of minimalloc."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from arrayfold.program.model import Program
from arrayfold.sharing.interference import find_intervals


def placement_problem(program: Program, sizes: Mapping[str, int], params: Mapping[str, int]) -> str:
    """One line an array: id, the first step in which it is in use, the first one after, and its cells.

    sizes  array -> its cells
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["id", "lower", "upper", "size"])
    for one in find_intervals(program, list(sizes), params):
        lines.writerow([one.array, one.lower, one.upper, sizes[one.array]])
    return text.getvalue()
