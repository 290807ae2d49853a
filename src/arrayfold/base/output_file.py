"""Files that are written: whole or not at all, never through a link, never over another file unasked."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from arrayfold.base.errors import InputError

_STANDARD_OUTPUT = ("-", "/dev/stdout")
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EACCES}
_KINDS = (
    (stat.S_ISLNK, "is a link", "Nothing is written through links: name the file itself."),
    (stat.S_ISDIR, "is a directory", "Name a file."),
    (stat.S_ISREG, "", ""),
)


def is_printed(file: str | None) -> bool:
    """Whether a file to write is the standard output, which then has room for nothing else."""
    return file in _STANDARD_OUTPUT


def check_output(file: str, *, force: bool, source: str | None = None) -> None:
    """Raise if a file must not be written.

    force   whether an existing file may be replaced; a link, a device or a directory never is
    source  a file that is read and must stay as it is
    """
    if is_printed(file):
        return
    path = Path(file)
    status = _status(path)
    if file.endswith("/"):
        raise InputError(f"{file} is the name of a directory", hint="Name a file.")
    if status is None:
        return
    for is_kind, problem, hint in _KINDS:
        if is_kind(status.st_mode):
            if problem:
                raise InputError(f"{file} {problem}", hint=hint)
            break
    else:
        raise InputError(f"{file} is a device, a pipe or a socket", hint="Name a file, or - to print.")
    if source is not None and _is_same(status, source):
        raise InputError(f"{file} is the file that is read", hint="Write to another file.")
    if not force:
        raise InputError(f"{file} exists", hint="Say --force to overwrite it.")
    if not os.access(path, os.W_OK):
        raise InputError(f"{file} is write-protected")


def write_output(file: str, data: bytes, *, force: bool, source: str | None = None) -> None:
    """Write a file; - prints it.

    The data go to a file of another name first, which then takes the place of what was there. So other names
    of an old file (hard links) keep what they had, and nobody sees half of the new one.
    """
    if is_printed(file):
        _print(data)
        return
    check_output(file, force=force, source=source)
    path = Path(file)
    try:
        _write(path, data, is_replacing=force)
    except FileExistsError:
        raise InputError(f"{file} exists", hint="Say --force to overwrite it.") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}") from None


def _status(path: Path) -> os.stat_result | None:
    """What is there, links not followed; None if nothing is."""
    if not path.name:
        raise InputError("expected the name of a file to write, or - to print")
    try:
        return path.lstat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InputError(f"{path}: cannot be written: there is no directory {path.parent}") from None
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be written: {reason}") from None


def _is_same(status: os.stat_result, source: str) -> bool:
    try:
        return os.path.samestat(status, Path(source).stat())
    except OSError:
        return False


def _print(data: bytes) -> None:
    """Bytes as they are: a C file may be in any encoding."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"standard output cannot be written: {error.strerror}") from None


def _write(path: Path, data: bytes, *, is_replacing: bool) -> None:
    handle, name = tempfile.mkstemp(prefix=".arrayfold-", dir=path.parent)
    half = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), _mode(path))
        if is_replacing:
            half.replace(path)
        else:
            _move_to_free_name(half, path, data)
    finally:
        with suppress(OSError):
            half.unlink()


def _move_to_free_name(half: Path, path: Path, data: bytes) -> None:
    """Give the file its name unless something has taken it by now."""
    try:
        path.hardlink_to(half)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with path.open("xb") as file:
            file.write(data)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    with suppress(OSError):
        return stat.S_IMODE(path.lstat().st_mode) & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
