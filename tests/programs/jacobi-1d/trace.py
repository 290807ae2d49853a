"""DIY16 Fig. 1a, as a list of instances."""

from __future__ import annotations

from reference import Instance, Trace


def trace(n: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (i, j),
                tuple(("A", (i - 1, k)) for k in (j - 1, j, j + 1) if i >= 1 and 0 <= k < n),
                (("A", (i, j)),),
            )
            for i in range(n)
            for j in range(n)
        ]
    )
