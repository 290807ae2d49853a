"""TVA07 Example 2, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(m: int, n: int) -> Trace:
    instances: list[Instance] = []
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            before = (("B", (i - 1, j)),) if i >= 2 else ()
            beside = (("A", (i, j - 1)),) if j >= 2 else ()
            instances.append(Instance("S1", (i, j), before, (("A", (i, j)),)))
            instances.append(Instance("S2", (i, j), beside, (("B", (i, j)),)))
    return Trace(instances)
