"""Innermost loops of an order, and how they move the cells that statements access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.isl import coalesced, coordinate, maps_by_domain
from arrayfold.exact.lattice import Vector
from arrayfold.order.code_order import CodeOrder, next_iteration
from arrayfold.program.model import Program


@dataclass(frozen=True, eq=False)
class InnermostLoops:
    """For each statement the dimension of its innermost loop, and how that moves the cells it accesses.

    moves  statement -> array -> how a cell of the array moves in one iteration, for every access
    """

    dimension: Mapping[str, int]
    moves: Mapping[str, Mapping[str, tuple[Vector, ...]]]
    times: Mapping[str, isl.Map]

    @staticmethod
    def of(program: Program, order: CodeOrder) -> InnermostLoops:
        """The innermost loops of an order."""
        times = maps_by_domain(order.schedule)
        short = order.unrolled
        dimension: dict[str, int] = {}
        moves: dict[str, dict[str, tuple[Vector, ...]]] = {}
        for item in program.statements:
            if item.name not in times:
                continue
            innermost = last_loop(times[item.name], short[item.name])
            if innermost is None:
                continue
            dimension[item.name], move = innermost
            found: dict[str, tuple[Vector, ...]] = {}
            for access in item.accesses:
                step = _moved(access.relation, move)
                if step is not None:
                    found[access.array] = (*found.get(access.array, ()), step)
            moves[item.name] = found
        return InnermostLoops(dimension, moves, times)

    def steps(self, array: str, *, deepest: bool = False) -> list[Vector]:
        """How innermost loops move the cells of an array, the most frequent way first.

        deepest  only those of statements in the most loops, beside which others hardly take time
        """
        ranks = {name: self.times[name].dim(isl.dim_type.in_) for name in self.moves}
        least = max((ranks[name] for name, moved in self.moves.items() if array in moved), default=0)
        counted = [moved for name, moved in self.moves.items() if not deepest or ranks[name] >= least]
        found = [step for moved in counted for step in moved.get(array, ())]
        return sorted(set(found), key=lambda step: (-found.count(step), step))

    def groups(self) -> Iterator[tuple[int, frozenset[str]]]:
        """Statements that are together in an innermost loop, with its dimension."""
        waiting = list(self.dimension)
        iterations = {name: self._iterations(name) for name in waiting}
        while waiting:
            group = [waiting.pop(0)]
            for name in group:
                near = [
                    other
                    for other in waiting
                    if self.dimension[other] == self.dimension[name]
                    and not iterations[name].is_disjoint(iterations[other])
                ]
                group += near
                waiting = [other for other in waiting if other not in near]
            yield self.dimension[group[0]], frozenset(group)

    def _iterations(self, name: str) -> isl.Set:
        """{ [t] }: the iterations of the innermost loop of a statement, without what is inside of it."""
        times = self.times[name].range().reset_tuple_id()
        first = self.dimension[name] + 1
        return coalesced(times.project_out(isl.dim_type.set, first, times.dim(isl.dim_type.set) - first))


def last_loop(times: isl.Map, unrolled: frozenset[int]) -> tuple[int, Vector] | None:
    """The innermost loop of a statement and how its iterators move in it, if that is one vector.

    It is the last dimension that takes several values for fixed values of the others, and is not unrolled.
    """
    for dimension in reversed([d for d in range(times.dim(isl.dim_type.out)) if d not in unrolled]):
        if times.plain_get_val_if_fixed(isl.dim_type.out, dimension).is_int():
            continue
        steps = next_iteration(times, dimension).deltas()
        if not steps.is_empty():
            step = steps.sample_point()
            only = isl.Set.from_point(step).reset_tuple_id()
            only = only.project_out(isl.dim_type.param, 0, only.dim(isl.dim_type.param))
            if not steps.reset_tuple_id().is_subset(only):
                return None
            count = steps.dim(isl.dim_type.set)
            return dimension, tuple(coordinate(step, isl.dim_type.set, k) for k in range(count))
    return None


def _moved(access: isl.Map, step: Vector) -> Vector | None:
    """How the accessed cell moves if the iterators move by a step, if that is one vector."""
    if not access.is_single_valued():
        return None
    form = access.as_pw_multi_aff()
    entries: list[int] = []
    for k in range(access.dim(isl.dim_type.out)):
        slopes = {_slope_along(aff, step) for _, aff in form.get_at(k).get_pieces()}
        slope = slopes.pop() if len(slopes) == 1 else None
        if slope is None:
            return None
        entries.append(slope)
    return tuple(entries)


def _slope_along(form: isl.Aff, step: Vector) -> int | None:
    if form.dim(isl.dim_type.div):
        return None
    slopes = [form.get_coefficient_val(isl.dim_type.in_, k).to_python() for k in range(len(step))]
    return sum(by * slope for by, slope in zip(step, slopes, strict=True))
