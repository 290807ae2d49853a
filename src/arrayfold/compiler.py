"""The C compiler of the machine, and the shared libraries that it made."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from arrayfold.errors import ArrayfoldError

# Values must not change: no fused multiply-add, whole numbers wrap as NumPy's do, and functions of the C
# library are those that Python calls, without what a compiler knows of them.
_CALLED = (
    "pow",
    "exp",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
)
FLAGS = (
    *("-std=gnu11", "-O3", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fwrapv", "-fno-math-errno"),
    *(f"-fno-builtin-{name}{suffix}" for name in _CALLED for suffix in ("", "f")),
)
_SECONDS = 300.0


class CannotRun(ArrayfoldError):
    """The programs could not be compiled or run; the message says why."""


def find_compiler() -> str | None:
    """The C compiler: what CC says, or one of the usual names."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        if shutil.which(name):
            return name
    return None


def shared_library(code: str, *, is_parallel: bool = False) -> Path:
    """The file of the library made from C code; made now, or by an earlier run with the same compiler."""
    compiler = find_compiler()
    if compiler is None:
        raise CannotRun(
            "calling a folded kernel needs a C compiler, and there is none on this machine "
            "(looked for CC, cc, gcc, clang)"
        )
    flags = (*FLAGS, "-fopenmp") if is_parallel else FLAGS
    name = f"{_key(code, compiler, flags)}.so"
    folder = cache_folder()
    library = folder / name
    if not library.exists():
        _compile(code, compiler, flags, library)
    return library


def _key(code: str, compiler: str, flags: tuple[str, ...]) -> str:
    """A name for what the compiler makes: another text, other flags or another compiler give another one."""
    path = Path(shutil.which(compiler) or compiler).resolve()
    status = path.stat()
    parts = (code, *flags, str(path), str(status.st_size), str(status.st_mtime_ns))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def cache_folder() -> Path:
    """Where libraries are kept: in the user's cache; for this process alone where that cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(home) if home else Path.home() / ".cache"
        folder = folder / "arrayfold" / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return _own_folder()
    return folder if os.access(folder, os.W_OK | os.X_OK) else _own_folder()


@cache
def _own_folder() -> Path:
    import atexit

    folder = tempfile.mkdtemp(prefix="arrayfold-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _compile(code: str, compiler: str, flags: tuple[str, ...], library: Path) -> None:
    """Make the library under another name first: others may make the same one at this moment."""
    with tempfile.TemporaryDirectory(prefix=".making-", dir=library.parent) as folder:
        source, made = Path(folder, "kernel.c"), Path(folder, "kernel.so")
        source.write_text(code, encoding="utf-8", errors="surrogateescape")
        command = [compiler, *flags, str(source), "-o", str(made), "-lm"]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, check=False, timeout=_SECONDS, env=environment
            )
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{compiler} ran for more than {_SECONDS:g} s") from None
        except OSError as error:
            raise CannotRun(f"{compiler} cannot be started: {error.strerror}") from None
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise CannotRun("the compiler refuses the folded kernel: " + "\n".join(lines[:12]))
        made.replace(library)
