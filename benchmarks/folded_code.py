"""Speed of folded code: programs of BBC16 Table II and Jacobi iterations, each from one C file.

    python benchmarks/folded_code.py [--scale 0.5] [--runs 5] [--json FILE] [--figure FILE] [PROGRAM ...]
    python benchmarks/folded_code.py --halide blur unsharp harris
    python benchmarks/folded_code.py --processes 4 --memory 300 harris

Four programs each: unfolded, folded by successive modulo, the smallest mapping with its modulo in subscripts
(naive), and the same mapping as arrayfold writes it. Where the baseline is two time steps, that is written by
arrayfold, too, so that loops are the same and only the storage differs.

All are compiled with -O3 -march=native and run in turns, one thread. A ratio is the time of the named
baseline divided by that of the program, so more is faster; times are medians of the runs, and the spread is
that of the ratios of single runs. Outputs must be equal bit for bit. --scale shrinks or grows the sizes.
Programs whose temporaries take more than 4 GiB are compiled and not run.

lbm-d3q19 and lbm-d3q27 are measured only when they are named: folding and measuring them takes minutes.
"""

from __future__ import annotations

import argparse
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
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from arrayfold import fold, reorder
from arrayfold._budget import Budget
from arrayfold.codegen import Style
from arrayfold.driver import driver_text
from arrayfold.fold import Favor, fold_with
from arrayfold.fold_tiles import fold_in_tiles
from arrayfold.folded import FoldedArray, FoldResult
from arrayfold.formula import Formula
from arrayfold.frontends.c import read_c
from arrayfold.mapping import Mapping as StorageMapping
from arrayfold.program import Program
from arrayfold.runner import find_compiler
from halide_peer import seconds_of

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-w")
_REPEAT = 3
_LEAST_SECONDS = 0.3
_MOST_BYTES = 4 << 30
_SEED = 12345

