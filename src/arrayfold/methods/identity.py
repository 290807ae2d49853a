"""The identity: every cell of the array's box keeps an address of its own."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.conflicts import Conflicts
from arrayfold.mapping import Mapping
from arrayfold.methods.method import Method, Request


def find_identity(conflicts: Conflicts, request: Request) -> Sequence[Mapping]:
    """`x - low` in a box of the array's own extents."""
    del request
    rank = conflicts.array.rank
    rows = [[int(j == k) for j in range(rank)] for k in range(rank)]
    return [
        Mapping.of(
            conflicts.name,
            conflicts.array.dimensions,
            rows,
            [length for _, length in conflicts.box],
            [-low for low, _ in conflicts.box],
        )
    ]


METHOD = Method("identity", "the array as it is", "", find_identity)
