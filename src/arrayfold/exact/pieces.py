"""Fewer pieces: those that fill a polyhedron together, of which isl joins two at a time; shorter times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from arrayfold.exact.isl import coalesced, unshared

_FEW_TO_JOIN = 3
_MOST_PIECES = 40


def in_one_piece(cells: isl.Set) -> isl.Set:
    """The same as one piece if it is convex, which isl does not see where pieces meet in many ways.

    >>> corner = "(x <= y and y <= i) or (y <= x and x <= i)"
    >>> in_one_piece(isl.Set(f"{{ [x, y, i] : {corner} }}"))
    Set("{ [x, y, i] : i >= x and i >= y }")
    """
    cells = coalesced(cells)
    if cells.n_basic_set() == 1:
        return cells
    hull = isl.Set.from_basic_set(cells.simple_hull())
    return hull if hull.is_subset(cells) else cells


def joined_by_hull(relation: isl.Map) -> isl.Map:
    """The same relation with fewer pieces, where several of them fill a polyhedron together.

    The inside of a box and its faces are seven pieces, of which no two have a convex union. So all pieces on
    the affine hull of one are taken at once, and their hull replaces them if it is part of the relation.

    >>> inside = "A[i, j] -> [i, j] : 0 < i, j < 9"
    >>> sides = "A[i, j] -> [i, j] : 0 <= i, j <= 9 and (i = 0 or j = 0 or i = 9 or j = 9)"
    >>> joined_by_hull(isl.Map(f"{{ {inside}; {sides} }}"))
    Map("{ A[i, j] -> [i, j] : 0 <= i <= 9 and 0 <= j <= 9 }")
    """
    count = relation.n_basic_map()
    if not 2 < count <= _MOST_PIECES or _has_strides(relation):
        return relation
    waiting = sorted(relation.get_basic_maps(), key=_count_equations)
    done: list[isl.Map] = []
    while waiting:
        around = waiting[0].affine_hull()
        near = [piece.is_subset(around) for piece in waiting]
        group = _united([piece for piece, is_near in zip(waiting, near, strict=True) if is_near])
        hull = isl.Map.from_basic_map(group.simple_hull())
        if sum(near) > 1 and hull.is_subset(relation):
            done.append(hull)
            waiting = [piece for piece, is_near in zip(waiting, near, strict=True) if not is_near]
        else:
            done.append(isl.Map.from_basic_map(waiting.pop(0)))
    return reduce(isl.Map.union, done) if len(done) < count else relation


def _has_strides(relation: isl.Map) -> bool:
    return any(piece.dim(isl.dim_type.div) for piece in relation.get_basic_maps())


def _count_equations(piece: isl.BasicMap) -> int:
    return sum(constraint.is_equality() for constraint in piece.get_constraints())


def _united(pieces: Sequence[isl.BasicMap]) -> isl.Map:
    return reduce(isl.Map.union, map(isl.Map.from_basic_map, pieces))


def affine_function(relation: isl.Map) -> isl.MultiAff | None:
    """The one affine function, without floors, that a relation is where it holds; None if it is none.

    >>> affine_function(isl.Map("[n] -> { A[i, j] -> [j, n - i] : 0 <= i, j < n }"))
    MultiAff("[n] -> { A[i, j] -> [(j), (n - i)] }")
    >>> affine_function(isl.Map("{ A[i] -> [i, j] : false }")) is None
    True
    """
    if relation.is_empty() or not relation.is_single_valued():
        return None
    found: list[isl.MultiAff] = []
    anywhere = coalesced(relation.gist_domain(relation.domain()))
    anywhere.as_pw_multi_aff().foreach_piece(lambda _, form: found.append(form))
    if len(found) != 1 or any(
        found[0].get_at(k).dim(isl.dim_type.div) for k in range(found[0].dim(isl.dim_type.out))
    ):
        return None
    return found[0]


# ---------------------------------------------------------------- times


def drop_constant_dimensions(writes: isl.Map, reads: isl.Map) -> tuple[isl.Map, isl.Map]:
    """Writes and reads { A[x] -> [t] } with fewer dimensions of time in the same lexicographic order.

    Statements that write an array here or there (inside and at a border, say) have different places in the
    text. Where they never run in the same iteration, the places say nothing, but they keep pieces of
    relations apart that are one piece without them.

    A dimension goes if it is a number in every piece and the order of all events is the same without it.
    Relations of a few pieces stay as they are, and so do those that do not become simpler.
    """
    count = max(writes.n_basic_map(), reads.n_basic_map())
    if not _FEW_TO_JOIN < count <= _MOST_PIECES:
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
