"""Storage against parallelism: the table, the JSON and the figure."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.explore import Exploration
from arrayfold.report.figures import new_figure
from arrayfold.report.plain_table import PlainTable


def tradeoff_data(exploration: Exploration) -> dict[str, Any]:
    """What `tradeoff --json` prints."""
    frontier = exploration.frontier
    return {
        "params": dict(exploration.params),
        "points": [
            {
                **point.data(),
                "frontier": point in frontier,
                "command": None if point.reason else shlex.join(exploration.command(point)),
            }
            for point in exploration.points
        ],
        "cut_short": _cuts(exploration),
    }


def tradeoff_report(exploration: Exploration, *, everything: bool) -> RenderableType:
    """The frontier, or every possible order, and the commands that reproduce it.

    The time is what the cost model predicts for one thread, in times of the order as written.
    """
    numbers = ("steps", "in parallel", "cells", "time")
    as_written = next(
        (point.cycles for point in exploration.points if point.order.reorder.is_as_written), None
    )
    table = PlainTable("order", *numbers, "command", right=numbers)
    frontier = exploration.frontier
    for point in exploration.possible if everything else frontier:
        table.add_row(
            Text(point.order.label, style="bold" if everything and point in frontier else ""),
            f"{point.latency:,}",
            f"{point.parallelism:,.1f}",
            f"{point.cells:,}",
            "" if not as_written or point.cycles is None else f"{point.cycles / as_written:.2f}",
            Text(shlex.join(exploration.command(point))),
        )
    count, possible = len(exploration.points), len(exploration.possible)
    summary = f"{possible} of {count} orders are possible, {len(frontier)} of them beaten by none"
    notes = [f"note: {words}" for words in _cuts(exploration)]
    return Group(table, Text(summary), *map(Text, notes))


def _cuts(exploration: Exploration) -> list[str]:
    """What was given up for lack of time."""
    cut = sum(point.is_cut for point in exploration.points)
    said = [f"orders cut short: {cut}; raise the limit with --budget"] if cut else []
    return [*said, *([exploration.cut_short] if exploration.cut_short else [])]


def draw_tradeoff(exploration: Exploration) -> Any:
    """All orders as points, the frontier as a line."""
    figure = new_figure()
    axes = figure.subplots()
    frontier = exploration.frontier
    others = [point for point in exploration.possible if point not in frontier]
    axes.scatter(
        [p.latency for p in others], [p.cells for p in others], color="#b0b0b0", label="other orders"
    )
    axes.step(
        [p.latency for p in frontier],
        [p.cells for p in frontier],
        where="post",
        marker="o",
        color="#0072b2",
        label="beaten by none",
    )
    for point in frontier:
        axes.annotate(
            point.order.label,
            (point.latency, point.cells),
            xytext=(6, 6),
            textcoords="offset points",
            fontsize=8,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("steps (fewer: more parallel)")
    axes.set_ylabel("cells of all temporaries")
    sizes = ", ".join(f"{name} = {value}" for name, value in exploration.params.items())
    axes.set_title(f"{Path(exploration.source.file).name}, {sizes}")
    axes.legend()
    return figure
