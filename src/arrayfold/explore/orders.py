"""The orders to try: as written, fused, tiled, parallel, and one-dimensional affine schedules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.choices import FUSES
from arrayfold.base.errors import BudgetExceeded
from arrayfold.exact.isl import maps_of
from arrayfold.methods.occupancy_vectors.schedules import ScheduleSpace, causality_rows, schedule_set
from arrayfold.methods.occupancy_vectors.single_assignment import Flow, SingleAssignment, ends_of
from arrayfold.order.dependences import memory_dependences, union_of
from arrayfold.order.loops import loop_dimensions
from arrayfold.passes.reorder import Reorder
from arrayfold.program.model import Program

_MOST_SCHEDULES = 200


@dataclass(frozen=True)
class NamedOrder:
    """One order, and what it is called."""

    label: str
    reorder: Reorder


def candidate_orders(
    program: Program, largest: int, tile: int, budget: Budget | None = None
) -> list[NamedOrder]:
    """Orders worth a try, those found in time; some of them may turn out to break a dependence.

    largest  largest coefficient of an iterator in a one-dimensional schedule
    tile     size of tiles along every loop, 0 for none
    """
    assert program.schedule is not None
    depth = len(loop_dimensions(program.schedule))
    found = [NamedOrder("as written", Reorder()), NamedOrder("parallel loops", Reorder(parallel=True))]
    for fuse in FUSES:
        found += [NamedOrder(f"fused by {fuse}", Reorder(fuse=fuse))]
        found += [NamedOrder(f"fused by {fuse}, parallel loops", Reorder(fuse=fuse, parallel=True))]
    if tile and depth:
        sizes = (tile,) * depth
        found += [
            NamedOrder("tiled", Reorder(tile=sizes)),
            NamedOrder("fused by cells, tiled", Reorder(fuse="cells", tile=sizes)),
        ]
        found += [
            NamedOrder("fused by cells, tiled, parallel", Reorder(fuse="cells", tile=sizes, parallel=True))
        ]
    limit = budget or Budget(None)
    with suppress(BudgetExceeded), limit.limit("the search for affine schedules"):
        for text in itertools.islice(_affine_schedules(program, largest, limit), _MOST_SCHEDULES):
            found.append(NamedOrder(text, Reorder(schedule=text)))
    return found


def _affine_schedules(program: Program, largest: int, budget: Budget) -> Iterator[str]:
    """Legal one-dimensional schedules with small coefficients and the earliest starts, simple ones first.

    Statements with as many loops have the same coefficients.
    """
    form = _form_of(program)
    space = ScheduleSpace(form)
    legal = schedule_set(space, [row for flow in form.flows for row in causality_rows(space, flow)])
    slopes_of = {name: range(space.start(name), space.start(name) + form.rank(name)) for name in form.domains}
    for k in itertools.chain.from_iterable(slopes_of.values()):
        legal = legal.lower_bound_val(isl.dim_type.set, k, isl.Val(-largest))
        legal = legal.upper_bound_val(isl.dim_type.set, k, isl.Val(largest))
    if legal.is_empty():
        return
    ranks = sorted({form.rank(name) for name in form.domains})
    choices = [list(itertools.product(range(-largest, largest + 1), repeat=rank)) for rank in ranks]
    every = sorted(itertools.product(*choices), key=lambda slopes: (_size(slopes), _negated(slopes)))
    for slopes in every:
        budget.check("the search for affine schedules")
        fixed = legal
        for name in form.domains:
            start, rank = space.start(name), form.rank(name)
            entries = [*slopes[ranks.index(rank)], *[0] * len(form.parameters)]
            for k, entry in enumerate(entries):
                fixed = fixed.fix_val(isl.dim_type.set, start + k, isl.Val(entry))
            fixed = fixed.lower_bound_val(isl.dim_type.set, start + len(entries), isl.Val(0))
        best = isl.Set.from_basic_set(fixed).lexmin()
        if not best.is_empty():
            point = best.sample_point()
            theta = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(space.size)]
            # A multiple of a schedule is the same order.
            if math.gcd(*theta) == 1:
                yield _text(space, theta)


def _form_of(program: Program) -> SingleAssignment:
    """The domains of a program with all of its memory dependences."""
    domains = {item.name: item.domain.intersect_params(program.context) for item in program.statements}
    flows = tuple(
        Flow("", *ends_of(part), piece)
        for part in maps_of(union_of(program, memory_dependences(program)))
        for piece in (isl.Map.from_basic_map(basic) for basic in part.get_basic_maps())
    )
    return SingleAssignment(program, (), {}, domains, flows, {})


def _text(space: ScheduleSpace, theta: Sequence[int]) -> str:
    pieces: list[str] = []
    for statement in space.form.program.statements:
        names = statement.iterators
        pieces.append(f"{statement.name}[{', '.join(names)}] -> [{space.text(theta, statement.name, names)}]")
    return "; ".join(pieces)


def _size(slopes: Sequence[Sequence[int]]) -> int:
    return sum(abs(entry) for row in slopes for entry in row)


def _negated(slopes: Sequence[Sequence[int]]) -> list[int]:
    return [-entry for row in slopes for entry in row]
