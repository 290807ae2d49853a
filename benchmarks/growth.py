"""How the time of a fold grows with the program, as a table with fitted exponents.

    python benchmarks/growth.py [--stages 10,30,100,300,1000] [--budget SECONDS] [--json FILE] [MODE ...]

A chain of stencil stages, each a loop of its own that reads three points of the array before, is folded by
the command with different options. The exponent is the slope of a line through the logarithms of stages and
processor seconds, from 100 stages on, where what the command takes for itself no longer counts. The last
program is like the physics of a weather model: many short statements on columns, under conditions on data.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

MODES = {
    "fold": "",
    "fused": "--fuse rows",
    "reallocated": "--mode reallocate",
    "shared": "--share auto",
}
_FIRST_FITTED = 100
_PHYSICS = (600, 100)


def chain(stages: int) -> str:
    """C with a stage after another one; all arrays but the last are temporary."""
    names = [*(f"a{k}" for k in range(stages - 1)), "out"]
    lines = ["void chain(int N, const double in[restrict N], double out[restrict N])", "{"]
    lines += [f"    double {name}[N];" for name in names[:-1]]
    lines.append("#pragma scop")
    for k, (before, name) in enumerate(zip(["in", *names], names, strict=False), start=1):
        lines.append(f"    for (int i = {k}; i < N - {k}; i++)")
        lines.append(f"        {name}[i] = {before}[i - 1] + {before}[i] + {before}[i + 1];")
    return "\n".join([*lines, "#pragma endscop", "}", ""])


def physics(statements: int, arrays: int) -> str:
    """C with columns of temporaries, each of which is written in both branches of conditions on data."""
    lines = ["void physics(int N, const double in[restrict N], double out[restrict N])", "{"]
    lines += [f"    double t{k}[N];" for k in range(arrays)]
    lines += ["#pragma scop", "    for (int i = 0; i < N; i++) {"]
    each = statements // (3 * arrays)
    for k in range(arrays):
        before = f"t{k - 1}[i]" if k else "in[i]"
        lines.append(f"        t{k}[i] = {before} * 0.5;")
        for step in range(each):
            lines.append(f"        if (in[i] > {step}.{k}) {{")
            lines.append(f"            t{k}[i] = t{k}[i] + {before};")
            lines.append(f"        }} else {{\n            t{k}[i] = t{k}[i] - {step};\n        }}")
    lines += [f"        out[i] = t{arrays - 1}[i];", "    }"]
    return "\n".join([*lines, "#pragma endscop", "}", ""])


def seconds_of(text: str, options: str) -> dict[str, Any]:
    """Processor seconds, megabytes of the largest process, and how many arrays became smaller."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.c"
        file.write_text(text)
        command = [sys.executable, "-m", "arrayfold", "fold", str(file), "--json", "--jobs", "1"]
        child = subprocess.Popen(
            [*command, *shlex.split(options)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert child.stdout is not None
        output = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    arrays: list[dict[str, str]] = json.loads(output)["arrays"] if output else []
    smaller = sum(array["size"] != array["original_size"] for array in arrays)
    return {
        "seconds": used.ru_utime + used.ru_stime,
        "MB": used.ru_maxrss / 1024,
        "arrays": len(arrays),
        "smaller": smaller,
    }


def exponent(seconds: dict[int, float]) -> float | None:
    """The slope of the least squares line through the logarithms."""
    points = [(math.log(k), math.log(value)) for k, value in seconds.items() if k >= _FIRST_FITTED]
    if len(points) < 2:
        return None
    x, y = (sum(one) / len(points) for one in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def main() -> None:
    """Measure, print the table, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("modes", nargs="*", help=f"of {', '.join(MODES)} and physics; default: all")
    parser.add_argument("--stages", default="10,30,100,300,1000", help="lengths of the chain")
    parser.add_argument("--budget", default="60", help="what each fold may take, in seconds")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    arguments = parser.parse_args()
    stages = [int(one) for one in arguments.stages.split(",")]
    chosen: list[str] = arguments.modes or [*MODES, "physics"]
    budget = f"--budget {arguments.budget}"
    rows: dict[str, dict[str, Any]] = {}
    table = Table("seconds", *map(str, stages), "exponent", "MB", "smaller", box=None)
    for mode in chosen:
        if mode == "physics":
            continue
        found = {k: seconds_of(chain(k), f"{MODES[mode]} {budget}") for k in stages}
        rows[mode] = {str(k): one for k, one in found.items()}
        slope = exponent({k: one["seconds"] for k, one in found.items()})
        shown = [f"{one['seconds']:.2f}" for one in found.values()]
        most = max(one["MB"] for one in found.values())
        smaller = ", ".join(f"{one['smaller']}/{one['arrays']}" for one in found.values())
        table.add_row(mode, *shown, "" if slope is None else f"{slope:.2f}", f"{most:.0f}", smaller)
    console = Console(width=120)
    console.print(table)
    if "physics" in chosen:
        statements, arrays = _PHYSICS
        found = rows["physics"] = seconds_of(physics(statements, arrays), budget)
        words = f"{found['smaller']} of {found['arrays']} arrays became smaller"
        console.print(f"physics: {found['seconds']:.2f} s, {found['MB']:.0f} MB; {words}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
