"""Async and finish: which instances of a tree of tasks surely run before which.

Two instances part at the first place where their ways down the tree differ: at different statements of a
block, or in different iterations of a loop. The one that comes first there happens before the other iff it is
complete by then, that is, iff no `async` starts it below that place, or a `finish` below that place
waits for it. The relation is transitive (Yuki, Feautrier, Rajopadhye and Saraswat 2013, for X10).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.exact.relations import relation, union_of_maps


@dataclass(frozen=True)
class TaskStep:
    """One step down the tree.

    node  number of the node that is passed
    kind  at: a statement of a block, loop: an iteration, async or finish: into their bodies,
          wait: a finish that waits for what is started in it, but not for what that starts in its turn
    place which statement of the block, or which variable of the occurrence the loop has
    """

    node: int
    kind: Literal["at", "loop", "async", "finish", "wait"]
    place: int = 0


TaskPath: TypeAlias = tuple[TaskStep, ...]


@dataclass(frozen=True, eq=False)
class Occurrence:
    """A place in the tree where instances of a statement run.

    instances  { [v] -> S[i] }  what runs for which values of the loop variables, outer loops first
    """

    path: TaskPath
    instances: isl.Map


def happens_before(occurrences: Sequence[Occurrence], parameters: isl.Space) -> isl.UnionMap:
    """{ S[i] -> T[j] }: S[i] is complete before T[j] starts; transitive."""
    pairs = (
        times.apply_domain(first.instances).apply_range(second.instances)
        for first, second in itertools.product(occurrences, repeat=2)
        for times in _earlier(first, second)
    )
    return coalesced(union_of_maps(parameters, pairs))


def textual_schedule(occurrences: Sequence[Occurrence], parameters: isl.Space) -> isl.UnionMap:
    """{ S[i] -> [t] }: the tasks as written, one of the executions."""
    found: list[isl.Map] = []
    rows = [[step for step in item.path if step.kind in ("at", "loop")] for item in occurrences]
    depth = max(map(len, rows), default=0)
    for item, row in zip(occurrences, rows, strict=True):
        variables = [f"v{k}" for k in range(item.instances.dim(isl.dim_type.in_))]
        times = [variables[step.place] if step.kind == "loop" else str(step.place) for step in row]
        times += ["0"] * (depth - len(times))
        found.append(relation(variables, times).apply_domain(item.instances))
    return coalesced(union_of_maps(parameters, found))


def partings(
    first: TaskPath, second: TaskPath, space: isl.Space
) -> Iterator[tuple[isl.Map, TaskPath, TaskPath]]:
    """Where two ways down the tree part with the first one earlier.

    space   { [v] -> [w] }  the loop variables of both ways
    result  the iterations in which they part there, and what is left of both ways
    """
    equal = isl.Map.universe(space)
    for depth, (here, there) in enumerate(zip(first, second, strict=False), 1):
        if here.node != there.node:
            return
        left = first[depth:], second[depth:]
        if here.kind == "at" and here.place != there.place:
            if here.place < there.place:
                yield equal, *left
            return
        if here.kind == "loop":
            yield equal.order_lt(isl.dim_type.in_, here.place, isl.dim_type.out, there.place), *left
            equal = equal.equate(isl.dim_type.in_, here.place, isl.dim_type.out, there.place)


def _earlier(first: Occurrence, second: Occurrence) -> Iterator[isl.Map]:
    """{ [v] -> [w] }: iterations in which the first occurrence is complete before the second starts."""
    turns = first.instances.get_space().domain(), second.instances.get_space().domain()
    for times, rest, _ in partings(first.path, second.path, turns[0].map_from_domain_and_range(turns[1])):
        if is_waited_for(rest):
            yield times


def is_waited_for(rest: Sequence[TaskStep]) -> bool:
    """Whether what comes after the first step waits for what is at the end of this way down."""
    may_start = False
    for step in rest:
        if step.kind == "finish" or (step.kind == "async" and not may_start):
            return step.kind == "finish"
        if step.kind in ("async", "wait"):
            may_start = step.kind == "wait"
    return True
