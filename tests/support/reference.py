"""Ground truth by plain enumeration: no isl, no formulas, nothing of arrayfold.

A program is a list of instances in execution order; everything is counted by walking through it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Cell = tuple[int, ...]
Access = tuple[str, Cell]


@dataclass(frozen=True)
class Instance:
    """One execution of a statement: it reads first, then writes."""

    name: str
    iteration: Cell
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


@dataclass(frozen=True)
class Trace:
    """A sequential execution, and the cells that matter before and after it."""

    instances: Sequence[Instance]
    live_out: frozenset[Access] = frozenset()
    live_in: frozenset[Access] = frozenset()

    def all_live_in(self) -> frozenset[Access]:
        """Also what is read or live-out without having been written."""
        written: set[Access] = set()
        found = set(self.live_in)
        for instance in self.instances:
            found |= set(instance.reads) - written
            written |= set(instance.writes)
        return frozenset(found | (self.live_out - written))

    def moments(self, array: str) -> list[frozenset[Cell]]:
        """Cells that each need an address of their own at the start and right after each write to an array.

        Of cells that are written and not read any more one is enough: they may share an address.
        """
        return [live | set(sorted(written - live)[:1]) for live, written in self.memory(array)]

    def memory(self, array: str) -> list[tuple[frozenset[Cell], frozenset[Cell]]]:
        """The live cells of an array at the start and after each write to it, and those written then.

        Live are cells whose value is still going to be read: the next access is a read.
        """
        found: list[tuple[frozenset[Cell], frozenset[Cell]]] = []
        live = {cell for name, cell in self.live_out if name == array}
        for instance in reversed(self.instances):
            written = {cell for name, cell in instance.writes if name == array}
            if written:
                found.append((frozenset(live), frozenset(written)))
            live = live - written | {cell for name, cell in instance.reads if name == array}
        live_in = frozenset(cell for name, cell in self.all_live_in() if name == array)
        return [(live_in, frozenset()), *reversed(found)]

    def memory_of_cells(self, array: str) -> list[tuple[frozenset[Cell], frozenset[Cell]]]:
        """The same, where a cell counts as live from its first write to its last read, as in the papers."""
        live_in = {cell for name, cell in self.all_live_in() if name == array}
        live_out = {cell for name, cell in self.live_out if name == array}
        first_write: dict[Cell, int] = dict.fromkeys(live_in, -1)
        last_read: dict[Cell, float] = dict.fromkeys(live_out, float("inf"))
        for time, instance in enumerate(self.instances):
            for name, cell in instance.reads:
                if name == array:
                    last_read[cell] = max(last_read.get(cell, -1), time)
            for name, cell in instance.writes:
                if name == array:
                    first_write.setdefault(cell, time)
        nothing: frozenset[Cell] = frozenset()
        found = [(frozenset(live_in), nothing)]
        for time, instance in enumerate(self.instances):
            written = {cell for name, cell in instance.writes if name == array}
            if written:
                live = {
                    cell for cell, start in first_write.items() if start <= time < last_read.get(cell, -1)
                }
                found.append((frozenset(live), frozenset(written)))
        return found

    def conflicts(self, array: str, *, of_cells: bool = False) -> set[tuple[Cell, Cell]]:
        """Both ways round, every pair of cells one of which is live while the other is live or written.

        of_cells  cells count as live from their first write to their last read
        """
        found: set[tuple[Cell, Cell]] = set()
        for live, written in set(self.memory_of_cells(array) if of_cells else self.memory(array)):
            for x, y in itertools.product(live, live | written):
                if x != y:
                    found |= {(x, y), (y, x)}
        return found

    def most_live(self, array: str) -> int:
        """The largest number of cells in memory at one moment."""
        return max(map(len, self.moments(array)))

    def values_read(self, array: str, address: Callable[[Cell], Cell]) -> list[object]:
        """What the program reads from an array, and leaves live-out in it, when cells share addresses.

        Every write stores a value of its own, so two mappings behave alike iff these lists are equal.
        """
        memory: dict[Cell, object] = {}
        for name, cell in sorted(self.all_live_in()):
            if name == array:
                memory[address(cell)] = ("before", cell)
        seen: list[object] = []
        for time, instance in enumerate(self.instances):
            seen += [memory.get(address(cell)) for name, cell in instance.reads if name == array]
            for name, cell in instance.writes:
                if name == array:
                    memory[address(cell)] = (time, cell)
        return seen + [memory.get(address(cell)) for name, cell in sorted(self.live_out) if name == array]


# ---------------------------------------------------------------- partial orders

Before = Callable[[tuple[int, bool], tuple[int, bool]], bool]


def partial_conflicts(trace: Trace, array: str, before: Before) -> set[tuple[Cell, Cell]]:
    """Conflicts when instances are only partially ordered, as DIY16 Eq. 7 has them for single values.

    `before` orders events (number of the instance, whether it is the write). x and y conflict if writes of
    different instances to them are unordered, or if some write of y may come after a write of x and before a
    read of what that wrote: no two of the three surely have another write of x between them.
    """
    writes: dict[Cell, list[int]] = {}
    reads: dict[Cell, list[int]] = {}
    for number, instance in enumerate(trace.instances):
        for name, cell in instance.writes:
            if name == array:
                writes.setdefault(cell, []).append(number)
        for name, cell in instance.reads:
            if name == array:
                reads.setdefault(cell, []).append(number)
    live_out = {cell for name, cell in trace.live_out if name == array}
    found: set[tuple[Cell, Cell]] = set()
    for x, y in itertools.permutations(writes, 2):
        for wx, wy in itertools.product(writes[x], writes[y]):
            after_x = not before((wy, True), (wx, True))
            unordered = wx != wy and after_x and not before((wx, True), (wy, True))
            uses: list[tuple[int, bool] | None] = [(rx, False) for rx in reads.get(x, ())]
            uses += [None] if x in live_out else []
            three = [((wx, True), (wy, True), use) for use in uses]
            if unordered or (after_x and any(_may_follow(*one, writes[x], before) for one in three)):
                found |= {(x, y), (y, x)}
    return found


def _may_follow(
    write: tuple[int, bool],
    other: tuple[int, bool],
    use: tuple[int, bool] | None,
    writers: Sequence[int],
    before: Before,
) -> bool:
    """Whether an execution has these events in this order, and no further write of the cell between them.

    use  None for the end
    """
    if use is not None and (before(use, other) or before(use, write)):
        return False
    for number in writers:
        between = (number, True)
        after_write, after_other = before(write, between), before(other, between) or False
        ahead = use is None or before(between, use)
        hides = after_write and (before(between, other) or between == other)
        if (hides and write != other) or (ahead and (after_write or after_other)):
            return False
    return True


# ---------------------------------------------------------------- mappings


def modular_address(
    matrix: Sequence[Sequence[int]],
    offset: Sequence[int],
    moduli: Sequence[int],
    divisors: Sequence[int] | None = None,
) -> Callable[[Cell], Cell]:
    """The address function of a mapping with numbers in it; rows are divided before they wrap."""
    by = [1] * len(moduli) if divisors is None else divisors

    def address(cell: Cell) -> Cell:
        return tuple(
            (sum(a * x for a, x in zip(row, cell, strict=True)) + shift) // divisor % modulus
            for row, shift, modulus, divisor in zip(matrix, offset, moduli, by, strict=True)
        )

    return address


def is_valid(conflicts: Iterable[tuple[Cell, Cell]], address: Callable[[Cell], Cell]) -> bool:
    """Whether no conflicting cells share an address."""
    return all(address(x) != address(y) for x, y in conflicts)


def successive_modulo(conflicts: Iterable[tuple[Cell, Cell]], order: Sequence[int]) -> Mapping[int, int]:
    """Lefebvre-Feautrier moduli, axis by axis in the given order."""
    differences = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in conflicts}
    moduli: dict[int, int] = {}
    for axis in order:
        moduli[axis] = 1 + max((abs(d[axis]) for d in differences), default=0)
        differences = {d for d in differences if d[axis] == 0}
    return moduli
