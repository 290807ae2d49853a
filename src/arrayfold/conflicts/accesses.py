"""What happens to the cells of one array, in the time space of an order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.exact.pieces import drop_constant_dimensions
from arrayfold.order.events import Order
from arrayfold.program.conditions import never_together
from arrayfold.program.model import Array, Program


@dataclass(frozen=True, eq=False)
class Accesses:
    """What happens to the cells of one array, in the time space of an order.

    writes    { A[x] -> [t] }  every write that may happen
    reads     { A[x] -> [t] }  every read that may happen
    live_in   { A[x] }         holds a value before the program
    live_out  { A[x] }         needed after it
    apart     { [a] -> [b] }   events of which no execution has both, symmetric; None if there are none
    races     { A[x] -> A[y] } different instances in no order write them; None where there is a total order
    """

    writes: isl.Map
    reads: isl.Map
    live_in: isl.Set
    live_out: isl.Set
    apart: isl.Map | None = None
    races: isl.Map | None = None

    @cached_property
    def cells(self) -> isl.Set:
        """{ A[x] }: cells that ever hold a value."""
        return coalesced(self.writes.domain().union(self.live_in))

    @cached_property
    def moments(self) -> isl.Set:
        """{ [t] }: the times of writes; right after one of them every conflict can be seen."""
        return self.writes.range()

    @property
    def events(self) -> isl.Set:
        """{ [t] }: the times of writes and reads."""
        return coalesced(self.writes.range().union(self.reads.range()))

    def within(self, sizes: isl.Set) -> Accesses:
        """What happens at these sizes, { : }."""
        return replace(
            self,
            writes=self.writes.intersect_params(sizes),
            reads=self.reads.intersect_params(sizes),
            live_in=self.live_in.intersect_params(sizes),
            live_out=self.live_out.intersect_params(sizes),
            races=None if self.races is None else self.races.intersect_params(sizes),
        )

    def of_cells(self, cells: isl.Set) -> Accesses:
        """What happens to some of the cells."""
        return replace(
            self,
            writes=self.writes.intersect_domain(cells),
            reads=self.reads.intersect_domain(cells),
            live_in=self.live_in.intersect(cells),
            live_out=self.live_out.intersect(cells),
        )

    def with_short_times(self) -> Accesses:
        """The same events in the same total order, with fewer dimensions of time.

        What tells values apart is left out: it is for arrays whose cells hold one value each.
        """
        writes, reads = drop_constant_dimensions(self.writes, self.reads)
        return replace(self, writes=writes, reads=reads, apart=None)


def accesses_of(program: Program, order: Order, live_in: isl.UnionSet, array: Array) -> Accesses:
    """What happens to the cells of one array of a program.

    live_in  { A[x] }  of all arrays
    """
    reads = program.accesses(writes=False, array=array.name)
    writes = program.accesses(writes=True, array=array.name)
    cells, times = array.cells.get_space(), order.before.get_space().domain()
    space = cells.map_from_domain_and_range(times)
    return Accesses(
        writes=_on_times(program, writes, order.write_times, space),
        reads=_on_times(program, reads, order.read_times, space),
        live_in=coalesced(live_in.extract_set(cells).intersect_params(program.context)),
        live_out=coalesced(program.live_out.extract_set(cells).intersect_params(program.context)),
        apart=_apart(program, order, reads, writes),
    )


def sure_writes(program: Program, order: Order, accesses: Accesses) -> isl.Map:
    """{ A[x] -> [t] }: of these accesses the writes that happen in every execution."""
    array = accesses.writes.get_tuple_name(isl.dim_type.in_)
    sure = program.accesses(writes=True, must_only=True, array=array).subtract_domain(program.may_not_run())
    found = _on_times(program, sure, order.write_times, accesses.writes.get_space())
    return coalesced(found.intersect(accesses.writes))


def updates(program: Program, order: Order, accesses: Accesses) -> isl.Map:
    """{ A[x] -> [t] }: of these accesses the writes of instances that also read the cell."""
    array = accesses.writes.get_tuple_name(isl.dim_type.in_)
    both = program.accesses(writes=True, array=array).intersect(program.accesses(writes=False, array=array))
    return _on_times(program, both, order.write_times, accesses.writes.get_space())


def _on_times(program: Program, accesses: isl.UnionMap, when: isl.UnionMap, space: isl.Space) -> isl.Map:
    """{ A[x] -> [t] }, which is the space: the times of instances that access a cell.

    accesses  { S[i] -> A[x] }
    when      { S[i] -> [t] }
    """
    found = accesses.reverse().apply_range(when).extract_map(space)
    return coalesced(found.intersect_params(program.context))


def _apart(program: Program, order: Order, reads: isl.UnionMap, writes: isl.UnionMap) -> isl.Map | None:
    """{ [a] -> [b] }: events of which no execution has both.

    A statement that evaluates its own conditions reads their data also where it does not run.
    """
    known = never_together(program)
    if known.is_empty():
        return order.exclusive
    here, events = writes.domain(), order.write_times
    if not program.evaluates_guards:
        here, events = here.union(reads.domain()), events.union(order.read_times)
    apart = known.intersect_domain(here).intersect_range(here)
    apart = apart.intersect_params(program.context)
    if apart.is_empty():
        return order.exclusive
    found = apart.apply_domain(events).apply_range(events).extract_map(order.before.get_space())
    return coalesced(found if order.exclusive is None else found.union(order.exclusive))
