"""Places for whole arrays in memory: one buffer for several, or offsets in one block.

Arrays are boxes of a height, their size, and two that interfere must not overlap. A buffer is as large as the
largest array in it; with offsets several small arrays may follow a large one in the same place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
    search = _BufferSearch(order, sizes, neighbours, least, _Steps(_MOST_BUFFERS, budget))
    search.place(0, 0, [])
    assert search.best is not None
    total, buffers = search.best
    offsets = [0] * len(sizes)
    start = 0
    for buffer in buffers:
        for k in buffer:
            offsets[k] = start
        start += sizes[buffer[0]]
    is_least = search.is_complete or total == least
    return Placement(total, tuple(offsets), is_least, tuple(map(tuple, buffers)))


@dataclass(eq=False)
class _BufferSearch:
    order: Sequence[int]
    sizes: Sequence[int]
    neighbours: Sequence[frozenset[int]]
    least: int
    steps: _Steps
    best: tuple[int, list[list[int]]] | None = None
    is_complete: bool = True

    def place(self, position: int, total: int, buffers: list[list[int]]) -> None:
        if self.best is not None:
            if total >= self.best[0] or self.best[0] == self.least:
                return
            if not self.steps.take():
                self.is_complete = False
                return
        if position == len(self.order):
            self.best = total, [list(buffer) for buffer in buffers]
            return
        k = self.order[position]
        for buffer in buffers:
            if self.neighbours[k].isdisjoint(buffer):
                buffer.append(k)
                self.place(position + 1, total, buffers)
                buffer.pop()
        buffers.append([k])
        self.place(position + 1, total + self.sizes[k], buffers)
        buffers.pop()


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
        offsets = _put_down(order, sizes, neighbours)
        total = max((offsets[k] + sizes[k] for k in range(len(sizes))), default=0)
        if total < best[0]:
            best = total, offsets
    search = _OffsetSearch(sizes, neighbours, least, _Steps(_MOST_OFFSETS, budget), best)
    search.place({})
    total, offsets = search.best
    return Placement(total, offsets, search.is_complete or total == least)


def _promising_orders(sizes: Sequence[int], neighbours: Sequence[frozenset[int]]) -> Iterator[list[int]]:
    count = range(len(sizes))
    around = [sum(sizes[j] for j in neighbours[k]) for k in count]
    yield sorted(count, key=lambda k: -sizes[k])
    yield sorted(count, key=lambda k: -(around[k] + sizes[k]))
    yield sorted(count, key=lambda k: -sizes[k] * (1 + len(neighbours[k])))
    yield list(count)


def _put_down(
    order: Sequence[int], sizes: Sequence[int], neighbours: Sequence[frozenset[int]]
) -> tuple[int, ...]:
    placed: dict[int, int] = {}
    for k in order:
        placed[k] = _lowest(k, placed, sizes, neighbours)
    return tuple(placed[k] for k in range(len(sizes)))


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


@dataclass(eq=False)
class _OffsetSearch:
    """All placements in which each array lies as low as those put down before it let it."""

    sizes: Sequence[int]
    neighbours: Sequence[frozenset[int]]
    least: int
    steps: _Steps
    best: tuple[int, tuple[int, ...]]
    is_complete: bool = True
    _seen: set[frozenset[tuple[int, int]]] = field(default_factory=set[frozenset[tuple[int, int]]])

    def place(self, placed: dict[int, int]) -> None:
        if self.best[0] == self.least:
            return
        if not self.steps.take():
            self.is_complete = False
            return
        if len(placed) == len(self.sizes):
            total = max((at + self.sizes[k] for k, at in placed.items()), default=0)
            if total < self.best[0]:
                self.best = total, tuple(placed[k] for k in range(len(self.sizes)))
            return
        key = frozenset(placed.items())
        if key in self._seen:
            return
        self._seen.add(key)
        waiting = [k for k in range(len(self.sizes)) if k not in placed]
        places = {k: _lowest(k, placed, self.sizes, self.neighbours) for k in waiting}
        if any(places[k] + self.sizes[k] >= self.best[0] for k in waiting):
            # Others can only push it higher.
            return
        for k in sorted(waiting, key=lambda k: (places[k], -self.sizes[k])):
            self.place({**placed, k: places[k]})


def _neighbours(interference: Interference) -> list[frozenset[int]]:
    count = range(len(interference.arrays))
    return [frozenset(j for j in count if interference.are_apart(k, j)) for k in count]
