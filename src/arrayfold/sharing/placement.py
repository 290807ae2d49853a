"""Places for whole arrays in memory: one buffer for several, or offsets in one block.

Arrays are boxes of a height, their size, and two that interfere must not overlap. A buffer is as large as the
largest array in it; with offsets several small arrays may follow a large one in the same place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded
from arrayfold.sharing.interference import Interference

_MOST_SETS = 300_000
_MOST_BUFFERS = 300_000
_MOST_OFFSETS = 60_000
_WORK = "the search for places"


class _Steps:
    """Steps of a search: a number of its own, and as many as the budget allows."""

    def __init__(self, most: int, budget: Budget | None) -> None:
        self.left = most
        self.budget = budget or Budget(None)

    def take(self) -> bool:
        """Whether there is one more."""
        self.left -= 1
        try:
            self.budget.check(_WORK)
        except BudgetExceeded:
            self.left = 0
        return self.left > 0


@dataclass(frozen=True)
class Placement:
    """Offsets of arrays in one memory, as numbers.

    total     cells in all
    offsets   of each array
    is_least  no placement of that kind has fewer cells
    buffers   arrays that have one buffer, if it is a placement in buffers
    """

    total: int
    offsets: tuple[int, ...]
    is_least: bool
    buffers: tuple[tuple[int, ...], ...] = ()


def heaviest_clique(interference: Interference, sizes: Sequence[int], budget: Budget | None = None) -> int:
    """The largest sum of sizes of arrays that all interfere; no memory can be smaller."""
    steps = _Steps(_MOST_SETS, budget)
    neighbours = _neighbours(interference)
    best = 0

    def grow(weight: int, candidates: list[int]) -> None:
        nonlocal best
        best = max(best, weight)
        if not steps.take():
            return
        rest = sum(sizes[k] for k in candidates)
        for position, k in enumerate(candidates):
            if weight + rest <= best:
                return
            rest -= sizes[k]
            grow(weight + sizes[k], [j for j in candidates[position + 1 :] if j in neighbours[k]])

    grow(0, sorted(range(len(sizes)), key=lambda k: -sizes[k]))
    return best


def buffers_for(interference: Interference, sizes: Sequence[int], budget: Budget | None = None) -> Placement:
    """A buffer for each array, shared by arrays that never interfere, so that the sum of buffers is least.

    Arrays come in the order of their sizes, so the first array of a buffer says how large it is.
    """
    order = sorted(range(len(sizes)), key=lambda k: -sizes[k])
    neighbours = _neighbours(interference)
    least = heaviest_clique(interference, sizes, budget)
    steps = _Steps(_MOST_BUFFERS, budget)
    best: tuple[int, list[list[int]]] | None = None
    is_complete = True

    def place(position: int, total: int, buffers: list[list[int]]) -> None:
        nonlocal best, is_complete
        if best is not None:
            if total >= best[0] or best[0] == least:
                return
            if not steps.take():
                is_complete = False
                return
        if position == len(order):
            best = total, [list(buffer) for buffer in buffers]
            return
        k = order[position]
        for buffer in buffers:
            if neighbours[k].isdisjoint(buffer):
                buffer.append(k)
                place(position + 1, total, buffers)
                buffer.pop()
        place(position + 1, total + sizes[k], [*buffers, [k]])

    place(0, 0, [])
    assert best is not None
    total, buffers = best
    starts = itertools.accumulate((sizes[buffer[0]] for buffer in buffers), initial=0)
    offsets = {k: start for start, buffer in zip(starts, buffers, strict=False) for k in buffer}
    in_order = tuple(offsets[k] for k in range(len(sizes)))
    return Placement(total, in_order, is_complete or total == least, tuple(map(tuple, buffers)))


def offsets_for(interference: Interference, sizes: Sequence[int], budget: Budget | None = None) -> Placement:
    """Offsets in one block, its end as low as can be.

    In a lowest placement every array lies on the ground or on one that it interferes with. So arrays are put
    down one after the other, each as low as it goes, in orders that promise most first and then in all.
    """
    neighbours = _neighbours(interference)
    least = heaviest_clique(interference, sizes, budget)
    buffers = buffers_for(interference, sizes, budget)
    best = buffers.total, buffers.offsets
    for order in _promising_orders(sizes, neighbours):
        low: dict[int, int] = {}
        for k in order:
            low[k] = _lowest(k, low, sizes, neighbours)
        total = max((at + sizes[k] for k, at in low.items()), default=0)
        if total < best[0]:
            best = total, tuple(low[k] for k in range(len(sizes)))
    steps = _Steps(_MOST_OFFSETS, budget)
    seen: set[frozenset[tuple[int, int]]] = set()
    is_complete = True

    def place(placed: dict[int, int]) -> None:
        """All placements in which each array lies as low as those put down before it let it."""
        nonlocal best, is_complete
        if best[0] == least:
            return
        if not steps.take():
            is_complete = False
            return
        if len(placed) == len(sizes):
            total = max((at + sizes[k] for k, at in placed.items()), default=0)
            if total < best[0]:
                best = total, tuple(placed[k] for k in range(len(sizes)))
            return
        key = frozenset(placed.items())
        if key in seen:
            return
        seen.add(key)
        waiting = [k for k in range(len(sizes)) if k not in placed]
        places = {k: _lowest(k, placed, sizes, neighbours) for k in waiting}
        if any(places[k] + sizes[k] >= best[0] for k in waiting):
            # Others can only push it higher.
            return
        for k in sorted(waiting, key=lambda k: (places[k], -sizes[k])):
            place({**placed, k: places[k]})

    place({})
    total, offsets = best
    return Placement(total, offsets, is_complete or total == least)


def _promising_orders(sizes: Sequence[int], neighbours: Sequence[frozenset[int]]) -> Iterator[list[int]]:
    count = range(len(sizes))
    around = [sum(sizes[j] for j in neighbours[k]) for k in count]
    yield sorted(count, key=lambda k: -sizes[k])
    yield sorted(count, key=lambda k: -(around[k] + sizes[k]))
    yield sorted(count, key=lambda k: -sizes[k] * (1 + len(neighbours[k])))
    yield list(count)


def _lowest(
    k: int, placed: Mapping[int, int], sizes: Sequence[int], neighbours: Sequence[frozenset[int]]
) -> int:
    """The lowest place for an array among those that are placed."""
    at = 0
    for start, end in sorted((placed[j], placed[j] + sizes[j]) for j in neighbours[k] if j in placed):
        if start >= at + sizes[k]:
            break
        at = max(at, end)
    return at


def _neighbours(interference: Interference) -> list[frozenset[int]]:
    count = range(len(interference.arrays))
    return [frozenset(j for j in count if interference.are_apart(k, j)) for k in count]
