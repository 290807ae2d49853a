"""One execution of a program at fixed sizes, as far as it touches one array, and what is too much to list."""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.conflicts.accesses import sure_writes
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import fix_parameters, maps_of, points, without_parameters
from arrayfold.order.events import Order

Cell = tuple[int, ...]

_MOST_CELLS = 4000
_MOST_ACCESSES = 40_000
_MOST_PAIRS = 400_000


@dataclass(frozen=True)
class Step:
    """Cells of an array that one instance reads, and cells that it then writes, at one moment.

    unsure  those of the written cells that it need not write
    """

    statement: str
    iteration: Cell
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]
    unsure: frozenset[Cell] = frozenset()

    @property
    def instance(self) -> str:
        """The instance as text, `S[1, 2]`."""
        return f"{self.statement}[{', '.join(map(str, self.iteration))}]"


@dataclass
class Lifetime:
    """When a cell holds a value, in steps: from its write to its last read.

    first  -1 for a value from before the program
    last   None if nobody reads it, the number of steps if it is needed after the program
    """

    cell: Cell
    first: int
    last: int | None = None

    @property
    def end(self) -> int:
        """The last step that needs the address: that of the write itself where nobody reads the value."""
        return self.first if self.last is None else self.last


@dataclass(frozen=True)
class Execution:
    """What happens to an array, in the order of one execution.

    events     either reads or writes of one instance each
    is_real    whether the program can run like this; not if it has instances that never run together
    """

    events: tuple[Step, ...]
    live_in: frozenset[Cell]
    live_out: frozenset[Cell]
    is_real: bool

    def steps(self) -> list[Step]:
        """The events, an instance that reads and writes at once being one step."""
        found: list[Step] = []
        for event in self.events:
            last = found[-1] if found else None
            if last is not None and not last.writes and last.instance == event.instance:
                found[-1] = Step(
                    last.statement,
                    last.iteration,
                    last.reads + event.reads,
                    last.writes + event.writes,
                    last.unsure | event.unsure,
                )
            else:
                found.append(event)
        return found

    def lifetimes(self, steps: Sequence[Step]) -> list[Lifetime]:
        """When cells hold values, in the order in which they get them; steps are `events` or `steps()`.

        Where a cell need not be written its old value may still be there.
        """
        values = [Lifetime(cell, -1) for cell in sorted(self.live_in)]
        held = {value.cell: value for value in values}
        for number, step in enumerate(steps):
            for cell in step.reads:
                if cell in held:
                    held[cell].last = number
            for cell in step.writes:
                if cell not in held or cell not in step.unsure:
                    held[cell] = Lifetime(cell, number)
                    values.append(held[cell])
        for cell in self.live_out & held.keys():
            held[cell].last = len(steps)
        return values


def execution_at(liveness: Liveness, name: str, params: Mapping[str, int]) -> Execution:
    """What happens to an array at these sizes; of a parallel program, in one of its executions."""
    here = fix_parameters(params)
    program, order = liveness.program, liveness.order
    accesses = liveness.accesses(program.array(name))
    check_count(accesses.cells.intersect_params(here), _MOST_CELLS, "cells")
    found: dict[Cell, tuple[str, Cell, bool, set[Cell]]] = {}
    for is_write, times in ((False, order.read_times), (True, order.write_times)):
        for relation in maps_of(program.accesses(writes=is_write, array=name).intersect_params(here)):
            statement = relation.get_tuple_name(isl.dim_type.in_)
            depth = relation.dim(isl.dim_type.in_)
            rank = relation.dim(isl.dim_type.out)
            for when in maps_of(times.intersect_domain(isl.UnionSet.from_set(relation.domain()))):
                both = relation.flat_range_product(when.intersect_params(here)).wrap().flatten()
                check_count(both, _MOST_ACCESSES, "accesses")
                for point in points(both):
                    time = point[depth + rank :]
                    entry = found.setdefault(time, (statement, point[:depth], is_write, set()))
                    entry[3].add(point[depth : depth + rank])
    may_write = accesses.writes.subtract(sure_writes(program, order, accesses))
    unsure = set(points(may_write.intersect_params(here).wrap().flatten()))

    def event(time: Cell) -> Step:
        statement, iteration, is_write, cells = found[time]
        if not is_write:
            return Step(statement, iteration, tuple(sorted(cells)), ())
        maybe = frozenset(cell for cell in cells if (*cell, *time) in unsure)
        return Step(statement, iteration, (), tuple(sorted(cells)), maybe)

    return Execution(
        tuple(map(event, _in_order(order, accesses.events.intersect_params(here), found))),
        frozenset(points(accesses.live_in.intersect_params(here))),
        frozenset(points(accesses.live_out.intersect_params(here))),
        order.exclusive is None,
    )


def _in_order(order: Order, events: isl.Set, times: Collection[Cell]) -> list[Cell]:
    """The times of these events in an order in which they may follow each other."""
    if order.is_swept:
        return sorted(times)
    before = order.before.intersect_domain(events).intersect_range(events).wrap().flatten()
    check_count(before, _MOST_PAIRS, "pairs of events")
    graph: dict[Cell, list[Cell]] = {time: [] for time in sorted(times)}
    for pair in points(before):
        first, second = pair[: len(pair) // 2], pair[len(pair) // 2 :]
        if first in graph and second in graph:
            graph[second].append(first)
    return [*graphlib.TopologicalSorter(graph).static_order()]


def count_points(items: isl.Set) -> int | None:
    """How many points a set at fixed sizes has, also if they are pairs; None if they are infinitely many."""
    flat = items.flatten() if items.is_wrapping() else items
    flat = without_parameters(flat)
    return flat.count_val().to_python() if flat.is_bounded() else None


def check_count(items: isl.Set, most: int, what: str) -> None:
    """Raise if there are more points than can be listed."""
    count = count_points(items)
    if count is None:
        raise InputError(f"there are infinitely many {what}, which no picture shows")
    if count > most:
        raise InputError(
            f"there are {count:,} {what} at these sizes, and pictures show up to {most:,}",
            hint="Give smaller sizes, such as --param N=8.",
        )
