"""Stages fused down to their innermost loops, in the loops of the text and with the least shifts.

What isl's scheduler finds for `--fuse cells` is no candidate: it skews loops and walks down columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import Candidate
from arrayfold.ordering.scene import Scene


def propose(scene: Scene) -> Iterator[Candidate]:
    """All loops in common."""
    schedule = RowFusion(rows=False).schedule(scene.program, scene.must_keep, scene.flows)
    yield Candidate("stages fused in all of their loops", schedule)
