"""Races: two accesses of one cell, one of them a write, that nothing orders.

Parallel code is executed in one order. Every piece of it that runs without waiting, such as an iteration of
a parallel loop or a task, is a segment; a set of bits says which segments surely ran before it. A program
without races does the same in every order, so one order is enough.

The iterations of loops under `#pragma GCC ivdep` and `#pragma omp simd` are said to be independent: a
compiler may run them in lanes, statement by statement. That changes nothing as long as every dependence
between two iterations goes from a statement to a later one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from arrayfold.validation.faults import Fault, Spot
from arrayfold.validation.memory import Object

# An object and an offset in it.
CellPlace: TypeAlias = "tuple[Object | None, int]"


@dataclass
class RunningTask:
    """A task while it runs: what it waits for at a taskwait, and what its tasks depend on."""

    children: int = 0
    written: dict[CellPlace, int] = field(default_factory=dict["CellPlace", int])
    read: dict[CellPlace, int] = field(default_factory=dict["CellPlace", int])


@dataclass(frozen=True)
class _LastAccess:
    """Where a segment accessed a cell, and which locks it held whenever it did."""

    segment: int
    spot: Spot
    locks: frozenset[str]


class Races:
    """Accesses of parallel code so far.

    mask     the segments that surely ran before this moment, the current one among them
    loose    segments of the team that nothing has waited for
    shared   objects up to this number existed before the team; None if one thread runs alone
    turns    segments up to the end of the last ordered block of the loop
    locks    the names of what is held: accesses under the same lock are not at the same time
    """

    def __init__(self) -> None:
        self._segments = 0
        self._current = 0
        self.mask = 1
        self.loose = 0
        self.shared: int | None = None
        self.locks: frozenset[str] = frozenset()
        self.tasks = [RunningTask()]
        self.turns = 0
        self._writers: dict[tuple[Object, int], _LastAccess] = {}
        self._readers: dict[tuple[Object, int], dict[int, _LastAccess]] = {}
        self.ignored: set[Object] = set()
        self._callers = 0

    def begin(self, mask: int) -> None:
        """A new segment that runs after those of a set."""
        self._segments += 1
        self._current = self._segments
        self.mask = mask | 1 << self._current

    def wait(self) -> None:
        """Go on after all segments of the team, as at a barrier."""
        self.begin(self.mask | self.loose)
        self.loose = 0

    def call(self) -> bool:
        """Whether a call of a function that is not seen comes after all others, in every order."""
        is_ordered = not self._callers & ~self.mask and self.shared is None
        self._callers |= 1 << self._current
        return is_ordered

    def read(self, obj: Object, offset: int, spot: Spot) -> None:
        """Remember a read, and raise if a write of the cell may happen at the same time."""
        if obj in self.ignored:
            return
        key = (obj, offset)
        writer = self._writers.get(key)
        if writer is not None and self._may_overlap(writer):
            self._fail(obj, offset, spot, writer.spot, "read", "written")
        readers = self._readers.setdefault(key, {})
        before = readers.get(self._current)
        locks = self.locks if before is None else self.locks & before.locks
        readers[self._current] = _LastAccess(self._current, spot, locks)

    def write(self, obj: Object, offset: int, spot: Spot) -> None:
        """Remember a write, and raise if another access of the cell may happen at the same time."""
        if obj in self.ignored:
            return
        if self.shared is not None and obj.number <= self.shared and not self.locks:
            raise Fault(f"a race: every thread of the team writes {obj.name}", spot)
        key = (obj, offset)
        writer = self._writers.get(key)
        if writer is not None and self._may_overlap(writer):
            self._fail(obj, offset, spot, writer.spot, "written", "written")
        for reader in self._readers.get(key, {}).values():
            if self._may_overlap(reader):
                self._fail(obj, offset, spot, reader.spot, "written", "read")
        locks = self.locks
        if writer is not None and writer.segment == self._current:
            locks &= writer.locks
        self._writers[key] = _LastAccess(self._current, spot, locks)
        self._readers.pop(key, None)

    def _may_overlap(self, other: _LastAccess) -> bool:
        return not self.mask >> other.segment & 1 and self.locks.isdisjoint(other.locks)

    def _fail(self, obj: Object, offset: int, spot: Spot, other: Spot, what: str, before: str) -> None:
        cell = _shown(obj, offset)
        raise Fault(f"a race: {cell} is {what} here and {before} in line {other.line} at the same time", spot)


class _Cell:
    """The last accesses of a cell in this iteration and in those before, by their place in the text."""

    __slots__ = ("iteration", "read", "read_before", "written", "written_before")

    def __init__(self, iteration: int) -> None:
        self.iteration = iteration
        self.read = self.written = self.read_before = self.written_before = -1

    def move_to(self, iteration: int) -> None:
        if iteration != self.iteration:
            self.read_before = max(self.read_before, self.read)
            self.written_before = max(self.written_before, self.written)
            self.read = self.written = -1
            self.iteration = iteration


class Lanes:
    """Accesses of a loop whose iterations are said to be independent, so far."""

    def __init__(self, around: Lanes | None) -> None:
        self.around = around
        self.iteration = 0
        self._cells: dict[tuple[Object, int], _Cell] = {}

    def see(self, obj: Object, offset: int, place: int, spot: Spot, *, is_write: bool) -> None:
        """Remember an access, and raise if lanes would reach it too early.

        Of a variable that is not an array every lane has its own, as compilers see.
        """
        if not obj.shape:
            return
        cell = self._cells.get((obj, offset))
        if cell is None:
            cell = self._cells[obj, offset] = _Cell(self.iteration)
        cell.move_to(self.iteration)
        if cell.written_before > place or (is_write and cell.read_before > place):
            what = "written" if is_write else "read"
            before = "written" if cell.written_before > place else "read"
            raise Fault(
                f"iterations are not independent: {_shown(obj, offset)} is {what} here "
                f"after an earlier one has {before} it",
                spot,
            )
        if is_write:
            cell.written = max(cell.written, place)
        else:
            cell.read = max(cell.read, place)
        if self.around is not None:
            self.around.see(obj, offset, place, spot, is_write=is_write)


def _shown(obj: Object, offset: int) -> str:
    return obj.cell(offset, obj.unit if obj.unit > 0 else obj.widths.get(offset, 1))
