"""Stages fused row by row, as `--fuse rows` does it, and with fewer loops in common."""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.sized_program import SizedProgram

_MOST_LEVELS = 2


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """All loops but the rows in common, then the outermost loop only, then two."""
    given = sized.program, sized.must_keep, sized.flows
    yield OrderCandidate("stages fused by rows", RowFusion().schedule(*given))
    for levels in range(1, _MOST_LEVELS + 1):
        loops = "the outermost loop" if levels == 1 else f"the {levels} outermost loops"
        yield OrderCandidate(f"stages fused in {loops}", RowFusion(levels=levels).schedule(*given))
