"""One memory for several arrays: cells, time to find it, and speed of the C, as a table.

    python benchmarks/sharing.py [--runs 3] [--json FILE]

The baseline of the time is folding every array for itself, in the same run. The baseline of the speed is the
original program: the ratio is its time divided by that of the program with one memory, medians of runs in
turns, both compiled with -O3 -march=native. Whether the results are equal is checked bit for bit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Share
from arrayfold.exact.formula import Formula
from arrayfold.fold.arrays import fold, fold_shared
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.reallocation import reallocate
from arrayfold.program.model import Program
from fast_versions import Version
from folded_code import Measured, build, run


@dataclass(frozen=True)
class Case:
    """A program and how its arrays share."""

    label: str
    text: str
    share: Share
    sizes: Mapping[str, int]
    is_reallocated: bool = False


def chain(stages: int) -> str:
    """Stages of a stencil, each into an array of its own."""
    names = ["in", *(f"s{k}" for k in range(1, stages)), "out"]
    loops = "".join(
        f"    for (int i = 0; i < N; i++)\n        for (int j = 0; j < N; j++)\n            {new}[i][j] = "
        f"{old}[i][j] + (i > 0 ? {old}[i - 1][j] : 0) + (i < N - 1 ? {old}[i + 1][j] : 0);\n"
        for old, new in itertools.pairwise(names)
    )
    arrays = ", ".join(f"{name}[N][N]" for name in names[1:-1])
    head = "void chain(int N, const float in[restrict N][N], float out[restrict N][N])"
    return f"{head}\n{{\n    float {arrays};\n#pragma scop\n{loops}#pragma endscop\n}}\n"


def example(name: str) -> str:
    """The text of an example."""
    return Path(f"examples/{name}.c").read_text()


CASES = [
    Case("heat-1d", example("heat-1d"), "cells", {"T": 2000, "N": 20000}, is_reallocated=True),
    Case("heat-2d", example("heat-2d"), "cells", {"T": 20, "N": 1000}, is_reallocated=True),
    Case("heat-3d", example("heat-3d"), "cells", {"T": 10, "N": 100}, is_reallocated=True),
    Case("smoother, 5 stages", example("smoother"), "cells", {"N": 1500}),
    Case("unsharp", example("unsharp"), "auto", {"H": 1500, "W": 1500}),
    Case("chain, 30 stages", chain(30), "cells", {"N": 700}),
    Case("chain, 30 stages, buffers", chain(30), "arrays", {"N": 700}),
    Case("chain, 30 stages, offsets", chain(30), "offsets", {"N": 700}),
]


def found(case: Case) -> tuple[Program, FoldResult, float, float]:
    """The program, the fold, its seconds, and those of folding every array for itself."""
    (program,) = read_c("kernel.c", case.text.encode())
    start = time.perf_counter()
    fold(program, budget=Budget(120))
    alone = time.perf_counter() - start
    start = time.perf_counter()
    result = fold_shared(
        reallocate(program) if case.is_reallocated else program, case.share, budget=Budget(120)
    )
    return program, result, time.perf_counter() - start, alone


def measure(case: Case, runs: int) -> dict[str, Any]:
    """Cells, seconds and speed of a case."""
    program, result, seconds, alone = found(case)
    assert result.footprint is not None
    codes = {"original": case.text, "shared": result.to_c()}
    times = {name: Measured() for name in codes}
    with tempfile.TemporaryDirectory(prefix="arrayfold-bench-") as folder:
        versions = [Version(name, code.encode(), Formula.constant(0)) for name, code in codes.items()]
        executables = {one.label: build(Path(folder), one, program, case.sizes)[0] for one in versions}
        for _ in range(runs):
            for name, executable in executables.items():
                run(executable, times[name])
    assert len(times["original"].hashes | times["shared"].hashes) == 1, f"{case.label}: results differ"
    bound = result.footprint.bound
    return {
        "program": case.label,
        "before": str(result.footprint.before),
        "after": str(result.footprint.after),
        "live": "unknown" if bound is None or bound.formula is None else str(bound.formula),
        "seconds": seconds,
        "to folding alone": seconds / alone,
        "speed": times["original"].median / times["shared"].median,
    }


def main() -> None:
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [measure(case, options.runs) for case in CASES]
    table = Table("program", "cells before", "after", "live at once", "seconds", "to folding alone", "speed")
    for row in rows:
        table.add_row(
            *(row[key] for key in ("program", "before", "after", "live")),
            *(f"{row[key]:.2f}" for key in ("seconds", "to folding alone", "speed")),
        )
    Console(width=160).print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
