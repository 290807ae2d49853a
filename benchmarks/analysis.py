"""Analysis time per example, split by stage, as a table.

    python benchmarks/analysis.py [--repeat 5] [--json FILE] [EXAMPLE ...]

The last two columns are ratios within the same run: time of the live × live and of the butterfly
construction divided by that of live × write, the default, which is the baseline. Times are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arrayfold.bounds.moments import find_lower_bound
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.judge.verify import verify
from arrayfold.methods import METHODS, Request

STAGES: tuple[str, ...] = ("read", "order", "conflicts", "methods", "proof", "bound")


def measure(work: Callable[[], object], repeat: int) -> float:
    """Median time of the work in milliseconds."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def stages_of(path: Path, repeat: int) -> dict[str, float | None]:
    """Milliseconds of every stage, summed over the arrays of one example."""
    problem = read(path)
    analysis = Analysis.of(problem)
    row: dict[str, float | None] = dict.fromkeys(STAGES, 0.0)
    row["read"] = measure(lambda: read(path), repeat)
    row["order"] = measure(lambda: Analysis.of(problem), repeat)
    others = {"live-live": 0.0, "butterfly": 0.0}
    totals = dict.fromkeys(STAGES[2:], 0.0)
    for name in analysis.foldable():
        conflicts = analysis.conflicts(name)
        request = Request.of(conflicts, {})
        mappings = [mapping for method in METHODS.values() for mapping in method.find(conflicts, request)]
        totals["conflicts"] += measure(lambda name=name: analysis.conflicts(name), repeat)
        totals["methods"] += measure(
            lambda c=conflicts, r=request: [list(method.find(c, r)) for method in METHODS.values()], repeat
        )
        totals["proof"] += measure(lambda c=conflicts, ms=mappings: [verify(c, m) for m in ms], repeat)
        totals["bound"] += measure(lambda c=conflicts: find_lower_bound(c), repeat)
        if analysis.liveness is not None and analysis.liveness.order.is_total:
            for construction in ("live-live", "butterfly"):
                others[construction] += measure(
                    lambda n=name, c=construction: analysis.conflicts(n, construction=c), repeat
                )
    row.update(totals)
    for construction, milliseconds in others.items():
        row[construction] = milliseconds / totals["conflicts"] if milliseconds else None
    return row


def main() -> None:
    """Measure, print the table, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("examples", nargs="*", type=Path, help="problem files; default: all of examples/")
    parser.add_argument("--repeat", type=int, default=5, help="runs per stage, of which the median counts")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    arguments = parser.parse_args()
    paths: list[Path] = arguments.examples or sorted(Path("examples").glob("*.toml"))
    columns = (*STAGES, "live-live", "butterfly")
    table = Table(*("example", *STAGES, "live-live ÷", "butterfly ÷"), box=None, title="milliseconds")
    rows: dict[str, dict[str, float | None]] = {}
    for path in paths:
        row = rows[path.stem] = stages_of(path, arguments.repeat)
        shown = [row[key] for key in columns]
        table.add_row(path.stem, *("" if value is None else f"{value:.1f}" for value in shown))
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
