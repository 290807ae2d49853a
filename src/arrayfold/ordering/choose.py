"""The order to take: the fastest one that the cost model finds, and of similarly fast ones the smallest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.order.dependences import find_violation
from arrayfold.ordering.candidates import PROPOSE, OrderCandidate
from arrayfold.ordering.cost import Cost, cost_of
from arrayfold.ordering.machine import Machine, this_machine
from arrayfold.ordering.sized_program import SizedProgram
from arrayfold.program.model import Program

# Orders are equally fast if predicted times differ by no more than the first, those of the processor alone by
# no more than the second: how much of these memory hides is least certain.
_CLOSE = 1.1
_CLOSE_WORK = 1.25
# An order that needs so many times less memory may take longer.
_TINY = 16
_CLOSE_IF_TINY = 1.25
# What is predicted to be slower than as written by no more than this is not slower: loops of other lengths.
_ROUNDING = 1.01
# Nor is an order taken that leaves so many times as much to the processor, whatever it saves in memory.
_MOST_WORK = 1.5


@dataclass(frozen=True, eq=False)
class Rated:
    """A legal order and what it costs.

    is_as_written  whether it is the order of the text
    """

    candidate: OrderCandidate
    cost: Cost
    is_as_written: bool = False


@dataclass(frozen=True, eq=False)
class ComparedOrders:
    """The orders that were compared, the chosen one first and the rest by predicted time.

    sizes  the sizes at which they were compared
    """

    rated: tuple[Rated, ...]
    sizes: Mapping[str, int]

    @property
    def best(self) -> Rated:
        """The chosen order."""
        return self.rated[0]

    @property
    def as_written(self) -> Rated:
        """The order of the text."""
        return next(one for one in self.rated if one.is_as_written)

    def is_allowed(self, rated: Rated) -> bool:
        """Whether an order is not predicted to be slower than as written."""
        return _is_allowed(rated.cost, self.as_written.cost)


def choose_order(
    program: Program, params: Mapping[str, int], machine: Machine | None = None
) -> ComparedOrders:
    """Compare the candidates for a sequential program."""
    machine = machine or this_machine()
    sized = SizedProgram.of(program, params)
    assert program.schedule is not None
    written = OrderCandidate("as written", program.schedule)
    rated = [Rated(written, cost_of(sized, written.schedule, machine), is_as_written=True)]
    rated += [Rated(one, cost_of(sized, one.schedule, machine, one.favor)) for one in _candidates(sized)]
    best = _best(rated)
    others = sorted((one for one in rated if one is not best), key=lambda one: one.cost.cycles)
    return ComparedOrders((best, *others), sized.sizes)


def _is_allowed(cost: Cost, as_written: Cost) -> bool:
    if math.isinf(as_written.cycles):
        return cost is as_written
    return cost.cycles <= _ROUNDING * as_written.cycles and cost.work <= _MOST_WORK * as_written.work


def _best(rated: Sequence[Rated]) -> Rated:
    """The fastest order, or a hardly slower one with fewer cells; never one slower than as written."""
    if math.isinf(rated[0].cost.cycles):
        return rated[0]
    allowed = [one for one in rated if _is_allowed(one.cost, rated[0].cost)]
    fastest = min((one.cost for one in allowed), key=lambda cost: cost.cycles)
    close = [
        one
        for one in allowed
        if one.cost.cycles <= _closeness(one.cost, fastest) * fastest.cycles
        and (one.cost is fastest or one.cost.work <= _CLOSE_WORK * fastest.work)
    ]
    return min(close, key=lambda one: (one.cost.bytes, one.cost.cycles))


def _closeness(cost: Cost, fastest: Cost) -> float:
    """How many times as long as the fastest an order may take that is smaller."""
    return _CLOSE_IF_TINY if cost.bytes * _TINY <= fastest.bytes else _CLOSE


def _candidates(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """The legal candidates, each order once."""
    assert sized.program.schedule is not None
    seen = [sized.program.schedule.intersect_params(sized.program.context)]
    for propose in PROPOSE:
        for candidate in propose(sized):
            if any(candidate.schedule.is_equal(other) for other in seen):
                continue
            seen.append(candidate.schedule)
            ordered = sized.program.in_order(candidate.schedule, {})
            if find_violation(ordered, sized.dependences) is None:
                yield candidate
