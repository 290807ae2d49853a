"""A program at one size, instance by instance: its orders, its executions, its conflicts. No isl.

An instance has two events, its reads (2k) and its writes (2k + 1). An order is a list of bit masks: for each
event those that surely come before it. A program has one order or, if it is tiled, one for each tiling. In an
execution some instances do not run, because they exclude others that do, and accesses that need not happen
may or may not. Who comes first is then decided among those that run: an order through an instance that does
not run is no order.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fuzz.affine import Values
from fuzz.programs import Place
from support.reference import Cell


@dataclass(frozen=True)
class Instance:
    """An instance and what it accesses; accesses in `may` need not happen."""

    place: Place
    values: Values
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]
    may: frozenset[tuple[bool, Place]]


@dataclass(frozen=True)
class Concrete:
    """A program at one size.

    direct       for each event those that the program puts before it, not closed where it need not be
    closes       whether orders are followed through instances in between
    tilings      total orders instead, one for each way to cut
    exclusive    for each instance those that never run with it
    may_not_run  the instances that need not run, those that exclude others among them
    unsure       those of them whose writes are not sure; branches are taken to write what is read later
    """

    instances: tuple[Instance, ...]
    direct: tuple[int, ...]
    closes: bool
    tilings: tuple[tuple[int, ...], ...]
    exclusive: tuple[int, ...]
    may_not_run: int
    unsure: int
    declared_live_in: frozenset[Place]
    live_out: frozenset[Place]

    @property
    def count(self) -> int:
        return len(self.instances)

    @cached_property
    def surely(self) -> tuple[int, ...]:
        """The order among instances that always run; of the others only what they have directly."""
        if self.tilings:
            return tuple(_all_of(masks) for masks in zip(*self.tilings, strict=True))
        return self.order_among((1 << self.count) - 1 & ~self.may_not_run) if self.closes else self.direct

    def order_among(self, running: int) -> tuple[int, ...]:
        """The order when these instances run: closed through them, and no others."""
        if not self.closes:
            return self.direct
        before = list(self.direct)
        for k in range(self.count):
            if running >> k & 1:
                # Reads of k come after all that is before them, and its writes after its reads.
                through = before[2 * k] | 1 << 2 * k
                for event, mask in enumerate(before):
                    if mask >> (2 * k + 1) & 1:
                        before[event] = mask | through
        return tuple(before)

    def order_for(self, *some: int) -> tuple[int, ...]:
        """The order in an execution with these instances and as few others as can be."""
        extra = sum({1 << k for k in some if self.may_not_run >> k & 1})
        if not extra or not self.closes:
            return self.surely
        return self.order_among((1 << self.count) - 1 & ~self.may_not_run | extra)

    def compatible(self, *some: int) -> bool:
        return not any(self.exclusive[a] >> b & 1 for a, b in itertools.combinations(some, 2))

    def events(self, array: str, *, writes: bool, must_only: bool = False) -> dict[Cell, list[int]]:
        """For each cell the instances that access it."""
        found: dict[Cell, list[int]] = {}
        for k, instance in enumerate(self.instances):
            for place in dict.fromkeys(instance.writes if writes else instance.reads):
                is_sure = (writes, place) not in instance.may and not (writes and self.unsure >> k & 1)
                if place[0] == array and (is_sure or not must_only):
                    found.setdefault(place[1], []).append(k)
        return found

    def touched(self, array: str) -> set[Cell]:
        cells = {*self.events(array, writes=True), *self.events(array, writes=False)}
        return cells | {cell for name, cell in (*self.declared_live_in, *self.live_out) if name == array}

    # ------------------------------------------------------------ live-in cells

    def live_in(self, array: str) -> set[Cell]:
        """Declared ones, and those that are read, or live-out, without a write that surely comes first."""
        found = {cell for name, cell in self.declared_live_in if name == array}
        sure = self.events(array, writes=True, must_only=True)
        found |= {cell for name, cell in self.live_out if name == array and cell not in sure}
        for cell, readers in self.events(array, writes=False).items():
            for r in readers:
                writers = [w for w in sure.get(cell, ()) if self.compatible(w, r)]
                if not any(self.order_for(w, r)[2 * r] >> (2 * w + 1) & 1 for w in writers):
                    found.add(cell)
        return found

    def surely_live_in(self, array: str) -> set[Cell]:
        """Those that hold a value before the program whatever is believed of reads in branches."""
        if not any(self.exclusive):
            return self.live_in(array)
        found = {cell for name, cell in self.declared_live_in if name == array}
        written = self.events(array, writes=True)
        return found | {cell for cell in self.events(array, writes=False) if cell not in written}

    # ------------------------------------------------------------ conflicts

    def conflicts(self, array: str) -> set[tuple[Cell, Cell]]:
        """Pairs x < y that meet in memory.

        One is written while the other may hold a value that is still going to be read, or two instances in no
        order write them (DIY16, Eq. 5 and footnote 5), or both are live-in.
        """
        if self.tilings:
            orders = [self.with_order(order) for order in self.tilings]
            return set().union(*(one.conflicts(array) for one in orders))
        live_in = self.live_in(array)
        found = set(itertools.combinations(sorted(live_in), 2))
        writes, reads = self.events(array, writes=True), self.events(array, writes=False)
        live_out = {cell for name, cell in self.live_out if name == array}
        sure = {
            cell: [w for w in ones if not self.may_not_run >> w & 1]
            for cell, ones in self.events(array, writes=True, must_only=True).items()
        }
        held = {*writes, *live_in}
        for y, writers in writes.items():
            for x in held - {y}:
                pair = (x, y) if x < y else (y, x)
                if pair not in found and any(
                    self._meets(
                        w, self._starts(x, writes, live_in), self._ends(x, reads, live_out), sure.get(x, [])
                    )
                    for w in writers
                ):
                    found.add(pair)
        return found

    @staticmethod
    def _starts(cell: Cell, writes: dict[Cell, list[int]], live_in: set[Cell]) -> list[int | None]:
        """Who may give a cell its value; None for the start."""
        return [*writes.get(cell, []), *([None] if cell in live_in else [])]

    @staticmethod
    def _ends(cell: Cell, reads: dict[Cell, list[int]], live_out: set[Cell]) -> list[int | None]:
        """Who may need the value of a cell; None for the end."""
        return [*reads.get(cell, []), *([None] if cell in live_out else [])]

    def _meets(
        self, w: int, writers: list[int | None], readers: list[int | None], sure: Sequence[int]
    ) -> bool:
        """Whether a cell with such events may hold a value that is needed right after the write of w."""
        for v in writers:
            if v is not None and v != w and self.compatible(v, w):
                order = self.order_for(v, w)
                if not (order[2 * w + 1] >> (2 * v + 1) & 1 or order[2 * v + 1] >> (2 * w + 1) & 1):
                    return True
            if any(self._is_needed(v, w, r, sure) for r in readers):
                return True
        return False

    def _is_needed(self, v: int | None, w: int, r: int | None, sure: Sequence[int]) -> bool:
        """Whether an execution has the writes of v and w and then the read of r, which finds what v wrote."""
        some = [k for k in (v, w, r) if k is not None]
        if not self.compatible(*some):
            return False
        order = self.order_for(*some)

        def before(a: int, b: int) -> bool:
            return bool(order[b] >> a & 1)

        start = None if v is None else 2 * v + 1
        now = 2 * w + 1
        end = None if r is None else 2 * r
        if start is not None and before(now, start):
            return False
        if end is not None and (before(end, now) or (start is not None and before(end, start))):
            return False
        for k in sure:
            one = 2 * k + 1
            if one == start:
                continue
            begun = start is None or before(start, one)
            done = end is None or before(one, end)
            if begun and (done or one == now or before(one, now)):
                return False
            if done and before(now, one):
                return False
        return True

    def with_order(self, order: Sequence[int]) -> Concrete:
        return replace(self, direct=tuple(order), closes=False, tilings=())

    # ------------------------------------------------------------ executions

    def execution(self, choose: random.Random, first: Sequence[tuple[int, int]] = ()) -> list[int] | None:
        """A random sequence of events that the program allows; None if there is none with the events `first`.

        first  pairs of events that run, in this order
        """
        wanted = {event // 2 for pair in first for event in pair}
        if not self.compatible(*wanted):
            return None
        running = sum(1 << k for k in wanted) | (1 << self.count) - 1 & ~self.may_not_run
        for k in choose.sample(range(self.count), self.count):
            if not running >> k & 1 and not self.exclusive[k] & running and choose.random() < 0.7:
                running |= 1 << k
        before = list(choose.choice(self.tilings) if self.tilings else self.order_among(running))
        for a, b in first:
            before[b] |= 1 << a
        waiting = {e for k in range(self.count) if running >> k & 1 for e in (2 * k, 2 * k + 1)}
        present = sum(1 << e for e in waiting)
        done, sequence = 0, []
        rank = {e: choose.random() for e in waiting}
        while waiting:
            ready = [e for e in waiting if not before[e] & present & ~done]
            if not ready:
                return None
            event = min(ready, key=rank.__getitem__)
            waiting.discard(event)
            done |= 1 << event
            sequence.append(event)
        return sequence

    def wrong_read(
        self,
        arrays: Collection[str],
        sequence: Sequence[int],
        address: Callable[[Place], object],
        choose: random.Random,
    ) -> str | None:
        """In words, a read (or a live-out cell) that finds another value when cells share addresses."""
        start = [(array, cell) for array in sorted(arrays) for cell in sorted(self.surely_live_in(array))]
        plain: dict[Place, object] = {place: ("before", place) for place in start}
        shared: dict[object, object] = {}
        for place in choose.sample(start, len(start)):
            shared[address(place)] = ("before", place)
        for event in sequence:
            instance, is_write = self.instances[event // 2], bool(event & 1)
            places = [
                place
                for place in dict.fromkeys(instance.writes if is_write else instance.reads)
                if place[0] in arrays and ((is_write, place) not in instance.may or choose.random() < 0.5)
            ]
            choose.shuffle(places)
            for place in places:
                if is_write:
                    plain[place] = shared[address(place)] = (instance.place, place)
                elif place in plain and plain[place] != (found := shared.get(address(place))):
                    return f"{_named(instance.place)} reads {_named(place)} and finds {found}"
        for place in sorted(self.live_out):
            if (
                place[0] in arrays
                and place in plain
                and plain[place] != (found := shared.get(address(place)))
            ):
                return f"{_named(place)} is live-out and holds {found} instead of {plain[place]}"
        return None


def _named(place: Place) -> str:
    return f"{place[0]}{list(place[1])}"


def _all_of(masks: Sequence[int]) -> int:
    total = -1
    for mask in masks:
        total &= mask
    return total
