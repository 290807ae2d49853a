"""Folders that keep results between runs: used only where nobody else can change what is in them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_ROOT = 0
_MOST_LINKS = 40
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder(kind: str) -> Path | None:
    """The folder `arrayfold/kind` in the user's cache, made if need be; None if there is no safe one.

    It lies in $XDG_CACHE_HOME, or in .cache of the home, which must be there already.
    """
    home = _cache_home()
    if home is None:
        return None
    folder = home / "arrayfold" / kind
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder) and os.access(folder, os.W_OK | os.X_OK) else None
    except (OSError, ValueError):
        return None


def is_private(folder: Path) -> bool:
    """Whether a folder is the user's own, and nobody else can change what its path leads to.

    On the way there every folder belongs to the user or to root, and others cannot write it, unless it is
    sticky as /tmp is: there they cannot move what is not theirs. A link adds the way that it leads.
    """
    if not hasattr(os, "geteuid"):
        return True
    try:
        way = _way_to(folder.absolute())
        statuses = [path.lstat() for path in way]
    except (OSError, ValueError):
        return False
    last = folder.stat()
    return (
        all(map(_is_safe, statuses))
        and stat.S_ISDIR(last.st_mode)
        and last.st_uid == os.geteuid()
        and not last.st_mode & _WRITABLE_BY_OTHERS
    )


def _cache_home() -> Path | None:
    """$XDG_CACHE_HOME, which counts only if it is absolute, or .cache of a home that exists."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" if home.is_absolute() and home.is_dir() else None


def _way_to(path: Path) -> list[Path]:
    """All folders and links that are passed on the way to an absolute path, itself included."""
    passed = [Path(path.anchor)]
    here = Path(path.anchor)
    names = list(reversed(path.parts[1:]))
    links = 0
    while names:
        name = names.pop()
        if name == "..":
            here = here.parent
            continue
        here = here / name
        passed.append(here)
        if here.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise OSError("too many links")
            target = here.readlink()
            names += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            here = Path(target.anchor) if target.is_absolute() else here.parent
    return passed


def _is_safe(status: os.stat_result) -> bool:
    """Whether nobody but the user and root can change a link, or move what is in a folder."""
    is_theirs = status.st_uid not in (os.geteuid(), _ROOT)
    is_open = not stat.S_ISLNK(status.st_mode) and status.st_mode & _WRITABLE_BY_OTHERS
    return not is_theirs and (not is_open or bool(status.st_mode & stat.S_ISVTX))
