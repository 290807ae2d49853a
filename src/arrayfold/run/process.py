"""A program that is started with limits: of time, of what it writes, and with all the stack there is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arrayfold.run.compiler import CannotRun

_MOST_OUTPUT = 1 << 32
_PR_SET_PDEATHSIG = 1
_LINES = 12


@dataclass(frozen=True)
class ProcessEnd:
    """How a program ended.

    status  its exit status, or the negative number of a signal
    """

    status: int
    output: bytes
    messages: str

    @property
    def reason(self) -> str:
        """Why it failed, in words."""
        if self.status >= 0:
            return self.messages or f"it ended with status {self.status}"
        number = -self.status
        with contextlib.suppress(ValueError):
            name = signal.Signals(number).name
            words = _SIGNALS.get(name, "")
            number = f"{number}, {name}{words}"
        return f"ended by signal {number}. {self.messages}".strip()


_SIGNALS = {
    "SIGFPE": " (a division by zero)",
    "SIGSEGV": " (an access outside of its memory)",
    "SIGXFSZ": " (it writes too much)",
}


class TookTooLong(CannotRun):
    """A program was ended because it ran for too long."""


def start(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> ProcessEnd:
    """Run a program in a folder until it ends; it reads nothing, and it does not outlive this process."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        try:
            done = subprocess.run(  # noqa: S603
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=messages,
                check=False,
                timeout=seconds,
                env={**os.environ, "LC_ALL": "C", **(environment or {})},
                preexec_fn=_limits(seconds),
            )
        except subprocess.TimeoutExpired:
            raise TookTooLong(f"it did not end within {seconds:g} s") from None
        except OSError as error:
            raise CannotRun(f"{command[0]} cannot be started: {error.strerror}") from None
        output.seek(0)
        messages.seek(0)
        text = messages.read(1 << 20).decode("utf-8", "replace").strip()
        shown = "\n".join(text.splitlines()[:_LINES])
        return ProcessEnd(done.returncode, output.read(), shown)


def _limits(seconds: float) -> Callable[[], None]:
    processors = os.cpu_count() or 1

    def limit() -> None:
        # The original may keep large arrays on the stack.
        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, _MOST_OUTPUT)
        _lower(resource.RLIMIT_CPU, int(seconds * processors) + 2)
        if sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return limit


def _lower(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, hard))
