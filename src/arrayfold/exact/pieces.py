"""Fewer pieces: those that fill a polyhedron together, of which isl joins two at a time only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from arrayfold.exact.isl import coalesced

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
