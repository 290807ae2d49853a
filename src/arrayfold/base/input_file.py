"""Files that are read: ordinary files of a size that can be read, and text where text is expected."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from arrayfold.base.carried import carried_file, note_file
from arrayfold.base.errors import InputError

MOST_BYTES = 16 << 20


def read_input(path: Path) -> bytes:
    """The bytes of a file; devices, pipes and huge files are refused, for they may have no end."""
    came_along = carried_file(os.fspath(path))
    if came_along is not None:
        return came_along
    data = _read(path)
    note_file(os.fspath(path), lambda: data)
    return data


def _read(path: Path) -> bytes:
    try:
        # Without O_NONBLOCK a pipe that nobody writes would wait for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            os.close(handle)
            what = "directory" if stat.S_ISDIR(mode) else "device, a pipe or a socket"
            raise InputError(f"{path} is a {what}; expected a file")
        with os.fdopen(handle, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: the file is too large; at most {MOST_BYTES >> 20} MiB are read")
    return data


def text_of(path: Path, data: bytes) -> str:
    """The text in the bytes of a file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path}: this is not a text file (UTF-8 is expected)")
    return text
