"""Variables that a loop body declares: each iteration has its own, so iterations do not share them."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import maps_of
from arrayfold.exact.relations import union_of_maps


def same_owner(pairs: isl.UnionMap, loops: int) -> isl.UnionMap:
    """The pairs { S[i] -> T[j] } of instances with the same iteration of the first loops around both."""

    def mine(part: isl.Map) -> isl.Map:
        for k in range(loops):
            part = part.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        return part

    return union_of_maps(pairs.get_space(), map(mine, maps_of(pairs)))