_TIMING = """
#include <stdint.h>
#include <stddef.h>
#include <time.h>
static uint64_t bench_state = 1469598103934665603ULL;
static void bench_hash(const void *data, size_t bytes)
{
  const uint32_t *words = data;
  for (size_t k = 0; k < bytes / 4; k++)
    bench_state = (bench_state ^ words[k]) * 1099511628211ULL;
}
static double bench_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""


@dataclass(frozen=True)
class Kernel:
    """A program to measure.

    order     another order for the folded programs, as arguments of `reorder`
    baseline  the program that ratios refer to
    by_hand   the ratio that the fastest version written by hand had to that baseline, if one was written
    scaled    the sizes that --scale changes
    tile      the size of tiles, instead of the one in the file
    local     loops around tiles that have a buffer in our program, as `fold --local` says it
    favor     what our mappings favour, as `fold --favor` says it
    parallel  the iterator of the loop that two threads share; none for one thread
    seconds   what one fold may take
    is_long   it is measured only when it is named
    """

    name: str
    file: str
    sizes: Mapping[str, int]
    baseline: str
    by_hand: float | None
    order: Mapping[str, Any] = field(default_factory=dict[str, Any])
    scaled: Sequence[str] = ("N",)
    local: int = 0
    tile: int = 0
    favor: Favor = "size"
    parallel: str = ""
    seconds: float = 60.0
    is_long: bool = False

    @property
    def threads(self) -> int:
        """How many threads run it."""
        return 2 if self.parallel else 1

    def at(self, scale: float) -> dict[str, int]:
        """The sizes, those that may be scaled by a factor."""
        return {
            name: max(64, round(value * scale)) if name in self.scaled else value
            for name, value in self.sizes.items()
        }

    def budget(self) -> Budget:
        """The time for one fold."""
        return Budget(self.seconds)

    def program(self) -> Program:
        """The program of the file."""
        text = Path(self.file).read_bytes()
        if self.tile:
            text = text.replace(b"#define TILE 8", b"#define TILE %d" % self.tile)
        if self.parallel:
            loop = rb"^( *)(?=for \(int %b\b)" % self.parallel.encode()
            text = re.sub(loop, rb"#pragma omp parallel for\n\1", text, flags=re.MULTILINE)
        (program,) = read_c(self.file, text)
        return program


# Row by row: one loop blurs along the columns, one does the rest.
_UNSHARP_ROWS = "; ".join(
    f"S_{k}[y, x] -> [y, {place}]" for k, place in enumerate(("0, x, 0", "1, x, 0", "1, x, 1", "1, x, 2"))
)
# Derivatives and products of a row, then sums and the response of the row before.
_HARRIS_ROWS = "; ".join(
    f"S_{k}[y, x] -> [y, 0, x, {k}]" if k < 5 else f"S_{k}[y, x] -> [y + 1, 1, x, {k}]" for k in range(9)
)
_MODULO = "successive-modulo"
_TWO_STEPS = "two time steps"
_OWN = "benchmarks/kernels"
_TILED = "examples/blur-tiled.c"
KERNELS = (
    Kernel("blur", f"{_OWN}/blur.c", {"N": 8192}, _MODULO, 1.15),
    Kernel("blur", f"{_OWN}/blur.c", {"N": 8192}, "unfolded", 1.65),
    Kernel("jacobi-1d", f"{_OWN}/jacobi-1d.c", {"N": 4000, "T": 20000}, _MODULO, 1.9),
    Kernel("jacobi-1d", f"{_OWN}/jacobi-1d.c", {"N": 200_000, "T": 400}, _MODULO, 2.9),
    Kernel("jacobi-1d", f"{_OWN}/jacobi-1d.c", {"N": 16_000_000, "T": 40}, _MODULO, 2.1),
    Kernel("jacobi-2d", "examples/jacobi-2d.c", {"N": 400, "T": 200}, _MODULO, 1.6),
    Kernel("jacobi-2d", "examples/jacobi-2d.c", {"N": 2000, "T": 20}, _MODULO, 1.9),
    Kernel("jacobi-2d", "examples/jacobi-2d.c", {"N": 6000, "T": 20}, _MODULO, 1.5),
    Kernel("lbm-d2q9", f"{_OWN}/lbm-d2q9.c", {"N": 1024, "T": 10}, _MODULO, 1.6),
    Kernel(
        "unsharp",
        "examples/unsharp.c",
        {"H": 4096, "W": 4096},
        "unfolded",
        3.9,
        {"schedule": _UNSHARP_ROWS},
        ("H", "W"),
    ),
    Kernel("harris", f"{_OWN}/harris.c", {"N": 4096}, "unfolded", 4.7, {"schedule": _HARRIS_ROWS}),
    Kernel("blur-tiled-512", _TILED, {"N": 8192}, "unfolded", 1.24, local=2, tile=512),
    Kernel("blur-tiled-64", _TILED, {"N": 8192}, "unfolded", 1.26, local=2, tile=64),
    Kernel(
        "unsharp-tiled",
        f"{_OWN}/unsharp-tiled.c",
        {"H": 4096, "W": 4096},
        "unfolded",
        None,
        scaled=("H", "W"),
        local=2,
        tile=256,
    ),
    Kernel("harris-tiled", f"{_OWN}/harris-tiled.c", {"N": 4096}, "unfolded", None, local=2, tile=256),
    Kernel("diamond-tiles", f"{_OWN}/diamond-tiles.c", {"N": 8192, "T": 4000}, "unfolded", 4.6),
    Kernel("parallelogram-tiles", f"{_OWN}/parallelogram-tiles.c", {"N": 8192, "T": 4000}, "unfolded", 1.3),
    Kernel("blur-threads", f"{_OWN}/blur-strips.c", {"N": 8192}, "unfolded", 1.6, local=1, parallel="tx"),
    Kernel("blur-tiled-threads", _TILED, {"N": 8192}, "unfolded", 1.4, local=2, tile=512, parallel="tx"),
    Kernel(
        "unsharp-threads",
        f"{_OWN}/unsharp-tiled.c",
        {"H": 4096, "W": 4096},
        "unfolded",
        3.3,
        scaled=("H", "W"),
        local=2,
        tile=256,
        parallel="ty",
    ),
    *(
        Kernel(
            f"lbm-d3q{count}",
            f"{_OWN}/lbm-d3q{count}.c",
            {"N": 200, "T": 10},
            _TWO_STEPS,
            by_hand,
            favor="speed",
            seconds=1800.0,
            is_long=True,
        )
        for count, by_hand in ((19, 1.4), (27, 1.7))
    ),
)


@dataclass(frozen=True)
class Version:
    """One program: how it is called, its code, and the bytes of its temporaries."""

    label: str
    code: bytes
    temporaries: int


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


def versions_of(kernel: Kernel, program: Program, sizes: Mapping[str, int]) -> list[Version]:
    """The four programs of a kernel."""
    source = program.source
    assert source is not None
    ordered = reorder(program, budget=Budget(30), **kernel.order) if kernel.order else program
    smallest = fold(ordered, budget=kernel.budget(), favor=kernel.favor)
    ours = fold_in_tiles(ordered, kernel.local, budget=kernel.budget()) if kernel.local else smallest
    unfolded = sum(_bytes(array.original_size.at(sizes), program, array.name) for array in smallest)

    def version(label: str, result: FoldResult, style: Style) -> Version:
        region = result.region(None, style)
        used = sum(
            _bytes(item.mapping.size.at(sizes), region.program, item.mapping.array) for item in region.folds
        )
        return Version(label, result.to_c(style=style).encode("utf-8", "surrogateescape"), used)

    if kernel.baseline == _TWO_STEPS:
        two = {array.name: _two_steps(array) for array in smallest}
        folded = fold_with(ordered, two, budget=kernel.budget())
        simple = version(_TWO_STEPS, folded, "fast")
    else:
        folded = fold(ordered, method="successive-modulo", budget=kernel.budget())
        simple = version(_MODULO, folded, "readable")
    return [
        Version("unfolded", source.text.data, unfolded),
        simple,
        version("naive", smallest, "readable"),
        version("arrayfold", ours, "fast"),
    ]


def _two_steps(array: FoldedArray) -> StorageMapping:
    """The first dimension modulo two, the others as they are: what is written by hand most often."""
    rank = array.conflicts.array.rank
    rows = [[int(k == axis) for k in range(rank)] for axis in range(rank)]
    moduli = [Formula.constant(2), *(length for _, length in array.conflicts.box[1:])]
    return StorageMapping.of(array.name, array.conflicts.array.dimensions, rows, moduli)


def _bytes(cells: int, program: Program, array: str) -> int:
    assert program.source is not None
    return cells * max(1, program.source.variables[array].element.bits // 8)


def build(
    folder: Path, version: Version, program: Program, sizes: Mapping[str, int], threads: int = 1
) -> tuple[Path, int, float]:
    """The executable of a version, how many loops the compiler says it vectorised, and its seconds."""
    label = version.label.replace(" ", "-")
    kernel = folder / f"{label}.c"
    kernel.write_bytes(version.code)
    text = driver_text(str(kernel), program, sizes, _SEED, _timed)
    state = "static unsigned long long arrayfold_state"
    text = text.replace(state, f"{_TIMING}\n{state}", 1)
    text = re.sub(r"\bfwrite\((\w+), (sizeof \S+), (\w+), stdout\)", r"bench_hash(\1, \2 * \3)", text)
    peak = "  arrayfold_print_peak();"
    text = text.replace(peak, f'  printf("%016llx\\n", (unsigned long long)bench_state);\n{peak}')
    driver = folder / f"{label}-driver.c"
    driver.write_text(text)
    assert program.source is not None
    home = Path(program.source.text.file).resolve().parent
    executable = folder / label
    flags = [*FLAGS, "-fopt-info-vec", *(["-fopenmp"] if threads > 1 else [])]
    command = [str(find_compiler()), *flags, f"-iquote{home}", str(driver)]
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
        'printf("%.9g\\n", bench_best);',
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
        text=True,
        check=True,
        preexec_fn=_with_any_stack,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"},
    )
    seconds, value = done.stdout.split()
    into.times.append(float(seconds))
    into.hashes.add(value)
    peaks = re.findall(r"arrayfold-peak\s+(\d+)", done.stderr)
    into.peak = max([into.peak, *map(int, peaks)])


def _shape(sizes: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns of an image."""
    values = list(sizes.values())
    return values[0], values[-1]


