"""Versions of a random program, compiled under sanitizers and run at all its points."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.c_harness import tables, version_text
from fuzz.c_program import CProgram

HARNESS = Path(__file__).with_name("c_harness.c")
STANDARDS = {".c": "-std=gnu11", ".cpp": "-std=gnu++17"}
COMMON = ("-w", "-pipe", "-fopenmp", "-ffp-contract=off", "-fmax-errors=3", "-I.")
SANITIZED = (
    *("-O0", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"),
    "-fsanitize=bounds-strict",
)
PATTERN = "-ftrivial-auto-var-init=pattern"
ZEROS = "-ftrivial-auto-var-init=zero"
OPTIMISED = ("-O3", "-march=native", PATTERN)
WRAPPED = tuple(f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "aligned_alloc", "free"))
LIMITS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0:color=never",
    "UBSAN_OPTIONS": "color=never",
    "OMP_NUM_THREADS": "3",
    "OMP_WAIT_POLICY": "passive",
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
}


@dataclass(frozen=True)
class Version:
    """A text of the program and how it is compiled."""

    text: str
    flags: tuple[str, ...] = (*SANITIZED, PATTERN)


@dataclass(frozen=True)
class Call:
    """What a call of a version left: a status of 0 is an ordinary end."""

    status: int
    hash: str
    most_bytes: int
    left_bytes: int
    messages: str = ""


class DoesNotCompile(Exception):
    """A version is no C; `version` says which."""

    def __init__(self, version: int, messages: str) -> None:
        super().__init__(messages)
        self.version = version


@functools.cache
def _compiled_harness() -> bytes:
    with tempfile.TemporaryDirectory(prefix="arrayfold-fuzz-") as folder:
        target = Path(folder, "harness.o")
        _compile(["-O1", "-w", "-c", str(HARNESS), "-o", str(target)], Path(folder))
        return target.read_bytes()


def _compile(words: Sequence[str], folder: Path) -> None:
    command = ["gcc", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        found = re.search(r"^version-(\d+)\.c\w*|^\.?/?version-(\d+)", done.stderr, re.MULTILINE)
        version = int(next(group for group in found.groups() if group)) if found else -1
        raise DoesNotCompile(version, done.stderr[:1500])


def run_versions(program: CProgram, versions: Sequence[Version], folder: Path) -> list[dict[int, Call]]:
    """For every point the calls of the versions; the first version is the original.

    Where the original fails, the others are not called.
    """
    (folder / "around.h").write_text(program.header)
    (folder / "harness.o").write_bytes(_compiled_harness())
    objects: list[str] = []
    by_flags: dict[tuple[str, ...], list[str]] = {}
    for number, version in enumerate(versions):
        name = f"version-{number}{program.suffix}"
        (folder / name).write_text(version_text(program, version.text, number))
        by_flags.setdefault(version.flags, []).append(name)
        objects.append(f"version-{number}.o")
    (folder / "tables.c").write_text(tables(program, len(versions)))
    for flags, names in by_flags.items():
        _compile([STANDARDS[program.suffix], *COMMON, *flags, "-c", *names], folder)
    libraries = ("-lstdc++", "-lm") if program.is_cplusplus else ("-lm",)
    _compile(
        [*COMMON, *SANITIZED, *WRAPPED, *objects, "tables.c", "harness.o", "-o", "all", *libraries], folder
    )
    done = subprocess.run(
        ["./all"], cwd=folder, env=LIMITS, capture_output=True, text=True, check=False, timeout=300
    )
    calls: list[dict[int, Call]] = [{} for _ in program.points]
    for line in done.stdout.splitlines():
        version, point, status, value, most, left = line.split()
        messages = ""
        if int(status):
            messages = (folder / f"stderr-{version}-{point}").read_text(errors="replace")[:3000]
        call = Call(int(status), value, int(most), int(left), messages)
        calls[int(point)][int(version)] = call
    if done.returncode:
        raise RuntimeError(f"the harness failed: {done.stderr[:1000]}")
    return calls


def has_compiler() -> bool:
    return shutil.which("gcc") is not None
