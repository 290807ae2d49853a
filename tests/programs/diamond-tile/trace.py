"""BBC16 Fig. 7, as a list of instances."""

from __future__ import annotations

from reference import Instance, Trace


def trace(B: int) -> Trace:
    tile = [(t, i) for t in range(2 * B - 1) for i in range(2 * B - 1) if abs(t - B + 1) + abs(i - B + 1) < B]
    instances = [
        Instance(
            "S",
            (t, i),
            tuple(("A", (t - 1, k)) for k in (i - 1, i, i + 1) if (t - 1, k) in set(tile)),
            (("A", (t, i)),),
        )
        for t, i in tile
    ]
    inside = set(tile)
    needed_outside = {
        ("A", (t, i)) for t, i in tile if any((t + 1, i + step) not in inside for step in (-1, 0, 1))
    }
    return Trace(instances, frozenset(needed_outside))
