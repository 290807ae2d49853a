"""Value-based dataflow: the instances that write a value and those that read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.exact.isl import coalesced, first_images, maps_by_domain, maps_of
from arrayfold.exact.pieces import drop_constant_dimensions
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.events import Order, across, sweep
from arrayfold.order.last_sources import last_sources
from arrayfold.order.sure_writes import conditional_writes, surely_preceded
from arrayfold.program.model import Program

_START = "before_the_program"
_END = "after_the_program"


@dataclass(frozen=True, eq=False)
class Dataflow:
    """Which instance reads the value that another one wrote, access by access.

    flows            { S[i] -> [T[j] -> A[x]] }  T[j] reads from A[x] what S[i] may have written there
    undefined_reads  { T[j] -> A[x] }            may read what A[x] held before the program
    dead_writes      { S[i] -> A[x] }            never read, and not needed afterwards
    """

    flows: isl.UnionMap
    undefined_reads: isl.UnionMap
    dead_writes: isl.UnionMap


def find_dataflow(program: Program, order: Order) -> Dataflow:
    """The flow dependences of a program.

    Value-based and exact for total orders without may-writes (Feautrier 1991, by isl). Otherwise a read
    is linked to every write that some execution may make it see, a superset.
    """
    after = isl.UnionSet(f"{{ {_END}[] }}")
    sinks = program.accesses(writes=False).union(isl.UnionMap.from_domain_and_range(after, program.live_out))
    reach = _last_writes(program, order, sinks) if order.is_total else _possible_writes(program, order, sinks)
    read_inside = (flow for flow in maps_of(reach) if _reader(flow) != _END)
    dead = program.accesses(writes=True).subtract(reach.range_factor_range())
    return Dataflow(
        flows=coalesced(union_of_maps(program.context.get_space(), read_inside)),
        undefined_reads=undefined_reads(program, order),
        dead_writes=coalesced(dead),
    )


def _reader(flow: isl.Map) -> str:
    """Who reads, of { S[i] -> [T[j] -> A[x]] }."""
    return str(flow.range().unwrap().get_tuple_name(isl.dim_type.in_))


def find_flows(program: Program, order: Order, arrays: Sequence[str]) -> list[isl.Map]:
    """{ S[i] -> [T[j] -> A[x]] }: the flow dependences of some arrays alone, for a total order."""
    reads = _reads_of(program, arrays)
    only = _only_writes(program, order, arrays, reads)
    if only is not None:
        return maps_of(coalesced(only))
    mine = [
        replace(one, accesses=tuple(access for access in one.accesses if access.array in arrays))
        for one in program.statements
    ]
    return maps_of(coalesced(_last_writes(replace(program, statements=tuple(mine)), order, reads)))


def _only_writes(
    program: Program, order: Order, arrays: Sequence[str], reads: isl.UnionMap
) -> isl.UnionMap | None:
    """{ S[i] -> [T[j] -> A[x]] } where every cell is written once, before it is read; None where it is not.

    Then nobody needs to ask which write is the last one before a read, which makes many pieces.
    """
    writes = isl.UnionMap.empty(program.context.get_space())
    for name in arrays:
        sure = program.accesses(writes=True, must_only=True, array=name)
        if not program.accesses(writes=True, array=name).is_subset(sure):
            return None
        writes = writes.union(sure)
    writes, reads = writes.intersect_params(program.context), reads.intersect_params(program.context)
    if not writes.reverse().is_single_valued():
        return None
    found = writes.apply_range(reads.reverse().range_product(reads.range().identity()))
    return found if _all_in_order(order, maps_of(found.range_factor_domain())) else None


def _all_in_order(order: Order, pairs: Sequence[isl.Map]) -> bool:
    """Whether of each pair { S[i] -> T[j] } the write surely comes before the read.

    Statement by statement: of most of them nobody reads anything from each other.
    """
    writing, reading = maps_by_domain(order.write_times), maps_by_domain(order.read_times)
    return all(
        pair.is_subset(
            writing[str(pair.get_tuple_name(isl.dim_type.in_))]
            .apply_range(order.before)
            .apply_range(reading[str(pair.get_tuple_name(isl.dim_type.out))].reverse())
        )
        for pair in pairs
    )


def _reads_of(program: Program, arrays: Sequence[str]) -> isl.UnionMap:
    """{ T[j] -> A[x] }: all reads of some arrays."""
    reads = (program.accesses(writes=False, array=name) for name in arrays)
    return union_of_maps(program.context.get_space(), reads)


def certain_flows(program: Program, order: Order, arrays: Sequence[str]) -> list[isl.Map] | None:
    """{ S[i] -> [T[j] -> A[x]] }: whose value is read, if it is the same in every execution; None if not.

    It is if, for the flows of one execution, the write surely comes before the read, and every other write
    that the read may see surely comes before one that surely happens.
    """
    if order.is_total:
        return find_flows(program, order, arrays)
    if not order.is_swept or order.exclusive is not None:
        return None
    flows = find_flows(program, sweep(order), arrays)
    seen = union_of_maps(program.context.get_space(), flows)
    reads = _reads_of(program, arrays)
    others = _possible_writes(program, order, reads).subtract(seen).intersect_params(program.context)
    sure_writes = program.accesses(writes=True, must_only=True)
    hiding = seen.intersect(sure_writes.apply_range(reads.range_map().reverse()))
    hidden = across(order.write_times, order.before, order.write_times).apply_range(hiding)
    sure = across(order.write_times, order.before, order.read_times)
    pairs = seen.range_factor_domain().intersect_params(program.context)
    return flows if pairs.is_subset(sure) and others.is_subset(hidden) else None


def value_flows(program: Program, order: Order, array: str, live_in: isl.Set) -> isl.Map:
    """{ [A[x] -> [a]] -> [b] }: what is written at time a may be read at time b, in a total order.

    Times have one more dimension in front: -1 for the start, which writes what is live-in, 1 for the end,
    which reads what is live-out, 0 for the events of the program.
    """
    space = program.array(array).cells.get_space().align_params(program.context.get_space())
    live_out = program.live_out.extract_set(space)
    reads = program.accesses(writes=False, array=array).union(_outside(_END, live_out))
    must = program.accesses(writes=True, must_only=True, array=array)
    may = program.accesses(writes=True, array=array).subtract(must)
    must = must.union(_outside(_START, live_in))
    writing, reading = _with_ends(order.write_times), _with_ends(order.read_times)
    reads, must, may = (one.intersect_params(program.context) for one in (reads, must, may))
    flows = last_sources(reads, must, may, writing)
    flows = flows.subtract(_hidden_by_branches(program, array, flows, writing, reading))
    on_times = flows.apply_domain(writing).reverse().curry().apply_domain(reading).reverse()
    times = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, order.before.dim(isl.dim_type.in_) + 1)
    times = times.align_params(space)
    space = space.map_from_domain_and_range(times).wrap().map_from_domain_and_range(times)
    return coalesced(on_times.extract_map(space))


def _outside(name: str, cells: isl.Set) -> isl.UnionMap:
    """{ NAME[] -> A[x] }"""
    return isl.UnionMap.from_domain_and_range(isl.UnionSet(f"{{ {name}[] }}"), isl.UnionSet.from_set(cells))


def _with_ends(times: isl.UnionMap) -> isl.UnionMap:
    """Times with one more dimension in front, and those of the start and the end."""
    depth = next((part.dim(isl.dim_type.out) for part in maps_of(times)), 0)
    ends = {_START: -1, _END: 1}
    names = [f"t{k}" for k in range(depth)]
    found = times.apply_range(isl.UnionMap.from_map(relation(names, ["0", *names])))
    for name, number in ends.items():
        found = found.union(isl.UnionMap(f"{{ {name}[] -> [{', '.join([str(number), *['0'] * depth])}] }}"))
    return found


def _hidden_by_branches(
    program: Program, array: str, flows: isl.UnionMap, writing: isl.UnionMap, reading: isl.UnionMap
) -> isl.UnionMap:
    """{ S[i] -> [T[j] -> A[x]] }: flows with one of several conditional writes surely between them."""
    writes = conditional_writes(program, array)
    if program.evaluates_guards or writes.is_empty() or flows.is_empty():
        # A statement that evaluates its own conditions reads whatever comes of them.
        return flows.subtract(flows)
    source, sink = flows.domain_map(), flows.range_map()
    reader, cell = sink.range_factor_domain(), sink.range_factor_range()
    depth = next(part.dim(isl.dim_type.out) for part in maps_of(writing))
    earlier = isl.Map.lex_lt(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth))
    mine = writing.intersect_domain(writes.domain())
    between = cell.apply_range(writes.reverse())
    between = between.intersect(source.apply_range(across(writing, earlier, mine)))
    between = between.intersect(reader.apply_range(across(reading, earlier.reverse(), mine)))
    as_reads = reader.range_product(cell.range_product(source))
    hidden = surely_preceded(program, between.apply_domain(as_reads))
    return hidden.wrap().apply(as_reads.reverse()).unwrap()


def undefined_reads(program: Program, order: Order) -> isl.UnionMap:
    """{ T[j] -> A[x] }: reads that no write surely precedes, so that they may see an older value.

    Those of the context; there may be others outside.
    """
    found = isl.UnionMap.empty(program.context.get_space())
    # Array by array: most pairs of statements have none in common.
    for array in program.arrays:
        reads = program.accesses(writes=False, array=array.name)
        writes = program.accesses(writes=True, must_only=True, array=array.name)
        read_times = order.read_times.intersect_domain(reads.domain())
        write_times = order.write_times.intersect_domain(writes.domain())
        if order.is_total and order.exclusive is None:
            if _all_after_first_writes(program.context, reads, writes, read_times, write_times):
                continue
            defined = _after_first_writes(reads, writes, read_times, write_times, order.before)
        else:
            after = _ever(order, order.before).reverse()
            defined = across(read_times, after, write_times).apply_range(writes)
        found = found.union(_without_branches(program, order, array.name, reads.subtract(defined)))
    return coalesced(found)


def _without_branches(program: Program, order: Order, array: str, reads: isl.UnionMap) -> isl.UnionMap:
    """{ T[j] -> A[x] }: reads that are not surely preceded by one of several conditional writes, either."""
    writes = conditional_writes(program, array)
    if writes.is_empty() or reads.intersect_params(program.context).is_empty():
        return reads
    after = across(
        order.read_times.intersect_domain(reads.domain()),
        _ever(order, order.before).reverse(),
        order.write_times.intersect_domain(writes.domain()),
    )
    preceding = reads.range_map().apply_range(writes.reverse())
    preceding = preceding.intersect(reads.domain_map().apply_range(after))
    return reads.subtract(surely_preceded(program, preceding))


def surely_written(program: Program) -> isl.UnionSet:
    """{ A[x] }: cells that are written in every execution."""
    found = program.accesses(writes=True, must_only=True).range()
    after = isl.UnionSet(f"{{ {_END}[] }}")
    for array in program.arrays:
        writes = conditional_writes(program, array.name)
        if not writes.is_empty():
            ends = isl.UnionMap.from_domain_and_range(after, writes.range())
            preceding = ends.range_map().apply_range(writes.reverse())
            found = found.union(surely_preceded(program, preceding).range())
    return found


def _all_after_first_writes(
    context: isl.Set,
    reads: isl.UnionMap,
    writes: isl.UnionMap,
    read_times: isl.UnionMap,
    write_times: isl.UnionMap,
) -> bool:
    """Whether every read in the context comes after the first write of its cell, for a total order.

    Cells and times are enough for that, and are fewer pieces than instances.
    """
    written, read = (
        maps_of(cells.reverse().apply_range(times).intersect_params(context))
        for cells, times in ((writes, write_times), (reads, read_times))
    )
    if len(written) != 1 or len(read) != 1:
        return False
    first, later = drop_constant_dimensions(coalesced(written[0]), coalesced(read[0]))
    after = first_images(first).apply_range(isl.Map.lex_lt(first.get_space().range()))
    return bool(later.is_subset(after))


def _after_first_writes(
    reads: isl.UnionMap,
    writes: isl.UnionMap,
    read_times: isl.UnionMap,
    write_times: isl.UnionMap,
    before: isl.Map,
) -> isl.UnionMap:
    """{ T[j] -> A[x] }: reads after the first write of their cell, for a total order."""
    first = map(first_images, maps_of(writes.reverse().apply_range(write_times)))
    later = union_of_maps(reads.get_space(), (times.apply_range(before) for times in first))
    return later.apply_range(read_times.reverse()).reverse().intersect(reads)


def _last_writes(program: Program, order: Order, sinks: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> [T[j] -> A[x]] } for a total order; sinks of `_END` come after everything."""
    must = program.accesses(writes=True, must_only=True)
    may = program.accesses(writes=True).subtract(must)
    return last_sources(sinks, must, may, _with_ends(order.write_times))


def _possible_writes(program: Program, order: Order, sinks: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> [T[j] -> A[x]] } for a partial order: the read does not surely come before the write."""
    readers = sinks.reverse().range_product(sinks.range().identity())
    linked = program.accesses(writes=True).apply_range(readers)
    never = order.before.reverse()
    never = never if order.exclusive is None else never.union(order.exclusive)
    never = across(order.write_times, never, order.read_times)
    return linked.subtract(linked.intersect_range_factor_domain(never))


def _ever(order: Order, pairs: isl.Map) -> isl.Map:
    """{ [a] -> [b] }: the pairs of events that some execution has both of."""
    return pairs if order.exclusive is None else pairs.subtract(order.exclusive)
