"""BBC16 Fig. 4(a), as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    first = [Instance("S", (x, y), (), (("blurx", (x, y)),)) for x in range(N) for y in range(N)]
    second = [
        Instance("T", (x, y), tuple(("blurx", (x, y - k)) for k in range(3)), (("out", (x, y)),))
        for x in range(N)
        for y in range(2, N)
    ]
    return Trace([*first, *second], frozenset(("out", (x, y)) for x in range(N) for y in range(2, N)))
