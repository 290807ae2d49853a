"""TVA07 Example 4, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(n: int) -> Trace:
    instances: list[Instance] = []
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            earlier = (("B", (i - 1,)),) if i >= 2 else ()
            instances.append(Instance("S1", (i, j), earlier, (("A", (i, j)),)))
        read = (("A", (i, n - i)),) if i < n else ()
        instances.append(Instance("S2", (i,), read, (("B", (i,)),)))
    return Trace(instances)
