"""Successive modulo along the array axes in their order: the baseline of BBC16 and DIY15 (LeFe)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.successive_modulo import find_successive_modulo


def find_published(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The mapping along the axes in the order in which the array has them."""
    return find_successive_modulo(conflicts, replace(request, all_orders=False))


METHOD = Method(
    "successive-modulo-as-published",
    "fold along the array axes, in their order",
    "Lefebvre and Feautrier 1998",
    find_published,
    is_general=False,
)
