"""How long versions of a function take: compiled alike, on the same data, warm, and in turns."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arrayfold.program.model import Program
from arrayfold.run.compiler import CannotRun, find_compiler
from arrayfold.run.driver import Driver
from arrayfold.run.driver_support import NO_MEMORY, support_text
from arrayfold.run.process import start

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-w")
_SEED = 88172645463325252
_COMPILE_SECONDS = 300.0
# Memory that is freed and allocated again keeps its pages, so that no version is charged for new ones.
_KEEP_PAGES = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}

# Where all versions have one thread, other programs on the machine are not measured with them.
_WALL, _PROCESSOR = "CLOCK_MONOTONIC", "CLOCK_THREAD_CPUTIME_ID"
_CLOCK = """
#include <stdio.h>
#include <time.h>
static double arrayfold_now(void)
{
  struct timespec now;
  clock_gettime(ARRAYFOLD_CLOCK, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""


@dataclass(frozen=True)
class Timing:
    """Seconds of one call of each version, the least of all that were measured.

    failures  versions that were left out, and why
    """

    seconds: Mapping[str, float]
    failures: Mapping[str, str] = field(default_factory=dict[str, str])

    def ratio(self, first: str, then: str) -> float:
        """How many times as fast the second one is."""
        return self.seconds[first] / max(1e-12, self.seconds[then])


def time_versions(
    program: Program,
    versions: Mapping[str, bytes],
    sizes: Mapping[str, int],
    *,
    rounds: int = 3,
    seconds: float = 60.0,
    least: float = 0.05,
    may_fail: Collection[str] = (),
    done: Callable[[int, int], None] = lambda _done, _all: None,
) -> Timing:
    """The time of one call of each version of the program's function, of the processor if it is sequential.

    versions  what it is called -> the C file
    rounds    how often each is started; they take turns
    seconds   how long one start may take
    least     each start calls the function for so many seconds, after a call that is not counted
    may_fail  versions that are left out where they cannot be compiled or timed; others raise
    done      is told how many of all steps are done
    """
    compiler = find_compiler()
    if compiler is None:
        raise CannotRun("there is no C compiler on this machine (looked for CC, cc, gcc, clang)")
    clock = _WALL if any(b"omp" in code for code in versions.values()) else _PROCESSOR
    steps, count = (1 + rounds) * len(versions), 0
    best: dict[str, float] = {}
    failures: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        programs: dict[str, Path] = {}
        for number, (name, code) in enumerate(versions.items()):
            with _left_out(name, may_fail, failures):
                where = Path(folder, str(number))
                programs[name] = _compiled(compiler, program, code, sizes, where, least, clock)
            count += 1
            done(count, steps)
        numbers = Driver(program).numbers(sizes)
        for _ in range(rounds):
            for name in versions:
                if name not in failures:
                    with _left_out(name, may_fail, failures):
                        took = _measured(programs[name], numbers, seconds)
                        best[name] = min(took, best.get(name, took))
                count += 1
                done(count, steps)
    return Timing({name: took for name, took in best.items() if name not in failures}, failures)


def time_together(
    program: Program,
    versions: Mapping[str, bytes],
    sizes: Mapping[str, int],
    counts: Sequence[int],
    *,
    seconds: float = 300.0,
) -> dict[tuple[str, int], float]:
    """(version, number of processes) -> seconds until all of them have ended that were started together.

    Each makes its data and calls the function three times.
    """
    compiler = find_compiler()
    if compiler is None:
        raise CannotRun("there is no C compiler on this machine (looked for CC, cc, gcc, clang)")
    found: dict[tuple[str, int], float] = {}
    numbers = Driver(program).numbers(sizes)
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        programs = {
            name: _compiled(compiler, program, code, sizes, Path(folder, str(number)), 0.0, _WALL)
            for number, (name, code) in enumerate(versions.items())
        }
        for count in counts:
            for name, executable in programs.items():
                begin = time.monotonic()
                with ThreadPoolExecutor(count) as pool:
                    ends = [pool.submit(_measured, executable, numbers, seconds) for _ in range(count)]
                    _ = [end.result() for end in ends]
                found[name, count] = time.monotonic() - begin
    return found


@contextmanager
def _left_out(name: str, may_fail: Collection[str], failures: dict[str, str]) -> Generator[None]:
    """Remembers why a version cannot be compiled or timed, where it may fail."""
    try:
        yield
    except CannotRun as error:
        if name not in may_fail:
            raise
        failures[name] = str(error).splitlines()[0]


def _compiled(
    compiler: str,
    program: Program,
    code: bytes,
    sizes: Mapping[str, int],
    folder: Path,
    least: float,
    clock: str,
) -> Path:
    source = program.source
    assert source is not None
    folder.mkdir()
    kernel, driver, support = folder / "kernel.c", folder / "driver.c", folder / "support.c"
    kernel.write_bytes(code)
    text = f"#define ARRAYFOLD_CLOCK {clock}\n{_CLOCK}" + Driver(program).text(
        str(kernel), sizes, lambda call: _timed(call, least)
    )
    driver.write_text(text, encoding="utf-8", errors="surrogateescape")
    support.write_text(support_text(_SEED))
    home = str(Path(source.text.file).resolve().parent)
    flags = [*FLAGS, f"-iquote{home}", *(["-fopenmp"] if b"omp" in code else [])]
    command = [compiler, *source.text.arguments, *flags, str(driver), str(support)]
    made = start([*command, "-o", str(folder / "program"), "-lm"], Path.cwd(), _COMPILE_SECONDS)
    if made.status:
        raise CannotRun(f"the compiler refuses a version to measure: {made.reason}")
    return folder / "program"


def _timed(call: str, least: float) -> Sequence[str]:
    """One call to warm up, then calls until the time is over."""
    return [
        "double arrayfold_best = 1e30, arrayfold_all = 0;",
        f"for (int arrayfold_k = 0; arrayfold_k < 3 || arrayfold_all < {least}; arrayfold_k++) {{",
        "  const double arrayfold_begin = arrayfold_now();",
        f"  {call}",
        "  const double arrayfold_took = arrayfold_now() - arrayfold_begin;",
        "  arrayfold_all += arrayfold_took;",
        "  if (arrayfold_k && arrayfold_took < arrayfold_best) arrayfold_best = arrayfold_took;",
        "}",
        'fprintf(stderr, "arrayfold-seconds %.9g\\n", arrayfold_best);',
    ]


def _measured(executable: Path, numbers: Sequence[str], seconds: float) -> float:
    folder = executable.parent
    command = [str(executable), os.devnull, os.devnull, "0", *numbers]
    ended = start(command, folder, seconds, _KEEP_PAGES)
    found = re.search(r"arrayfold-seconds (\S+)", ended.messages)
    if ended.status == NO_MEMORY:
        raise CannotRun("its data do not fit into memory")
    if ended.status or found is None:
        raise CannotRun(f"it cannot be timed: {ended.reason}")
    return float(found[1])
