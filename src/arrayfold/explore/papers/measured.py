"""BBC16 tables II, V and VI on this machine: times with the baseline's mapping and with SMO's.

The paper prints mappings and no programs. The blur is that of Fig. 4; the lattice Boltzmann programs are
averages over the same neighbours: dependences and access expressions are the paper's, the arithmetic is not.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.exact.formula import Formula
from arrayfold.explore.papers.recomputed import RecomputedTable
from arrayfold.fold.arrays import fold_with
from arrayfold.fold.options import Progress
from arrayfold.frontends import read
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from arrayfold.program.model import Program
from arrayfold.run.timing import time_together, time_versions


@dataclass(frozen=True)
class Benchmark:
    """A program of Table II, with sizes that take about a second here.

    text      of a C file
    baseline  the mapping of successive modulo
    smo       that of the paper's algorithm
    sizes     here; `printed_sizes` in the paper
    speedup, reduction  as printed
    """

    name: str
    text: str
    baseline: str
    smo: str
    sizes: Mapping[str, int]
    printed_sizes: str
    speedup: str
    reduction: str


@dataclass(frozen=True)
class Versions:
    """A benchmark with both mappings, each of them proved.

    codes  version -> C file
    cells  version -> cells of the array
    """

    program: Program
    codes: Mapping[str, bytes]
    cells: Mapping[str, Formula]

    def cells_at(self, version: str, sizes: Mapping[str, int]) -> int:
        """The cells of the array at these sizes."""
        return self.cells[version].at(sizes)


def _stencil(dimensions: int, farthest: int) -> str:
    """C text of T steps that average neighbours, of which up to so many coordinates differ; borders stay."""
    axes = "ijk"[:dimensions]
    offsets = [
        one for one in itertools.product((-1, 0, 1), repeat=dimensions) if sum(map(abs, one)) <= farthest
    ]
    loops = "".join(f"for (int {x} = 0; {x} < N; {x}++) " for x in axes)
    box, here = "[N]" * dimensions, "".join(f"[{x}]" for x in axes)
    near = [
        "".join(f"[{x}{d:+d}]" if d else f"[{x}]" for x, d in zip(axes, one, strict=True)) for one in offsets
    ]
    border = " || ".join(f"{x} == 0 || {x} == N - 1" for x in axes)
    rows = box[1:-1].replace("][", "][")
    return f"""void steps(int T, int N, const double in[restrict {rows}], double out[restrict {rows}])
{{
    double A[T + 1]{box};
#pragma scop
    {loops}
        A[0]{here} = in{here};
    for (int t = 1; t <= T; t++)
        {loops}
            if ({border})
                A[t]{here} = A[t - 1]{here};
            else
                A[t]{here} = ({" + ".join(f"A[t - 1]{one}" for one in near)}) / {len(near)}.0;
    {loops}
        out{here} = A[T]{here};
#pragma endscop
}}
"""


def _lattice(name: str, farthest: int, size: int, printed: tuple[str, str]) -> Benchmark:
    dimensions = 2 if "D2" in name else 3
    cell, others = "t, " + ", ".join("ijk"[:dimensions]), [f"{x} mod N" for x in "ijk"[1:dimensions]]
    baseline = ", ".join(["t mod 2", "i mod N", *others])
    smo = ", ".join(["(i - 2*t) mod (N + 2)", *others])
    sizes = "1024x1024, T=500" if dimensions == 2 else "200x200x200, T=100"
    return Benchmark(
        name,
        _stencil(dimensions, farthest),
        f"A[{cell}] -> [{baseline}]",
        f"A[{cell}] -> [{smo}]",
        {"T": 10, "N": size},
        sizes,
        *printed,
    )


_BLUR = """void blur(int N, const double in[restrict N][N + 2], double out[restrict N][N])
{
    double blurx[N][N];
#pragma scop
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            blurx[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) / 3.0;
            if (y >= 2)
                out[y][x] = (blurx[y][x] + blurx[y - 1][x] + blurx[y - 2][x]) / 3.0;
        }
