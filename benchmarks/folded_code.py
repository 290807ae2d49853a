"""Speed of folded code: programs of BBC16 Table II and Jacobi iterations, each from one C file.

    python benchmarks/folded_code.py [--scale 0.5] [--runs 3] [--json FILE] [--figure FILE] [PROGRAM ...]
    python benchmarks/folded_code.py --halide blur unsharp harris
    python benchmarks/folded_code.py --processes 4 --memory 300 harris

Four programs each: unfolded, folded by successive modulo, the smallest mapping with its modulo in subscripts
(naive), and the same mapping as arrayfold writes it. Where the baseline is two time steps or has ivdep, it is
written by arrayfold, too, so that loops are as fast and only the storage differs.

All are compiled with -O3 -march=native and run in turns, on one thread or, where the name says so, two. A
ratio is the time of the named baseline divided by that of the program, so more is faster; times are medians
of the runs, and the spread is that of the ratios of single runs. Outputs must be equal bit for bit. --scale
shrinks or grows the sizes. Programs whose temporaries take more than 1 GiB are compiled and not run; programs
that take twice as long as the baseline run once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from arrayfold.run.driver import Driver
from arrayfold.run.driver_support import support_text
from fast_kernels import KERNELS, Case, Kernel
from fast_table import draw, markdown_of, table_of
from fast_versions import Version, all_versions
from halide_peer import seconds_of
from inner_loops import dividing_loops

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-w")
_REPEAT = 2
_LEAST_SECONDS = 0.3
_MOST_BYTES = 1 << 30
_FAR_SLOWER = 2.0
_SEED = 12345

_TIMING = """
#include <stdio.h>
#include <time.h>
static double bench_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""

# What a version allocates in every call keeps its pages, as arrays on the stack do.
_KEEP_PAGES = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


@dataclass
class Measured:
    """Times of one run each in seconds, what the outputs hash to, and the peak of memory."""

    times: list[float] = field(default_factory=list[float])
    hashes: set[str] = field(default_factory=set[str])
    peak: int = 0

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.times)


def build(
    folder: Path, version: Version, program: Program, sizes: Mapping[str, int], threads: int = 1
) -> tuple[Path, int, float]:
    """The executable of a version, how many loops the compiler says it vectorised, and its seconds."""
    label = version.label.replace(" ", "-")
    kernel = folder / f"{label}.c"
    kernel.write_bytes(version.code)
    text = _TIMING + Driver(program).text(str(kernel), sizes, _timed)
    driver = folder / f"{label}-driver.c"
    support = folder / f"{label}-support.c"
    driver.write_text(text)
    support.write_text(support_text(_SEED))
    assert program.source is not None
    home = Path(program.source.text.file).resolve().parent
    executable = folder / label
    flags = [*FLAGS, "-fopt-info-vec", *(["-fopenmp"] if threads > 1 else [])]
    command = [str(find_compiler()), *flags, f"-iquote{home}", str(driver), str(support)]
    begin = time.perf_counter()
    done = subprocess.run(
        [*command, "-o", str(executable), "-lm"], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - begin
    vectorised = {
        line.split(": ")[0]
        for line in done.stderr.splitlines()
        if "loop vectorized" in line and kernel.name in line
    }
    return executable, len(vectorised), seconds


def _timed(call: str) -> list[str]:
    """One call to warm up, then the best of a few, and of more if they are short."""
    return [
        "double bench_best = 1e30, bench_total = 0;",
        f"for (int bench_k = 0; bench_k <= {_REPEAT} || bench_total < {_LEAST_SECONDS}; bench_k++) {{",
        "  const double bench_start = bench_now();",
        f"  {call}",
        "  const double bench_time = bench_now() - bench_start;",
        "  bench_total += bench_time;",
        "  if (bench_k && bench_time < bench_best) bench_best = bench_time;",
        "}",
        'fprintf(stderr, "bench-seconds %.9g\\n", bench_best);',
    ]


def _with_any_stack() -> None:
    """Unfolded arrays are on the stack."""
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))


