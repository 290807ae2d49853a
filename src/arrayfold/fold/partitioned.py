"""What folds with buffers of tiles and with bands share: the program with parts, and its analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arrayfold.base.budget import Budget
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.deadline import chosen_arrays
from arrayfold.fold.options import Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.order.events import order_of
from arrayfold.passes.bands import Bands
from arrayfold.passes.partition import ready_for_parts
from arrayfold.passes.tile_buffers import TileBuffers
from arrayfold.program.model import Problem, Program


@dataclass(frozen=True, eq=False)
class PartitionedProgram:
    """A program in which some arrays are stored in parts.

    before    the analysis of the program without parts
    analysis  that of the program with them
    others    arrays to be folded that have no parts
    """

    before: Analysis
    program: Program
    analysis: Analysis
    others: tuple[str, ...]

    def result(self, folded: Sequence[FoldedArray], params: Mapping[str, int]) -> FoldResult:
        """All of the folds."""
        before = self.before
        return FoldResult(self.program, tuple(folded), before.kept(), params, before.live_in_arrays())


def partition(
    problem: Problem, change: TileBuffers | Bands, budget: Budget, progress: Progress
) -> PartitionedProgram:
    """The program with parts of its temporaries, and what is known of their values."""
    before = Analysis.of(ready_for_parts(problem, change.what), budget)
    assert before.liveness is not None
    chosen = chosen_arrays(before, change.arrays)
    new = change.of(before.liveness, budget, progress)
    buffers = new.relocation.buffers.values()
    others = tuple(name for name in chosen if all(name != one.array for one in buffers))
    held = (one for buffer in buffers for one in (buffer.name, *buffer.borders))
    # No read of a part is undefined, because all values are as before.
    liveness = replace(before.liveness, program=new, order=order_of(new), temporaries=(*held, *others))
    return PartitionedProgram(before, new, Analysis(new, liveness), others)
