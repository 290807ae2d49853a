"""How far sets reach along rows, what of them lies in a lattice, and the moduli that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding
from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import (
    coalesced,
    fresh_names,
    image,
    integer,
    joined,
    linear_form,
    parameter_names,
    tuple_name,
)
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping

_NOTHING = -(10**30)


class Widths:
    """The largest values of rows on a set; many rows are asked of each set.

    cells         { A[x] }  bounded, without parameters
    is_symmetric  it holds the opposite of each vector, so that one of each two corners is enough
    """

    def __init__(self, cells: isl.Set, *, is_symmetric: bool = False) -> None:
        self.cells = cells
        self.is_symmetric = is_symmetric

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is nothing to measure."""
        return self.cells.is_empty()

    def along(self, row: Sequence[int]) -> int:
        """The largest value of the row; the set must not be empty.

        >>> Widths(isl.Set("{ A[i, j] : 0 <= i, j and i + j <= 5 }")).along([1, 3])
        15
        >>> Widths(isl.Set("{ A[i] : 0 <= 2i <= 5 }")).along([1])
        2
        """
        least = self.at_least(row)
        unsure = [piece for piece, corners in self._unsure if _largest(row, corners) > least]
        if not unsure:
            return least
        ((_, form),) = linear_form(self.cells.get_space(), row).get_pieces()
        values = [isl.Set.from_basic_set(piece).max_val(form) for piece in unsure]
        return max([least, *(value.to_python() for value in values if value.is_int())])

    def at_least(self, row: Sequence[int]) -> int:
        """A value that the row takes or exceeds, which costs nothing; its least one is zero or less."""
        values = [sum(map(mul, row, corner)) for corner in self._reached]
        if self.is_symmetric:
            values = list(map(abs, values))
        return max(values, default=_NOTHING)

    @cached_property
    def _unsure(self) -> list[tuple[isl.BasicSet, list[Vector]]]:
        """The pieces with corners that need not be points of the set, with their corners."""
        return [
            (piece, corners)
            for piece, corners in self._corners
            if piece.dim(isl.dim_type.div) or any(corner[0] != 1 for corner in corners)
        ]

    @cached_property
    def _reached(self) -> set[Vector]:
        """Corners that are points of the set; those of the other pieces are all there are to look at."""
        corners = (
            tuple(corner)
            for piece, corners in self._corners
            if not piece.dim(isl.dim_type.div)
            for scale, *corner in corners
            if scale == 1
        )
        return (
            {max(one, tuple(-entry for entry in one)) for one in corners}
            if self.is_symmetric
            else set(corners)
        )

    @cached_property
    def _corners(self) -> list[tuple[isl.BasicSet, list[Vector]]]:
        return [(piece, nonnegative_forms(piece)) for piece in self.cells.get_basic_sets()]


def _largest(row: Sequence[int], corners: Sequence[Vector]) -> int:
    """The largest value of the row at corners with a common scale in front, rounded down."""
    return max((sum(map(mul, row, corner)) // scale for scale, *corner in corners), default=_NOTHING)


def within_box(vectors: isl.Set, largest: int) -> isl.Set:
    """The vectors whose entries have at most this absolute value."""
    for k in range(vectors.dim(isl.dim_type.set)):
        vectors = vectors.lower_bound_val(isl.dim_type.set, k, integer(-largest))
        vectors = vectors.upper_bound_val(isl.dim_type.set, k, integer(largest))
    return vectors


def restrict(differences: isl.Set, basis: Sequence[Vector]) -> isl.Set:
    """{ A[z] }: coordinates of the differences that are integer combinations of the basis vectors.

    >>> restrict(isl.Set("{ A[i, j] : -1 <= i <= 1 and -2 <= j <= 2 }"), [(1, 1)])
    Set("{ A[z0] : -1 <= z0 <= 1 }")
    """
    names = fresh_names("z", len(basis), parameter_names(differences))
    images = [
        " + ".join(f"{vector[axis]}*{name}" for vector, name in zip(basis, names, strict=True)) or "0"
        for axis in range(differences.dim(isl.dim_type.set))
    ]
    array = tuple_name(differences) or ""
    inside = isl.MultiAff(f"{{ {array}[{', '.join(names)}] -> {array}[{', '.join(images)}] }}")
    return joined(differences.preimage_multi_aff(inside))


def with_moduli(conflicts: Conflicts, rows: Iterable[Vector]) -> ModularMapping:
    """The rows, each modulo one more than its width on the differences where all before it vanish.

    For all parameter values; rows behind the last difference are left out.
    """
    remaining = conflicts.differences
    used: list[Vector] = []
    moduli: list[Formula] = []
    for row in rows:
        if remaining.is_empty():
            break
        form = linear_form(remaining.get_space(), row)
        used.append(row)
        moduli.append(exceeding(image(remaining, form), conflicts.context))
        remaining = coalesced(remaining.intersect(form.zero_set()))
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, used, moduli)
