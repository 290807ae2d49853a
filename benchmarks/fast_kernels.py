"""The programs whose folded code is measured: BBC16 Table II and Jacobi iterations, each from one C file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Favor
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program

UNFOLDED = "unfolded"
BY_HAND = "by hand"
MODULO = "successive-modulo"
TWO_STEPS = "two time steps"
# Inside of parallel loops compilers do not see that arrays of the function do not overlap.
IVDEP = "unfolded with ivdep"
_OWN = "benchmarks/kernels"
_TILED = "examples/blur-tiled.c"


@dataclass(frozen=True)
class Case:
    """Sizes at which a program is measured.

    by_hand  for each baseline the ratio that the fastest version written by hand had on another machine, if
             one was written
    """

    sizes: Mapping[str, int]
    by_hand: Mapping[str, float | None]


@dataclass(frozen=True)
class Kernel:
    """A program to measure.

    order     another order for the folded programs, as arguments of `reorder`
    fixed     the sizes that --scale leaves alone
    tile      the size of tiles, instead of the one in the file
    local     loops around tiles that have a buffer in our program, or the one over bands, as `fold --local`
              says it
    favor     what our mappings favour, as `fold --favor` says it
    parallel  the iterator of the loop that two threads share; none for one thread
    written   the same function written by hand, in a file of its own
    rows      the same program without bands, unfolded and for what one would fold by hand, and its parallel
              loop
    seconds   what one fold may take
    """

    name: str
    file: str
    cases: Sequence[Case]
    order: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fixed: Sequence[str] = ("T",)
    local: int | str = 0
    tile: int = 0
    favor: Favor = "size"
    parallel: str = ""
    written: str = ""
    rows: tuple[str, str] = ("", "")
    seconds: float = 60.0

    @property
    def threads(self) -> int:
        """How many threads run it."""
        return 2 if self.parallel else 1

    @property
    def simple(self) -> str:
        """The version that is folded or written as one would by hand."""
        used = {label for case in self.cases for label in case.by_hand}
        return next((label for label in (TWO_STEPS, IVDEP) if label in used), MODULO)

    def at(self, case: Case, scale: float) -> dict[str, int]:
        """The sizes of a case, those that may be scaled by a factor."""
        return {
            name: value if name in self.fixed else max(64, round(value * scale))
            for name, value in case.sizes.items()
        }

    def budget(self) -> Budget:
        """The time for one fold."""
        return Budget(self.seconds)

    def by_hand(self) -> bytes | None:
        """The function written by hand, if there is one."""
        return self._text(f"benchmarks/by_hand/{self.written}") if self.written else None

    def program(self) -> Program:
        """The program of the file."""
        return self._read(self.file, self.parallel)

    def plain_program(self) -> Program:
        """The program without bands."""
        return self._read(*self.rows) if self.rows[0] else self.program()

    def _read(self, file: str, parallel: str) -> Program:
        text = self._text(file)
        if parallel and b"#pragma omp" not in text:
            loop = rb"^( *)(?=for \(int %b\b)" % parallel.encode()
            text = re.sub(loop, rb"#pragma omp parallel for\n\1", text, flags=re.MULTILINE)
        (program,) = read_c(file, text)
        return program

    def _text(self, file: str) -> bytes:
        text = Path(file).read_bytes()
        return text.replace(b"#define TILE 8", b"#define TILE %d" % self.tile) if self.tile else text


def _case(by_hand: float | None = None, baseline: str = UNFOLDED, /, **sizes: int) -> Case:
    return Case(sizes, {baseline: by_hand})


# Row by row: one loop blurs along the columns, one does the rest.
_UNSHARP_ROWS = "; ".join(
    f"S_{k}[y, x] -> [y, {place}]" for k, place in enumerate(("0, x, 0", "1, x, 0", "1, x, 1", "1, x, 2"))
)
# Derivatives and products of a row, then sums and the response of the row before.
_HARRIS_ROWS = "; ".join(
    f"S_{k}[y, x] -> [y, 0, x, {k}]" if k < 5 else f"S_{k}[y, x] -> [y + 1, 1, x, {k}]" for k in range(9)
)
KERNELS = (
    Kernel("blur", f"{_OWN}/blur.c", [Case({"N": 8192}, {MODULO: 1.15, UNFOLDED: 1.65})], written="blur.c"),
    Kernel(
        "jacobi-1d",
        f"{_OWN}/jacobi-1d.c",
        [
            _case(1.9, MODULO, N=4000, T=20000),
            _case(2.9, MODULO, N=200_000, T=400),
            _case(2.1, MODULO, N=16_000_000, T=40),
        ],
        written="jacobi-1d.c",
    ),
    Kernel(
        "jacobi-2d",
        "examples/jacobi-2d.c",
        [
            _case(1.6, MODULO, N=400, T=200),
            _case(1.9, MODULO, N=2000, T=20),
            _case(1.5, MODULO, N=6000, T=20),
        ],
        written="jacobi-2d.c",
    ),
    Kernel("lbm-d2q9", f"{_OWN}/lbm-d2q9.c", [_case(1.6, MODULO, N=1024, T=10)], written="lbm-d2q9.c"),
    Kernel(
        "unsharp",
        "examples/unsharp.c",
        [_case(3.9, H=4096, W=4096)],
        {"schedule": _UNSHARP_ROWS},
        written="unsharp.c",
    ),
    Kernel(
        "harris",
        f"{_OWN}/harris.c",
        [_case(4.7, N=4096)],
        {"schedule": _HARRIS_ROWS},
        written="harris.c",
    ),
    Kernel("blur-tiled-512", _TILED, [_case(1.24, N=8192)], local=2, tile=512, written="blur-tiled.c"),
    Kernel("blur-tiled-64", _TILED, [_case(1.26, N=8192)], local=2, tile=64, written="blur-tiled.c"),
    Kernel("unsharp-tiled", f"{_OWN}/unsharp-tiled.c", [_case(H=4096, W=4096)], local=2, tile=256),
    Kernel("harris-tiled", f"{_OWN}/harris-tiled.c", [_case(N=4096)], local=2, tile=256),
    Kernel(
        "diamond-tiles", f"{_OWN}/diamond-tiles.c", [_case(4.6, N=8192, T=4000)], written="diamond-tiles.c"
    ),
    Kernel(
        "parallelogram-tiles",
        f"{_OWN}/parallelogram-tiles.c",
        [_case(1.3, N=8192, T=4000)],
        written="parallelogram-tiles.c",
    ),
    Kernel(
        "blur-threads",
        f"{_OWN}/blur-bands.c",
        [_case(1.6, IVDEP, N=8192)],
        local=1,
        tile=256,
        parallel="ty",
        rows=(f"{_OWN}/blur-stages.c", "y"),
        written="blur-threads.c",
    ),
    Kernel(
        "jacobi-1d-threads",
        "examples/jacobi-bands.c",
        [_case(1.7, MODULO, N=200_000, T=400)],
        local="b",
        tile=100_000,
        parallel="b",
        written="jacobi-1d-threads.c",
    ),
    Kernel(
        "jacobi-2d-threads",
        f"{_OWN}/jacobi-2d-bands.c",
        [_case(1.25, MODULO, N=2000, T=20)],
        local="b",
        tile=1000,
        parallel="b",
        rows=("examples/jacobi-2d.c", "i"),
        written="jacobi-2d-threads.c",
    ),
    Kernel(
        "lbm-d2q9-threads",
        f"{_OWN}/lbm-d2q9-bands.c",
        [_case(2.1, TWO_STEPS, N=1024, T=10)],
        local="b",
        tile=512,
        favor="speed",
        parallel="b",
        rows=(f"{_OWN}/lbm-d2q9.c", "i"),
        seconds=300.0,
    ),
    Kernel(
        "harris-threads",
        f"{_OWN}/harris-bands.c",
        [_case(2.05, IVDEP, N=4096)],
        local=1,
        tile=256,
        parallel="ty",
        rows=(f"{_OWN}/harris.c", "y"),
        written="harris-threads.c",
    ),
    Kernel(
        "blur-tiled-threads",
        _TILED,
        [_case(1.4, N=8192)],
        local=2,
        tile=512,
        parallel="tx",
        written="blur-tiled.c",
    ),
    Kernel(
        "unsharp-threads",
        f"{_OWN}/unsharp-rows.c",
        [_case(3.3, IVDEP, H=4096, W=4096)],
        local=1,
        parallel="y",
        rows=("examples/unsharp.c", "y"),
        written="unsharp-threads.c",
    ),
    *(
        Kernel(
            f"lbm-d3q{count}",
            f"{_OWN}/lbm-d3q{count}.c",
            [_case(by_hand, TWO_STEPS, N=100, T=10)],
            favor="speed",
            seconds=600.0,
        )
        for count, by_hand in ((19, 1.4), (27, 1.7))
    ),
)
