"""A last resort against work that its own budget cannot stop: the parent process watches the child.

Work that may explode has a budget, and a process of its own which ends with it (see `deadline`); this is for
whatever is neither, such as a parser.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

from arrayfold.base.defects import internal

_GRACE_SECONDS = 0.7
_BUSY = 6.0
_SECONDS_TO_SAY_WHAT_IT_HAD = 0.5
_INTERRUPTED = 130
_STACK_BYTES = 100 << 20
_RECURSION_LIMIT = 20_000
_PR_SET_PDEATHSIG = 1
_to_parent: int | None = None
_deadline = float("inf")


def guarded(work: Callable[[], int]) -> int:
    """Run the work in a child process; end it if it overruns the budget that it announces."""
    if not hasattr(os, "fork"):
        return work()
    _open_streams()
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(work, writing)
    os.close(writing)
    try:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return _watch(child, reading)
    except KeyboardInterrupt:
        return _end_interrupted(child)


def _end_interrupted(child: int) -> int:
    """Give the child, which Ctrl-C has reached as well, a moment to say what it had."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    end = time.monotonic() + _SECONDS_TO_SAY_WHAT_IT_HAD
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return _INTERRUPTED
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _INTERRUPTED


def _open_streams() -> None:
    """Streams that the caller has closed lead to nowhere."""
    if sys.stdout is None or sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        nowhere = Path(os.devnull).open("w")  # noqa: SIM115
        sys.stdout = sys.stdout or nowhere
        sys.stderr = sys.stderr or nowhere


def announce(seconds: float) -> None:
    """Tell the parent how long the work may take from now on."""
    global _deadline
    _deadline = time.monotonic() + seconds
    if _to_parent is not None:
        os.write(_to_parent, f"{seconds}\n".encode())


def seconds_left() -> float:
    """How long the work may still take; infinite if nobody has said so."""
    return max(0.0, _deadline - time.monotonic())


@contextlib.contextmanager
def reading(file: str) -> Generator[None]:
    """While this lasts, a parser is at work that may end the process; then the parent says what was read."""
    if _to_parent is None:
        yield
        return
    name = file.encode("utf-8", "surrogateescape").replace(b"\n", b" ")
    os.write(_to_parent, b"reading " + name + b"\n")
    try:
        yield
    finally:
        os.write(_to_parent, b"read\n")


def _be_child(work: Callable[[], int], writing: int) -> None:
    global _to_parent
    _to_parent = writing
    die_with_parent()
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _make_room_for_recursion()
    status = 1
    try:
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except BrokenPipeError:
        status = 1
    except OSError as error:
        print(f"arrayfold: the output cannot be written: {error}", file=sys.stderr, flush=True)  # noqa: T201
    except BaseException as error:
        print(f"arrayfold: {internal(error)}", file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(status)


def die_with_parent() -> None:
    """Ask Linux to end this process when its parent ends, however that happens."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _make_room_for_recursion() -> None:
    """Long expressions are deep trees: let Python and the parsers go deeper than they do by themselves."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    stack = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(_STACK_BYTES, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_STACK, (stack, hard))
        sys.setrecursionlimit(_RECURSION_LIMIT)


def _watch(child: int, pipe: int) -> int:
    seconds, deadline = 0.0, float("inf")
    is_read, rest = "", b""
    while True:
        wait = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([pipe], [], [], wait)
        if not ready and not _finishes(child, pipe):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if is_read:
                print(f"arrayfold: {is_read}: it cannot be read within {seconds:g} s", file=sys.stderr)  # noqa: T201
                return 2
            message = f"arrayfold: the budget of {seconds:g} s is used up; raise it with --budget"
            print(f"{message}, or ask for a single --array", file=sys.stderr)  # noqa: T201
            return 1
        announced = os.read(pipe, 4096)
        if not announced:
            _, status = os.waitpid(child, 0)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
                return _INTERRUPTED
            if os.WIFEXITED(status):
                return os.waitstatus_to_exitcode(status)
            name = signal.Signals(os.WTERMSIG(status)).name
            if is_read:
                problem = f"it is too large or nested too deeply for its parser ({name})"
                print(f"arrayfold: {is_read}: cannot be read: {problem}", file=sys.stderr)  # noqa: T201
                return 2
            print(f"arrayfold: the work was ended by {name}; this is a defect", file=sys.stderr)  # noqa: T201
            return 1
        *lines, rest = (rest + announced).split(b"\n")
        for line in lines:
            word, _, name = line.decode("utf-8", "replace").partition(" ")
            if word in ("reading", "read"):
                is_read = name
            else:
                seconds = float(word)
                deadline = time.monotonic() + seconds


def _finishes(child: int, reading: int) -> bool:
    """Whether the child, whose time is over, ends or asks for more within the grace.

    It has the grace for itself: on a busy machine that is longer, because the answer is only to be printed.
    """
    before, late = _processor_seconds(child), time.monotonic()
    while time.monotonic() - late < _BUSY * _GRACE_SECONDS:
        ready, _, _ = select.select([reading], [], [], 0.1 * _GRACE_SECONDS)
        if ready:
            return True
        used = _processor_seconds(child)
        if (time.monotonic() - late if used is None or before is None else used - before) > _GRACE_SECONDS:
            return False
    return False


def _processor_seconds(process: int) -> float | None:
    """The time that a process has had of the processor; None where that cannot be told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
