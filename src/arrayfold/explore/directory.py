"""Every kernel of a directory, folded side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arrayfold.base.carried import carrying
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError, Interrupted
from arrayfold.base.input_file import read_input
from arrayfold.c.language import C_SUFFIXES
from arrayfold.explore.store import ResultStore
from arrayfold.explore.workers import Done, run_all
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.files import files_behind

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
    *,
    how: str,
    arguments: Sequence[str] = (),
    store: Path | None = None,
    cluster: str | None = None,
    jobs: int | None = None,
    done: Done = lambda _: None,
) -> list[FoldedFile]:
    """What becomes of each file; what is known already is not done again.

    fold_file  gives the folds of a file; it is sent to other processes
    how        what the results depend on besides the files
    arguments  for the C parser
    store      a directory where results are kept
    """
    kept = ResultStore.of(store, how)
    work = [_Work(file, fold_file, tuple(arguments), kept) for file in files]
    known: dict[str, FoldedFile] = {}
    if cluster is not None:
        # Workers see neither the files nor the results that are kept here.
        work = [item.with_files() for item in work]
        known = {item.file: found for item in work if (found := item.known()) is not None}
    by_name = {item.file: item for item in work}
    before = finished = len(known)
    done(before)

    def count(number: int) -> None:
        nonlocal finished
        finished = before + number
        done(finished)

    left = [item.without_store() if cluster else item for item in work if item.file not in known]
    try:
        for result in run_all(left, count, cluster, jobs):
            known[result.file] = result
            if cluster is not None:
                by_name[result.file].keep(result)
    except KeyboardInterrupt:
        words = f"{finished} of {len(files)} files had been folded"
        raise Interrupted(f"{words}; the next run goes on there" if store else words) from None
    return [known[file] for file in files]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class _Work:
    """One file, where its result is kept, and all that is read of it if that is known."""

    file: str
    fold_file: Callable[[str], Sequence[FoldResult]]
    arguments: tuple[str, ...]
    kept: ResultStore
    files: Mapping[str, bytes] | None = None

    def with_files(self) -> _Work:
        """The same with the files that it reads."""
        return (
            self if self.files is not None else replace(self, files=files_behind(self.file, self.arguments))
        )

    def without_store(self) -> _Work:
        """The same for a process that keeps nothing."""
        return replace(self, kept=replace(self.kept, directory=None))

    def __call__(self) -> FoldedFile:
        """The result, which is kept at once, in case the others are interrupted."""
        work = self.with_files()
        found = work.known()
        if found is None:
            assert work.files is not None
            with carrying(work.files):
                found = work._fold()
            work.keep(found)
        return found

    def known(self) -> FoldedFile | None:
        """The result that was kept."""
        data = self.kept.read(self._key)
        try:
            if data is None:
                return None
            return FoldedFile(self.file, tuple(map(dict, data["arrays"])), str(data["reason"]))
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, result: FoldedFile) -> None:
        """Keep a result, if it is one that more time would not change."""
        if not result.is_cut:
            self.kept.write(self._key, {"arrays": list(result.arrays), "reason": result.reason})

    @property
    def _key(self) -> str:
        assert self.files is not None
        return json.dumps([self.file, sorted((name, _digest(data)) for name, data in self.files.items())])

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
