"""Stages fused cell by cell: in the loops of the text, least shifts, and as `--fuse cells` does it."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from arrayfold.order.fusion import fused_schedule
from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import Candidate
from arrayfold.ordering.scene import Scene


def propose(scene: Scene) -> Iterator[Candidate]:
    """Innermost loops in common, too; and the order of isl's scheduler, if it finds one."""
    given = scene.program, scene.must_keep, scene.flows
    yield Candidate("stages fused in all of their loops", RowFusion(rows=False).schedule(*given))
    try:
        yield Candidate("stages fused by cells", fused_schedule(*given))
    except isl.Error:
        return
