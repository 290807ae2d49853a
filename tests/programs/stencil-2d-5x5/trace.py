"""DIY15 Table 1, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (t, x, y),
                tuple(
                    ("A", (t - 1, a, b))
                    for a in range(max(0, x - 2), min(N, x + 3))
                    for b in range(max(0, y - 2), min(N, y + 3))
                    if t >= 1
                ),
                (("A", (t, x, y)),),
            )
            for t in range(N)
            for x in range(N)
            for y in range(N)
        ]
    )
