"""DIY15 Table 1, as a list of instances."""

from __future__ import annotations

from support.reference import Instance, Trace

_STEPS = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))


def trace(B: int) -> Trace:
    tile = [(t, i, j) for t in range(B) for i in range(-t, B - t) for j in range(-t - i, B - t - i)]
    inside = set(tile)
    instances = [
        Instance(
            "S",
            (t, i, j),
            tuple(("A", (t - 1, i + a, j + b)) for a, b in _STEPS if (t - 1, i + a, j + b) in inside),
            (("A", (t, i, j)),),
        )
        for t, i, j in tile
    ]
    needed = {
        ("A", (t, i, j)) for t, i, j in tile if any((t + 1, i + a, j + b) not in inside for a, b in _STEPS)
    }
    return Trace(instances, frozenset(needed))
