"""BBC16 Fig. 5, as a list of instances."""

from __future__ import annotations

from support.reference import Trace
from support.shapes import column_tile


def trace(B: int) -> Trace:
    return column_tile("blurx", B, 2)
