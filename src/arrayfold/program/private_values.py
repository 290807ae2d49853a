"""Variables that a loop body declares: each iteration has its own, so iterations do not share them."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import maps_of


def same_owner(pairs: isl.UnionMap, loops: int) -> isl.UnionMap:
    """The pairs { S[i] -> T[j] } of instances with the same iteration of the first loops around both."""
    total = isl.UnionMap.empty(pairs.get_space())
    for part in maps_of(pairs):
        mine = part
        for k in range(loops):
            mine = mine.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        total = total.union(isl.UnionMap.from_map(mine))
    return total
