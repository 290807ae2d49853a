"""Memory dependences: which instances must keep their order because they touch the same cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias, get_args

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import at_point, coalesced, fix_parameters, maps_of, sets_of, smallest_point
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.exact.relations import union_of_maps
from arrayfold.order.events import Order, across, order_of, sweep
from arrayfold.program.model import Program
from arrayfold.program.private_values import same_owner

Kind: TypeAlias = Literal["flow", "anti", "output"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_VERBS: Mapping[Kind, tuple[str, str]] = {
    "flow": ("writes", "reads"),
    "anti": ("reads", "overwrites"),
    "output": ("writes", "overwrites"),
}


@dataclass(frozen=True, eq=False)
class Dependence:
    """Pairs of different instances that touch the same cell of an array, one of them writing it.

    kind      flow: write, then read; anti: read, then write; output: write, then write
    relation  { S[i] -> T[j] }  S[i] must run before T[j]
    """

    kind: Kind
    array: str
    relation: isl.UnionMap


@dataclass(frozen=True)
class Violation:
    """A dependence that an order breaks, at the smallest sizes where it does.

    source, sink        instances such as "S[0, 0]"; the source must run first
    cell                the cell that both touch, such as "A[0]"
    source_time, sink_time  when the order runs them
    """

    kind: Kind
    array: str
    cell: str
    source: str
    sink: str
    source_time: tuple[int, ...]
    sink_time: tuple[int, ...]
    params: Mapping[str, int]

    def __str__(self) -> str:
        relation = "in parallel with"
        if self.sink_time == self.source_time:
            relation = "at the same time as"
        elif self.sink_time < self.source_time:
            relation = "before"
        first, second = _VERBS[self.kind]
        sizes = "".join(f", {name} = {value}" for name, value in self.params.items())
        return (
            f"the order runs {self.sink} {relation} {self.source}, which {first} {self.cell} that it {second}"
            f" ({self.kind} dependence, new times {list(self.sink_time)} and {list(self.source_time)}{sizes})"
        )


def memory_dependences(program: Program) -> tuple[Dependence, ...]:
    """The dependences of a program, one for each kind and array that has any.

    Every pair counts, also where a write in between hides the first access, and so do accesses that need
    not happen. Loops marked doall are taken in sequential order, which is one of those they allow; in a
    forall front all reads come before all writes. An instance never depends on itself, and iterations do not
    depend on each other by variables of which each has its own.
    """
    order = order_of(program)
    return tuple(
        dependence
        for array in program.arrays
        for kind in KINDS
        if not (dependence := _dependence(program, order, kind, array.name)).relation.is_empty()
    )


def union_of(program: Program, dependences: Sequence[Dependence]) -> isl.UnionMap:
    """{ S[i] -> T[j] }: all of the dependences together."""
    return coalesced(union_of_maps(program.context.get_space(), (one.relation for one in dependences)))


def _dependence(program: Program, order: Order, kind: Kind, array: str) -> Dependence:
    source_writes, sink_writes = kind != "anti", kind != "flow"
    sources = program.accesses(writes=source_writes, array=array)
    sinks = program.accesses(writes=sink_writes, array=array)
    source_times = order.write_times if source_writes else order.read_times
    sink_times = order.write_times if sink_writes else order.read_times
    before = sweep(order).before if order.is_swept else order.before
    touching = sources.apply_range(sinks.reverse()).intersect_params(program.context)
    pairs = touching.intersect(_across(touching, source_times, before, sink_times))
    if kind == "anti":
        pairs = pairs.subtract(program.domain().identity())
    if array in program.private:
        pairs = same_owner(pairs, program.private[array])
    return Dependence(kind, array, coalesced(pairs))


def _across(
    pairs: isl.UnionMap, source_times: isl.UnionMap, relation: isl.Map, sink_times: isl.UnionMap
) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the relation on times, brought to the statements that occur in the pairs."""
    sources = source_times.intersect_domain(pairs.domain().universe())
    sinks = sink_times.intersect_domain(pairs.range().universe())
    return across(sources, relation, sinks)


# ---------------------------------------------------------------- violations


def find_violation(program: Program, dependences: Sequence[Dependence]) -> Violation | None:
    """A dependence that the program's own order does not keep, None if it keeps all of them.

    The order is the schedule with its parallel loops; instances that it leaves unordered, at equal times
    or in different iterations of a doall loop, must not depend on each other.
    """
    assert program.schedule is not None
    order = order_of(program)
    not_before = order.not_after().reverse()
    broken = [
        (dependence, relation)
        for dependence in dependences
        if not (relation := _not_kept(order, not_before, dependence)).is_empty()
    ]
    if not broken:
        return None
    nowhere = isl.Set.empty(program.context.get_space())
    sizes = reduce(isl.Set.union, (relation.params() for _, relation in broken), nowhere)
    values = smallest_parameters(sizes)
    params = {name: values[name] for name in program.parameters}
    here = fix_parameters(params)
    for dependence, relation in broken:
        if not (at_size := relation.intersect_params(here)).is_empty():
            return _describe(program, dependence, _first_pair(program, at_size), params)
    raise AssertionError("the parameter values come from one of the broken dependences")


def _first_pair(program: Program, relation: isl.UnionMap) -> isl.Map:
    """The part of a relation whose two statements come first in the program."""
    position = {statement.name: number for number, statement in enumerate(program.statements)}
    ends = (isl.dim_type.in_, isl.dim_type.out)
    return min(maps_of(relation), key=lambda part: [position[str(part.get_tuple_name(end))] for end in ends])


def _not_kept(order: Order, not_before: isl.Map, dependence: Dependence) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the pairs of a dependence for which S[i] does not surely come first."""
    source_times = order.read_times if dependence.kind == "anti" else order.write_times
    sink_times = order.read_times if dependence.kind == "flow" else order.write_times
    relation = dependence.relation
    return relation.intersect(_across(relation, source_times, not_before, sink_times))


def _describe(
    program: Program, dependence: Dependence, pairs: isl.Map, params: Mapping[str, int]
) -> Violation:
    point = smallest_point(pairs.wrap())
    source, sink = pairs.domain(), pairs.range()
    rank = source.dim(isl.dim_type.set)
    source, sink = at_point(source, point[:rank]), at_point(sink, point[rank:])
    source_cells = _image(source, program.accesses(writes=dependence.kind != "anti", array=dependence.array))
    sink_cells = _image(sink, program.accesses(writes=dependence.kind != "flow", array=dependence.array))
    assert program.schedule is not None
    return Violation(
        kind=dependence.kind,
        array=dependence.array,
        cell=_print(source_cells.intersect(sink_cells)),
        source=_print(source),
        sink=_print(sink),
        source_time=smallest_point(_image(source, program.schedule)),
        sink_time=smallest_point(_image(sink, program.schedule)),
        params=params,
    )


def _image(instances: isl.Set, relation: isl.UnionMap) -> isl.Set:
    """The image of instances of one statement under a relation into one space."""
    (image,) = sets_of(isl.UnionSet.from_set(instances).apply(relation))
    return image


def _print(points: isl.Set) -> str:
    return f"{points.get_tuple_name()}[{', '.join(map(str, smallest_point(points)))}]"


def checked_tiles(program: Program) -> Program:
    """The program, if its tiles keep every dependence; otherwise an error that shows one broken."""
    violation = find_violation(program, memory_dependences(program))
    if violation is not None:
        hint = "Skew the schedule first, so that no dependence goes backwards, as in S[t, i] -> [t, t + i]."
        raise InputError(f"these loops cannot be tiled: {violation}", hint=hint)
    return program
