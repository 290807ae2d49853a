"""Any input file -> the problem it states."""

from __future__ import annotations

from pathlib import Path

from arrayfold.errors import InputError
from arrayfold.frontends.problem import read_problem
from arrayfold.program import Problem


def read(file: str | Path) -> Problem:
    """The problem in a file; its suffix says how it is written."""
    path = Path(file)
    text = _text_of(path)
    if path.suffix == ".toml":
        return read_problem(str(path), text)
    if path.suffix in (".c", ".py"):
        raise InputError(
            f"{path}: {path.suffix} files cannot be read yet",
            hint="State the program as a problem file (.toml); see docs/problem-file.md.",
        )
    raise InputError(f"{path}: expected a problem file, whose name ends in .toml")


def _text_of(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory; expected a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path}: this is not a text file (UTF-8 is expected)")
    return text
