"""Cases in processes of their own: what crashes, hangs or eats all memory does not end the run.

A worker runs one case after the other and tells the parent, a line a case. CPU time is limited, so that it
does not matter how busy the machine is; wall time too, far later, for what waits without computing.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import random
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fuzz.kind import Failure, Kind, Outcome, Refused

Verdict: TypeAlias = Literal["passed", "refused", "failed", "gave up"]

_PR_SET_PDEATHSIG = 1
_WALL_FACTOR = 12.0
_MOST_TEXT = 6000


@dataclass(frozen=True)
class Result:
    """What became of a case."""

    verdict: Verdict
    what: str = ""
    detail: str = ""

    @property
    def failure(self) -> Failure | None:
        return Failure(self.what, self.detail) if self.verdict == "failed" else None


def random_for(seed: int, kind: str, index: int) -> random.Random:
    """Where a case gets its random numbers from: the same three give the same case."""
    return random.Random(f"{seed} {kind} {index}")


def checked(kind: Kind[Any], case: Any) -> Result:
    """The result of a check in this process; an exception is a failure."""
    try:
        outcome: Outcome = kind.check(case)
    except MemoryError:
        return Result("gave up", "memory")
    except Exception as error:
        return Result("failed", f"traceback {_place(error)}", traceback.format_exc()[-_MOST_TEXT:])
    if isinstance(outcome, Failure):
        return Result("failed", outcome.what, outcome.detail[:_MOST_TEXT])
    return Result("refused", outcome.why) if isinstance(outcome, Refused) else Result("passed")


def _place(error: Exception) -> str:
    """The type of an exception and where it was raised, which stays the same for smaller cases."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {where.name} ({os.path.basename(where.filename)})"  # noqa: PTH119


# ---------------------------------------------------------------- workers


@dataclass
class Worker:
    """A child process at work on cases of one kind."""

    kind: Kind[Any]
    process: int
    pipe: int
    index: int | None = None
    since: float = field(default_factory=time.monotonic)
    pending: bytes = b""

    @property
    def deadline(self) -> float:
        return self.since + _WALL_FACTOR * self.kind.seconds

    def read(self) -> list[tuple[int, Result]] | None:
        """The cases that are done since the last time; None at the end."""
        piece = os.read(self.pipe, 1 << 16)
        if not piece:
            return None
        *lines, self.pending = (self.pending + piece).split(b"\n")
        done: list[tuple[int, Result]] = []
        for index, *result in map(json.loads, lines):
            self.since = time.monotonic()
            self.index = index
            if result:
                done.append((index, Result(*result)))
                self.index = None
        return done

    def end(self, *, kill: bool) -> Result | None:
        """Wait for the process; what became of the case that it was at, if it did not finish it."""
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process, signal.SIGKILL)
        os.close(self.pipe)
        _, status = os.waitpid(self.process, 0)
        if self.index is None:
            return None
        return _unfinished(status)


def start(kind: Kind[Any], cases: Callable[[], Any]) -> Worker:
    """A worker that runs `cases`, an iterator of (index, () -> case), made in the child."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reading)
        _work(kind, cases, writing)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    os.close(writing)
    return Worker(kind, child, reading)


def _work(kind: Kind[Any], cases: Callable[[], Any], writing: int) -> None:
    status = 1
    try:
        _be_quiet()
        if kind.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (kind.memory, kind.memory))
        for index, make in cases():
            _limit_cpu(kind.seconds)
            _tell(writing, [index])
            case = make()
            result = checked(kind, case)
            _tell(writing, [index, result.verdict, result.what, result.detail])
        status = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _be_quiet() -> None:
    """Die with the parent, dump no core, and keep what the tool prints to ourselves."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)


def _limit_cpu(seconds: float) -> None:
    """End this process by SIGXCPU once it has computed for so many more seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _tell(pipe: int, message: list[object]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _unfinished(status: int) -> Result:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        if name in ("SIGKILL", "SIGXCPU"):
            return Result("gave up", "time")
        return Result("failed", f"crash {name}")
    return Result("failed", f"the process ended with status {os.WEXITSTATUS(status)}")


# ---------------------------------------------------------------- one case


def check_alone(kind: Kind[Any], case: Any, seconds: float) -> Result:
    """The result of one case in a process of its own, for at most so many seconds of wall time."""
    worker = start(kind, lambda: iter([(0, lambda: case)]))
    until = min(time.monotonic() + seconds, worker.deadline)
    while True:
        ready, _, _ = select.select([worker.pipe], [], [], max(0.0, until - time.monotonic()))
        done = worker.read() if ready else None
        if done:
            worker.end(kill=False)
            return done[0][1]
        if done is None:
            return worker.end(kill=not ready) or Result("gave up", "time")
