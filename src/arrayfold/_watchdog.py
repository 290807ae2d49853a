"""A last resort against work that its own budget cannot stop: the parent process watches the child.

isl and barvinok are C code that Python cannot interrupt. isl counts its operations and stops by itself
(see `_isl.Budget`); this is for whatever does not count.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable

_GRACE_SECONDS = 5.0
_PR_SET_PDEATHSIG = 1
_to_parent: int | None = None


def guarded(work: Callable[[], int]) -> int:
    """Run the work in a child process; end it if it overruns the budget that it announces by far."""
    if not hasattr(os, "fork"):
        return work()
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(work, writing)
    os.close(writing)
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _watch(child, reading)


def announce(seconds: float) -> None:
    """Tell the parent how long the work may take from now on."""
    if _to_parent is not None:
        os.write(_to_parent, f"{seconds}\n".encode())


def isolated(work: Callable[[], str], seconds: float) -> str | None:
    """What the work returns, computed in a process of its own; None if that crashes or takes too long.

    barvinok and isl's bounds of polynomials sometimes exhaust the stack, which nothing inside a process
    can catch.
    """
    if not hasattr(os, "fork"):
        return work()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    answer = _read_until(reading, time.monotonic() + seconds)
    os.close(reading)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    is_good = answer is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
    return answer.decode() if is_good and answer is not None else None


def _answer(work: Callable[[], str], writing: int) -> None:
    status = 1
    try:
        _die_with_parent()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(work())
        status = 0
    finally:
        os._exit(status)


def _read_until(reading: int, deadline: float) -> bytes | None:
    """Everything that arrives until the other end closes; None if that takes too long."""
    pieces: list[bytes] = []
    while True:
        wait = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([reading], [], [], wait)
        if not ready:
            return None
        piece = os.read(reading, 1 << 16)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def _be_child(work: Callable[[], int], writing: int) -> None:
    global _to_parent
    _to_parent = writing
    _die_with_parent()
    status = 1
    try:
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        status = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())  # pyright: ignore[reportArgumentType]
        sys.stderr.flush()
    finally:
        os._exit(status)


def _die_with_parent() -> None:
    """Ask Linux to end this process when its parent ends, however that happens."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(child: int, reading: int) -> int:
    deadline = float("inf")
    seconds = 0.0
    while True:
        wait = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([reading], [], [], wait)
        if not ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            message = f"arrayfold: the budget of {seconds:g} s is used up; raise it with --budget"
            print(f"{message}, or ask for a single --array", file=sys.stderr)  # noqa: T201
            return 1
        announced = os.read(reading, 4096).decode()
        if not announced:
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status):
                return os.waitstatus_to_exitcode(status)
            name = signal.Signals(os.WTERMSIG(status)).name
            print(f"arrayfold: the work was ended by {name}; this is a defect", file=sys.stderr)  # noqa: T201
            return 1
        seconds = float(announced.split()[-1])
        deadline = time.monotonic() + 1.5 * seconds + _GRACE_SECONDS
