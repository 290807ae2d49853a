"""Heuristic 1 of DIY15 with optimised basis, as printed: one greedy pass (§4.1.1 to §4.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.basis import find_basis
from arrayfold.methods.method import Method, Request


def find_published(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The narrowest row, then the narrowest of those independent of it, and so on; in this order."""
    return find_basis(conflicts, replace(request, all_orders=False))


METHOD = Method(
    "basis-as-published",
    "the row of least width, then the next one",
    "DIY15 §4.1, heuristic 1",
    find_published,
    is_general=False,
)
