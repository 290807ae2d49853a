"""Projection along as many independent vectors as possible (Quilleré and Rajopadhye 2000; DIY15 §6).

Cells that are a multiple of a projection vector apart never conflict, so the array can be collapsed along it,
and it loses a dimension. A vector whose short multiples conflict, but none beyond a fixed number, still
collapses the array up to a constant modulus. The rows of the mapping vanish on the projection vectors; their
moduli come from successive modulo.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import islpy as isl

from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import at_sizes, few_points, joined, linear_form, without_parameters
from arrayfold.exact.lattice import Vector, axes, dot, independent, kernel, kernel_frame, primitive_vectors
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.widths import Widths, restrict, with_moduli

_KEPT = 2
_BREADTH = 2
_MOST_POINTS = 1000

# Largest entry of vectors and rows, by the rank of the array and the number of entries other than zero;
# beyond these ranks only the axes are tried.
_LARGEST_ENTRY = {1: {1: 1}, 2: {1: 1, 2: 5}, 3: {1: 1, 2: 3, 3: 2}, 4: {1: 1, 2: 2, 3: 1, 4: 1}}


def find_projection(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mappings among those with the largest number of projection vectors."""
    if conflicts.differences.is_empty():
        return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    search = _Projections(conflicts, request)
    spaces = search.largest_spaces()
    if not spaces:
        raise MethodNotApplicable(search.refusal())
    folds: list[_ProjectedRows] = []
    try:
        for space in spaces:
            limit = sorted(fold.size for fold in folds)[_KEPT - 1] if len(folds) >= _KEPT else None
            folds += search.folds(space, limit)
    except BudgetExceeded:
        if not folds:
            raise
    best = sorted(folds, key=lambda fold: fold.size)[:_KEPT]
    return sorted(
        (_with_formulas(conflicts, fold) for fold in best), key=lambda found: request.rank(found.size)
    )


@dataclass(frozen=True)
class _Space:
    """A subspace along which the array collapses: short vectors in it, and rows that vanish on it."""

    vectors: tuple[Vector, ...]
    rows: tuple[Vector, ...]


@dataclass(frozen=True)
class _ProjectedRows:
    """Rows that vanish on the projected space, and rows with constant moduli that matter within it.

    size  the number of cells at the sizes where sizes are compared
    """

    space: _Space
    outer: tuple[Vector, ...]
    inner: tuple[tuple[Vector, int], ...]
    size: int


class _Projections:
    """The search for projected spaces and for the rows that go with them.

    differences  { A[d] }  symmetric, without zero
    here         { A[d] }  the same at the sizes where sizes are compared, without parameters
    anywhere     { A[d] }  the same for all parameter values together
    """

    def __init__(self, conflicts: Conflicts, request: Request) -> None:
        self.budget = request.budget
        self.rank = conflicts.array.rank
        self.differences = conflicts.differences.intersect_params(conflicts.context)
        self.here = at_sizes(self.differences, request.sizes)
        self.anywhere = joined(without_parameters(self.differences))
        self.grows = not _is_short(conflicts.cells.intersect_params(conflicts.context))
        self.directions = _directions(self.rank)
        self.orthogonal = _orthogonal(self.rank)
        self.restricted = cache(self._restricted)
        self.width = cache(self._width)

    # ------------------------------------------------------------ projection vectors

    def largest_spaces(self) -> list[_Space]:
        """All spaces of the largest dimension along which the array collapses; none if there is no vector."""
        good = {p for p in self.directions if self._collapses(restrict(self.anywhere, [p]))}
        for count in range(self.rank):
            if found := list(self._spaces(count, good)):
                return found
        return []

    def _spaces(self, count: int, good: set[Vector]) -> Iterator[_Space]:
        """The spaces on which so many independent rows vanish."""
        if count == self.rank - 1:
            for p in self._in_order(good):
                yield _Space((p,), self._in_order({*self.orthogonal[p], *kernel_frame(p)[0]}))
            return
        seen: set[frozenset[Vector]] = set()
        for rows in itertools.combinations(self.directions, count):
            self.budget.check("projection vectors")
            vectors = frozenset(self.directions).intersection(*(self.orthogonal[row] for row in rows))
            if vectors in seen or len(vectors) < self.rank - count or not vectors <= good:
                continue
            seen.add(vectors)
            if self._collapses(restrict(self.anywhere, kernel(rows, self.rank))):
                complement = set(self.directions).intersection(*(self.orthogonal[p] for p in vectors))
                yield _Space(self._in_order(vectors), self._in_order(complement))

    def _in_order(self, vectors: Collection[Vector]) -> tuple[Vector, ...]:
        return tuple(sorted(vectors, key=_simplicity))

    def _collapses(self, along: isl.Set) -> bool:
        """Whether there are no differences along a space, or only short ones.

        In an array of a fixed size all vectors are short, so there none may be a difference.
        """
        return along.is_empty() or (self.grows and _is_short(along))

    def refusal(self) -> str:
        """Why there is no projection vector."""
        largest = _LARGEST_ENTRY.get(self.rank)
        tried = f"vectors with entries up to {max(largest.values())}" if largest else "the axes"
        apart = (
            "cells conflict however far apart" if self.grows else "cells of this fixed-size array conflict"
        )
        return f"no projection vector among {tried}: {apart} along each of them"

    # ------------------------------------------------------------ rows

    def folds(self, space: _Space, limit: int | None) -> list[_ProjectedRows]:
        """Successive modulo along rows that vanish on the space, then within it; none from the limit on."""
        found = self._outer(space.rows, (), 1, limit)
        if found is None:
            return []
        size, outer = found
        inner = self._inner(_within(self.anywhere, independent(space.rows)))
        return [_ProjectedRows(space, outer, inner, size * math.prod(modulus for _, modulus in inner))]

    def _outer(
        self, rows: Sequence[Vector], chosen: tuple[Vector, ...], size: int, limit: int | None
    ) -> tuple[int, tuple[Vector, ...]] | None:
        """The order of rows with the smallest product of moduli at the sizes asked for, below the limit.

        Only a few rows are tried at each step, the narrowest first.
        """
        self.budget.check("rows of a projection")
        widths = [(self.width(frozenset(chosen), row), k) for k, row in enumerate(rows)]
        moving = sorted(item for item in widths if item[0] > 0)
        if not moving:
            return size, chosen
        best: tuple[int, tuple[Vector, ...]] | None = None
        for width, k in moving[:_BREADTH]:
            grown = size * (width + 1)
            if limit is not None and grown >= limit:
                break
            found = self._outer(rows, (*chosen, rows[k]), grown, limit)
            if found is not None:
                best = found
                limit = found[0]
        return best

    def _inner(self, vectors: isl.Set) -> tuple[tuple[Vector, int], ...]:
        """Rows with constant moduli for the differences in the space, all parameter values together."""
        few = few_points(vectors, _MOST_POINTS)
        if few is not None:
            half = sorted(point for point in few if next(filter(None, point)) > 0)
            separated = _separate(self.directions, half)
            assert separated is not None
            return separated
        found: list[tuple[Vector, int]] = []
        for k, axis in enumerate(axes(self.rank)):
            if not vectors.is_empty():
                found.append((axis, 1 + vectors.dim_max_val(k).to_python()))
                vectors = vectors.fix_val(isl.dim_type.set, k, isl.Val(0))
        return tuple(found)

    def _restricted(self, chosen: frozenset[Vector]) -> Widths:
        if not chosen:
            return Widths(self.here, is_symmetric=True)
        *others, newest = self._in_order(chosen)
        before = self.restricted(frozenset(others)).cells
        return Widths(before.intersect(_zeros(self.here.get_space(), newest)), is_symmetric=True)

    def _width(self, chosen: frozenset[Vector], row: Vector) -> int:
        remaining = self.restricted(chosen)
        return 0 if row in chosen or remaining.is_empty else remaining.along(row)


