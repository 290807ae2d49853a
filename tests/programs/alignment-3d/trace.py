"""TVA07 Example 3, as a list of instances."""

from __future__ import annotations

import itertools

from support.reference import Instance, Trace


def trace(I: int, J: int, K: int) -> Trace:  # noqa: E741
    instances: list[Instance] = []
    for i, j, k in itertools.product(range(1, I + 1), range(1, J + 1), range(1, K + 1)):
        if 1 in (i, j, k):
            instances.append(Instance("S1", (i, j, k), (), (("A", (i, j, k)),)))
        else:
            earlier = [(i - a, j - b, k - c) for a, b, c in itertools.product((0, 1), repeat=3) if a + b + c]
            reads = tuple(("A", cell) for cell in earlier)
            instances.append(Instance("S2", (i, j, k), reads, (("A", (i, j, k)),)))
    return Trace(instances, frozenset({("A", (I, J, K))}))