#pragma endscop
}
"""

BENCHMARKS: Sequence[Benchmark] = (
    Benchmark(
        "blur-interleaved",
        _BLUR,
        "blurx[y, x] -> [y mod 3, x mod N]",
        "blurx[y, x] -> [(2*x - y) mod (2*N + 1)]",
        {"N": 4096},
        "8192x8192",
        "0.705",
        "1.50",
    ),
    _lattice("LBM-D2Q9", 2, 1024, ("0.824", "2.00")),
    _lattice("LBM-D3Q19", 2, 96, ("0.947", "2.00")),
    _lattice("LBM-D3Q27", 3, 96, ("0.861", "2.00")),
)
_OTHERS = (
    "The tiles of Table II are not measured: their programs are not printed, and a tile is in a cache with "
    "either mapping."
)
_NOT_THE_MACHINE = (
    "Printed are times on 16 cores of two Xeon E5-2680 with icc 15; only the ratios can be compared."
)
_CALLS = "Every process makes its data and calls the function three times."
_TOGETHER = (
    ("Table V", "LBM-D2Q9", "0.81 to 1.06 at N=1024, up to 140.3 where the baseline swaps"),
    ("Table VI", "LBM-D3Q27", "0.88 to 0.97 at N=200, up to 10.59 where the baseline swaps"),
)


def versions_of(benchmark: Benchmark, budget: Budget) -> Versions:
    """A benchmark's program with each mapping, both of them proved."""
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        file = Path(folder, "program.c")
        file.write_text(benchmark.text)
        program = read(str(file))
        if not isinstance(program, Program):
            raise InputError(f"{benchmark.name} is no program")
        codes: dict[str, bytes] = {}
        cells: dict[str, Formula] = {}
        for name, text in (("baseline", benchmark.baseline), ("smo", benchmark.smo)):
            (mapping,) = read_mappings(text, program)
            assert isinstance(mapping, ModularMapping)
            array = mapping.array
            result = fold_with(program, {array: mapping}, budget=budget)
            codes[name] = write_c([result.region(is_off_stack=True)])
            cells[name] = result[array].size
    return Versions(program, codes, cells)


def measured_tables(
    budget: Budget, progress: Progress = lambda _: None, *, sizes: Mapping[str, int] | None = None
) -> list[RecomputedTable]:
    """Tables II, V and VI.

    sizes  instead of those of the benchmarks
    """
    versions: dict[str, Versions] = {}
    rows: list[tuple[str, ...]] = []
    for one in BENCHMARKS:
        progress(f"BBC16 Table II: {one.name}")
        found = versions[one.name] = versions_of(one, budget)
        here = {**one.sizes, **{name: value for name, value in (sizes or {}).items() if name in one.sizes}}
        timing = time_versions(found.program, found.codes, here, rounds=2)
        shown = ", ".join(f"{name}={value}" for name, value in here.items())
        speeds = f"{timing.ratio('baseline', 'smo'):.2f}", one.speedup
        memory = " and ".join(_megabytes(found.cells_at(name, here)) for name in ("baseline", "smo"))
        reduction = f"{found.cells_at('baseline', here) / found.cells_at('smo', here):.2f}", one.reduction
        times = [f"{timing.seconds[name] * 1000:.1f} ms" for name in ("baseline", "smo")]
        rows.append((one.name, shown, one.printed_sizes, *times, *speeds, memory, *reduction))
    columns = ("program", "sizes", "printed sizes", "baseline", "smo", "speedup", "printed speedup")
    columns = (*columns, "memory", "storage reduction", "printed reduction")
    tables = [RecomputedTable("BBC16", "Table II", columns, tuple(rows), (_OTHERS, _NOT_THE_MACHINE))]
    for number, name, printed in _TOGETHER:
        progress(f"BBC16 {number}")
        tables.append(_together(number, name, printed, versions[name], sizes or {}))
    return tables


def _megabytes(cells: int) -> str:
    return f"{cells * 8 / 1e6:.1f} MB"


def _together(
    number: str, name: str, printed: str, versions: Versions, sizes: Mapping[str, int]
) -> RecomputedTable:
    """Several processes at the same time, as many as there are processors and twice as many."""
    (one,) = (one for one in BENCHMARKS if one.name == name)
    here = {**one.sizes, **sizes}
    processors = os.cpu_count() or 1
    counts = sorted({1, processors, 2 * processors})
    took = time_together(versions.program, versions.codes, here, counts)
    rows = [
        (
            str(count),
            *(f"{took[version, count]:.2f} s" for version in ("baseline", "smo")),
            f"{took['baseline', count] / max(1e-9, took['smo', count]):.2f}",
        )
        for count in counts
    ]
    shown = ", ".join(f"{key}={value}" for key, value in here.items())
    columns = ("processes", "baseline", "smo", "speedup")
    notes = (f"{name} at {shown}. Printed speedups: {printed}.", _CALLS)
    return RecomputedTable("BBC16", number, columns, tuple(rows), notes)
