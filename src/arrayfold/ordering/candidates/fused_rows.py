"""Stages fused row by row, as `--fuse rows` does it, and with fewer loops in common."""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import Candidate
from arrayfold.ordering.scene import Scene

_MOST_LEVELS = 2


def propose(scene: Scene) -> Iterator[Candidate]:
    """All loops but the rows in common, then the outermost loop only, then two."""
    given = scene.program, scene.must_keep, scene.flows
    yield Candidate("stages fused by rows", RowFusion().schedule(*given))
    for levels in range(1, _MOST_LEVELS + 1):
        loops = "the outermost loop" if levels == 1 else f"the {levels} outermost loops"
        yield Candidate(f"stages fused in {loops}", RowFusion(levels=levels).schedule(*given))
