"""The identity: every cell of the array's box keeps an address of its own."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.conflicts import Conflicts
from arrayfold.mapping import Mapping
from arrayfold.methods.method import Method, Request


def find_identity(conflicts: Conflicts, request: Request) -> Sequence[Mapping]:
    """`x - low` in a box of the array's own extents."""
    del request
    return [Mapping.identity(conflicts.name, conflicts.array.dimensions, conflicts.box)]


METHOD = Method("identity", "the array as it is", "", find_identity)
