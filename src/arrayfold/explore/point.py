"""One order of a program, folded: its latency, its parallelism and its storage at given sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded
from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.isl import fix_parameters, maps_of, sets_of
from arrayfold.explore.orders import NamedOrder
from arrayfold.mapping.modular import EmittableMapping
from arrayfold.methods import Request
from arrayfold.ordering.cost import cost_of
from arrayfold.ordering.machine import this_machine
from arrayfold.ordering.sized_program import SizedProgram
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.program.model import Program
from arrayfold.select.choose import choose


@dataclass(frozen=True)
class Point:
    """What an order costs, or why it is not possible.

    latency      steps, if everything that may run at once does
    parallelism  instances that run in a step, on average
    cells        storage of all temporaries
    mappings     array -> its mapping
    is_cut       why it is not possible is that there was no time to find out
    cycles       of one thread, as the cost model predicts them; None where it cannot tell
    """

    order: NamedOrder
    latency: int
    parallelism: float
    cells: int
    mappings: Mapping[str, str]
    reason: str = ""
    is_cut: bool = False
    cycles: float | None = None

    def data(self) -> dict[str, Any]:
        """For JSON and for the store of results."""
        return {
            "order": self.order.label,
            "options": self.order.reorder.options(),
            "latency": self.latency,
            "parallelism": self.parallelism,
            "cells": self.cells,
            "mappings": dict(self.mappings),
            "reason": self.reason,
            "cycles": self.cycles,
        }


def evaluate(program: Program, order: NamedOrder, params: Mapping[str, int], seconds: float) -> Point:
    """The program in this order, folded and proved."""
    budget = Budget(seconds)
    try:
        return answer_in_time(lambda _: _evaluate(program, order, params, budget), budget, "the fold")
    except BudgetExceeded as error:
        return not_tried(order, str(error))


def not_tried(order: NamedOrder, reason: str) -> Point:
    """What is said of an order for which there is no time."""
    return Point(order, 0, 0.0, 0, {}, reason, is_cut=True)


def _evaluate(program: Program, order: NamedOrder, params: Mapping[str, int], budget: Budget) -> Point:
    try:
        ordered = order.reorder.apply(program, budget)
        mappings = _folded(ordered, params, budget)
        latency, work = _steps(ordered, params)
        cycles = _cycles(program, ordered, params)
    except BudgetExceeded as error:
        return not_tried(order, str(error))
    except ArrayfoldError as error:
        return Point(order, 0, 0.0, 0, {}, str(error).splitlines()[0])
    cells = sum(mapping.size.at(params) for mapping in mappings.values())
    texts = {name: str(mapping) for name, mapping in mappings.items()}
    return Point(order, latency, work / latency, cells, texts, cycles=cycles)


def _cycles(program: Program, ordered: Program, params: Mapping[str, int]) -> float | None:
    """What the cost model predicts for a program in an order."""
    sized = SizedProgram.of(with_guard_reads(replace(program, happens_before=None, tiles=())), params)
    assert ordered.schedule is not None
    cycles = cost_of(sized, ordered.schedule, this_machine()).cycles
    return None if math.isinf(cycles) else cycles


def _folded(program: Program, params: Mapping[str, int], budget: Budget) -> dict[str, EmittableMapping]:
    """The smallest proved mapping of each temporary; lower bounds are not asked for."""
    with budget.limit("the analysis"):
        liveness = analyse(program)
    found: dict[str, EmittableMapping] = {}
    for name in liveness.temporaries:
        with budget.limit(f"the conflicts of {name}"):
            conflicts = liveness.conflicts(name, with_moments=False)
        best = choose("auto", conflicts, Request.of(conflicts, params, budget)).mapping
        assert best is not None
        found[name] = best
    return found


def _steps(program: Program, params: Mapping[str, int]) -> tuple[int, int]:
    """Distinct times without those of parallel loops, and all instances."""
    assert program.schedule is not None
    here = program.schedule.intersect_params(fix_parameters(params)).intersect_params(program.context)
    times: isl.Set | None = None
    for part in maps_of(here):
        found = part.range()
        times = found if times is None else times.union(found)
    assert times is not None
    for dimension in sorted(program.parallel, reverse=True):
        times = times.project_out(isl.dim_type.set, dimension, 1)
    work = sum(int(str(part.count_val())) for part in sets_of(here.domain()))
    return int(str(times.count_val())), work
