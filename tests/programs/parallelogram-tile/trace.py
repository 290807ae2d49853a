"""BBC16 Table I, as a list of instances."""

from __future__ import annotations

from support.reference import Trace
from support.shapes import stencil_tile


def trace(B: int) -> Trace:
    return stencil_tile([(t, i) for t in range(B) for i in range(-t, B - t)])
