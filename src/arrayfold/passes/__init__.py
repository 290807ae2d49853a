"""Passes: from a program to another one that computes the same."""

from __future__ import annotations

from arrayfold.base.public_names import load_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arrayfold.passes.all_orders import AllOrders
    from arrayfold.passes.bands import Bands
    from arrayfold.passes.borders import SplitBorders
    from arrayfold.passes.catalogue import PASSES, Pass, in_order
    from arrayfold.passes.guard_reads import GuardReads
    from arrayfold.passes.merge import Merge
    from arrayfold.passes.one_tile import OneTile
    from arrayfold.passes.reallocation import Reallocate
    from arrayfold.passes.reorder import Reorder
    from arrayfold.passes.split import Split
    from arrayfold.passes.tile_buffers import TileBuffers

__all__ = [
    "PASSES",
    "AllOrders",
    "Bands",
    "GuardReads",
    "Merge",
    "OneTile",
    "Pass",
    "Reallocate",
    "Reorder",
    "Split",
    "SplitBorders",
    "TileBuffers",
    "in_order",
]

load_on_demand(
    __name__,
    {
        "one_tile": "OneTile",
        "all_orders": "AllOrders",
        "bands": "Bands",
        "borders": "SplitBorders",
        "catalogue": "PASSES Pass in_order",
        "guard_reads": "GuardReads",
        "merge": "Merge",
        "reallocation": "Reallocate",
        "reorder": "Reorder",
        "split": "Split",
        "tile_buffers": "TileBuffers",
    },
)
