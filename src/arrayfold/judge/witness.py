"""What goes wrong at a counterexample, told in instances of the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.conflicts.liveness import Accesses, Liveness
from arrayfold.exact.isl import fix_parameters, integer, sets_of, smallest_point
from arrayfold.judge.verify import Counterexample


@dataclass(frozen=True)
class Clobber:
    """An instance writes one cell, another one overwrites its address, a third one still needs the value.

    writer is None for a value from before the program, reader is None for one needed after it. A rewriter
    writes the cell again before it is read: then no value is lost, but lifetimes overlap all the same, as
    they count from the first write to the last read.
    """

    cell: str
    by_cell: str
    writer: str | None
    overwriter: str
    reader: str | None
    may: bool
    rewriter: str | None = None

    def __str__(self) -> str:
        source = (
            f"{self.writer} writes {self.cell}" if self.writer else f"{self.cell} holds a value from before"
        )
        use = f"{self.reader} reads {self.cell}" if self.reader else f"{self.cell} is needed afterwards"
        may = "may overwrite" if self.may else "overwrites"
        if self.rewriter is not None:
            return (
                f"{source}; {self.overwriter} {may} it by writing {self.by_cell}; "
                f"{self.rewriter} writes {self.cell} again; then {use}. No value is lost here, but a "
                "lifetime counts from the first write to the last read; "
                "fold --mode reallocate looks at single values"
            )
        return f"{source}; {self.overwriter} {may} it by writing {self.by_cell}; then {use}"


def find_clobber(liveness: Liveness, counterexample: Counterexample) -> Clobber | None:
    """The instances behind a counterexample; None if both values are dead and only their writes meet."""
    story = _Story(liveness, counterexample.array, counterexample.params)
    first, second = counterexample.cells
    tellings = (
        story.clobber(kept, written, is_lost=is_lost)
        for is_lost in (True, False)
        for kept, written in ((first, second), (second, first))
    )
    return next(filter(None, tellings), None)


class _Story:
    def __init__(self, liveness: Liveness, array: str, params: Mapping[str, int]) -> None:
        here = fix_parameters(params)
        accesses = liveness.accesses(liveness.program.array(array))
        self.liveness = liveness
        self.name = array
        self.here = here
        self.accesses = Accesses(
            accesses.writes.intersect_params(here),
            accesses.reads.intersect_params(here),
            accesses.live_in.intersect_params(here),
            accesses.live_out.intersect_params(here),
        )
        order = liveness.order.among(self.accesses.events)
        self.not_after = order.not_after().intersect_params(here)
        self.before = order.before.intersect_params(here)
        sure = liveness.program.accesses(writes=True, must_only=True, array=array).intersect_params(here)
        times = sure.reverse().apply_range(liveness.order.write_times)
        self.sure_writes = times.extract_map(accesses.writes.get_space())

    def clobber(self, kept: tuple[int, ...], written: tuple[int, ...], *, is_lost: bool) -> Clobber | None:
        """The earliest write of `written` that may hit `kept` while that is needed.

        is_lost  only if `kept` is not surely written again before it is read
        """
        x, y = self._cell(kept), self._cell(written)
        writes_x, reads_x = x.apply(self.accesses.writes), x.apply(self.accesses.reads)
        hits = y.apply(self.accesses.writes)
        if x.intersect(self.accesses.live_in).is_empty():
            hits = hits.intersect(writes_x.apply(self.not_after))
        again = self.before.intersect_range(writes_x.intersect(x.apply(self.sure_writes)))
        reading = self.not_after.intersect_domain(hits).intersect_range(reads_x)
        if is_lost:
            reading = reading.subtract(again.apply_range(self.before))
        needed = reading.domain()
        if not x.intersect(self.accesses.live_out).is_empty():
            needed = needed.union(hits.subtract(again.domain()) if is_lost else hits)
        hits = hits.intersect(needed)
        if hits.is_empty():
            return None
        hit = _earliest(hits)
        reader = _earliest(hit.apply(reading))
        before = writes_x.intersect(hit.apply(self.not_after.reverse()))
        if not reader.is_empty():
            before = before.intersect(reader.apply(self.not_after.reverse()))
        overwriter = self._instance(hit, y, writes=True)
        assert overwriter is not None
        return Clobber(
            cell=self._print(kept),
            by_cell=self._print(written),
            writer=self._instance(_latest(before), x, writes=True),
            overwriter=overwriter,
            reader=self._instance(reader, x, writes=False),
            may=not self.liveness.order.is_total,
            rewriter=None if is_lost else self._instance(self._again(hit, reader, again), x, writes=True),
        )

    def _again(self, hit: isl.Set, reader: isl.Set, again: isl.Map) -> isl.Set:
        """{ [t] }: the last write of a cell after another one has hit it, before it is read."""
        writes = hit.apply(again)
        if not reader.is_empty():
            writes = writes.intersect(reader.apply(self.before.reverse()))
        return _latest(writes)

    def _cell(self, values: tuple[int, ...]) -> isl.Set:
        text = f"{{ {self.name}[{', '.join(map(str, values))}] }}"
        space = self.accesses.writes.get_space().domain()
        return isl.Set(text).align_params(space).intersect_params(self.here)

    def _print(self, values: tuple[int, ...]) -> str:
        return f"{self.name}[{', '.join(map(str, values))}]"

    def _instance(self, event: isl.Set, cell: isl.Set, *, writes: bool) -> str | None:
        """The instance that an event belongs to, as text; None without an event."""
        if event.is_empty():
            return None
        program, order = self.liveness.program, self.liveness.order
        times = order.write_times if writes else order.read_times
        relation = program.accesses(writes=writes, array=self.name)
        at_event = isl.UnionSet.from_set(event).apply(times.reverse())
        found = at_event.intersect(isl.UnionSet.from_set(cell).apply(relation.reverse()))
        instances = sets_of(found.intersect_params(self.here))[0]
        return f"{instances.get_tuple_name()}[{', '.join(map(str, smallest_point(instances)))}]"


def _only(events: isl.Set, values: tuple[int, ...]) -> isl.Set:
    for k, value in enumerate(values):
        events = events.fix_val(isl.dim_type.set, k, integer(value))
    return events


def _earliest(events: isl.Set) -> isl.Set:
    return events if events.is_empty() else _only(events, smallest_point(events))


def _latest(events: isl.Set) -> isl.Set:
    if events.is_empty():
        return events
    return _only(events, tuple(-value for value in smallest_point(events.neg())))
