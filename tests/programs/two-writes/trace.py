"""Mor14 Fig. 3, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (i, j),
                (*((("x", (i - 1, j)),) if i >= 2 else ()), *((("y", (i - 2, j)),) if i >= 3 else ())),
                (("x", (i, j)), ("y", (i, j))),
            )
            for i in range(1, N + 1)
            for j in range(N + 1)
        ]
    )