def measure(kernel: Kernel, scale: float, runs: int, *, with_halide: bool = False) -> dict[str, Any]:
    """All versions of a kernel, in turns; after them Halide, if it is asked for and there."""
    problem = kernel.program()
    sizes = kernel.at(scale)
    versions = versions_of(kernel, problem, sizes)
    found = {version.label: Measured() for version in versions if version.temporaries <= _MOST_BYTES}
    vectorised: dict[str, int] = {}
    compiling: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="arrayfold-bench-") as folder:
        built: dict[str, Path] = {}
        for version in versions:
            label = version.label
            built[label], vectorised[label], compiling[label] = build(
                Path(folder), version, problem, sizes, kernel.threads
            )
        for _ in range(runs):
            for label, one in found.items():
                run(built[label], one, kernel.threads)
    halide = seconds_of(kernel.name, *_shape(sizes)) if with_halide else None
    hashes = {value for one in found.values() for value in one.hashes}
    base = found[kernel.baseline]
    ratios = {
        label: sorted(b / t for b, t in zip(base.times, one.times, strict=True))
        for label, one in found.items()
    }
    return {
        "program": kernel.name,
        "threads": kernel.threads,
        "sizes": sizes,
        "baseline": kernel.baseline,
        "equal": len(hashes) == 1,
        "halide_milliseconds": None if halide is None else 1e3 * halide,
        "by_hand": kernel.by_hand,
        "milliseconds": {label: 1e3 * one.median for label, one in found.items()},
        "ratio": {label: base.median / one.median for label, one in found.items()},
        "spread": {label: [values[0], values[-1]] for label, values in ratios.items()},
        "bytes": {version.label: version.temporaries for version in versions},
        "peak_kib": {label: one.peak for label, one in found.items()},
        "vectorised_loops": vectorised,
        "compile_seconds": compiling,
        "lines": {version.label: version.code.count(b"\n") for version in versions},
    }


