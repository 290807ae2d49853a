"""Variables that loop bodies declare, where one variable has to serve all iterations.

Each iteration has its own, but in new loops they are one variable, or one for each thread. That is enough in
an order in which no iteration sets its own between a write of another one and the reads of what that wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.exact.isl import (
    fix_parameters,
    maps_by_domain,
    maps_of,
    sets_of,
    smallest_point,
)
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.order.dataflow import find_flows
from arrayfold.order.events import order_of
from arrayfold.program.model import Access, Program


def overlapping(program: Program) -> Iterator[str]:
    """The private variables that one variable, or one for each thread, cannot hold in the program's order."""
    for name, loops in program.private.items():
        writes, reads = (_times(program, name, loops, writes=writes) for writes in (True, False))
        if writes is None or reads is None:
            continue
        if not _stay_in_threads(program, writes.union(reads)) or not (
            _owners_take_turns(program, writes, reads) or _overwritten(program, name).is_empty()
        ):
            yield name


def first_overlap(program: Program, name: str) -> str:
    """Which value of an overlapping variable is overwritten before it is read, at the smallest sizes.

    In an order without parallel loops.
    """
    overwritten = _overwritten(program, name)
    values = smallest_parameters(overwritten.params())
    params = {one: values[one] for one in program.parameters}
    times = smallest_point(overwritten.intersect_params(fix_parameters(params)).wrap())
    depth = len(times) // 3
    writer, reader, overwriter = (_instance_at(program, times[k * depth :][:depth], params) for k in range(3))
    sizes = ", ".join(f"{one} = {value}" for one, value in params.items())
    return (
        f"the order needs several variables {name} at once, where there is one: {overwriter} sets "
        f"the {name} of its iteration after {writer} set that of another one, "
        f"which {reader} reads later{f' ({sizes})' if sizes else ''}"
    )


def _stay_in_threads(program: Program, events: isl.Map) -> bool:
    """Whether no owner's variable is used by several threads.

    events  { [p] -> [t] }  when the variable of an owner is set or used
    """
    return bool(events.reverse().apply_range(events).is_subset(_same_thread(program, events)))


def _owners_take_turns(program: Program, writes: isl.Map, reads: isl.Map) -> bool:
    """Whether no owner's variable is set between a write and a read of another's, whatever that reads.

    writes, reads  { [p] -> [t] }  when the variable of an owner is set, and when it is used
    """
    owners = writes.get_space().domain().map_from_set()
    others = isl.Map.universe(owners).subtract(isl.Map.identity(owners))
    later = _later(program, writes)
    # { [p] -> [q] }: q is set after p was set
    after = writes.apply_range(later).apply_range(writes.reverse())
    if after.intersect(others).is_empty():
        return True
    set_between = writes.range_product(reads).apply_range(_between(later)).apply_range(writes.reverse())
    return bool(set_between.intersect(others).intersect_params(program.context).is_empty())


def _overwritten(program: Program, name: str) -> isl.Map:
    """{ [[a] -> [c]] -> [b] }: c reads what a wrote, and between them b writes the same for another owner."""
    assert program.schedule is not None
    sequential = _with_owners(program, name)
    written = sequential.accesses(writes=True, array=name).intersect_params(program.context)
    (writes,) = maps_of(written.reverse().apply_range(program.schedule))
    other_writes = _other_owners(writes.domain(), program.private[name]).apply_range(writes)
    between = _between(_later(program, writes))
    times = maps_by_domain(program.schedule)
    found = isl.Map.empty(between.get_space())
    for flow in find_flows(sequential, order_of(sequential), [name]):
        pairs = flow.uncurry()
        writer, reader = pairs.domain().unwrap().domain(), pairs.domain().unwrap().range()
        when = times[str(writer.get_tuple_name())].product(times[str(reader.get_tuple_name())])
        found = found.union(pairs.apply_domain(when).apply_range(other_writes).intersect(between))
    return found


def _with_owners(program: Program, name: str) -> Program:
    """The program, one loop after the other, where owners have their own cells: { S[i] -> A[p, x] }."""
    loops = program.private[name]

    def owned(access: Access) -> Access:
        if access.array != name:
            return access
        relation = access.relation
        owner = isl.Map.identity(relation.get_space().domain().map_from_set())
        extra = owner.dim(isl.dim_type.out) - loops
        owner = owner.reset_tuple_id(isl.dim_type.out).project_out(isl.dim_type.out, loops, extra)
        parts = owner.flat_range_product(relation).set_tuple_name(isl.dim_type.out, name)
        return replace(access, relation=parts)

    statements = (replace(one, accesses=tuple(map(owned, one.accesses))) for one in program.statements)
    return replace(program, statements=tuple(statements), parallel={})


def _other_owners(cells: isl.Set, loops: int) -> isl.Map:
    """{ A[p, x] -> A[q, x] }: the same cell of another owner."""
    same = isl.Map.identity(cells.get_space().map_from_set())
    same_cell = isl.Map.universe(same.get_space())
    for k in range(loops, cells.dim(isl.dim_type.set)):
        same_cell = same_cell.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return same_cell.subtract(same)


def _same_thread(program: Program, times: isl.Map) -> isl.Map:
    """{ [a] -> [b] }: in the same iterations of all loops down to the innermost parallel one."""
    same = isl.Map.universe(times.get_space().range().map_from_set())
    for d in range(max(program.parallel, default=-1) + 1):
        same = same.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return same


def _later(program: Program, times: isl.Map) -> isl.Map:
    """{ [a] -> [b] }: b is not before a, in the same thread."""
    return isl.Map.lex_le(times.get_space().range()).intersect(_same_thread(program, times))


def _between(later: isl.Map) -> isl.Map:
    """{ [[a] -> [c]] -> [b] }: a is not after b, and b is not after c."""
    return later.domain_product(later.reverse())


def _times(program: Program, name: str, loops: int, *, writes: bool) -> isl.Map | None:
    """{ [p] -> [t] }: when a variable is set or used, by the iteration that declares it."""
    assert program.schedule is not None
    accesses = program.accesses(writes=writes, array=name).intersect_params(program.context)
    found: isl.Map | None = None
    for part in maps_of(program.schedule.intersect_domain(accesses.domain())):
        extra = part.dim(isl.dim_type.in_) - loops
        owned = part.project_out(isl.dim_type.in_, loops, extra)
        owned = owned.reset_tuple_id(isl.dim_type.in_)
        found = owned if found is None else found.union(owned)
    return found


def _instance_at(program: Program, time: Sequence[int], params: Mapping[str, int]) -> str:
    """The instance that runs at a time, as text."""
    assert program.schedule is not None
    at = isl.UnionSet(f"{{ [{', '.join(map(str, time))}] }}")
    (instances,) = sets_of(at.apply(program.schedule.reverse()).intersect_params(fix_parameters(params)))
    return f"{instances.get_tuple_name()}[{', '.join(map(str, smallest_point(instances)))}]"
