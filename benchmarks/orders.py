"""What an order is worth: programs as users write them, folded with the options of the command line.

    python benchmarks/orders.py [--rounds 3] [--options "--fuse"] [--json FILE] [PROGRAM ...]

Each program is folded by `arrayfold fold FILE --order auto` (or other options) at each size, and timed beside
its original: compiled with -O3 -march=native, warm, in turns, the least of several starts; memory that a
program allocates keeps its pages between calls. A ratio is the time of the original over that of the folded
program, so more is faster. The command of each line is printed with it.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arrayfold.frontends import read
from arrayfold.program.model import Program
from arrayfold.run.timing import time_versions

FOLDER = Path(__file__).parent / "orders"


@dataclass(frozen=True)
class Case:
    """A program, the arrays that nobody needs afterwards, and sizes: in caches, and beyond them."""

    name: str
    temporaries: tuple[str, ...]
    sizes: tuple[dict[str, int], ...]


_HARRIS = ("ix", "iy", "xx", "xy", "yy", "sxx", "sxy", "syy")
_SQUARES = ({"h": 200, "w": 200}, {"h": 1000, "w": 1000}, {"h": 4000, "w": 4000})
CASES = (
    Case("blur", ("tmp",), _SQUARES),
    Case("gauss", ("tmp",), _SQUARES),
    Case("unsharp", ("rows", "blurred", "sharp"), _SQUARES),
    Case("harris", _HARRIS, _SQUARES),
    Case("heat", (), ({"t": 50, "n": 200}, {"t": 5, "n": 3000})),
    Case("smith-waterman", ("s",), ({"n": 500, "m": 500}, {"n": 5000, "m": 5000})),
    Case("attention", ("s",), ({"n": 256, "d": 64}, {"n": 2048, "d": 64})),
    Case(
        "two-mm",
        ("tmp",),
        ({"ni": 100, "nj": 100, "nk": 100, "nl": 100}, {"ni": 500, "nj": 500, "nk": 500, "nl": 500}),
    ),
)


def command_of(case: Case, sizes: dict[str, int], options: str, out: str) -> list[str]:
    """The command that a user would type."""
    words = ["arrayfold", "fold", str(FOLDER / f"{case.name}.c"), *shlex.split(options), "--no-alias"]
    words += [word for name in case.temporaries for word in ("--temporary", name)]
    words += [word for name, value in sizes.items() for word in ("--param", f"{name}={value}")]
    return [*words, "-o", out, "--force"]


def measure(case: Case, sizes: dict[str, int], options: str, rounds: int) -> dict[str, object]:
    """One line of the table."""
    program = read(FOLDER / f"{case.name}.c")
    assert isinstance(program, Program)
    assert program.source is not None
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "folded.c")
        command = command_of(case, sizes, options, str(out))
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        if done.returncode or not out.exists():
            return {"program": case.name, "sizes": sizes, "failed": (done.stderr or done.stdout).strip()}
        order = next((line for line in done.stdout.splitlines() if line.startswith("order:")), "")
        versions = {"original": program.source.text.as_written, "folded": out.read_bytes()}
        timing = time_versions(program, versions, sizes, rounds=rounds)
    return {
        "program": case.name,
        "sizes": sizes,
        "order": order.removeprefix("order: ").split(",")[0],
        "original": timing.seconds["original"],
        "folded": timing.seconds["folded"],
        "ratio": timing.ratio("original", "folded"),
        "command": shlex.join(command_of(case, sizes, options, "out.c")),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="--order auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console(width=140)
    table = Table("program", "sizes", "order", "original", "folded", "ratio", box=None)
    lines: list[dict[str, object]] = []
    for case in CASES:
        if given.programs and case.name not in given.programs:
            continue
        for sizes in case.sizes:
            line = measure(case, sizes, given.options, given.rounds)
            lines.append(line)
            where = " ".join(f"{name}={value}" for name, value in sizes.items())
            if "failed" in line:
                table.add_row(case.name, where, f"failed: {line['failed']}")
            else:
                before, after, ratio = (float(str(line[key])) for key in ("original", "folded", "ratio"))
                times = f"{1e3 * before:.3f} ms", f"{1e3 * after:.3f} ms", f"{ratio:.2f}"
                table.add_row(case.name, where, str(line["order"]), *times)
    console.print(table)
    ratios = [float(str(line["ratio"])) for line in lines if "ratio" in line]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        console.print(f"geometric mean {mean:.2f}, least {min(ratios):.2f}")
    for line in lines:
        if "command" in line:
            console.print(str(line["command"]), soft_wrap=True)
    if given.json:
        given.json.write_text(json.dumps(lines, indent=2))


if __name__ == "__main__":
    main()
