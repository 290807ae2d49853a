"""Stages fused down to their innermost loops, in the loops of the text and with the least shifts.

What isl's scheduler finds for `--fuse cells` is no candidate: it skews loops and walks down columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.sized_program import SizedProgram


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """All loops in common."""
    schedule = RowFusion(rows=False).schedule(sized.program, sized.must_keep, sized.flows)
    yield OrderCandidate("stages fused in all of their loops", schedule)
