"""BBC16 §6, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (t, i),
                tuple(("A", (t - 1, k)) for k in range(i - 2, i + 3) if t >= 1 and 0 <= k < N),
                (("A", (t, i)),),
            )
            for t in range(N)
            for i in range(N)
        ]
    )
