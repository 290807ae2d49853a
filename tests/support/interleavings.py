"""Parallel programs run in every way their order allows, by plain enumeration: no isl, nothing of arrayfold.

An event is the reading of an instance (all its reads together) or one of its writes. An interleaving is a
sequence of all events that respects the order. Everything here speaks of one array at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from support.reference import Before, Cell, Instance, Trace

Memory: TypeAlias = tuple[tuple[Cell, object], ...]


@dataclass(frozen=True)
class Event:
    """The reading or one write of the instance with that number."""

    number: int
    is_write: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Parallel:
    """Instances of a parallel program, what is ordered among their events, and the cells that matter outside.

    before  orders (number of an instance, whether it writes); transitive
    """

    instances: Sequence[Instance]
    before: Before
    live_out: frozenset[Cell] = frozenset()
    declared_live_in: frozenset[Cell] = frozenset()
    array: str = "A"

    @cached_property
    def events(self) -> tuple[Event, ...]:
        found: list[Event] = []
        for number, instance in enumerate(self.instances):
            reads = tuple(cell for name, cell in instance.reads if name == self.array)
            writes = dict.fromkeys(cell for name, cell in instance.writes if name == self.array)
            found += [Event(number, False, reads)] if reads else []
            found += [Event(number, True, (cell,)) for cell in writes]
        return tuple(found)

    def is_before(self, a: Event, b: Event) -> bool:
        return self.before((a.number, a.is_write), (b.number, b.is_write))

    @cached_property
    def earlier(self) -> Mapping[Event, frozenset[Event]]:
        return {b: frozenset(a for a in self.events if self.is_before(a, b)) for b in self.events}

    def next_events(self, done: Collection[Event]) -> list[Event]:
        """What may happen once these events have."""
        return [e for e in self.events if e not in done and all(a in done for a in self.earlier[e])]

    def interleavings(self, done: tuple[Event, ...] = ()) -> Iterator[tuple[Event, ...]]:
        """Every interleaving that begins with the given events."""
        if len(done) == len(self.events):
            yield done
        for event in self.next_events(done):
            yield from self.interleavings((*done, event))

    def prefixes(self) -> set[frozenset[Event]]:
        """The sets of events that are done at some moment of some interleaving.

        What may be live at a moment depends on the events before it only, not on their order. So these sets
        show all that interleavings do, and there are far fewer of them.
        """
        found = {frozenset[Event]()}
        newest = found
        while newest:
            newest = {done | {event} for done in newest for event in self.next_events(done)} - found
            found = found | newest
        return found

    @cached_property
    def live_in(self) -> frozenset[Cell]:
        """Declared ones, and cells that some execution reads, or leaves live-out, before they are written."""
        found = set(self.declared_live_in)
        for done in self.prefixes():
            written = _cells_of(done, writes=True)
            upcoming = [e for e in self.next_events(done) if not e.is_write]
            needed = self.live_out if len(done) == len(self.events) else _cells_of(upcoming, writes=False)
            found |= needed - written
        return frozenset(found)

    # ------------------------------------------------------------ conflicts

    def as_trace(self, interleaving: Sequence[Event]) -> Trace:
        """One execution, as a sequential program in which every event is an instance."""
        steps: list[Instance] = []
        for event in interleaving:
            accesses = tuple((self.array, cell) for cell in event.cells)
            reads, writes = ((), accesses) if event.is_write else (accesses, ())
            steps.append(Instance("event", (), reads, writes))
        named = [frozenset((self.array, cell) for cell in cells) for cells in (self.live_out, self.live_in)]
        return Trace(steps, *named)

    def needed_together(self, interleavings: Iterator[tuple[Event, ...]]) -> set[tuple[Cell, Cell]]:
        """Pairs of which one is written while the other holds a value that is needed, in some execution."""
        found: set[tuple[Cell, Cell]] = set()
        for interleaving in interleavings:
            found |= self.as_trace(interleaving).conflicts(self.array)
        return found

    def racing(self) -> set[tuple[Cell, Cell]]:
        """Pairs written by two instances in no order: at one address these stores would be a data race."""
        writes = [event for event in self.events if event.is_write]
        return {
            (a.cells[0], b.cells[0])
            for a, b in itertools.permutations(writes, 2)
            if a.number != b.number
            and a.cells != b.cells
            and not self.is_before(a, b)
            and not self.is_before(b, a)
        }

    def conflicts(self) -> set[tuple[Cell, Cell]]:
        """Both kinds of pairs, by way of prefixes."""
        found = self.racing() | set(itertools.permutations(self.live_in, 2))
        for done in self.prefixes():
            for event in self.next_events(done):
                if event.is_write:
                    (cell,) = event.cells
                    others = self._live_after(done | {event}) - {cell}
                    found |= {pair for other in others for pair in ((cell, other), (other, cell))}
        return found

    def _live_after(self, done: frozenset[Event]) -> set[Cell]:
        """Cells that hold a value whose read may be the next access to them."""
        ahead = [event for event in self.events if event not in done]
        writes = [event for event in ahead if event.is_write]
        hidden = _cells_of(writes, writes=True)
        needed = self.live_out - hidden
        for event in ahead:
            if not event.is_write:
                first = {one.cells[0] for one in writes if self.is_before(one, event)}
                needed |= set(event.cells) - first
        return needed & (_cells_of(done, writes=True) | self.live_in)

    # ------------------------------------------------------------ values

    def shows_wrong_values(self, address: Callable[[Cell], Cell]) -> bool:
        """Whether in some execution sharing addresses changes what is read or left live-out.

        Every write stores a value of its own; the memory with and that without sharing are kept side by side.
        """
        everywhere = {*self.live_out, *(cell for event in self.events for cell in event.cells)}
        plain = tuple((cell, ("before", cell)) for cell in sorted(everywhere))
        shared = tuple((address(cell), ("before", cell)) for cell in sorted(self.live_in))
        states: set[tuple[frozenset[Event], Memory, Memory]] = {(frozenset(), plain, shared)}
        while states:
            following: set[tuple[frozenset[Event], Memory, Memory]] = set()
            for done, plain, shared in states:
                ahead = self.next_events(done)
                needed = {cell for event in ahead if not event.is_write for cell in event.cells}
                for cell in needed if ahead else self.live_out:
                    if dict(plain)[cell] != dict(shared).get(address(cell)):
                        return True
                for event in ahead:
                    own, common = dict(plain), dict(shared)
                    if event.is_write:
                        own[event.cells[0]] = common[address(event.cells[0])] = event
                    following.add((done | {event}, _frozen(own), _frozen(common)))
            states = following
        return False


def _frozen(memory: dict[Cell, object]) -> Memory:
    return tuple(sorted(memory.items(), key=lambda item: item[0]))


def _cells_of(events: Collection[Event], *, writes: bool) -> set[Cell]:
    return {cell for event in events if event.is_write == writes for cell in event.cells}


# ---------------------------------------------------------------- orders


def loops(times: Sequence[Sequence[int]], meanings: Sequence[str]) -> Before:
    """The order of instances that run at these times, in loops that are sequential, doall or forall.

    The first time that differs decides; if its loop is a doall, or none differs, there is no order. Instances
    that share all times outside of forall loops, but not their own time, read before any of them writes.
    """

    def before(a: tuple[int, bool], b: tuple[int, bool]) -> bool:
        if a[0] == b[0]:
            return a[1] < b[1]
        for ours, theirs, meaning in zip(times[a[0]], times[b[0]], meanings, strict=True):
            if meaning == "forall":
                return times[a[0]] != times[b[0]] and a[1] < b[1]
            if ours != theirs:
                return meaning == "sequential" and ours < theirs
        return False

    return before


def related(pairs: Collection[tuple[int, int]], *, close: bool = True) -> Before:
    """The order in which the first instance of each pair comes before the second, closed transitively."""
    known = set(pairs)
    while close and (further := {(a, d) for a, b in known for c, d in known if b == c} - known):
        known |= further

    def before(a: tuple[int, bool], b: tuple[int, bool]) -> bool:
        return a[1] < b[1] if a[0] == b[0] else (a[0], b[0]) in known

    return before
