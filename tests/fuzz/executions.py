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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fuzz.affine import Values
from fuzz.programs import Arrow, Live, Place, ProgramCase, Task
from interleavings import loops
from reference import Cell


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
    """

    instances: tuple[Instance, ...]
    direct: tuple[int, ...]
    closes: bool
    tilings: tuple[tuple[int, ...], ...]
    exclusive: tuple[int, ...]
    declared_live_in: frozenset[Place]
    live_out: frozenset[Place]

    @property
    def count(self) -> int:
        return len(self.instances)

    @cached_property
    def may_not_run(self) -> int:
        return sum(1 << k for k, others in enumerate(self.exclusive) if others)

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
                if place[0] == array and not (must_only and (writes, place) in instance.may):
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
        if not self.may_not_run:
            return self.live_in(array)
        found = {cell for name, cell in self.declared_live_in if name == array}
        written = self.events(array, writes=True)
        return found | {cell for cell in self.events(array, writes=False) if cell not in written}

    # ------------------------------------------------------------ conflicts

    def conflicts(self, array: str) -> set[tuple[Cell, Cell]]:
        """Pairs x < y that meet in memory if cells live from their first write to their last read.

        One is written while the other may have been written and may still be read, or both writes are in no
        order (DIY16, Eq. 5 and footnote 5), or both are live-in.
        """
        if self.tilings:
            orders = [self.with_order(order) for order in self.tilings]
            return set().union(*(one.conflicts(array) for one in orders))
        live_in = self.live_in(array)
        found = set(itertools.combinations(sorted(live_in), 2))
        writes, reads = self.events(array, writes=True), self.events(array, writes=False)
        live_out = {cell for name, cell in self.live_out if name == array}
        held = {*writes, *live_in}
        for y, writers in writes.items():
            for x in held - {y}:
                pair = (x, y) if x < y else (y, x)
                if pair not in found and any(
                    self._meets(w, writes.get(x, []), reads.get(x, []), x in live_in, x in live_out)
                    for w in writers
                ):
                    found.add(pair)
        return found

    def _meets(self, w: int, writers: list[int], readers: list[int], is_in: bool, is_out: bool) -> bool:
        """Whether a cell with such events may be in memory right after the write of instance w."""
        now = 2 * w + 1
        for v in writers:
            if not self.compatible(v, w):
                continue
            order = self.order_for(v, w)
            if v == w or not (order[now] >> (2 * v + 1) & 1 or order[2 * v + 1] >> now & 1):
                return True
            if order[2 * v + 1] >> now & 1:
                continue
            if is_out or any(self._follows(r, v, w) for r in readers):
                return True
        return is_in and (is_out or any(self._follows(r, None, w) for r in readers))

    def _follows(self, r: int, v: int | None, w: int) -> bool:
        """Whether r may read after v wrote and after w wrote, all in one execution."""
        others = [w] if v is None else [v, w]
        if not self.compatible(r, *others):
            return False
        order = self.order_for(r, *others)
        return not any(order[2 * one + 1] >> 2 * r & 1 for one in others)

    def with_order(self, order: Sequence[int]) -> Concrete:
        return Concrete(
            self.instances, tuple(order), False, (), self.exclusive, self.declared_live_in, self.live_out
        )

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
        array: str,
        sequence: Sequence[int],
        address: Callable[[Cell], object],
        choose: random.Random,
    ) -> str | None:
        """In words, a read (or a live-out cell) that finds another value when cells share addresses."""
        start = sorted(self.surely_live_in(array))
        plain: dict[Cell, object] = {cell: ("before", cell) for cell in start}
        shared: dict[object, object] = {}
        for cell in choose.sample(start, len(start)):
            shared[address(cell)] = ("before", cell)
        for event in sequence:
            instance, is_write = self.instances[event // 2], bool(event & 1)
            places = [
                place
                for place in dict.fromkeys(instance.writes if is_write else instance.reads)
                if place[0] == array and ((is_write, place) not in instance.may or choose.random() < 0.5)
            ]
            choose.shuffle(places)
            for _, cell in places:
                if is_write:
                    plain[cell] = shared[address(cell)] = (instance.place, cell)
                elif cell in plain and plain[cell] != (found := shared.get(address(cell))):
                    return f"{_named(instance.place)} reads {_named((array, cell))} and finds {found}"
        for name, cell in sorted(self.live_out):
            if name == array and cell in plain and plain[cell] != (found := shared.get(address(cell))):
                return f"{_named((name, cell))} is live-out and holds {found} instead of {plain[cell]}"
        return None


def _named(place: Place) -> str:
    return f"{place[0]}{list(place[1])}"


def _all_of(masks: Sequence[int]) -> int:
    total = -1
    for mask in masks:
        total &= mask
    return total


# ---------------------------------------------------------------- programs at a size


def instances_of(case: ProgramCase, params: Values, most: int) -> list[Instance] | None:
    """All instances; None if there are more than so many, or if they access far more cells."""
    found: list[Instance] = []
    accesses = 0
    for statement in case.statements:
        for values in statement.iterations(params):
            if len(found) == most:
                return None
            kinds: dict[str, list[Place]] = {"read": [], "write": [], "may_read": [], "may_write": []}
            for access in statement.accesses:
                kinds[access.key] += [(access.array, cell) for cell in access.cells(values)]
            sure = {(True, p) for p in kinds["write"]} | {(False, p) for p in kinds["read"]}
            may = {(True, p) for p in kinds["may_write"]} | {(False, p) for p in kinds["may_read"]}
            reads = tuple(dict.fromkeys(kinds["read"] + kinds["may_read"]))
            writes = tuple(dict.fromkeys(kinds["write"] + kinds["may_write"]))
            accesses += len(reads) + len(writes)
            place = (statement.name, statement.point(values))
            found.append(Instance(place, values, reads, writes, frozenset(may - sure)))
    return found if accesses <= 6 * most else None


def concrete(case: ProgramCase, params: Values, most: int) -> Concrete | None:
    """The program at a size, if it is small there."""
    instances = instances_of(case, params, most)
    if instances is None:
        return None
    number = {instance.place: k for k, instance in enumerate(instances)}
    tilings: list[tuple[int, ...]] = []
    closes = False
    if case.order == "schedule":
        times = [tuple(t.at(i.values) for t in case.statement(i.place[0]).times) for i in instances]
        if case.tiles:
            tilings = list(
                _tilings(times, [s if isinstance(s, int) else params.get(s, 0) for s in case.tiles])
            )
        direct = _by_schedule(times, dict(case.parallel))
    else:
        closes = bool(case.relation)
        pairs = list(_pairs(case.relation, instances, params))
        if case.tasks is not None:
            pairs += [(a, b) for b, a in _before_in_tasks(case.tasks, number, params)]
        direct = _by_pairs(pairs, len(instances))
    exclusive = [0] * len(instances)
    for a, b in _pairs(case.exclusive, instances, params):
        if a != b:
            exclusive[a] |= 1 << b
            exclusive[b] |= 1 << a
    touched = {place for i in instances for place in (*i.reads, *i.writes)}
    live_in, live_out = (_live(cells, touched, params) for cells in (case.live_in, case.live_out))
    return Concrete(tuple(instances), direct, closes, tuple(tilings), tuple(exclusive), live_in, live_out)


def _live(groups: Sequence[Live], touched: set[Place], params: Values) -> frozenset[Place]:
    """The cells of boxes; those that the program touches, if one of the groups has no bounds."""
    if all(one.box for one in groups if one.rank):
        return frozenset((one.array, cell) for one in groups for cell in one.cells(params))
    return frozenset(p for p in touched if any(one.array == p[0] and one.has(p[1], params) for one in groups))


def _pairs(
    arrows: Sequence[Arrow], instances: Sequence[Instance], params: Values
) -> Iterator[tuple[int, int]]:
    for arrow in arrows:
        for a, first in enumerate(instances):
            if first.place[0] == arrow.source:
                for b, second in enumerate(instances):
                    if second.place[0] == arrow.target and arrow.has(first.place[1], second.place[1], params):
                        yield a, b


def _by_pairs(pairs: Sequence[tuple[int, int]], count: int) -> tuple[int, ...]:
    before = [0] * (2 * count)
    for k in range(count):
        before[2 * k + 1] |= 1 << 2 * k
    for a, b in pairs:
        for event in (2 * b, 2 * b + 1):
            before[event] |= 3 << 2 * a
    return tuple(before)


def _by_schedule(times: Sequence[tuple[int, ...]], parallel: Mapping[int, str]) -> tuple[int, ...]:
    meanings = [parallel.get(d, "sequential") for d in range(len(times[0]) if times else 0)]
    before = loops(times, meanings)
    events = [(k, is_write) for k in range(len(times)) for is_write in (False, True)]
    return tuple(sum(1 << n for n, a in enumerate(events) if before(a, b)) for b in events)


def _tilings(times: Sequence[tuple[int, ...]], sizes: Sequence[int | str]) -> Iterator[tuple[int, ...]]:
    """The total order of every way to cut the first dimensions into tiles of such sizes (0 for any size)."""
    cuts: list[list[tuple[int, int]]] = []
    for d, size in enumerate(sizes):
        wide = max((t[d] for t in times), default=0) - min((t[d] for t in times), default=0) + 1
        lengths = [int(size)] if size else range(1, wide + 1)
        cuts.append([(length, start) for length in lengths for start in range(min(length, wide))])
    for cut in itertools.product(*cuts):
        tiled = [(*((t[d] + start) // length for d, (length, start) in enumerate(cut)), *t) for t in times]
        yield _by_schedule(tiled, {})


def _before_in_tasks(tree: Task, number: Mapping[Place, int], params: Values) -> Iterator[tuple[int, int]]:
    """Pairs (later, earlier), by running the tasks: what is complete when an instance starts is before it."""
    found: list[tuple[int, int]] = []

    def run(task: Task, complete: frozenset[int], values: Values) -> tuple[frozenset[int], frozenset[int]]:
        """What is complete afterwards, and all that was started."""
        started: frozenset[int] = frozenset()
        if task.kind == "run":
            place = (task.name, tuple(form.at(values) for form in task.forms))
            if place not in number:
                return complete, started
            found.extend((number[place], earlier) for earlier in complete)
            own = frozenset([number[place]])
            return complete | own, own
        turns: list[Values] = [values]
        if task.kind == "loop":
            low, high = (form.at(values) for form in task.forms)
            turns = [{**values, task.name: v} for v in range(low, high + 1)]
        known = complete
        for turn in turns:
            for inner in task.inside:
                known, some = run(inner, known, turn)
                started |= some
        if task.kind == "async":
            return complete, started
        return (known | started if task.kind == "finish" else known), started

    run(tree, frozenset(), params)
    return iter(found)
