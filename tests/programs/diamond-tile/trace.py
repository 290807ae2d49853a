"""BBC16 Fig. 7, as a list of instances."""

from __future__ import annotations

from support.reference import Trace
from support.shapes import stencil_tile


def trace(B: int) -> Trace:
    return stencil_tile(
        [(t, i) for t in range(2 * B - 1) for i in range(2 * B - 1) if abs(t - B + 1) + abs(i - B + 1) < B]
    )
