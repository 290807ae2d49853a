"""TVA07 Example 1, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(m: int, n: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (i, j),
                tuple(("A", (i - 1, k)) for k in (j - 2, j, j + 1) if i >= 2 and 1 <= k <= n),
                (("A", (i, j)),),
            )
            for i in range(1, m + 1)
            for j in range(1, n + 1)
        ]
    )
