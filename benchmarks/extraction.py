"""Time to read C files, file by file, as a table.

    python benchmarks/extraction.py [--repeat 5] [FILE ...]

The baseline is libclang's own parse of the same file in the same run: the ratio says what the rest of the
reading (trees, affine functions, domains, accesses, order) costs beside it. Times are medians of the
processor's time. Without files: all C examples and the kernels of the tests.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arrayfold.base.errors import InputError
from arrayfold.frontends.c.libclang import translation_unit
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program


def measure(work: Callable[[], object], repeat: int) -> float:
    """Median time of the work in milliseconds."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def read(path: Path) -> list[Program]:
    """The regions of a file; what is refused costs time, too."""
    try:
        return read_c(str(path), path.read_bytes())
    except InputError:
        return []


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    files: list[Path] = options.files or [
        *sorted(Path("examples").glob("*.c")),
        *sorted(Path("tests/c_kernels").glob("*.c")),
    ]
    table = Table("file", "statements", "libclang ms", "whole reading ms", "ratio")
    whole = alone = 0.0
    for path in files:
        data = path.read_bytes()
        clang = measure(lambda path=path, data=data: translation_unit(str(path), data), options.repeat)
        everything = measure(lambda path=path: read(path), options.repeat)
        count = sum(len(program.statements) for program in read(path))
        table.add_row(str(path), str(count), f"{clang:.1f}", f"{everything:.1f}", f"{everything / clang:.1f}")
        whole, alone = whole + everything, alone + clang
    table.add_row("all", "", f"{alone:.0f}", f"{whole:.0f}", f"{whole / alone:.1f}", style="bold")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
