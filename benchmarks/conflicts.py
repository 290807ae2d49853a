"""Time of the conflict constructions as programs grow, as a table.

    python benchmarks/conflicts.py [--repeat 3] [--json FILE]

The program is a pipeline: every stage is a nest of loops that reads three points of the array of the stage
before. Stages share all loops but the innermost one. The baseline is live × write on the sequential program
in the same run, in milliseconds for all arrays together; the other columns are ratios to it: values (the
default of all commands), live × live and butterfly on the same total order, and the triangle on partial
orders, with the innermost loop as a doall and with the same order as a happens-before relation. Times are
medians and leave out the order itself. A relation
has pieces for all pairs of stages and every loop; where its closure would take too long there is a dash.

The second table is the whole way of a pipeline of 50 stages, from text to proved mappings, in seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Construction
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends.toml.problem import read_problem

Order = Literal["sequential", "doall", "happens-before"]

BASELINE = "live-write"
COLUMNS: dict[str, tuple[Order, Construction]] = {
    "live-write": ("sequential", "live-write"),
    "values": ("sequential", "values"),
    "live-live": ("sequential", "live-live"),
    "butterfly": ("sequential", "butterfly"),
    "triangle, doall": ("doall", "live-write"),
    "triangle, happens-before": ("happens-before", "live-write"),
}
SIZES = [(2, 2), (5, 2), (10, 2), (20, 2), (50, 2), (10, 1), (10, 3), (10, 4), (50, 1)]
STAGES = 50
_MOST_PIECES = 2500
_SECONDS = 300.0


def pipeline(stages: int, depth: int, order: Order) -> str:
    """The problem file of a pipeline; stage s is the statement Ss, its loops are i0, i1 ..."""
    iterators = [f"i{k}" for k in range(depth)]
    *outer, inner = iterators
    here = ", ".join(iterators)
    box = " and ".join(f"0 <= {name} < N" for name in iterators)
    near = ", ".join([*outer, "x"])
    window = f"{inner} - 1 <= x <= {inner} + 1 and 0 <= x < N"
    numbers = range(stages)
    parts = {
        "domain": [f"S{s}[{here}] : {box}" for s in numbers],
        "write": [f"S{s}[{here}] -> A{s}[{here}]" for s in numbers],
        "read": [f"S{s}[{here}] -> A{s - 1}[{near}] : {window}" for s in numbers[1:]],
        "live_out": [f"A{stages - 1}[{here}]"],
    }
    if order == "happens-before":
        parts["happens_before"] = _relation(stages, outer, inner)
    else:
        parts["schedule"] = [f"S{s}[{here}] -> [{', '.join([*outer, str(s), inner])}]" for s in numbers]
    lines = [f'{key} = "[N] -> {{ {"; ".join(texts)} }}"' for key, texts in parts.items()]
    if order == "doall":
        lines.append(f'parallel = {{ {depth} = "doall" }}')
    return "\n".join(['context = "[N] -> { : N >= 4 }"', *lines])


def _relation(stages: int, outer: list[str], inner: str) -> list[str]:
    """The order of the doall program: outer loops, then stages; the innermost loop orders nothing."""
    later = [f"{name}_" for name in outer]
    found: list[str] = []
    for a in range(stages):
        for b in range(stages):
            ours, theirs = [*outer, str(a)], [*later, str(b)]
            first = [
                " and ".join([f"{ours[j]} = {theirs[j]}" for j in range(k)] + [f"{ours[k]} < {theirs[k]}"])
                for k in range(len(ours))
            ]
            ends = f"S{a}[{', '.join([*outer, inner])}] -> S{b}[{', '.join([*later, 'x'])}]"
            found.append(f"{ends} : {' or '.join(f'({text})' for text in first)}")
    return found


def measure(work: Callable[[], object], repeat: int) -> float:
    """Median time of the work in seconds."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def construction_times(stages: int, depth: int, repeat: int) -> dict[str, float | None]:
    """Milliseconds of every construction on one pipeline, for all its temporary arrays."""
    times: dict[str, float | None] = {}
    for title, (order, construction) in COLUMNS.items():
        if order == "happens-before" and stages * stages * depth > _MOST_PIECES:
            times[title] = None
            continue
        analysis = Analysis.of(read_problem("pipeline.toml", pipeline(stages, depth, order)))
        assert len(analysis.foldable()) == stages - 1

        def work(analysis: Analysis = analysis, construction: Construction = construction) -> None:
            for name in analysis.foldable():
                analysis.conflicts(name, construction=construction)

        times[title] = 1000 * measure(work, repeat)
    return times


def whole_way(order: Order) -> dict[str, float]:
    """Seconds of reading, of the analysis with all conflicts, and of folding, for a pipeline of 50 stages."""
    text = pipeline(STAGES, 1, order)
    problem = read_problem("pipeline.toml", text)

    def analysis() -> None:
        found = Analysis.of(problem)
        for name in found.foldable():
            found.conflicts(name)

    return {
        "read": measure(lambda: read_problem("pipeline.toml", text), 1),
        "analysis": measure(analysis, 1),
        "analysis and fold": measure(lambda: fold(problem, budget=Budget(_SECONDS)), 1),
    }


def main() -> None:
    """Measure, print the tables, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs per entry, of which the median counts")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    arguments = parser.parse_args()
    others = [title for title in COLUMNS if title != BASELINE]
    table = Table("stages", "depth", f"{BASELINE} ms", *(f"{title} ÷" for title in others), box=None)
    rows: dict[str, dict[str, float | None]] = {}
    for stages, depth in SIZES:
        times = rows[f"{stages} stages, depth {depth}"] = construction_times(stages, depth, arguments.repeat)
        baseline = times[BASELINE]
        assert baseline is not None
        ratios = [times[title] for title in others]
        shown = ["–" if value is None else f"{value / baseline:.1f}" for value in ratios]
        table.add_row(str(stages), str(depth), f"{baseline:.1f}", *shown)
    Console(width=120).print(table)
    orders: tuple[Order, ...] = ("sequential", "doall", "happens-before")
    seconds = {order: whole_way(order) for order in orders}
    table = Table(f"{STAGES} stages, seconds", *seconds["sequential"], box=None)
    for order, row in seconds.items():
        table.add_row(order, *(f"{value:.2f}" for value in row.values()))
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"constructions": rows, "whole way": seconds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
