"""What an order is worth: programs as users write them, folded with the options of the command line.

    python benchmarks/orders.py [--options "--order auto"] [--rounds 3] [--processor 1]
                                [--json FILE] [PROGRAM ...]

Each program is folded by `arrayfold fold FILE --order auto` (or other options) at each size. It is timed
beside its original and beside what one writes by hand with care (`orders/by_hand`: rows fused, lines in a
ring, borders apart, values in registers): compiled with -O3 -march=native, on the same data, warm, in turns,
the least processor time of several starts (wall time where threads are used); memory that a program allocates
keeps its pages between calls. A ratio is the time of the original over that of the other program, so more is
faster. The outputs of all three are compared first. Nobody gives a schedule: the command of each line is
printed.
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
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arrayfold.frontends import read
from arrayfold.program.model import Program
from arrayfold.run.compare import Setting, compare_runs
from arrayfold.run.timing import time_versions

FOLDER = Path(__file__).parent / "orders"
# At this size, or a little above it, outputs are compared.
_SMALL = 23


@dataclass(frozen=True)
class Case:
    """A program and sizes: in caches, and beyond them."""

    name: str
    sizes: tuple[dict[str, int], ...]

    @property
    def file(self) -> Path:
        """The program as a user wrote it."""
        return FOLDER / f"{self.name}.c"

    @property
    def by_hand(self) -> bytes:
        """The same written by hand with care."""
        return (FOLDER / "by_hand" / f"{self.name}.c").read_bytes()

    def command(self, sizes: dict[str, int], options: str, out: str) -> list[str]:
        """The command that a user would type."""
        words = ["arrayfold", "fold", str(self.file), *shlex.split(options), "--no-alias"]
        words += [word for name, value in sizes.items() for word in ("--param", f"{name}={value}")]
        return [*words, "-o", out, "--force"]


def _squares(*lengths: int) -> tuple[dict[str, int], ...]:
    return tuple({"h": length, "w": length} for length in lengths)


_PICTURES = _squares(60, 200, 1000, 4000)
CASES = (
    *(Case(name, _PICTURES) for name in ("blur", "gauss", "unsharp", "harris", "edges", "tone")),
    Case("pyramid", _squares(100, 500, 2000)),
    Case("filters", ({"n": 4000}, {"n": 200_000}, {"n": 8_000_000})),
    Case("heat", ({"t": 50, "n": 200}, {"t": 10, "n": 1000}, {"t": 5, "n": 3000})),
    Case("smith-waterman", ({"n": 500, "m": 500}, {"n": 5000, "m": 5000})),
    Case("attention", ({"n": 256, "d": 64}, {"n": 2048, "d": 64})),
    Case("two-mm", tuple(dict.fromkeys(("ni", "nj", "nk", "nl"), size) for size in (100, 256, 500))),
)


@dataclass(frozen=True)
class Measured:
    """Seconds of one call at one size, by version; or why there are none."""

    case: Case
    sizes: dict[str, int]
    command: str
    order: str = ""
    seconds: dict[str, float] | None = None
    failure: str = ""

    def ratio(self, version: str) -> float:
        """The time of the original over that of a version."""
        assert self.seconds is not None
        return self.seconds["original"] / self.seconds[version]

    def as_json(self) -> dict[str, object]:
        """What --json writes."""
        found: dict[str, object] = {"program": self.case.name, "sizes": self.sizes, "command": self.command}
        if self.seconds is None:
            return {**found, "failure": self.failure}
        return {**found, "order": self.order, "seconds": self.seconds}


@contextmanager
def alone_on(processor: int | None) -> Generator[None]:
    """What runs inside does so on one processor, before everything else there if that is allowed."""
    if processor is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure(case: Case, sizes: dict[str, int], options: str, rounds: int, processor: int | None) -> Measured:
    """One line of the table."""
    program = read(case.file)
    assert isinstance(program, Program)
    assert program.source is not None
    shown = shlex.join(case.command(sizes, options, "out.c"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "folded.c")
        command = [sys.executable, "-m", *case.command(sizes, options, str(out))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not out.exists():
            return Measured(case, sizes, shown, failure=(done.stderr or done.stdout).strip())
        folded = out.read_bytes()
    order = next((line for line in done.stdout.splitlines() if line.startswith("order:")), "as written")
    versions = {"original": program.source.text.as_written, "folded": folded, "by hand": case.by_hand}
    few = {name: min(value, _SMALL + k) for k, (name, value) in enumerate(sizes.items())}
    for name in ("folded", "by hand"):
        (compared,) = compare_runs(program, versions[name], [few], Setting())
        if not compared.is_equal:
            return Measured(case, sizes, shown, failure=f"{name}: other output at {few}")
    with alone_on(processor):
        timing = time_versions(program, versions, sizes, rounds=rounds)
    return Measured(case, sizes, shown, order.removeprefix("order: ").split(",")[0], dict(timing.seconds))


def _row(line: Measured) -> list[str]:
    where = " ".join(f"{name}={value}" for name, value in line.sizes.items())
    if line.seconds is None:
        return [line.case.name, where, f"failed: {line.failure}"]
    times = [f"{1e3 * seconds:.3f}" for seconds in line.seconds.values()]
    ours, theirs = line.ratio("folded"), line.ratio("by hand")
    return [line.case.name, where, line.order, *times, f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}"]


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="--order auto")
    parser.add_argument("--processor", type=int, help="the one that measured programs run on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console(width=150)
    columns = (
        "program",
        "sizes",
        "order",
        "original ms",
        "folded ms",
        "by hand ms",
        "ratio",
        "by hand",
        "ours/hand",
    )
    table = Table(*columns, box=None)
    lines: list[Measured] = []
    for case in CASES:
        if given.programs and case.name not in given.programs:
            continue
        for sizes in case.sizes:
            lines.append(measure(case, sizes, given.options, given.rounds, given.processor))
            table.add_row(*_row(lines[-1]))
    console.print(table)
    measured = [line for line in lines if line.seconds is not None]
    if measured:
        ours, theirs = ([line.ratio(name) for line in measured] for name in ("folded", "by hand"))
        beside = min(a / b for a, b in zip(ours, theirs, strict=True))
        console.print(f"geometric mean {_mean(ours):.2f}, by hand {_mean(theirs):.2f}")
        console.print(f"least {min(ours):.2f}, least beside the one by hand {beside:.2f}")
    for line in lines:
        console.print(line.command, soft_wrap=True)
    if given.json:
        given.json.write_text(json.dumps([line.as_json() for line in lines], indent=2))


if __name__ == "__main__":
    main()
