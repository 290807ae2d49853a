"""What an order keeps, by plain enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import islpy as isl

from arrayfold.exact.isl import fix_parameters, maps_of, points
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import Program
from support.reference import Instance, Trace

Time = tuple[int, ...]
Key = tuple[str, Time]
Pair = tuple[Key, Key]


def program_of(text: str) -> Program:
    problem = read_problem("test.toml", text)
    assert isinstance(problem, Program)
    return problem


def example(name: str) -> Program:
    problem = read(f"examples/{name}.toml")
    assert isinstance(problem, Program)
    return problem


def images(relation: isl.UnionMap, params: Mapping[str, int]) -> dict[Key, list[tuple[str, Time]]]:
    found: dict[Key, list[tuple[str, Time]]] = {}
    for part in maps_of(relation.intersect_params(fix_parameters(params))):
        rank = part.dim(isl.dim_type.in_)
        source, target = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        for point in points(part.wrap()):
            found.setdefault((str(source), point[:rank]), []).append((str(target), point[rank:]))
    return found


def times_of(program: Program, params: Mapping[str, int]) -> dict[Key, Time]:
    assert program.schedule is not None
    found = images(program.schedule, params)
    assert all(len(times) == 1 for times in found.values())
    return {instance: times[0][1] for instance, times in found.items()}


def trace_of(program: Program, params: Mapping[str, int]) -> Trace:
    """The sequential execution of a program, by its times at one size."""
    times = times_of(program, params)
    reads, writes = (images(program.accesses(writes=kind), params) for kind in (False, True))
    ordered = sorted(times, key=lambda instance: times[instance])
    return Trace([Instance(*key, tuple(reads.get(key, ())), tuple(writes.get(key, ()))) for key in ordered])


def enumerated(trace: Trace) -> dict[tuple[str, str], set[Pair]]:
    """(kind, array) -> pairs of instances, by walking through a trace."""
    found: dict[tuple[str, str], set[Pair]] = {}
    for a, b in itertools.combinations(trace.instances, 2):
        ends = ((a.name, a.iteration), (b.name, b.iteration))
        touched = {"flow": (a.writes, b.reads), "anti": (a.reads, b.writes), "output": (a.writes, b.writes)}
        for kind, (first, second) in touched.items():
            for array, _ in set(first) & set(second):
                found.setdefault((kind, array), set()).add(ends)
    return found


def all_pairs(trace: Trace) -> set[Pair]:
    return {pair for pairs in enumerated(trace).values() for pair in pairs}


def surely_before(a: Time, b: Time, parallel: Iterable[int]) -> bool:
    for d, (left, right) in enumerate(zip(a, b, strict=True)):
        if left != right:
            return left < right and d not in parallel
    return False


def assert_keeps(trace: Trace, reordered: Program, params: Mapping[str, int]) -> None:
    """Every instance runs once, and of two that depend on each other the right one surely runs first."""
    times = times_of(reordered, params)
    assert set(times) == {(instance.name, instance.iteration) for instance in trace.instances}
    assert len({len(time) for time in times.values()}) == 1
    for a, b in all_pairs(trace):
        assert surely_before(times[a], times[b], reordered.parallel), (a, b, times[a], times[b])


def kept(program: Program, reordered: Program, *sizes: Mapping[str, int]) -> Program:
    """The reordered program, after it was compared with the original one at some sizes."""
    for params in sizes:
        trace = trace_of(program, params)
        assert all_pairs(trace)
        assert_keeps(trace, reordered, params)
    return reordered


def schedules_equal(program: Program, text: str) -> bool:
    assert program.schedule is not None
    expected = isl.UnionMap(text).intersect_domain(program.schedule.domain())
    return bool(program.schedule.is_equal(expected))


JACOBI_IN_PLACE = """
context = "[T, N] -> { : T >= 2 and N >= 5 }"
domain = "[T, N] -> { S[t, i] : 0 <= t < T and 1 <= i < N - 1; U[t, i] : 0 <= t < T and 1 <= i < N - 1 }"
write = "[T, N] -> { S[t, i] -> B[i]; U[t, i] -> A[i] }"
read = "[T, N] -> { S[t, i] -> A[i'] : i - 1 <= i' <= i + 1; U[t, i] -> B[i] }"
schedule = "[T, N] -> { S[t, i] -> [t, 0, i]; U[t, i] -> [t, 1, i] }"
live_out = "{ A[i] }"
"""
