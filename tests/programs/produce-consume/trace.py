"""BBC16 Fig. 2, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    produce = [
        Instance(
            "S",
            (t, i),
            tuple(("A", cell) for cell in ((t, i - 1), (t - 1, i)) if min(cell) >= 1),
            (("A", (t, i)),),
        )
        for t in range(1, N + 1)
        for i in range(1, N + 1)
    ]
    consume = [
        Instance("C", (i,), (("A", (i, N)), ("A", (N, i)), ("result", ())), (("result", ()),))
        for i in range(1, N + 1)
    ]
    return Trace([*produce, *consume], frozenset({("result", ())}))
