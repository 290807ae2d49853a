"""DIY16 §1.1, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace


def trace(n: int) -> Trace:
    chain = [Instance("S", (i,), (("c", (i,)),), (("c", (i + 1,)),)) for i in range(n)]
    return Trace([Instance("Z", (), (), (("c", (0,)),)), *chain], frozenset({("c", (n,))}))
