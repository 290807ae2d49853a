"""All passes, and the order in which they are applied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from arrayfold.base.budget import Budget
from arrayfold.passes.all_orders import AllOrders
from arrayfold.passes.bands import Bands
from arrayfold.passes.borders import SplitBorders
from arrayfold.passes.guard_reads import GuardReads
from arrayfold.passes.merge import Merge
from arrayfold.passes.one_tile import OneTile
from arrayfold.passes.reallocation import Reallocate
from arrayfold.passes.reorder import Reorder
from arrayfold.passes.split import Split
from arrayfold.passes.tile_buffers import TileBuffers
from arrayfold.program.model import Problem, Program


class Pass(Protocol):
    """A frozen dataclass: its fields say what is wanted.

    name   a short one, for people
    flags  the options of the command line that ask for it; none where it is part of another job
    """

    name: ClassVar[str]
    flags: ClassVar[tuple[str, ...]]

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The new program, or an error that says why there is none."""
        ...


# All that there are, in the order in which they are applied.
PASSES: tuple[type[Pass], ...] = (
    Reallocate,
    GuardReads,
    Reorder,
    OneTile,
    AllOrders,
    Merge,
    Split,
    TileBuffers,
    Bands,
    SplitBorders,
)


def in_order(passes: Iterable[Pass]) -> list[Pass]:
    """The passes that are asked for, in the order of the list."""
    return sorted(passes, key=lambda one: PASSES.index(type(one)))
