"""BBC16 Fig. 4(b), as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    instances: list[Instance] = []
    for y in range(N):
        for x in range(N):
            instances.append(Instance("S", (y, x), (), (("blurx", (y, x)),)))
            if y >= 2:
                rows = tuple(("blurx", (y - k, x)) for k in range(3))
                instances.append(Instance("T", (y, x), rows, (("out", (y, x)),)))
    return Trace(instances, frozenset(("out", (y, x)) for y in range(2, N) for x in range(N)))
