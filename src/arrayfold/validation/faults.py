"""How an execution goes on after a statement, or ends early."""

from __future__ import annotations

from dataclasses import dataclass

# What a statement gives back: None leads to the next one, and a text is the label of a goto.
BREAK = 1
CONTINUE = 2
RETURN = 3


@dataclass(frozen=True)
class Spot:
    """A line of a text that is executed."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ExecutionEnded(Exception):
    """An execution that did not come to its end: why, and where."""

    def __init__(self, message: str, spot: Spot | None = None) -> None:
        self.message = message
        self.spot = spot
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.spot}: {self.message}" if self.spot else self.message


class Fault(ExecutionEnded):
    """Something that C gives no meaning to: out of bounds, overflow, a race, a value that was never set."""


class Stopped(ExecutionEnded):
    """The program ended itself, by abort, exit or a failed assertion."""


class Unsupported(ExecutionEnded):
    """Something that the interpreter does not know."""


class OutOfSteps(ExecutionEnded):
    """More work than an execution is given."""
