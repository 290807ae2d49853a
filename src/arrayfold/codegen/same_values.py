"""Whether reads of a changed program get the values that they got before."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from arrayfold.program.model import Access, Program


def differing_accesses(old: Program, new: Program) -> list[str]:
    """Reads that get the value of another write than before, and accesses that are missing, in words.

    It is asked of isl's dataflow, which shares nothing with what found the mappings. Parallel loops are taken
    forwards and backwards.

    old, new  programs of the same statements and accesses in the same order, some of other cells
    """
    found: list[str] = []
    changed = _changed(old, new)
    for (statement, one), (_, other) in zip(_accesses(old), _accesses(new), strict=True):
        does = "writes" if one.is_write else "reads"
        is_same = one.relation.domain().is_equal(other.relation.domain())
        if one.array not in changed:
            continue
        if not is_same or not (one.is_write or _same_flows(old, one, new, other)):
            found.append(f"{statement} {does} {one.array}")
    return found


def _changed(old: Program, new: Program) -> set[str]:
    """The arrays of which some access is another one."""
    pairs = zip(_accesses(old), _accesses(new), strict=True)
    return {one.array for (_, one), (_, other) in pairs if not one.relation.is_equal(other.relation)}


def _accesses(program: Program) -> Iterator[tuple[str, Access]]:
    for statement in program.statements:
        for access in statement.accesses:
            yield statement.name, access


def _same_flows(old: Program, one: Access, new: Program, other: Access) -> bool:
    pairs = zip(_schedules(old), _schedules(new), strict=True)
    return all(_flows(old, one, before).is_equal(_flows(new, other, after)) for before, after in pairs)


def _schedules(program: Program) -> Iterator[isl.UnionMap]:
    """The order, and with parallel loops that run backwards."""
    assert program.schedule is not None
    yield program.schedule
    if program.parallel:
        times = isl.Set.from_union_set(program.schedule.range())
        width = times.dim(isl.dim_type.set)
        signs = ("-" if k in program.parallel else "" for k in range(width))
        names = ", ".join(f"t{k}" for k in range(width))
        turned = ", ".join(f"{sign}t{k}" for k, sign in enumerate(signs))
        yield program.schedule.apply_range(isl.UnionMap(f"{{ [{names}] -> [{turned}] }}"))


def _flows(program: Program, read: Access, schedule: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the writes whose values a read may see."""
    info = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(read.relation))
    info = info.set_must_source(program.accesses(writes=True, must_only=True, array=read.array))
    may = program.accesses(writes=True, array=read.array)
    info = info.set_may_source(may.subtract(program.accesses(writes=True, must_only=True, array=read.array)))
    flow = info.set_schedule_map(schedule).compute_flow()
    return flow.get_may_dependence()
