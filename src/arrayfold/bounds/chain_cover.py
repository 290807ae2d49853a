"""Chains and antichains of a finite strict order: the fewest chains that cover it, and a largest antichain.

Elements are numbered from 0, and bit y of successors[x] says that x comes before y. The fewest chains are as
many as the largest antichain has elements (Dilworth 1950). Both come out of a maximum matching between
elements and their successors: the two of a matched pair are neighbours in a chain, so every pair saves one
chain, and a smallest vertex cover of that graph (König) leaves one element of each chain uncovered.

Where only the pairs in order are known, and not which comes first, a transitive orientation of the graph that
joins them is such an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from arrayfold.base.bits import first_in, numbers_in, to_bits


@dataclass(frozen=True)
class ChainCover:
    """Chains that hold every element once, and as many elements no two of which are in order.

    chains     each from its first element to its last, in the order of the first elements
    antichain  ascending
    """

    chains: tuple[tuple[int, ...], ...]
    antichain: tuple[int, ...]


def cover_with_chains(successors: Sequence[int]) -> ChainCover:
    """The fewest chains that cover a strict order, and a largest antichain.

    successors  transitive and without cycles, see `is_strict_order`

    >>> cover_with_chains([0b1100, 0b1000, 0b0000, 0b0000])
    ChainCover(chains=((0, 2), (1, 3)), antichain=(2, 3))
    """
    matching = _Matching(successors)
    matching.grow()
    starts = [x for x in range(len(successors)) if matching.previous[x] is None]
    cover = ChainCover(tuple(tuple(matching.chain(x)) for x in starts), tuple(matching.uncovered()))
    assert len(cover.chains) == len(cover.antichain)
    return cover


def is_strict_order(successors: Sequence[int]) -> bool:
    """Whether a relation is transitive and without cycles.

    >>> is_strict_order([0b110, 0b100, 0b000]), is_strict_order([0b010, 0b100, 0b000])
    (True, False)
    """
    return _descends(successors) and all(_is_closed(successors, x) for x in range(len(successors)))


def _descends(successors: Sequence[int]) -> bool:
    """Whether successors have fewer successors, as in every strict order; then there is no cycle."""
    counts = [following.bit_count() for following in successors]
    fewer = level = 0
    last = -1
    for x in sorted(range(len(successors)), key=lambda x: counts[x]):
        if counts[x] != last:
            fewer, level, last = fewer | level, 0, counts[x]
        if successors[x] & ~fewer:
            return False
        level |= 1 << x
    return True


def _is_closed(successors: Sequence[int], x: int) -> bool:
    """Whether the successors of x hold their own; one that is a successor of another needs no look."""
    rest = successors[x]
    while rest:
        y = first_in(rest)
        if successors[y] & ~successors[x]:
            return False
        rest &= ~(successors[y] | 1 << y)
    return True


class _Matching:
    """Pairs of an element and a successor, no element twice on the same side (Hopcroft and Karp 1973).

    next, previous  the partner of each element as the first and as the second of a pair
    """

    def __init__(self, successors: Sequence[int]) -> None:
        self.successors = successors
        self.next: list[int | None] = [None] * len(successors)
        self.previous: list[int | None] = [None] * len(successors)

    def grow(self) -> None:
        """Make it a largest one: along shortest paths, as many at once as do not meet."""
        while layers := self._layers():
            for x in self._unmatched():
                self._augment(x, layers)

    def chain(self, start: int) -> Iterator[int]:
        """The elements that follow each other from a first one on."""
        x: int | None = start
        while x is not None:
            yield x
            x = self.next[x]

    def uncovered(self) -> Iterator[int]:
        """The elements that a smallest vertex cover holds on neither side; the matching must be largest."""
        unseen = to_bits(range(len(self.successors)))
        firsts = 0
        waiting = self._unmatched()
        while waiting:
            firsts |= to_bits(waiting)
            reached = self._reached(waiting, unseen)
            unseen &= ~reached
            waiting = self._previous(reached)
        return numbers_in(firsts & unseen)

    def _unmatched(self) -> list[int]:
        return [x for x, partner in enumerate(self.next) if partner is None]

    def _reached(self, elements: Iterable[int], unseen: int) -> int:
        reached = 0
        for x in elements:
            reached |= self.successors[x]
        return reached & unseen

    def _previous(self, elements: int) -> list[int]:
        partners = (self.previous[y] for y in numbers_in(elements))
        return [x for x in partners if x is not None]

    def _layers(self) -> list[int]:
        """Second elements by their distance from the unmatched first ones, up to the nearest unmatched."""
        unseen = to_bits(range(len(self.successors)))
        unmatched = to_bits(y for y, partner in enumerate(self.previous) if partner is None)
        layers: list[int] = []
        waiting = self._unmatched()
        while waiting:
            reached = self._reached(waiting, unseen)
            if reached & unmatched:
                return [*layers, reached & unmatched]
            layers.append(reached)
            unseen &= ~reached
            waiting = self._previous(reached)
        return []

    def _augment(self, start: int, layers: list[int]) -> None:
        """One more pair along a path through the layers, if there is one; what it visits leaves them."""
        path = [start]
        seconds: list[int] = []
        while path:
            depth = len(path) - 1
            candidates = self.successors[path[-1]] & layers[depth]
            if not candidates:
                path.pop()
                del seconds[-1:]
                continue
            y = first_in(candidates)
            layers[depth] ^= 1 << y
            seconds.append(y)
            before = self.previous[y]
            if before is None:
                for first, second in zip(path, seconds, strict=True):
                    self.next[first], self.previous[second] = second, first
                return
            path.append(before)


# ---------------------------------------------------------------- orientations


def transitive_orientation(neighbours: Sequence[int]) -> list[int] | None:
    """The successors of each vertex in an order whose comparable pairs are exactly the edges of a graph.

    None if the graph is no comparability graph. Bit y of neighbours[x] says that x and y are joined.

    Where two edges share a vertex and their other ends are not joined, both must leave that vertex or both
    enter it. So an edge forces others; once all that it forces are directed, they are taken out of the graph,
    and what is left is directed in the same way (Golumbic 1980, Theorem 5.29).

    neighbours  symmetric, without loops

    >>> transitive_orientation([0b010, 0b101, 0b010])
    [2, 0, 2]
    >>> five_cycle = [0b10010, 0b00101, 0b01010, 0b10100, 0b01001]
    >>> transitive_orientation(five_cycle) is None
    True
    """
    left = list(neighbours)
    successors = [0] * len(left)
    for x in range(len(left)):
        while left[x]:
            y = first_in(left[x])
            forced = _forced(left, x, y)
            if forced is None:
                return None
            for number, (following, preceding) in forced.items():
                successors[number] |= following
                left[number] &= ~(following | preceding)
    return successors if is_strict_order(successors) else None


def _forced(neighbours: Sequence[int], x: int, y: int) -> dict[int, tuple[int, int]] | None:
    """Successors and predecessors of vertices once x comes before y; None if that contradicts itself."""
    following: dict[int, int] = {x: 1 << y}
    preceding: dict[int, int] = {y: 1 << x}
    waiting = [(x, y)]
    while waiting:
        a, b = waiting.pop()
        for c in numbers_in(neighbours[a] & ~neighbours[b] & ~following[a]):
            following[a] |= 1 << c
            preceding[c] = preceding.get(c, 0) | 1 << a
            waiting.append((a, c))
        for c in numbers_in(neighbours[b] & ~neighbours[a] & ~preceding[b]):
            preceding[b] |= 1 << c
            following[c] = following.get(c, 0) | 1 << b
            waiting.append((c, b))
    found = {
        number: (following.get(number, 0), preceding.get(number, 0))
        for number in sorted(following.keys() | preceding.keys())
    }
    return None if any(after & before for after, before in found.values()) else found
