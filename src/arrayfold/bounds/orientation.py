"""Transitive orientations: an order whose comparable pairs are exactly the edges of a graph, if there is one.

Vertices are numbered from 0, and bit y of neighbours[x] says that x and y are joined.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.bits import first_in, numbers_in
from arrayfold.bounds.chain_cover import is_strict_order


def transitive_orientation(neighbours: Sequence[int]) -> list[int] | None:
    """The successors of each vertex in such an order; None if the graph is no comparability graph.

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
