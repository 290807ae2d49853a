"""Times without the places in the text that the events of one array do not need to be told apart.

Statements that write an array here or there (inside and at a border, say) have different places in the text.
Where they never run in the same iteration, the places say nothing, but they keep pieces of relations apart
that are one piece without them.
"""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import coalesced, unshared
from arrayfold.exact.pieces import joined_by_hull

_FEW_PIECES = 3
_MOST_PIECES = 40


def drop_constant_dimensions(writes: isl.Map, reads: isl.Map) -> tuple[isl.Map, isl.Map]:
    """Writes and reads { A[x] -> [t] } with fewer dimensions of time in the same lexicographic order.

    A dimension goes if it is a number in every piece and the order of all events is the same without it.
    Relations of a few pieces stay as they are, and so do those that do not become simpler.
    """
    count = max(writes.n_basic_map(), reads.n_basic_map())
    if not _FEW_PIECES < count <= _MOST_PIECES:
        return writes, reads
    # isl rearranges pieces in place, and what it makes of them later depends on that.
    short_writes, short_reads = unshared(writes), unshared(reads)
    events = coalesced(short_writes.union(short_reads).range())
    for dimension in reversed(_numbered_dimensions(short_writes.union(short_reads))):
        fewer = coalesced(events.project_out(isl.dim_type.set, dimension, 1))
        if _is_same_order(events, fewer.get_space(), dimension):
            events = fewer
            short_writes = short_writes.project_out(isl.dim_type.out, dimension, 1)
            short_reads = short_reads.project_out(isl.dim_type.out, dimension, 1)
    shorter = joined_by_hull(coalesced(short_writes)), joined_by_hull(coalesced(short_reads))
    is_simpler = sum(one.n_basic_map() for one in shorter) < writes.n_basic_map() + reads.n_basic_map()
    return shorter if is_simpler else (writes, reads)


def _numbered_dimensions(relation: isl.Map) -> list[int]:
    """The dimensions of time that are a number in every piece."""
    pieces = relation.get_basic_maps()
    return [
        dimension
        for dimension in range(relation.dim(isl.dim_type.out))
        if all(piece.plain_get_val_if_fixed(isl.dim_type.out, dimension).is_int() for piece in pieces)
    ]


def _is_same_order(events: isl.Set, shorter: isl.Space, dimension: int) -> bool:
    """Whether of two different events the earlier one is so without a dimension, too."""
    without = isl.Map.lex_lt(shorter)
    for side in (isl.dim_type.in_, isl.dim_type.out):
        without = without.insert_dims(side, dimension, 1)
    lost = isl.Map.lex_lt(events.get_space()).subtract(without)
    return bool(lost.intersect_domain(events).intersect_range(events).is_empty())
