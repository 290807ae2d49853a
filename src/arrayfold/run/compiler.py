"""The C compiler of the machine, and the shared libraries that it made."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

from arrayfold.base.cache import cache_folder, is_private
from arrayfold.base.errors import ArrayfoldError

# Values must not change: no fused multiply-add, whole numbers wrap as NumPy's do, and functions of the C
# library are those that Python calls, without what a compiler knows of them.
_CALLED = "pow exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh"
FLAGS = (
    *("-std=gnu11", "-O3", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fwrapv", "-fno-math-errno"),
    *(f"-fno-builtin-{name}{suffix}" for name in _CALLED.split() for suffix in ("", "f")),
)
_SECONDS = 300.0
_one_at_a_time = threading.Lock()


class CannotRun(ArrayfoldError):
    """The programs could not be compiled or run; the message says why."""


def find_compiler() -> str | None:
    """The C compiler: what CC says, or one of the usual names where it says nothing."""
    told = os.environ.get("CC")
    if told and not shutil.which(told):
        raise CannotRun(f"CC names {told!r}, which is not a program that can be run")
    return told or next(filter(shutil.which, ("cc", "gcc", "clang")), None)


def find_cplusplus_compiler() -> str | None:
    """The C++ compiler: what CXX says, or one of the usual names where it says nothing."""
    told = os.environ.get("CXX")
    if told and not shutil.which(told):
        raise CannotRun(f"CXX names {told!r}, which is not a program that can be run")
    return told or next(filter(shutil.which, ("c++", "g++", "clang++")), None)


def shared_library(code: str, *, is_parallel: bool = False) -> Path:
    """The file of the library made from C code; made now, or by an earlier run with the same compiler."""
    compiler = find_compiler()
    if compiler is None:
        raise CannotRun(
            "calling a folded kernel needs a C compiler, and there is none on this machine "
            "(looked for CC, cc, gcc, clang)"
        )
    flags = (*FLAGS, "-fopenmp") if is_parallel else FLAGS
    key = _key(code, compiler, flags)
    folder = kernel_folder()
    with _one_at_a_time:
        return _kept(folder, key) or _compile(code, compiler, flags, folder, key)


def _key(code: str, compiler: str, flags: tuple[str, ...]) -> str:
    """A name for what the compiler makes: another text, other flags or another compiler give another one."""
    path = Path(shutil.which(compiler) or compiler).resolve()
    status = path.stat()
    parts = (code, *flags, str(path), str(status.st_size), str(status.st_mtime_ns))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def kernel_folder() -> Path:
    """Where libraries are kept: in the user's cache; for this process alone where that is not safe."""
    return cache_folder("kernels") or _own_folder()


@cache
def _own_folder() -> Path:
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="arrayfold-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if not is_private(folder):
        raise CannotRun(f"a kernel cannot be compiled: others may write {folder.parent}; set TMPDIR")
    return folder


def _kept(folder: Path, key: str) -> Path | None:
    """The library of an earlier run; one that is not what the compiler made is deleted.

    Its name ends in the hash of its content.
    """
    for library in sorted(folder.glob(f"{key}-*.so")):
        with suppress(OSError):
            if not library.is_symlink() and library.name == _name(key, library.read_bytes()):
                return library
            library.unlink()
    return None


def _name(key: str, content: bytes) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()}.so"


def _compile(code: str, compiler: str, flags: tuple[str, ...], folder: Path, key: str) -> Path:
    """Make the library under another name first: other processes may make the same one at this moment."""
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as making:
        source, made = Path(making, "kernel.c"), Path(making, "kernel.so")
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
        return made.replace(folder / _name(key, made.read_bytes()))
