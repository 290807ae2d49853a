"""The tables of the papers as printed, and what the judge and our own methods make of them."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.explore.papers import mor14, tva07
from arrayfold.explore.papers.bbc16 import BBC16_TABLE
from arrayfold.explore.papers.diy15 import DIY15_TABLE
from arrayfold.explore.papers.diy16 import DIY16_TABLE
from arrayfold.explore.papers.measured import measured_tables
from arrayfold.explore.papers.published import PublishedRow, PublishedTable
from arrayfold.explore.papers.recomputed import Recomputation, RecomputedTable, recompute_all
from arrayfold.explore.papers.reproduce import ReproducedRow, ReproducedTable, find_example, reproduce

PUBLISHED_TABLES: Sequence[PublishedTable] = (DIY15_TABLE, BBC16_TABLE, DIY16_TABLE)

RECOMPUTATIONS: Sequence[Recomputation] = (tva07.RECOMPUTATION, mor14.RECOMPUTATION)

__all__ = [
    "PUBLISHED_TABLES",
    "RECOMPUTATIONS",
    "PublishedRow",
    "PublishedTable",
    "RecomputedTable",
    "ReproducedRow",
    "ReproducedTable",
    "find_example",
    "measured_tables",
    "recompute_all",
    "reproduce",
]
