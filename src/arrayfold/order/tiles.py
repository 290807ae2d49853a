"""What surely comes first in a tiled program whose tiles have symbolic sizes and lie anywhere.

Tiles run in lexicographic order, and so do the instances of a tile. Where tiles begin is left open
("unaligned" tiles, Darte and Isoard 2015; DIY16 §4), because multiples of a symbolic size are not affine. Let
d be the difference of two times. A dimension in which 0 <= d_k < s_k may be cut between the two or not, one
with d_k >= s_k is cut for sure, and one with d_k < 0 may put the later one first. So a comes before b for
sure iff all differences are nonnegative up to the first one that reaches its size.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from arrayfold.exact.isl import coalesced

ANY_SIZE = "any"


def before_in_tiles(in_a_tile: isl.Map, sizes: Sequence[str]) -> isl.Map:
    """{ [a] -> [b] }: a comes before b wherever the tiles are cut.

    in_a_tile  { [a] -> [b] }  the order of one tile
    sizes      of the first dimensions: affine in the parameters, or `any` for every size

    >>> order = before_in_tiles(isl.Map("{ [a, b] -> [c, d] : a < c or (a = c and b < d) }"), ["3", "any"])
    >>> surely = "c >= a + 3 or (c > a and d >= b) or (c = a and d > b)"
    >>> order.is_equal(isl.Map(f"{{ [a, b] -> [c, d] : {surely} }}"))
    True
    """
    depth = in_a_tile.dim(isl.dim_type.in_)
    names, later = [f"a{k}" for k in range(depth)], [f"b{k}" for k in range(depth)]
    space = in_a_tile.get_space()
    parameters = [space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param))]
    prefix = f"[{', '.join(map(str, parameters))}] -> "

    def where(conditions: Sequence[str]) -> isl.Map:
        pairs = f"[{', '.join(names)}] -> [{', '.join(later)}]"
        return isl.Map(f"{prefix}{{ {pairs} : {' and '.join(conditions) or 'true'} }}")

    near: list[str] = []
    surely = isl.Map.empty(space)
    for k, size in enumerate(sizes):
        step = f"{later[k]} - {names[k]}"
        if size != ANY_SIZE:
            surely = surely.union(where([*near, f"{step} >= {size}"]))
        near.append(f"0 <= {step}" if size == ANY_SIZE else f"0 <= {step} < {size}")
    ahead = where([*near, *(f"{later[k]} = {names[k]}" for k in range(len(sizes)))])
    moved = where(near).subtract(ahead)
    return coalesced(surely.union(moved).union(ahead.intersect(in_a_tile)))
