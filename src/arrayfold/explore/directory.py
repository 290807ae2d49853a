"""Every kernel of a directory, folded side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arrayfold.base.carried import carrying, noting
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError
from arrayfold.base.input_file import read_input
from arrayfold.c.language import C_SUFFIXES
from arrayfold.explore.store import Kept
from arrayfold.explore.workers import Done, run_all
from arrayfold.fold.result import FoldResult

SUFFIXES = (*C_SUFFIXES, ".py", ".toml")


@dataclass(frozen=True)
class FoldedFile:
    """One file: its arrays as rows of text, or why it could not be folded.

    is_cut  some of it was given up for want of time
    """

    file: str
    arrays: tuple[dict[str, Any], ...] = ()
    reason: str = ""
    is_cut: bool = False


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
    read_file: Callable[[str], object],
    *,
    how: str,
    store: Path | None = None,
    cluster: str | None = None,
    jobs: int | None = None,
    done: Done = lambda _: None,
) -> list[FoldedFile]:
    """What becomes of each file; what is known already is not done again.

    fold_file  gives the folds of a file; it is sent to other processes, with the files that are read
    read_file  reads a file as it does
    how        what the results depend on besides the files
    store      a directory where results are kept
    """
    known: dict[str, FoldedFile] = {}
    work: list[_Work] = []
    keys: dict[str, str] = {}
    kept = Kept.of(store, how)
    for file in files:
        travelling = _files_of(file, read_file)
        keys[file] = json.dumps([file, sorted((name, _digest(data)) for name, data in travelling.items())])
        found = _folded(file, kept.read(keys[file]))
        if found is None:
            # On this machine a process keeps its result itself, in case the others are interrupted.
            mine = (kept, keys[file]) if cluster is None else None
            work.append(_Work(file, fold_file, travelling, mine))
        else:
            known[file] = found
    before = len(known)
    done(before)
    for result in run_all(work, lambda number: done(before + number), cluster, jobs):
        known[result.file] = result
        if cluster is not None:
            _keep(kept, keys[result.file], result)
    return [known[file] for file in files]


def _files_of(file: str, read_file: Callable[[str], object]) -> dict[str, bytes]:
    """A file and the ones that it includes; those of it that can be read, if something is wrong with it."""
    with noting() as found, suppress(ArrayfoldError):
        read_file(file)
    return found


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _keep(kept: Kept, key: str, result: FoldedFile) -> None:
    if not result.is_cut:
        kept.write(key, {"arrays": list(result.arrays), "reason": result.reason})


def _folded(file: str, data: Any) -> FoldedFile | None:
    """The result that was kept."""
    try:
        return (
            None if data is None else FoldedFile(file, tuple(map(dict, data["arrays"])), str(data["reason"]))
        )
    except (KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class _Work:
    """One file with all that is read of it, and where its result is kept."""

    file: str
    fold_file: Callable[[str], Sequence[FoldResult]]
    files: Mapping[str, bytes]
    kept: tuple[Kept, str] | None

    def __call__(self) -> FoldedFile:
        with carrying(self.files):
            found = self._fold()
        if self.kept is not None:
            _keep(*self.kept, found)
        return found

    def _fold(self) -> FoldedFile:
        try:
            results = self.fold_file(self.file)
        except ArrayfoldError as error:
            return FoldedFile(self.file, (), str(error), isinstance(error, BudgetExceeded))
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
        is_cut = any(result.cut_short or any(array.cut_short for array in result) for result in results)
        return FoldedFile(self.file, rows, is_cut=is_cut)
