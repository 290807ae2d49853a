"""Pieces of input text that remember where they stand in their file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError, SourcePosition


@dataclass(frozen=True)
class SourceText:
    """A value read from a file, and where each of its characters stands there.

    `offsets[k]` is the position of character k of `value` in `file_text`; one more entry marks its end.
    """

    value: str
    file: str
    file_text: str
    offsets: Sequence[int]

    @staticmethod
    def of(value: str, name: str) -> SourceText:
        """A text that is its own file: all of a file, or a command-line option called `name`.

        >>> SourceText.of("N >= 3", "--context").place(5).column
        6
        """
        return SourceText(value, name, value, range(len(value) + 1))

    def slice(self, start: int, end: int) -> SourceText:
        """The part from one position up to another."""
        return SourceText(self.value[start:end], self.file, self.file_text, self.offsets[start : end + 1])

    def place(self, position: int = 0) -> SourcePosition:
        """Where character `position` of the value stands."""
        offset = self.offsets[min(max(position, 0), len(self.offsets) - 1)]
        before = self.file_text[:offset]
        line_start = before.rfind("\n") + 1
        line_end = self.file_text.find("\n", offset)
        line = self.file_text[line_start : line_end if line_end >= 0 else None].rstrip("\r")
        return SourcePosition(self.file, before.count("\n") + 1, offset - line_start + 1, line)

    def find(self, pattern: str) -> int:
        """Position of the first match of a regular expression, or 0."""
        match = re.search(pattern, self.value)
        return match.start() if match else 0

    def error(self, message: str, position: int = 0, hint: str | None = None) -> InputError:
        """An error that points at one character of this text."""
        return InputError(message, self.place(position), hint)
