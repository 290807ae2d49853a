"""The loops of an order: which dimensions of a schedule they are, and which can run in parallel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_by_domain, maps_of
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.nests import constant, varies
from arrayfold.program.model import Parallelism, Program


def loop_dimensions(times: isl.UnionMap) -> tuple[int, ...]:
    """The dimensions of a schedule that take several values for some statement, from the outermost one.

    times  { S[i] -> [t] }  all of one length

    >>> loop_dimensions(isl.UnionMap("{ S[i, j] -> [0, i, 0, j] : 0 <= i, j < 9; T[i] -> [1, i, 0, 0] }"))
    (1, 3)
    """
    parts = maps_of(times)
    depth = max((part.dim(isl.dim_type.out) for part in parts), default=0)
    return tuple(d for d in range(depth) if any(varies(part, d) for part in parts))


def with_parallel_loops(program: Program, dependences: isl.UnionMap) -> Program:
    """The program with the outermost loop of each nest that carries no dependence made doall.

    dependences  { S[i] -> T[j] }  kept by the sequential order of the program

    A dimension that is such a loop for one nest and something else for another becomes two: the first one
    sequential, the second one parallel, each nest with zeros in the dimension that it does not use.
    """
    assert program.schedule is not None
    times = maps_by_domain(program.schedule)
    chosen = _parallel_dimensions(
        _Subnest(tuple(times), 0, _pairs_of_times(program.schedule, dependences)), times
    )
    depth = max(part.dim(isl.dim_type.out) for part in times.values())
    parallel: dict[int, Parallelism] = {}
    added = 0
    for d in range(depth):
        users = [name for name, dimension in chosen.items() if dimension == d]
        if not users:
            continue
        position = d + added
        if _needs_split([part for name, part in times.items() if name not in users], position):
            times = {name: _split(part, position, parallel=name in users) for name, part in times.items()}
            added += 1
            position += 1
        parallel[position] = "doall"
    schedule = union_of_maps(program.context.get_space(), times.values())
    return program.in_order(coalesced(schedule), parallel)


def statement_by_statement(times: isl.UnionMap) -> Iterator[isl.UnionMap]:
    """Orders that differ from this one in how much of the loops each statement runs before the next one.

    times   { S[i] -> [loops, places] }
    result  { S[i] -> [outer loops, places, inner loops] }, with one more inner loop each time

    The outermost loop stays outside: without it the statements were no longer fused.

    >>> list(statement_by_statement(isl.UnionMap("{ S[i, j] -> [i, j, 0]; T[i, j] -> [i, j, 1] }")))
    [UnionMap("{ S[i, j] -> [i, 0, j]; T[i, j] -> [i, 1, j] }")]
    """
    depth = max(part.dim(isl.dim_type.out) for part in maps_of(times))
    loops = loop_dimensions(times)
    names = [f"t{d}" for d in range(depth)]
    places = names[loops[-1] + 1 :] if loops else []
    if places:
        for d in reversed(loops[1:]):
            moved = [*names[:d], *places, *names[d : loops[-1] + 1]]
            yield times.apply_range(relation(names, moved))


# ---------------------------------------------------------------- nests


@dataclass(frozen=True, eq=False)
class _Subnest:
    """Statements that no constant dimension outside `depth` tells apart.

    pairs  (S, T) -> { [s] -> [t] }  times of dependences among them that no outer dimension carries
    """

    statements: tuple[str, ...]
    depth: int
    pairs: Mapping[tuple[str, str], isl.Map]


def _pairs_of_times(times: isl.UnionMap, dependences: isl.UnionMap) -> dict[tuple[str, str], isl.Map]:
    """(S, T) -> { [s] -> [t] }: the times at which instances that depend on each other run."""
    found: dict[tuple[str, str], isl.Map] = {}
    for part in maps_of(dependences):
        ends = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        (pairs,) = maps_of(isl.UnionMap.from_map(part).apply_domain(times).apply_range(times))
        found[str(ends[0]), str(ends[1])] = pairs
    return found


def _parallel_dimensions(nest: _Subnest, times: Mapping[str, isl.Map]) -> dict[str, int]:
    """statement -> the dimension of its nest's outermost loop that carries nothing, where there is one."""
    if any(nest.depth >= times[name].dim(isl.dim_type.out) for name in nest.statements):
        return {}
    d = nest.depth
    inner = {
        ends: left
        for ends, pairs in nest.pairs.items()
        if not (left := pairs.equate(isl.dim_type.in_, d, isl.dim_type.out, d)).is_empty()
    }
    if not any(varies(times[name], d) for name in nest.statements):
        found: dict[str, int] = {}
        for group in _grouped(nest.statements, times, d):
            among = {ends: pairs for ends, pairs in inner.items() if ends[0] in group and ends[1] in group}
            found |= _parallel_dimensions(_Subnest(group, d + 1, among), times)
        return found
    carried = (pairs.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d) for pairs in nest.pairs.values())
    if all(pairs.is_empty() for pairs in carried):
        return dict.fromkeys(nest.statements, d)
    return _parallel_dimensions(_Subnest(nest.statements, d + 1, inner), times)


def _grouped(statements: Sequence[str], times: Mapping[str, isl.Map], d: int) -> tuple[tuple[str, ...], ...]:
    """The statements by their constant time in a dimension; one group if some constant has parameters."""
    groups: dict[int, list[str]] = {}
    for name in statements:
        value = constant(times[name], d)
        if value is None:
            return (tuple(statements),)
        groups.setdefault(value, []).append(name)
    return tuple(tuple(group) for group in groups.values())


# ---------------------------------------------------------------- splitting


def _needs_split(others: Sequence[isl.Map], d: int) -> bool:
    """Whether statements outside the parallel nests use a dimension to order instances."""
    constants = {constant(part, d) for part in others}
    return None in constants or len(constants) > 1


def _split(times: isl.Map, d: int, *, parallel: bool) -> isl.Map:
    """The times with a zero in front of a dimension if it is parallel, behind it otherwise."""
    position = d if parallel else d + 1
    wider = times.insert_dims(isl.dim_type.out, position, 1)
    return wider.fix_val(isl.dim_type.out, position, isl.Val(0))
