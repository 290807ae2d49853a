"""All executions of a parallel program at one small size, walked through without the theorems on conflicts.

An event is the reading of an instance or one of its writes; a state is the set of events that are done. What
may still be read, and which cells hold values, depends on the state only, so states take the place of
executions, of which there are far more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.exact.isl import fix_parameters, maps_of, points, sets_of
from arrayfold.order.events import Order, order_of
from arrayfold.program.model import Program

Cell = tuple[int, ...]
State = frozenset[int]

_MOST_STATES = 60_000


@dataclass(frozen=True)
class MemoryEvent:
    """The reads of an instance, or one write, at a point of the time space of the order."""

    time: Cell
    reads: frozenset[Cell]
    write: Cell | None


@dataclass(frozen=True)
class Executions:
    """The events on one array, and which of them come before others or exclude them, by number.

    earlier    the events that surely come before, in every execution that has both
    excluded   the events that no execution has together with this one
    live_out   cells that are read afterwards
    sections   for each lock, its sections as the events in them; no section begins inside of another one
    """

    events: tuple[MemoryEvent, ...]
    earlier: tuple[State, ...]
    excluded: tuple[State, ...]
    live_out: frozenset[Cell]
    sections: tuple[tuple[State, ...], ...] = ()

    @staticmethod
    def of(program: Program, array: str, params: Mapping[str, int]) -> Executions:
        """All executions of a program at these parameter values, as far as they touch the array."""
        order = order_of(program)
        sizes = fix_parameters(params)
        events = tuple(_events(program, order, array, sizes))
        before = _pairs(order.before, events, sizes)
        exclusive: set[tuple[int, int]] = set()
        if order.exclusive is not None:
            exclusive = _pairs(order.exclusive, events, sizes)
        numbers = range(len(events))
        live_out = program.live_out.intersect_params(sizes)
        needed = frozenset(
            cell for part in sets_of(live_out) if part.get_tuple_name() == array for cell in points(part)
        )
        return Executions(
            events,
            tuple(frozenset(a for a in numbers if (a, b) in before) for b in numbers),
            tuple(frozenset(a for a in numbers if (a, b) in exclusive) for b in numbers),
            needed,
            tuple(_sections(one, events, sizes) for one in order.critical),
        )

    def next_events(self, state: State) -> list[int]:
        """What may happen in a state: everything before it is done, or excluded by what is done."""
        return [
            event
            for event in range(len(self.events))
            if event not in state
            and not self.excluded[event] & state
            and all(other in state or self.excluded[other] & state for other in self.earlier[event])
            and not any(self._is_kept_out(event, state, lock) for lock in self.sections)
        ]

    def _is_kept_out(self, event: int, state: State, lock: Sequence[State]) -> bool:
        """Whether the event is in a section while another one under the lock has begun and is not done."""
        return any(event in one for one in lock) and any(
            event not in one
            and one & state
            and any(other not in state and not self.excluded[other] & state for other in one)
            for one in lock
        )

    def _takes_turns(self, first: int, second: int) -> bool:
        """Whether two events are in different sections under one lock."""
        return any(
            first in one and second in other
            for lock in self.sections
            for one in lock
            for other in lock
            if one != other
        )

    def states(self, budget: Budget | None = None) -> list[State]:
        """Every state that some execution passes through, those with few events first."""
        found: list[State] = [frozenset()]
        known = set(found)
        # States are added at the end while the loop goes on.
        for state in found:
            if budget is not None:
                budget.check("walking through all executions")
            for event in self.next_events(state):
                longer = state | {event}
                if longer not in known:
                    known.add(longer)
                    found.append(longer)
            if len(found) > _MOST_STATES:
                raise InputError(f"executions pass through more than {_MOST_STATES:,} states")
        return found

    def walk(self, budget: Budget | None = None) -> tuple[int, frozenset[tuple[Cell, Cell]]]:
        """How many states there are, and the conflicting pairs, both ways round.

        Two cells conflict if one is written while the other holds a value that is read later on, or if two
        instances write them in no order: at one address that would be a data race.
        """
        states = self.states(budget)
        readable: dict[State, frozenset[Cell]] = {}
        pairs = self._racing()
        for state in reversed(states):
            following = self.next_events(state)
            found: set[Cell] = set() if following else set(self.live_out)
            written = {self.events[number].write for number in state}
            for number in following:
                event, later = self.events[number], readable[state | {number}]
                found |= event.reads | (later - {event.write})
                if event.write is not None:
                    held = {cell for cell in later & written if cell != event.write}
                    pairs |= {(cell, event.write) for cell in held} | {(event.write, cell) for cell in held}
            readable[state] = frozenset(found)
        return len(states), frozenset(pairs)

    def _racing(self) -> set[tuple[Cell, Cell]]:
        writes = [(k, event, event.write) for k, event in enumerate(self.events) if event.write is not None]
        return {
            (x, y)
            for (a, first, x), (b, second, y) in itertools.permutations(writes, 2)
            if x != y
            and first.time != second.time
            and a not in self.earlier[b] | self.excluded[b]
            and b not in self.earlier[a]
            and not self._takes_turns(a, b)
        }


def _events(program: Program, order: Order, array: str, sizes: isl.Set) -> list[MemoryEvent]:
    """The events on the array; each write is one of its own (errata of DIY16 §2.2)."""
    found: list[MemoryEvent] = []
    for times, is_write in ((order.read_times, False), (order.write_times, True)):
        accesses = program.accesses(writes=is_write, array=array).intersect_params(sizes)
        touched: dict[Cell, set[Cell]] = {}
        for part in maps_of(times.reverse().apply_range(accesses)):
            split = part.dim(isl.dim_type.in_)
            for point in points(part.wrap()):
                touched.setdefault(point[:split], set()).add(point[split:])
        for time, cells in sorted(touched.items()):
            if is_write:
                found += [MemoryEvent(time, frozenset(), cell) for cell in sorted(cells)]
            else:
                found.append(MemoryEvent(time, frozenset(cells), None))
    return found


def _sections(lock: isl.Map, events: Sequence[MemoryEvent], sizes: isl.Set) -> tuple[State, ...]:
    """The events in each section { [t] -> L[k] } under a lock."""
    found: dict[Cell, set[int]] = {}
    split = lock.dim(isl.dim_type.in_)
    for point in points(lock.intersect_params(sizes).wrap()):
        inside = {k for k, event in enumerate(events) if event.time == point[:split]}
        found.setdefault(point[split:], set()).update(inside)
    return tuple(frozenset(numbers) for numbers in found.values() if numbers)


def _pairs(relation: isl.Map, events: tuple[MemoryEvent, ...], sizes: isl.Set) -> set[tuple[int, int]]:
    """The pairs of numbers of events that are in a relation { [a] -> [b] } on times."""
    space = relation.get_space().domain()
    fixed = relation.intersect_params(sizes)
    numbers: dict[Cell, list[int]] = {}
    for number, event in enumerate(events):
        numbers.setdefault(event.time, []).append(number)
    happening = isl.Set.empty(space)
    for time in numbers:
        point = isl.Set.universe(space)
        for k, value in enumerate(time):
            point = point.fix_val(isl.dim_type.set, k, isl.Val(value))
        happening = happening.union(point)
    among = fixed.intersect_domain(happening).intersect_range(happening).intersect_params(sizes)
    split = len(events[0].time) if events else 0
    return {
        (a, b)
        for point in points(among.wrap())
        for a in numbers[point[:split]]
        for b in numbers[point[split:]]
        if a != b
    }
