"""BBC16 Fig. 6, as a list of instances."""

from __future__ import annotations

import itertools

from reference import Instance, Trace


def trace(N: int) -> Trace:
    return Trace(
        [
            Instance(
                "S",
                (t, *place),
                tuple(("A", (t - 1, *near)) for near in _neighbours(place, N) if t >= 1),
                (("A", (t, *place)),),
            )
            for t in range(N)
            for place in itertools.product(range(N), repeat=2)
        ]
    )


def _neighbours(place: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    steps = list(itertools.product((-1, 0, 1), repeat=2))
    moved = [tuple(a + b for a, b in zip(place, step, strict=True)) for step in steps]
    return [near for near in moved if all(0 <= a < size for a in near)]
