"""isl sets of an array with the names that its dimensions have for the user."""

from __future__ import annotations

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import coalesced


def readable_set(conflicts: Conflicts, cells: isl.Set) -> str:
    """A set of cells or differences, simplified against the context."""
    named = coalesced(cells.gist_params(conflicts.context))
    for k, name in enumerate(conflicts.array.dimensions):
        named = named.set_dim_name(isl.dim_type.set, k, name)
    return str(named)


def readable_pairs(conflicts: Conflicts) -> str | None:
    """The conflicting pairs, simplified against the context; None where only differences are known."""
    if conflicts.some_pairs is None:
        return None
    named = coalesced(conflicts.pairs.gist_params(conflicts.context))
    for k, name in enumerate(conflicts.array.dimensions):
        named = named.set_dim_name(isl.dim_type.in_, k, name)
        named = named.set_dim_name(isl.dim_type.out, k, f"{name}'")
    return str(named)
