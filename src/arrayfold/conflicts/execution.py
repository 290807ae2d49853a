"""One execution of a program at fixed sizes, as far as it touches some arrays; what is too much to list."""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.conflicts.accesses import Accesses, sure_writes
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
    moment  the number of this step among those of all arrays that are looked at together
    """

    statement: str
    iteration: Cell
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]
    unsure: frozenset[Cell] = frozenset()
    moment: int = 0

    @property
    def instance(self) -> str:
        """The instance as text, `S[1, 2]`."""
        return _instance(self.statement, self.iteration)


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
            if last is not None and last.moment == event.moment:
                found[-1] = replace(
                    last,
                    reads=last.reads + event.reads,
                    writes=last.writes + event.writes,
                    unsure=last.unsure | event.unsure,
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


@dataclass(frozen=True)
class JointExecution:
    """What happens to several arrays in one execution.

    instances  of each moment, the instance that touches any of them
    """

    instances: tuple[str, ...]
    arrays: Mapping[str, Execution]


def execution_at(liveness: Liveness, name: str, params: Mapping[str, int]) -> Execution:
    """What happens to an array at these sizes; of a parallel program, in one of its executions."""
    return joint_execution_at(liveness, [name], params).arrays[name]


def joint_execution_at(liveness: Liveness, names: Sequence[str], params: Mapping[str, int]) -> JointExecution:
    """What happens to several arrays at these sizes; of a parallel program, in one of its executions."""
    here = fix_parameters(params)
    order = liveness.order
    accesses = {name: liveness.accesses(liveness.program.array(name)) for name in names}
    found = {name: _touched_at(liveness, accesses[name], name, here) for name in names}
    both: isl.Set | None = None
    for one in accesses.values():
        events = one.events.intersect_params(here)
        both = events if both is None else both.union(events)
    assert both is not None
    who = {time: touch for touches in found.values() for time, touch in touches.items()}
    times = _in_order(order, both, who)
    instances: list[str] = []
    moments: dict[Cell, int] = {}
    is_open = False
    for time in times:
        instance = _instance(who[time].statement, who[time].iteration)
        if not (is_open and instances[-1] == instance):
            instances.append(instance)
        is_open = not who[time].is_write
        moments[time] = len(instances) - 1
    arrays: dict[str, Execution] = {}
    for name, one in accesses.items():
        may_write = one.writes.subtract(sure_writes(liveness.program, order, one))
        unsure = set(points(may_write.intersect_params(here).wrap().flatten()))
        touches = found[name]
        arrays[name] = Execution(
            tuple(touches[time].step(time, unsure, moments[time]) for time in times if time in touches),
            frozenset(points(one.live_in.intersect_params(here))),
            frozenset(points(one.live_out.intersect_params(here))),
            order.exclusive is None,
        )
    return JointExecution(tuple(instances), arrays)


@dataclass(frozen=True)
class _Touch:
    """The cells of an array that one instance reads, or writes."""

    statement: str
    iteration: Cell
    is_write: bool
    cells: set[Cell]

    def step(self, time: Cell, unsure: Set[Cell], moment: int) -> Step:
        cells = tuple(sorted(self.cells))
        if not self.is_write:
            return Step(self.statement, self.iteration, cells, (), moment=moment)
        maybe = frozenset(cell for cell in cells if (*cell, *time) in unsure)
        return Step(self.statement, self.iteration, (), cells, maybe, moment)


def _touched_at(liveness: Liveness, accesses: Accesses, name: str, here: isl.Set) -> dict[Cell, _Touch]:
    """Time -> who touches which cells of an array then."""
    check_count(accesses.cells.intersect_params(here), _MOST_CELLS, "cells")
    order = liveness.order
    found: dict[Cell, _Touch] = {}
    for is_write, times in ((False, order.read_times), (True, order.write_times)):
        for relation in maps_of(
            liveness.program.accesses(writes=is_write, array=name).intersect_params(here)
        ):
            statement = relation.get_tuple_name(isl.dim_type.in_)
            depth = relation.dim(isl.dim_type.in_)
            rank = relation.dim(isl.dim_type.out)
            for when in maps_of(times.intersect_domain(isl.UnionSet.from_set(relation.domain()))):
                both = relation.flat_range_product(when.intersect_params(here)).wrap().flatten()
                check_count(both, _MOST_ACCESSES, "accesses")
                for point in points(both):
                    time = point[depth + rank :]
                    touch = found.setdefault(time, _Touch(statement, point[:depth], is_write, set()))
                    touch.cells.add(point[depth : depth + rank])
    return found


def _instance(statement: str, iteration: Cell) -> str:
    return f"{statement}[{', '.join(map(str, iteration))}]"


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
