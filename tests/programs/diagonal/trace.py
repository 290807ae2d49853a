"""DIY16 Fig. 4, sequential, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(n: int) -> Trace:
    return Trace(
        [
            Instance("S", (i, j), ((("A", (i - 1, j - 1)),) if i and j else ()), (("A", (i, j)),))
            for i in range(n)
            for j in range(n)
        ]
    )
