"""Every kernel of a directory, folded side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.base.input_file import read_input
from arrayfold.explore.workers import Done, run_all
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read_all

SUFFIXES = (".c", ".py", ".toml")


@dataclass(frozen=True)
class FoldedFile:
    """One file: its arrays as rows of text, or why it could not be folded."""

    file: str
    arrays: tuple[dict[str, Any], ...] = ()
    reason: str = ""


def find_kernels(directory: str) -> list[str]:
    """The C files with regions, the Python files with kernels and the problem files below a directory."""
    found = [
        path
        for path in sorted(Path(directory).rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and _is_kernel(path)
    ]
    if not found:
        raise InputError(
            f"{directory} is a directory without C files with #pragma scop, Python kernels or problem files"
        )
    return [str(path) for path in found]


def _is_kernel(path: Path) -> bool:
    try:
        text = read_input(path)
    except InputError:
        return False
    if path.suffix == ".c":
        return b"#pragma scop" in text
    if path.suffix == ".py":
        from arrayfold.frontends.python.read import has_kernels

        return b"arrayfold" in text and has_kernels(text.decode("utf-8", "replace"))
    return any(key in text for key in (b"domain", b"conflicts", b"differences"))


def fold_directory(
    files: Sequence[str],
    *,
    params: Mapping[str, int],
    method: str,
    seconds: float,
    arguments: Sequence[str] = (),
    done: Done = lambda _: None,
    cluster: str | None = None,
) -> list[FoldedFile]:
    """What becomes of each file; sizes count where a file has a parameter of that name.

    seconds  time for each region
    """
    work = [_Work(file, dict(params), method, seconds, tuple(arguments)) for file in files]
    by_name = {result.file: result for result in run_all(work, done, cluster)}
    return [by_name[file] for file in files]


@dataclass(frozen=True)
class _Work:
    file: str
    params: dict[str, int]
    method: str
    seconds: float
    arguments: tuple[str, ...]

    def __call__(self) -> FoldedFile:
        rows: list[dict[str, Any]] = []
        try:
            for problem in read_all(self.file, arguments=self.arguments):
                here = {name: value for name, value in self.params.items() if name in problem.parameters}
                result = fold(problem, params=here, method=self.method, budget=Budget(self.seconds))
                rows += [
                    {
                        "region": problem.name,
                        "name": array.name,
                        "mapping": str(array.mapping),
                        "size": str(array.size),
                        "original_size": str(array.original_size),
                        "proved": True,
                        "optimal": array.is_optimal,
                    }
                    for array in result
                ]
        except ArrayfoldError as error:
            return FoldedFile(self.file, tuple(rows), str(error))
        return FoldedFile(self.file, tuple(rows))
