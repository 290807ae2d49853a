"""Every kernel of a directory, folded side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.base.input_file import read_input
from arrayfold.c.language import C_SUFFIXES
from arrayfold.explore.workers import Done, run_all
from arrayfold.fold.result import FoldResult

SUFFIXES = (*C_SUFFIXES, ".py", ".toml")


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
    if path.suffix in C_SUFFIXES:
        return b"#pragma scop" in text
    if path.suffix == ".py":
        from arrayfold.frontends.python.read import has_kernels

        return b"arrayfold" in text and has_kernels(text.decode("utf-8", "replace"))
    return any(key in text for key in (b"domain", b"conflicts", b"differences"))


def fold_directory(
    files: Sequence[str],
    fold_file: Callable[[str], Sequence[FoldResult]],
    *,
    done: Done = lambda _: None,
) -> list[FoldedFile]:
    """What becomes of each file.

    fold_file  gives the folds of a file; it is sent to other processes
    """
    work = [_Work(file, fold_file) for file in files]
    by_name = {result.file: result for result in run_all(work, done)}
    return [by_name[file] for file in files]


@dataclass(frozen=True)
class _Work:
    file: str
    fold_file: Callable[[str], Sequence[FoldResult]]

    def __call__(self) -> FoldedFile:
        try:
            results = self.fold_file(self.file)
        except ArrayfoldError as error:
            return FoldedFile(self.file, (), str(error))
        rows = tuple(
            {
                "region": result.problem.name,
                "name": array.name,
                "mapping": str(array.mapping),
                "size": str(array.size),
                "original_size": str(array.original_size),
                "proved": True,
                "optimal": array.is_optimal,
            }
            for result in results
            for array in result
        )
        return FoldedFile(self.file, rows)
