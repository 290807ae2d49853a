"""What a command says: results on standard output, what is being done on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from arrayfold.base.errors import InputError
from arrayfold.base.progress import ProgressStep, remaining
from arrayfold.base.watchdog import seconds_left

if TYPE_CHECKING:
    from rich.console import RenderableType

_PATIENCE = 2.0
_WIDTH_OF_FILES = 400
_BAR = 30
_TRAILING_BLANKS = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


@dataclass(frozen=True)
class Console:
    """How much a command says.

    as_json     results as JSON, and nothing else
    is_quiet    no results unless they are JSON, and no progress
    is_verbose  every step with its time, also where standard error is no terminal
    """

    as_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.is_quiet and self.is_verbose:
            raise InputError("--quiet and --verbose are opposites; give one of them")

    def step(self, step: str) -> None:
        """Say what is being done, once the work takes longer than a moment."""
        seconds = time.monotonic() - self.started
        share = step.share if isinstance(step, ProgressStep) else 0.0
        words = ", ".join(filter(None, (step, remaining(seconds, share, seconds_left()))))
        if self.is_verbose:
            typer.echo(f"{seconds:7.2f} s  {words}", err=True)
        elif self._has_live_line and seconds > _PATIENCE:
            typer.echo(f"\r\033[K{seconds:5.0f} s  {words}", nl=False, err=True)

    def count(self, done: int, everything: int) -> None:
        """Say how many pieces of work are done."""
        seconds = time.monotonic() - self.started
        left = remaining(seconds, done / max(everything, 1)) if done < everything else ""
        words = ", ".join(filter(None, (f"{done} of {everything}", left)))
        if self.is_verbose:
            typer.echo(f"{seconds:7.2f} s  {words}", err=True)
        elif self._has_live_line:
            filled = _BAR * done // max(everything, 1)
            bar = "█" * filled + "░" * (_BAR - filled)
            typer.echo(f"\r\033[K{bar} {words}", nl=False, err=True)

    def result(self, data: Callable[[], dict[str, Any]], report: Callable[[], RenderableType]) -> None:
        """Print a result, as JSON or for people."""
        if self._has_live_line and not self.is_verbose:
            typer.echo("\r\033[K", nl=False, err=True)
        if self.as_json:
            sys.stdout.write(json.dumps(data(), indent=2) + "\n")
            return
        if self.is_quiet:
            return
        from rich.console import Console

        is_file = not sys.stdout.isatty() and "COLUMNS" not in os.environ
        console = Console(width=_WIDTH_OF_FILES if is_file else None, soft_wrap=is_file)
        with console.capture() as shown:
            console.print(report())
        sys.stdout.write(_TRAILING_BLANKS.sub(r"\1", shown.get()))

    def note(self, text: str) -> None:
        """Say something about a result that went elsewhere."""
        if self.is_quiet:
            return
        if self._has_live_line and not self.is_verbose:
            typer.echo("\r\033[K", nl=False, err=True)
        typer.echo(f"arrayfold: {text}", err=True)

    @property
    def _has_live_line(self) -> bool:
        """Whether a line on the terminal is written over and over."""
        return sys.stderr.isatty() and not self.as_json and not self.is_quiet
