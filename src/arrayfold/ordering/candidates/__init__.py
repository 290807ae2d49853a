"""Kinds of orders to try; a new kind is a file with `propose`, and a line here."""

from __future__ import annotations

from arrayfold.ordering.candidates import diagonals, fused_cells, fused_rows, interchanged, time_steps
from arrayfold.ordering.candidates.candidate import OrderCandidate, Propose

__all__ = ["PROPOSE", "OrderCandidate"]

# In the order in which they are listed; of equally good ones the first is taken.
PROPOSE: tuple[Propose, ...] = (
    fused_rows.propose,
    fused_cells.propose,
    interchanged.propose,
    time_steps.propose,
    diagonals.propose,
)
