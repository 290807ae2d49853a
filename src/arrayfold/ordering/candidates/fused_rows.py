"""Stages fused row by row, as `--fuse rows` does it, within rows, too, and with fewer loops in common."""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.sized_program import SizedProgram

_MOST_LEVELS = 2


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """All loops but rows in common, rows where values stay in iterations, the outermost loop only, two."""
    given = sized.program, sized.must_keep, sized.flows
    yield OrderCandidate("stages fused by rows", RowFusion().schedule(*given))
    points = RowFusion(points=True).schedule(*given)
    yield OrderCandidate("stages fused by rows, and in them where values stay in iterations", points)
    for levels in range(1, _MOST_LEVELS + 1):
        loops = "the outermost loop" if levels == 1 else f"the {levels} outermost loops"
        yield OrderCandidate(f"stages fused in {loops}", RowFusion(levels=levels).schedule(*given))
