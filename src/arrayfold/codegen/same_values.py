"""Whether reads of a changed program get the values that they got before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from arrayfold.order.last_sources import last_sources
from arrayfold.program.model import Access, Program


def differing_accesses(old: Program, new: Program, *, is_fresh: bool = False) -> list[str]:
    """Reads that get the value of another write than before, and accesses that are missing, in words.

    It is asked of isl's dataflow, which shares nothing with what found the mappings. Parallel loops are taken
    forwards and backwards.

    old, new  programs of the same statements and accesses in the same order, some of other cells; the
              parameters are those of the old one's context
    is_fresh  what is read before it is written has no value: it may get any
    """
    found: list[str] = []
    changed = _changed(old, new)
    for (statement, one), (_, other) in zip(
        _accesses(old, old.context), _accesses(new, old.context), strict=True
    ):
        does = "writes" if one.is_write else "reads"
        is_same = one.relation.domain().is_equal(other.relation.domain())
        if one.array not in changed:
            continue
        if not is_same or not (one.is_write or _same_flows(old, one, new, other, is_fresh=is_fresh)):
            found.append(f"{statement} {does} {one.array}")
    return found


def _changed(old: Program, new: Program) -> set[str]:
    """The arrays of which some access is another one."""
    pairs = zip(_accesses(old, old.context), _accesses(new, old.context), strict=True)
    return {one.array for (_, one), (_, other) in pairs if not one.relation.is_equal(other.relation)}


def _accesses(program: Program, context: isl.Set) -> Iterator[tuple[str, Access]]:
    for statement in program.statements:
        for access in statement.accesses:
            yield statement.name, replace(access, relation=access.relation.intersect_params(context))


def _same_flows(old: Program, one: Access, new: Program, other: Access, *, is_fresh: bool) -> bool:
    for before, after in zip(_schedules(old), _schedules(new), strict=True):
        wanted, found = _flows(old, one, before), _flows(new, other, after)
        if is_fresh:
            found = found.intersect_range(wanted.range())
        if not wanted.is_equal(found):
            return False
    return True


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
    """{ T[j] -> S[i] }: the writes T whose values a read S may see."""
    must = program.accesses(writes=True, must_only=True, array=read.array)
    may = program.accesses(writes=True, array=read.array).subtract(must)
    flows = last_sources(isl.UnionMap.from_map(read.relation), must, may, schedule)
    return flows.range_factor_domain()
