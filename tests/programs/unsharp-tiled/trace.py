"""BBC16 Table I, as a list of instances."""

from __future__ import annotations

from reference import Instance, Trace


def trace(B: int) -> Trace:
    instances: list[Instance] = []
    for x in range(B):
        instances += [Instance("P", (x, y), (), (("A", (x, y)),)) for y in range(B)]
        instances += [
            Instance("Q", (x, y), tuple(("A", (x, k)) for k in range(max(0, y - 4), y + 1)), ())
            for y in range(B)
        ]
    return Trace(instances, frozenset(("A", (x, y)) for x in range(B) for y in range(B - 4, B)))
