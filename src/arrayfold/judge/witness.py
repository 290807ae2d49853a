"""What goes wrong at a counterexample, told in instances of the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.conflicts.accesses import accesses_of
from arrayfold.conflicts.liveness import Liveness
from arrayfold.conflicts.values import kept_values
from arrayfold.exact.isl import at_point, fix_parameters, integer, sets_of, smallest_point
from arrayfold.judge.verify import Counterexample


@dataclass(frozen=True)
class Clobber:
    """An instance writes one cell, another one overwrites its address, a third one still needs the value.

    writer is None for a value from before the program, reader is None for one needed after it.
    """

    cell: str
    by_cell: str
    writer: str | None
    overwriter: str
    reader: str | None
    may: bool

    def __str__(self) -> str:
        source = (
            f"{self.writer} writes {self.cell}" if self.writer else f"{self.cell} holds a value from before"
        )
        use = f"{self.reader} reads {self.cell}" if self.reader else f"{self.cell} is needed afterwards"
        may = "may overwrite" if self.may else "overwrites"
        return f"{source}; {self.overwriter} {may} it by writing {self.by_cell}; then {use}"


def find_clobber(liveness: Liveness, counterexample: Counterexample) -> Clobber | None:
    """The instances behind a counterexample; None if no value is lost, because only dead writes meet."""
    story = _Narrative(liveness, counterexample.array, counterexample.params)
    first, second = counterexample.cells
    return story.clobber(first, second) or story.clobber(second, first)


class _Narrative:
    def __init__(self, liveness: Liveness, array: str, params: Mapping[str, int]) -> None:
        self.here = fix_parameters(params)
        program = liveness.program
        self.program = replace(program, context=program.context.intersect(self.here))
        self.order = liveness.order
        self.live_in = liveness.live_in.intersect_params(self.here)
        self.name = array
        self.array = program.array(array)

    def clobber(self, kept: tuple[int, ...], written: tuple[int, ...]) -> Clobber | None:
        """The earliest write of `written` that may hit `kept` while its value is needed."""
        x, y = self._cell(kept), self._cell(written)
        accesses = accesses_of(self.program, self.order, self.live_in, self.array)
        order = self.order.among(accesses.events)
        hits = y.apply(accesses.writes)
        needed = kept_values(self.program, self.name, accesses.of_cells(x), order, hits)
        times = needed.domain().unwrap().range()
        hits = times.intersect(hits.insert_dims(isl.dim_type.set, 0, 1))
        if hits.is_empty():
            return None
        hit = _earliest(hits)
        values = isl.Map.from_domain_and_range(x, hit).wrap().apply(needed).unwrap()
        reader = _earliest(values.range().unwrap().range())
        read = isl.Map.from_domain_and_range(x, reader).wrap()
        writer = _latest(values.intersect_range(read).domain().unwrap().range())
        overwriter = self._instance(hit, y, writes=True)
        assert overwriter is not None
        return Clobber(
            cell=self._print(kept),
            by_cell=self._print(written),
            writer=self._instance(writer, x, writes=True),
            overwriter=overwriter,
            reader=self._instance(reader, x, writes=False),
            may=not self.order.is_total,
        )

    def _cell(self, values: tuple[int, ...]) -> isl.Set:
        text = f"{{ {self.name}[{', '.join(map(str, values))}] }}"
        return isl.Set(text).align_params(self.program.context.get_space()).intersect_params(self.here)

    def _print(self, values: tuple[int, ...]) -> str:
        return f"{self.name}[{', '.join(map(str, values))}]"

    def _instance(self, event: isl.Set, cell: isl.Set, *, writes: bool) -> str | None:
        """The instance that an event belongs to, as text; None for the start and the end."""
        inside = event.fix_val(isl.dim_type.set, 0, integer(0)).project_out(isl.dim_type.set, 0, 1)
        if inside.is_empty():
            return None
        times = self.order.write_times if writes else self.order.read_times
        relation = self.program.accesses(writes=writes, array=self.name)
        at_event = isl.UnionSet.from_set(inside).apply(times.reverse())
        found = at_event.intersect(isl.UnionSet.from_set(cell).apply(relation.reverse()))
        instances = sets_of(found.intersect_params(self.here))[0]
        return f"{instances.get_tuple_name()}[{', '.join(map(str, smallest_point(instances)))}]"


def _earliest(events: isl.Set) -> isl.Set:
    return events if events.is_empty() else at_point(events, smallest_point(events))


def _latest(events: isl.Set) -> isl.Set:
    if events.is_empty():
        return events
    return at_point(events, tuple(-value for value in smallest_point(events.neg())))
