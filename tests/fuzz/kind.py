"""What the driver asks of a kind of random input."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

Case = TypeVar("Case")


@dataclass(frozen=True)
class Failure:
    """Something is wrong.

    what    a few words that stay the same while the case is shrunk: `missing conflict`, `traceback KeyError`
    detail  all that helps to understand it
    """

    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}" if self.detail else self.what


@dataclass(frozen=True)
class Refused:
    """The tool refused the input with a proper message, so that there was nothing to compare."""

    why: str


Outcome: TypeAlias = Failure | Refused | None


class Kind(Protocol[Case]):
    """A kind of random input.

    name     one word; files that are found begin with it
    share    of the time of a run, relative to the other kinds
    seconds  of CPU time after which a case is given up
    memory   bytes of address space that a case may take, None for no limit (sanitizers take terabytes)
    """

    name: str
    share: float
    seconds: float
    memory: int | None

    def generate(self, choose: random.Random) -> Case:
        """A random case; everything random comes from `choose`."""
        ...

    def check(self, case: Case) -> Outcome:
        """None if all is well. What it raises is a failure, too; what the tool may raise is caught here."""
        ...

    def shrink(self, case: Case) -> Iterator[Case]:
        """Smaller cases, the boldest first; the driver goes on from the first one that fails alike."""
        ...

    def write(self, case: Case, failure: Failure | None, folder: Path, stem: str) -> str:
        """Write the case to files whose names begin with the stem; the command that shows the failure."""
        ...

    def read(self, file: Path) -> Case:
        """The case in a file that `write` wrote, for --replay."""
        ...
