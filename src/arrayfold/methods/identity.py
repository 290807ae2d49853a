"""The identity: every cell of the array's box keeps an address of its own."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request


def find_identity(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """`x - low` in a box of the array's own extents."""
    del request
    return [ModularMapping.identity(conflicts.name, conflicts.array.dimensions, conflicts.box)]


METHOD = Method("identity", "the array as it is", "", find_identity)