@cache
def _orthogonal(rank: int) -> dict[Vector, set[Vector]]:
    """The directions on which each direction, as a row, vanishes."""
    directions = _directions(rank)
    return {p: {q for q in directions if not dot(p, q)} for p in directions}


@cache
def _directions(rank: int) -> list[Vector]:
    """Primitive vectors up to sign, the simplest first."""
    largest = _LARGEST_ENTRY.get(rank)
    if largest is None:
        return axes(rank)
    primitive = primitive_vectors(rank, max(largest.values()))
    simple = (row for row in primitive if max(map(abs, row)) <= largest[sum(map(bool, row))])
    return sorted(simple, key=_simplicity)


def _simplicity(vector: Vector) -> tuple[int, Vector]:
    return sum(map(abs, vector)), vector


def _within(differences: isl.Set, rows: Sequence[Vector]) -> isl.Set:
    """The differences on which all rows vanish."""
    for row in rows:
        differences = differences.intersect(_zeros(differences.get_space(), row))
    return differences


def _zeros(space: isl.Space, row: Vector) -> isl.Set:
    return linear_form(space, row).zero_set()


def _is_short(vectors: isl.Set) -> bool:
    """Whether the coordinates are bounded by numbers, for all parameter values together."""
    return vectors.is_empty() or all(
        bound.is_int()
        for k in range(vectors.dim(isl.dim_type.set))
        for bound in (vectors.dim_min_val(k), vectors.dim_max_val(k))
    )


def _separate(
    directions: Sequence[Vector], remaining: Sequence[Vector], below: float = math.inf
) -> tuple[tuple[Vector, int], ...] | None:
    """Rows with constant moduli that tell finitely many differences from zero, of a small product.

    Either one row tells all of them apart, with the smallest modulus that divides none of its values; or its
    modulus exceeds the values, and other rows follow for the differences on which it vanishes.

    below  what the product must be below; None where it is not
    """
    if not remaining:
        return ()
    values = {row: {abs(dot(row, point)) for point in remaining} for row in directions}
    best: tuple[tuple[Vector, int], ...] | None = None
    for row in directions:
        modulus = None if 0 in values[row] else _smallest_divisor_of_none(values[row], below)
        if modulus is not None:
            best, below = ((row, modulus),), modulus
    narrow = sorted((row for row in directions if any(values[row])), key=lambda row: max(values[row]))
    for row in narrow[:_BREADTH]:
        modulus = max(values[row]) + 1
        if modulus >= below:
            break
        left = [point for point in remaining if not dot(row, point)]
        rest = _separate(directions, left, -(-below // modulus))
        if rest is not None:
            best, below = ((row, modulus), *rest), modulus * math.prod(m for _, m in rest)
    return best


def _smallest_divisor_of_none(values: Collection[int], below: float) -> int | None:
    candidates = itertools.takewhile(lambda m: m < below, itertools.count(2))
    return next((m for m in candidates if all(value % m for value in values)), None)


def _with_formulas(conflicts: Conflicts, fold: _ProjectedRows) -> ModularMapping:
    """The rows with moduli for all parameter values; more rows where differences of other sizes need them."""
    outer = with_moduli(conflicts, (*fold.outer, *fold.space.rows))
    rows = [*outer.matrix, *(row for row, _ in fold.inner)]
    moduli = [*outer.moduli, *(Formula.constant(modulus) for _, modulus in fold.inner)]
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)


METHOD = Method(
    "projection",
    "collapse along as many independent vectors as possible",
    "Quilleré and Rajopadhye 2000; DIY15 §6",
    find_projection,
)
