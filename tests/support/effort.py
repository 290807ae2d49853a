"""How many random examples the property tests try."""

from __future__ import annotations

import os


def examples(count: int) -> int:
    """A share of the examples of a thorough run: half of them, or what ARRAYFOLD_EFFORT says (1 for all)."""
    return max(3, round(count * float(os.environ.get("ARRAYFOLD_EFFORT", "0.5"))))
