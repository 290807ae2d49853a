"""When a cell holds a value that is still going to be read, where it holds one value after another.

A value lives from its write (from the start if it is live-in) to its last read (to the end if it is
live-out). Between the last read of one value and the next write a cell holds nothing that matters, and its
address is free.

Times have one more dimension in front here: -1 for the start, 1 for the end, 0 for all events between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from arrayfold.conflicts.accesses import Accesses, sure_writes, updates
from arrayfold.exact.isl import coalesced, coalesced_if_few, last_images, origin
from arrayfold.order.dataflow import value_flows
from arrayfold.order.events import Order
from arrayfold.program.model import Program


def several_values(program: Program, accesses: Accesses, order: Order) -> isl.Set:
    """{ : }: sizes at which a cell may get a value that has nothing to do with the one before.

    An instance that reads the cell it writes continues its lifetime. Sizes at which events exclude each other
    count, too.
    """
    writes = accesses.writes
    no_sizes = isl.Set.empty(writes.get_space().params())
    if writes.dim(isl.dim_type.in_) == 0:
        return no_sizes
    found = no_sizes if accesses.apart is None else accesses.apart.params()
    is_written_once = writes.is_single_valued()
    if is_written_once and accesses.live_in.is_empty():
        return found
    anew = writes.subtract(updates(program, order, accesses))
    found = found.union(anew.domain().intersect(accesses.live_in).params())
    if not is_written_once:
        later = writes.range_product(anew).intersect_range(_other(order.not_after()).wrap())
        found = found.union(later.params())
    return coalesced(found)


def _other(relation: isl.Map) -> isl.Map:
    return relation.subtract(isl.Map.identity(relation.get_space()))


def live_values(program: Program, array: str, accesses: Accesses, order: Order) -> isl.Map:
    """{ A[x] -> [t] }: right after the write event t the cell may hold a value that will still be read.

    Exact where all writes are sure: for a total order, and for a partial one, where some execution has the
    write of the value, t and the read in this order, and no other write of the cell between the first and the
    last of them. That is so if no two of the three surely have one between them: all other writes can then be
    put before the three or after them.
    """
    if order.is_total and accesses.apart is None:
        live = _between_write_and_read(value_flows(program, order, array, accesses.live_in))
    else:
        live = kept_values(program, array, accesses, order, accesses.moments).domain().unwrap()
    live = live.intersect_range(_in_between(accesses.moments))
    return coalesced_if_few(live.project_out(isl.dim_type.out, 0, 1))


def kept_values(program: Program, array: str, accesses: Accesses, order: Order, moments: isl.Set) -> isl.Map:
    """{ [A[x] -> [t]] -> [[A[x] -> [a]] -> [A[x] -> [b]]] }: at t the cell may hold what a wrote for b.

    Times have the dimension for start and end in front.

    moments  { [t] }  without it: the times of writes to any cell
    """
    flows = value_flows(program, order, array, accesses.live_in) if order.is_total else None
    return _in_one_execution(_WithEnds.of(program, accesses, order), _in_between(moments), flows)


def _between_write_and_read(flows: isl.Map) -> isl.Map:
    """{ A[x] -> [t] }: the times from the write of a value to its last read.

    flows  { [A[x] -> [a]] -> [b] }  the value written at a is read at b
    """
    last = coalesced(last_images(flows))
    times = last.get_space().range()
    begun = last.domain().unwrap().range_map().apply_range(isl.Map.lex_le(times))
    return last.apply_range(isl.Map.lex_ge(times)).intersect(begun).domain_factor_domain()


@dataclass(frozen=True, eq=False)
class _WithEnds:
    """Accesses and their order, where the start writes what is live-in, and the end reads what is live-out.

    writes, reads, sure  { A[x] -> [t] }
    before, not_after    { [a] -> [b] }
    """

    writes: isl.Map
    reads: isl.Map
    sure: isl.Map
    before: isl.Map
    not_after: isl.Map

    @staticmethod
    def of(program: Program, accesses: Accesses, order: Order) -> _WithEnds:
        """The same with a start and an end."""
        times = order.before.get_space().domain()
        start, end = (_at(times, number) for number in (-1, 1))
        always = isl.Map.from_domain_and_range
        initial, final = always(accesses.live_in, start), always(accesses.live_out, end)
        sure = sure_writes(program, order, accesses)
        writes, reads, sure = map(_later, (accesses.writes, accesses.reads, sure))
        not_after = order.not_after()
        if accesses.apart is not None:
            not_after = not_after.subtract(accesses.apart)
        outer = isl.Map.universe(writes.get_space().range().map_from_set())
        outer = outer.order_lt(isl.dim_type.in_, 0, isl.dim_type.out, 0)
        return _WithEnds(
            writes.union(initial),
            reads.union(final),
            sure,
            _both_between(order.before).union(outer),
            _both_between(not_after).union(outer),
        )


def _at(times: isl.Space, number: int) -> isl.Set:
    wider = times.insert_dims(isl.dim_type.set, 0, 1)
    return (
        origin(wider)
        .drop_constraints_involving_dims(isl.dim_type.set, 0, 1)
        .fix_val(isl.dim_type.set, 0, isl.Val(number))
    )


def _in_between(times: isl.Set) -> isl.Set:
    return times.insert_dims(isl.dim_type.set, 0, 1).fix_val(isl.dim_type.set, 0, isl.Val(0))


def _later(events: isl.Map) -> isl.Map:
    return events.insert_dims(isl.dim_type.out, 0, 1).fix_val(isl.dim_type.out, 0, isl.Val(0))


def _both_between(pairs: isl.Map) -> isl.Map:
    wider = _later(pairs).insert_dims(isl.dim_type.in_, 0, 1)
    return wider.fix_val(isl.dim_type.in_, 0, isl.Val(0))


def _in_one_execution(given: _WithEnds, times: isl.Set, flows: isl.Map | None) -> isl.Map:
    """{ [A[x] -> [t]] -> [[A[x] -> [a]] -> [A[x] -> [b]]] }: as `kept_values` says.

    flows  { [A[x] -> [a]] -> [b] }  the value written at a may be read at b, if that is known
    """
    cells = given.writes.domain()
    same = isl.Map.identity(cells.get_space().map_from_set())
    before, not_after = same.product(given.before), same.product(given.not_after)
    writes, reads, sure = (one.wrap() for one in (given.writes, given.reads, given.sure))
    moments = isl.Map.from_domain_and_range(cells, times).wrap()
    after_sure = before.intersect_domain(sure)
    until_sure = before.intersect_range(sure)

    def pairs(first: isl.Set, second: isl.Set, hidden: isl.Map) -> isl.Map:
        """{ [A[x] -> [a]] -> [A[x] -> [b]] }: a may come before b, with no sure write of x between them."""
        found = not_after.intersect_domain(first).intersect_range(second)
        return coalesced(found.subtract(hidden))

    from_writes = until_sure.intersect_domain(writes)
    to_reads = after_sure.intersect_range(reads)
    held = pairs(
        writes, moments, from_writes.apply_range(_or_equal(after_sure, sure).intersect_range(moments))
    )
    read = pairs(moments, reads, until_sure.intersect_domain(moments).apply_range(to_reads))
    if flows is None:
        seen = pairs(writes, reads, from_writes.apply_range(to_reads))
    else:
        seen = isl.Map.from_domain_and_range(writes, reads).intersect(_with_cells(flows))
        seen = seen.intersect(not_after)
    return held.reverse().range_product(read).intersect_range(seen.wrap())


def _or_equal(after: isl.Map, events: isl.Set) -> isl.Map:
    return after.union(isl.Map.identity(after.get_space()).intersect_domain(events))


def _with_cells(flows: isl.Map) -> isl.Map:
    """{ [A[x] -> [a]] -> [A[x] -> [b]] }: { [A[x] -> [a]] -> [b] } with the cell on both sides."""
    return flows.domain().unwrap().domain_map().range_product(flows)
