"""Processor seconds of every stage of a fold, and its memory, as a table.

    python benchmarks/stages.py [--json FILE] [--than FILE] [PROGRAM ...]

A program is a file with the options of `arrayfold fold`, as one word: "examples/harris.c --fuse". Each is
folded by a process of its own, and where there is C its code is written and executed beside the original. A
stage is the time in its functions without those of other stages; `rest` is imports, printing and whatever has
no name. Time of processes that are waited for counts. With `--than` the total of another run stands beside.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

STAGES = (
    "read",
    "order",
    "dataflow",
    "conflicts",
    "differences",
    "bound",
    "methods",
    "judge",
    "cases",
    "code",
)
PROGRAMS = (
    "examples/blur.c",
    "examples/harris.c",
    "examples/lbm-d2q9.c",
    "examples/jacobi-1d-tiled.c",
    "examples/jacobi-3d.c",
    "examples/fdtd-2d.c",
    "examples/blur-tiled.c",
    "examples/blur-tiled.toml",
    "examples/harris-corner-tiled.toml",
    "examples/lbm-d3q27.toml",
    "examples/heat-swap.c",
    "examples/harris.c --fuse cells --tile 32x32 --local 2",
    "examples/heat-2d.c --mode reallocate --share cells",
    "examples/unsharp.c --share auto",
    "examples/jacobi-bands.c --local b",
    "benchmarks/kernels/double-buffer.c",
    "benchmarks/kernels/harris-tiled.c --local 2",
    "benchmarks/kernels/lbm-d2q9-bands.c --local b --budget 300",
)


class Clock:
    """Processor seconds by stage; what is inside of another stage counts for the inner one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys((*STAGES, "rest"), 0.0)
        self._running = ["rest"]
        self._since = 0.0

    def switch(self, stage: str | None) -> None:
        """Go on with a stage, or with the one before if there is none."""
        now = _used()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now
        if stage is None:
            self._running.pop()
        else:
            self._running.append(stage)

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose time is that of a stage."""

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            self.switch(stage)
            try:
                return function(*given, **named)
            finally:
                self.switch(None)

        return call


def _used() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def functions_of_stages() -> dict[str, list[Any]]:
    """The functions that a stage consists of, loaded."""
    from arrayfold.bounds.moments import find_lower_bound
    from arrayfold.codegen.write import write_c
    from arrayfold.conflicts.conflicts import conflicts_from_pairs
    from arrayfold.conflicts.liveness import given_conflicts
    from arrayfold.frontends.files import read_all
    from arrayfold.judge.verify import verify
    from arrayfold.order.dataflow import (
        certain_flows,
        find_dataflow,
        find_flows,
        undefined_reads,
        value_flows,
    )
    from arrayfold.order.events import order_of
    from arrayfold.select.cases import find_cases, settled
    from arrayfold.select.policy import best_for_loops
    from arrayfold.validation.subjects import validate_code

    return {
        "read": [read_all],
        "order": [order_of],
        "dataflow": [certain_flows, find_dataflow, find_flows, undefined_reads, value_flows],
        "conflicts": [given_conflicts],
        "differences": [conflicts_from_pairs],
        "bound": [find_lower_bound],
        "methods": [best_for_loops],
        "judge": [verify],
        "cases": [find_cases, settled],
        "code": [write_c, validate_code],
    }


def instrument(clock: Clock) -> None:
    """Let the clock run in the functions of all stages, wherever they are used."""
    for name in ("cli.fold", "fold.arrays", "fold.bands", "fold.shared", "fold.tiles"):
        import_module(f"arrayfold.{name}")
    from arrayfold.conflicts.liveness import Liveness
    from arrayfold.fold.result import FoldResult

    timed = {
        id(function): clock.timed(stage, function)
        for stage, functions in functions_of_stages().items()
        for function in functions
    }
    for name, module in list(sys.modules.items()):
        if name.startswith("arrayfold"):
            for key, value in list(vars(module).items()):
                if id(value) in timed:
                    setattr(module, key, timed[id(value)])
    for owner, method, stage in ((Liveness, "conflicts", "conflicts"), (FoldResult, "region", "code")):
        setattr(owner, method, clock.timed(stage, getattr(owner, method)))


def measure_here(program: list[str]) -> dict[str, float]:
    """Fold a program in this process, which ends afterwards."""
    from arrayfold.base import deadline
    from arrayfold.cli.main import app, with_bare_options

    clock = Clock()
    instrument(clock)
    # Work in processes of their own would be seconds without a name.
    deadline._is_child = True  # pyright: ignore[reportPrivateUsage]
    code = ["-o", "-"] if program[0].endswith(".c") else []
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    with suppress(SystemExit):
        app(args=with_bare_options(["fold", *program, "--quiet", *code]))
    clock.switch("rest")
    return clock.seconds


def measure(program: str) -> dict[str, float]:
    """Seconds by stage, and the megabytes of the largest process."""
    command = [sys.executable, __file__, "--one", program]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    lines = child.stdout.read().splitlines()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    row: dict[str, float] = json.loads(lines[-1]) if lines else {}
    return {**row, "total": used.ru_utime + used.ru_stime, "MB": used.ru_maxrss / 1024}


def main() -> None:
    """Measure, print the table, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "programs", nargs="*", help="files with options of fold; default: a list of slow ones"
    )
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    parser.add_argument("--than", type=Path, help="numbers to stand beside")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        out = sys.stdout
        seconds = measure_here(shlex.split(arguments.one))
        print(json.dumps(seconds), file=out, flush=True)
        os._exit(0)
    before: dict[str, dict[str, float]] = json.loads(arguments.than.read_text()) if arguments.than else {}
    columns = (*STAGES, "rest", "total", "MB")
    beside = ("before", "MB before") if before else ()
    table = Table("program", *columns, *beside, box=None, title="processor seconds")
    rows: dict[str, dict[str, float]] = {}
    for program in arguments.programs or PROGRAMS:
        row = rows[program] = measure(program)
        shown = [f"{row.get(name, 0.0):.{0 if name == 'MB' else 2}f}" for name in columns]
        old = before.get(program)
        shown += [f"{old['total']:.2f}", f"{old['MB']:.0f}"] if old else [""] * len(beside)
        table.add_row(program, *shown)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
