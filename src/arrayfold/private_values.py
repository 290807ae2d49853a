"""Variables that a loop body declares: each iteration has its own, so iterations do not share them.

In code they are one variable all the same, or one for each thread. That is enough in an order in which the
values of one iteration are out of use before another iteration sets them.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from arrayfold._isl import maps_of
from arrayfold.program import Program


def same_owner(pairs: isl.UnionMap, loops: int) -> isl.UnionMap:
    """The pairs { S[i] -> T[j] } of instances with the same iteration of the first loops around both."""
    total = isl.UnionMap.empty(pairs.get_space())
    for part in maps_of(pairs):
        mine = part
        for k in range(loops):
            mine = mine.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        total = total.union(isl.UnionMap.from_map(mine))
    return total


def overlapping(program: Program) -> Iterator[str]:
    """The private variables that one variable, or one for each thread, cannot hold in the program's order."""
    for name, loops in program.private.items():
        writes, reads = (_times(program, name, loops, writes=writes) for writes in (True, False))
        if writes is not None and reads is not None and not _takes_turns(program, writes, reads):
            yield name


def _takes_turns(program: Program, writes: isl.Map, reads: isl.Map) -> bool:
    """Whether all that happens to one owner's value comes before all that happens to another's.

    writes, reads  { [p] -> [t] }  when the value of an owner is set, and when it is used
    """
    space = writes.get_space().range().map_from_set()
    threads = max(program.parallel, default=-1) + 1
    same_thread = isl.Map.universe(space)
    for d in range(threads):
        same_thread = same_thread.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    events = writes.union(reads)
    if not events.reverse().apply_range(events).is_subset(same_thread):
        return False
    owners = writes.get_space().domain().map_from_set()
    others = isl.Map.universe(owners).subtract(isl.Map.identity(owners))
    later = isl.Map.lex_le(writes.get_space().range()).intersect(same_thread)
    # { [p] -> [q] }: q is set after p was set, and before p is used
    after = writes.apply_range(later).apply_range(writes.reverse())
    if after.intersect(others).is_empty():
        return True
    set_between = writes.range_product(reads).apply_range(_between(later)).apply_range(writes.reverse())
    return bool(set_between.intersect(others).intersect_params(program.context).is_empty())


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
