"""BBC16 Fig. 5, as a list of instances."""

from __future__ import annotations

from reference import Instance, Trace


def trace(B: int) -> Trace:
    instances: list[Instance] = []
    for x in range(B):
        instances += [Instance("P", (x, y), (), (("blurx", (x, y)),)) for y in range(B)]
        instances += [
            Instance("Q", (x, y), tuple(("blurx", (x, k)) for k in range(max(0, y - 2), y + 1)), ())
            for y in range(B)
        ]
    return Trace(instances, frozenset(("blurx", (x, y)) for x in range(B) for y in range(B - 2, B)))
