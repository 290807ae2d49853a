"""Files that travel with work: a process elsewhere reads them as if they were where they are named."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_carried: ContextVar[Mapping[str, bytes] | None] = ContextVar("carried", default=None)
_noted: ContextVar[dict[str, bytes] | None] = ContextVar("noted", default=None)


@contextmanager
def carrying(files: Mapping[str, bytes]) -> Generator[None]:
    """While this lasts, these files are read in place of what is on the disk.

    >>> with carrying({"a.c": b"int a;"}):
    ...     carried_file("a.c"), carried_file("b.c")
    (b'int a;', None)
    """
    before = _carried.set(files)
    try:
        yield
    finally:
        _carried.reset(before)


def carried_files() -> Mapping[str, bytes]:
    """All files that came with the work."""
    return _carried.get() or {}


def carried_file(name: str) -> bytes | None:
    """The content of a file that came with the work."""
    return carried_files().get(name)


@contextmanager
def noting() -> Generator[dict[str, bytes]]:
    """The files that are read while this lasts, by the names under which they are read.

    >>> with noting() as files:
    ...     note_file("a.c", lambda: b"int a;")
    >>> files
    {'a.c': b'int a;'}
    """
    files: dict[str, bytes] = {}
    before = _noted.set(files)
    try:
        yield files
    finally:
        _noted.reset(before)


def note_file(name: str, content: Callable[[], bytes]) -> None:
    """Say that a file is read; what is in it is asked only if somebody wants to know."""
    files = _noted.get()
    if files is not None and name not in files:
        files[name] = content()