def run(executable: Path, into: Measured, threads: int = 1) -> None:
    """Run once and keep what it prints."""
    done = subprocess.run(
        [str(executable)],
        capture_output=True,
        check=True,
        preexec_fn=_with_any_stack,
        env={**os.environ, **_KEEP_PAGES, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"},
    )
    into.times += [float(found) for found in re.findall(rb"bench-seconds (\S+)", done.stderr)]
    into.hashes.add(hashlib.sha256(done.stdout).hexdigest())
    peaks = re.findall(rb"arrayfold-peak\s+(\d+)", done.stderr)
    into.peak = max([into.peak, *map(int, peaks)])


def _shape(sizes: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns of an image."""
    values = list(sizes.values())
    return values[0], values[-1]


def measure(
    kernel: Kernel,
    case: Case,
    versions: Sequence[Version],
    scale: float,
    runs: int,
    *,
    with_halide: bool = False,
) -> list[dict[str, Any]]:
    """A row for each baseline: all versions of a kernel in turns, then Halide if it is asked for."""
    program = kernel.program()
    sizes = kernel.at(case, scale)
    used = {version.label: version.temporaries.at(sizes) for version in versions}
    found = {label: Measured() for label, size in used.items() if size <= _MOST_BYTES}
    baselines = [found[label] for label in case.by_hand]
    with (
        tempfile.TemporaryDirectory(prefix="arrayfold-bench-") as folder,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):

        def compiled(version: Version) -> tuple[Path, int, float]:
            return build(Path(folder), version, program, sizes, kernel.threads)

        labels = [version.label for version in versions]
        built = dict(zip(labels, pool.map(compiled, versions), strict=True))
        for _ in range(runs):
            for label, one in found.items():
                slowest = max((base.median for base in baselines if base.times), default=0)
                if not (one.times and one.median > _FAR_SLOWER * slowest):
                    run(built[label][0], one, kernel.threads)
    halide = seconds_of(kernel.name, *_shape(sizes)) if with_halide else None
    hashes = {value for one in found.values() for value in one.hashes}
    common = {
        "program": kernel.name,
        "threads": kernel.threads,
        "sizes": sizes,
        "equal": len(hashes) == 1,
        "halide_milliseconds": None if halide is None else 1e3 * halide,
        "milliseconds": {label: 1e3 * one.median for label, one in found.items()},
        "bytes": used,
        "peak_kib": {label: one.peak for label, one in found.items()},
        "vectorised_loops": {label: loops for label, (_, loops, _) in built.items()},
        "compile_seconds": {label: seconds for label, (_, _, seconds) in built.items()},
        "lines": {version.label: version.code.count(b"\n") for version in versions},
        "dividing_loops": {
            version.label: len(dividing_loops(version.code.decode("utf-8", "surrogateescape")))
            for version in versions
        },
    }
    return [
        {**common, "baseline": label, "by_hand": by_hand, **_ratios(found, found[label])}
        for label, by_hand in case.by_hand.items()
    ]


def _ratios(found: Mapping[str, Measured], base: Measured) -> dict[str, Any]:
    ratios = {
        label: sorted(b / t for b, t in zip(base.times, one.times, strict=False))
        for label, one in found.items()
    }
    return {
        "ratio": {label: base.median / one.median for label, one in found.items()},
        "spread": {label: [values[0], values[-1]] for label, values in ratios.items()},
    }


def together(
    kernel: Kernel, case: Case, versions: Sequence[Version], scale: float, count: int, mebibytes: int
) -> dict[str, str]:
    """Several processes at once under a limit of memory (BBC16 Tables V and VI): seconds, or a failure."""
    program = kernel.program()
    sizes = kernel.at(case, scale)
    found: dict[str, str] = {}

    def limited() -> None:
        _with_any_stack()
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))

    with tempfile.TemporaryDirectory(prefix="arrayfold-bench-") as folder:
        for version in versions:
            executable, *_ = build(Path(folder), version, program, sizes)
            begin = time.perf_counter()
            running = [
                subprocess.Popen(
                    [str(executable)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    preexec_fn=limited,
                )
                for _ in range(count)
            ]
            failed = sum(process.wait() != 0 for process in running)
            seconds = time.perf_counter() - begin
            found[version.label] = f"{failed} of {count} out of memory" if failed else f"{seconds:.2f} s"
    return found


def main() -> int:
    """Measure, print the table, and write JSON and the figure where they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names; default: all")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the sizes")
    parser.add_argument("--runs", type=int, default=3, help="rounds in which every version runs once")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    parser.add_argument("--halide", action="store_true", help="measure Halide, too, if it is installed")
    parser.add_argument("--processes", type=int, default=0, help="as many at once, under --memory each")
    parser.add_argument("--memory", type=int, default=256, help="MiB that each of the processes may use")
    parser.add_argument("--markdown", type=Path, help="write the table as the documentation has it")
    parser.add_argument("--figure", type=Path, help="draw the ratios: .svg, .png or .pdf")
    arguments = parser.parse_args()
    console = Console(width=210)
    rows: list[dict[str, Any]] = []
    names = arguments.programs or [one.name for one in KERNELS]
    kernels = [one for one in KERNELS if one.name in names]
    start = time.perf_counter()
    folding = track(all_versions(kernels), "folding", len(kernels), console=console, transient=True)
    versions_by_name = dict(folding)
    console.print(f"folded in {time.perf_counter() - start:.0f} s", style="dim")
    for kernel in kernels:
        versions = versions_by_name[kernel.name]
        for case in kernel.cases:
            if arguments.processes:
                found = together(
                    kernel, case, versions, arguments.scale, arguments.processes, arguments.memory
                )
                console.print(f"{kernel.name} {dict(case.sizes)}: {found}")
                continue
            new = measure(
                kernel, case, versions, arguments.scale, arguments.runs, with_halide=arguments.halide
            )
            rows.extend(new)
            console.print(table_of(new))
        console.print(f"{time.perf_counter() - start:.0f} s", style="dim")
    if arguments.processes:
        return 0
    console.print(table_of(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.markdown:
        arguments.markdown.write_text(markdown_of(rows))
    if arguments.figure:
        draw(rows, arguments.figure)
    is_good = all(row["equal"] and not row["dividing_loops"]["arrayfold"] for row in rows)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
