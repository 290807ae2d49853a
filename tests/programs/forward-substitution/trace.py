"""Mor14 Fig. 2, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(N: int) -> Trace:
    instances: list[Instance] = []
    for i in range(N):
        y = ("y", (i,))
        instances.append(Instance("S0", (i,), (("b", (i,)),), (y,)))
        instances += [Instance("S1", (i, j), (("L", (i, j)), y, ("y", (j,))), (y,)) for j in range(i)]
        instances.append(Instance("S2", (i,), (("L", (i, i)), y), (y,)))
    return Trace(instances, frozenset(("y", (i,)) for i in range(N)))
