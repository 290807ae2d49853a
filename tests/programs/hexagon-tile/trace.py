"""BBC16 Table I, as a list of instances."""

from __future__ import annotations

from support.reference import Trace
from support.shapes import stencil_tile


def trace(B: int) -> Trace:
    rows = [(t, abs(t - B + 1)) for t in range(2 * B - 1)]
    return stencil_tile([(t, i) for t, margin in rows for i in range(margin, 3 * B - 2 - margin)])
