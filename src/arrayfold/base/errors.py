"""Everything that can go wrong, with a place to look at and something to try."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST_LINE = 200


@dataclass(frozen=True)
class SourcePosition:
    """A position in a text: lines and columns count from one."""

    file: str
    line: int
    column: int
    line_text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ArrayfoldError(Exception):
    """Base of every error that arrayfold raises on purpose."""

    exit_status = 1


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; its text says what was found until then."""


class InputError(ArrayfoldError):
    """The input is wrong: where, what was found, and what to try.

    >>> print(InputError("no such array", SourcePosition("a.toml", 3, 9, "read = 1"), "say A"))
    a.toml:3:9: no such array
        read = 1
                ^
      say A
    """

    exit_status = 2

    def __init__(self, message: str, place: SourcePosition | None = None, hint: str | None = None) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.message}" if self.place else self.message]
        if self.place and self.place.line_text.strip():
            first = max(0, self.place.column - _LONGEST_LINE // 2)
            shown = "".join(one if one.isprintable() else " " for one in self.place.line_text)
            if len(shown) <= _LONGEST_LINE:
                first = 0
            lines.append("    " + shown[first : first + _LONGEST_LINE])
            lines.append("    " + " " * (self.place.column - 1 - first) + "^")
        if self.hint:
            lines.append("  " + self.hint)
        return "\n".join(lines)


class NotAffine(InputError):
    """Something that must be affine in iterators and parameters is not."""


class IncompleteMapping(InputError):
    """A mapping that gives no address to a cell that needs one."""


class WrongType(ArrayfoldError, TypeError):
    """A kernel, or a function of the library, was called with something of another type than it takes."""


class WrongValue(ArrayfoldError, ValueError):
    """A kernel was called with an array or a number that it cannot work on."""


class NotEnoughMemory(ArrayfoldError, MemoryError):
    """The arrays of a kernel do not fit into memory."""


class MethodNotApplicable(ArrayfoldError):
    """A method was asked for whose condition fails; the message says which."""


class NothingProved(ArrayfoldError):
    """No mapping could be proved for an array."""


class BudgetExceeded(ArrayfoldError):
    """The work needs more time or isl operations than it was given."""


class IslFailure(ArrayfoldError):
    """isl gave up on something that it should be able to do: a defect, never the user's fault."""


class CheckFailed(ArrayfoldError):
    """The tool's own check of what it was about to write failed: a defect, never the user's fault."""

    exit_status = 3


class InternalError(ArrayfoldError):
    """Something went wrong that should not be able to: a defect, with the place where it happened."""
