"""What of this machine arrayfold can use, and what it does without the rest."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arrayfold.exact.isl import can_count
from arrayfold.run.compiler import CannotRun, find_compiler, find_cplusplus_compiler

_SECONDS = 30.0


@dataclass(frozen=True)
class Finding:
    """Something arrayfold can use.

    found    which version there is; nothing if there is none
    without  what is lost without it
    cure     how to get it
    """

    name: str
    found: str
    without: str = ""
    cure: str = ""


def examine() -> list[Finding]:
    """Look for everything that is not needed for the analysis itself."""
    compiler = _command(find_compiler)
    return [
        Finding("Python", f"{platform.python_version()} on {sys.platform}"),
        Finding("isl", _package("islpy") or _package("islpy-barvinok")),
        Finding("libclang", _package("libclang"), "C files are not read", "pip install libclang"),
        Finding(
            "exact counting",
            _package("islpy-barvinok") if can_count() else "",
            "lower bounds of live cells are counted at some sizes and fitted, not derived",
            "see docs/counting.md",
        ),
        Finding(
            "C compiler",
            _version_of(compiler),
            "no --run, no --tune, and Python kernels run as Python",
            "apt-get install gcc, or set CC",
        ),
        Finding(
            "OpenMP",
            _accepts(compiler, "-fopenmp"),
            "parallel programs are written, but --run does not run them in parallel",
            "apt-get install libgomp1, or libomp-dev for clang",
        ),
        Finding(
            "sanitizers",
            _accepts(compiler, "-fsanitize=address,undefined"),
            "no --sanitize",
            "install the compiler's sanitizer libraries",
        ),
        Finding(
            "C++ compiler",
            _version_of(_command(find_cplusplus_compiler)),
            "C++ files are folded, but not run",
            "apt-get install g++, or set CXX",
        ),
        _python_package("matplotlib", "no `plot`, no figure of `tradeoff`", "plot"),
        _python_package("dask", "no `tradeoff`, no `fold DIRECTORY`", "explore"),
        _python_package("xdsl", "modules of MLIR are not read", "mlir"),
        _python_package("distributed", "no --cluster", "cluster"),
    ]


def _python_package(name: str, without: str, extra: str) -> Finding:
    return Finding(name, _package(name), without, f"pip install 'arrayfold[{extra}]'")


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _command(find: Callable[[], str | None]) -> str:
    try:
        return find() or ""
    except CannotRun:
        return ""


def _version_of(compiler: str) -> str:
    """The first line of what a compiler says of itself."""
    done = _run([compiler, "--version"]) if compiler else None
    return "" if done is None or done.returncode else done.stdout.partition("\n")[0]


def _accepts(compiler: str, flag: str) -> str:
    """The flag, if the compiler makes programs with it."""
    if not compiler:
        return ""
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        source = Path(folder, "empty.c")
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        done = _run([compiler, flag, str(source), "-o", str(Path(folder, "empty"))])
    return "" if done is None or done.returncode else flag


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
