"""Traces that several programs of the papers share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from support.reference import Instance, Trace


def stencil_tile(tile: Sequence[tuple[int, int]]) -> Trace:
    """A three-point stencil on the points (t, i) of a tile; what is needed outside it is live-out."""
    inside = set(tile)
    instances = [
        Instance(
            "S",
            (t, i),
            tuple(("A", (t - 1, k)) for k in (i - 1, i, i + 1) if (t - 1, k) in inside),
            (("A", (t, i)),),
        )
        for t, i in tile
    ]
    needed_outside = {
        ("A", (t, i)) for t, i in tile if any((t + 1, i + step) not in inside for step in (-1, 0, 1))
    }
    return Trace(instances, frozenset(needed_outside))


def lattice_boltzmann(size: int, steps: Sequence[tuple[int, ...]]) -> Trace:
    """Every point of a cube reads its neighbours of one time step earlier."""
    dimensions = len(steps[0])

    def neighbours(place: tuple[int, ...]) -> list[tuple[int, ...]]:
        moved = [tuple(a + b for a, b in zip(place, step, strict=True)) for step in steps]
        return [near for near in moved if all(0 <= a < size for a in near)]

    return Trace(
        [
            Instance(
                "S",
                (t, *place),
                tuple(("A", (t - 1, *near)) for near in neighbours(place) if t >= 1),
                (("A", (t, *place)),),
            )
            for t in range(size)
            for place in itertools.product(range(size), repeat=dimensions)
        ]
    )


def column_tile(array: str, size: int, reach: int) -> Trace:
    """Each column of a tile is written, then read by a window of rows; the last rows are live-out."""
    instances: list[Instance] = []
    for x in range(size):
        instances += [Instance("P", (x, y), (), ((array, (x, y)),)) for y in range(size)]
        instances += [
            Instance("Q", (x, y), tuple((array, (x, k)) for k in range(max(0, y - reach), y + 1)), ())
            for y in range(size)
        ]
    needed = ((array, (x, y)) for x in range(size) for y in range(size - reach, size))
    return Trace(instances, frozenset(needed))


def jacobi(n: int) -> Trace:
    """A three-point stencil with an expanded time dimension."""
    return Trace(
        [
            Instance(
                "S",
                (i, j),
                tuple(("A", (i - 1, k)) for k in (j - 1, j, j + 1) if i >= 1 and 0 <= k < n),
                (("A", (i, j)),),
            )
            for i in range(n)
            for j in range(n)
        ]
    )