def together(kernel: Kernel, scale: float, count: int, mebibytes: int) -> dict[str, str]:
    """Several processes at once under a limit of memory (BBC16 Tables V and VI): seconds, or a failure."""
    problem = kernel.program()
    sizes = kernel.at(scale)
    found: dict[str, str] = {}

    def limited() -> None:
        _with_any_stack()
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))

    with tempfile.TemporaryDirectory(prefix="arrayfold-bench-") as folder:
        for version in versions_of(kernel, problem, sizes):
            executable, *_ = build(Path(folder), version, problem, sizes)
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


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The table that goes with the numbers."""
    table = Table(box=None)
    titles = ("program", "sizes", "baseline", "ms", "naive", "successive", "arrayfold", "spread")
    for title in (*titles, "by hand", "Halide", "bytes", "lines", "compile s", "vector loops"):
        table.add_column(title, justify="left" if title in ("program", "sizes", "baseline") else "right")
    for row in rows:
        ratio, spread, used = row["ratio"], row["spread"], row["bytes"]
        base, milliseconds, sizes = row["baseline"], row["milliseconds"], row["sizes"]
        low, high = spread["arrayfold"]
        table.add_row(
            str(row["program"]) + ("" if row["equal"] else " (outputs differ)"),
            " ".join(f"{name}={value}" for name, value in sizes.items()),
            base,
            f"{milliseconds[base]:.1f}",
            f"{ratio['naive']:.2f}",
            f"{ratio[_MODULO]:.2f}" if _MODULO in ratio else "",
            f"{ratio['arrayfold']:.2f}",
            f"{low:.2f}-{high:.2f}",
            f"{row['by_hand']:.2f}" if row["by_hand"] else "",
            f"{milliseconds[base] / row['halide_milliseconds']:.2f}" if row["halide_milliseconds"] else "",
            f"{used[base]:,} -> {used['arrayfold']:,}",
            f"{row['lines']['unfolded']} -> {row['lines']['arrayfold']}",
            f"{row['compile_seconds']['unfolded']:.1f} -> {row['compile_seconds']['arrayfold']:.1f}",
            str(row["vectorised_loops"]["arrayfold"]),
        )
    return table


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Bars: ratios of naive and written code to the baseline."""
    mpl: Any = import_module("matplotlib")
    mpl.use("Agg")
    plt: Any = import_module("matplotlib.pyplot")
    labels = [
        f"{row['program']} {' '.join(map(str, row['sizes'].values()))}\nagainst {row['baseline']}"
        for row in rows
    ]
    figure, axes = plt.subplots(figsize=(8, 0.45 * len(rows) + 1.5), layout="constrained")
    for offset, (name, colour) in enumerate((("naive", "#c44"), ("arrayfold", "#28a"))):
        values = [row["ratio"][name] for row in rows]
        axes.barh([k + 0.38 * offset for k in range(len(rows))], values, 0.36, label=name, color=colour)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks([k + 0.19 for k in range(len(rows))], labels)
    axes.invert_yaxis()
    axes.set_xlabel("speed, baseline = 1")
    axes.legend()
    figure.savefig(path)


def main() -> int:
    """Measure, print the table, and write JSON and the figure where they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names; default: all but lbm-d3q19 and lbm-d3q27")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the sizes")
    parser.add_argument("--runs", type=int, default=5, help="rounds in which every version runs once")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    parser.add_argument("--halide", action="store_true", help="measure Halide, too, if it is installed")
    parser.add_argument("--processes", type=int, default=0, help="as many at once, under --memory each")
    parser.add_argument("--memory", type=int, default=256, help="MiB that each of the processes may use")
    parser.add_argument("--figure", type=Path, help="draw the ratios: .svg, .png or .pdf")
    arguments = parser.parse_args()
    console = Console(width=210)
    rows: list[dict[str, Any]] = []
    for kernel in KERNELS:
        if kernel.name not in (arguments.programs or [one.name for one in KERNELS if not one.is_long]):
            continue
        console.print(f"{kernel.name} {dict(kernel.sizes)} ...", style="dim")
        if arguments.processes:
            found = together(kernel, arguments.scale, arguments.processes, arguments.memory)
            console.print(f"{kernel.name}: {found}")
            continue
        rows.append(measure(kernel, arguments.scale, arguments.runs, with_halide=arguments.halide))
        console.print(table_of(rows[-1:]))
    if arguments.processes:
        return 0
    console.print(table_of(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.figure:
        draw(rows, arguments.figure)
    return 0 if all(row["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
