"""Executions of programs of arrayfold, enumerated: isl only lists the points of accesses and times."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from arrayfold.exact.isl import fix_parameters, maps_by_domain, points, sets_of
from arrayfold.program.model import Program
from support.reference import Access, Instance, Trace


def trace_of(program: Program, params: Mapping[str, int]) -> Trace:
    """The execution of a program in the order of its schedule."""
    assert program.schedule is not None
    here = fix_parameters(params).intersect(program.context)
    times = maps_by_domain(program.schedule.intersect_domain(program.domain()).intersect_params(here))
    runs: list[tuple[tuple[int, ...], Instance]] = []
    for statement in program.statements:
        rank = statement.domain.dim(isl.dim_type.set)
        touched: dict[tuple[int, ...], tuple[list[Access], list[Access]]] = {}
        for access in statement.accesses:
            for point in points(access.relation.intersect_params(here).wrap().flatten()):
                both = touched.setdefault(point[:rank], ([], []))
                both[access.is_write].append((access.array, point[rank:]))
        if statement.name in times:
            for point in points(times[statement.name].wrap().flatten()):
                reads, writes = touched.get(point[:rank], ([], []))
                instance = Instance(statement.name, point[:rank], tuple(reads), tuple(writes))
                runs.append((point[rank:], instance))
    live_out = {
        (str(cells.get_tuple_name()), cell)
        for cells in sets_of(program.live_out.intersect_params(here))
        if cells.is_bounded()
        for cell in points(cells)
    }
    ordered = [instance for _, instance in sorted(runs, key=lambda run: run[0])]
    return Trace(ordered, frozenset(live_out))


def values_seen(trace: Trace) -> list[tuple[str, tuple[int, ...], frozenset[object]]]:
    """For each instance the values that it reads: who wrote them, or what was there before."""
    memory: dict[Access, object] = {}
    seen: list[tuple[str, tuple[int, ...], frozenset[object]]] = []
    for instance in trace.instances:
        values = frozenset(memory.get(cell, ("before", cell)) for cell in instance.reads)
        seen.append((instance.name, instance.iteration, values))
        for cell in instance.writes:
            memory[cell] = (instance.name, instance.iteration)
    return seen
