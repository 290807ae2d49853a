"""Time of every method on every example array, as a table.

    python benchmarks/methods.py [--repeat 5] [--budget 20] [--json FILE] [EXAMPLE ...]

The baseline is successive-modulo on the same array in the same run: its column is in milliseconds, the
others are ratios to it. A method's time includes the proofs of what it proposes; `auto` is all methods and
its own searches. Times are medians; work that takes longer than a second is timed once. A dash stands for a
method that finds nothing there.
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

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.methods import METHODS, Request
from arrayfold.select.choose import Candidate, ask, choose

BASELINE = "successive-modulo"
_ONCE_SECONDS = 1.0


def measure(work: Callable[[], Candidate], repeat: int) -> float | None:
    """Median time of the work in milliseconds; None if it finds no mapping."""
    times: list[float] = []
    while len(times) < repeat:
        start = time.perf_counter()
        try:
            found = work()
        except ArrayfoldError:
            return None
        times.append(time.perf_counter() - start)
        if found.mapping is None:
            return None
        if times[0] > _ONCE_SECONDS:
            break
    return 1000 * statistics.median(times)


def times_of(conflicts: Conflicts, repeat: int, seconds: float) -> dict[str, float | None]:
    """Milliseconds of every method on one array, and of `auto`; each has a budget of its own."""

    def request() -> Request:
        return Request.of(conflicts, {}, Budget(seconds))

    times = {
        method: measure(lambda method=method: ask(method, conflicts, request()), repeat) for method in METHODS
    }
    times["auto"] = measure(lambda: choose("auto", conflicts, request()), repeat)
    return times


def cells_of(times: dict[str, float | None]) -> list[str]:
    """The baseline in milliseconds, everything else as a ratio to it."""
    baseline = times[BASELINE]
    if baseline is None:
        return ["–"] * len(times)
    others = [milliseconds for method, milliseconds in times.items() if method != BASELINE]
    ratios = ["–" if milliseconds is None else f"{milliseconds / baseline:.1f}" for milliseconds in others]
    return [f"{baseline:.1f}", *ratios]


def main() -> None:
    """Measure, print the table, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("examples", nargs="*", type=Path, help="problem files; default: all of examples/")
    parser.add_argument("--repeat", type=int, default=5, help="runs per method, of which the median counts")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds that one run may take")
    parser.add_argument("--json", type=Path, help="write the milliseconds to this file, too")
    arguments = parser.parse_args()
    paths: list[Path] = arguments.examples or sorted(Path("examples").glob("*.toml"))
    others = [f"{method} ÷" for method in (*METHODS, "auto") if method != BASELINE]
    table = Table("example", "array", f"{BASELINE} ms", *others, box=None)
    rows: dict[str, dict[str, float | None]] = {}
    for path in paths:
        analysis = Analysis.of(read(path))
        for name in analysis.foldable():
            times = times_of(analysis.conflicts(name), arguments.repeat, arguments.budget)
            rows[f"{path.stem}/{name}"] = times
            table.add_row(path.stem, name, *cells_of(times))
    Console(width=180).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
