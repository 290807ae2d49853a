"""Races: two accesses of one cell, one of them a write, that nothing orders.

Parallel code is executed in one order. Every piece of it that runs without waiting, such as an iteration of
a parallel loop or a task, is a segment; a set of bits says which segments surely ran before it. A program
without races does the same in every order, so that one order is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arrayfold.validation.faults import Fault, Spot
from arrayfold.validation.memory import Object


@dataclass
class Task:
    """A task while it runs: what it waits for at a taskwait, and what its tasks depend on."""

    children: int = 0
    written: dict[tuple[Object | None, int], int] = field(
        default_factory=dict["tuple[Object | None, int]", int]
    )
    read: dict[tuple[Object | None, int], int] = field(default_factory=dict["tuple[Object | None, int]", int])


class Races:
    """Accesses of parallel code so far.

    mask     the segments that surely ran before this moment, the current one among them
    loose    segments of the team that nobody has waited for
    shared   objects up to this number existed before the team; None if one thread runs alone
    is_quiet inside of atomic and critical, whose accesses do not race with each other
    """

    def __init__(self) -> None:
        self._segments = 0
        self._current = 0
        self.mask = 1
        self.loose = 0
        self.shared: int | None = None
        self.is_quiet = False
        self.tasks = [Task()]
        self._writers: dict[tuple[Object, int], tuple[int, Spot]] = {}
        self._readers: dict[tuple[Object, int], dict[int, Spot]] = {}
        self.ignored: set[Object] = set()

    def begin(self, mask: int) -> None:
        """A new segment that runs after those of a set."""
        self._segments += 1
        self._current = self._segments
        self.mask = mask | 1 << self._current

    def read(self, obj: Object, offset: int, spot: Spot) -> None:
        """Remember a read, and raise if a write of the cell may happen at the same time."""
        if self.is_quiet or obj in self.ignored:
            return
        key = (obj, offset)
        writer = self._writers.get(key)
        if writer is not None and not self.mask >> writer[0] & 1:
            self._fail(obj, offset, spot, writer[1], "read", "written")
        self._readers.setdefault(key, {})[self._current] = spot

    def write(self, obj: Object, offset: int, spot: Spot) -> None:
        """Remember a write, and raise if another access of the cell may happen at the same time."""
        if self.is_quiet or obj in self.ignored:
            return
        if self.shared is not None and obj.number <= self.shared:
            raise Fault(f"a race: every thread of the team writes {obj.name}", spot)
        key = (obj, offset)
        writer = self._writers.get(key)
        if writer is not None and not self.mask >> writer[0] & 1:
            self._fail(obj, offset, spot, writer[1], "written", "written")
        for reader, where in self._readers.get(key, {}).items():
            if not self.mask >> reader & 1:
                self._fail(obj, offset, spot, where, "written", "read")
        self._writers[key] = (self._current, spot)
        self._readers.pop(key, None)

    def _fail(self, obj: Object, offset: int, spot: Spot, other: Spot, what: str, before: str) -> None:
        cell = obj.cell(offset, obj.unit if obj.unit > 0 else obj.widths.get(offset, 1))
        raise Fault(f"a race: {cell} is {what} here and {before} in line {other.line} at the same time", spot)
