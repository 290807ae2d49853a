"""The rows along which differences are narrowest, one after the other (DIY15 §4.1.1 and §4.1.2).

Each row minimises the width of the differences on which the rows before it vanish. With Farkas' lemma this
is a small integer program in the coefficients of the row and of the bound on its width.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import MethodNotApplicable
from arrayfold.exact.isl import integer, points, polyhedron, smallest_point
from arrayfold.exact.lattice import Vector, axes, combine, first_positive, kernel_frame, times
from arrayfold.methods.farkas import Measures, bound_forms, width_conditions
from arrayfold.methods.widths import restrict

_SMALL_ENTRY = 2


class NarrowRows:
    """Rows c1, c2, ..., each the narrowest one on the differences where those before vanish.

    differences  { A[d] }  symmetric, bounded for every value of the parameters
    context      all parameters of the differences occur in it
    allowed      linearly independent rows, of which the rows found are integer combinations, as many

    Where the allowed rows can be completed to a unimodular matrix, so can the rows found.
    """

    def __init__(
        self, differences: isl.Set, context: isl.Set, allowed: Sequence[Vector], budget: Budget
    ) -> None:
        self.differences = differences.intersect_params(context.params()).align_params(context.get_space())
        self.context = context
        self.allowed = allowed
        self.budget = budget
        self._flat = cache(self._flat_after)

    def find(self, measured: Measures) -> list[Vector]:
        """The rows for what is to be minimised; see `measures` of the same context."""
        rows: list[Vector] = []
        while len(rows) < len(self.allowed):
            flat = self._flat(tuple(rows))
            conditions = width_conditions(flat.forms, measured)
            rows.append(_narrowest(conditions, len(measured.forms), flat.basis, self.allowed))
        return rows

    def _flat_after(self, rows: tuple[Vector, ...]) -> _Flat:
        self.budget.check("the search for narrow rows")
        remaining, basis = self.differences, axes(self.differences.dim(isl.dim_type.set))
        if rows:
            before = self._flat(rows[:-1])
            image = times(before.basis, rows[-1])
            inside, _ = kernel_frame([entry // math.gcd(*image) for entry in image])
            remaining = restrict(before.remaining, inside)
            basis = [combine(coordinates, before.basis) for coordinates in inside]
        return _Flat(remaining, basis, bound_forms(remaining, self.context))


@dataclass(frozen=True, eq=False)
class _Flat:
    """Where some rows vanish: the differences in coordinates of a basis, and what they ask of a row.

    remaining  { [y] }
    """

    remaining: isl.Set
    basis: Sequence[Vector]
    forms: Collection[Vector]


def _narrowest(
    conditions: Sequence[Vector], count: int, basis: Sequence[Vector], allowed: Sequence[Vector]
) -> Vector:
    """The row with the least measures, then with small entries, that does not vanish on the whole basis.

    Its sign does not matter: one program for each basis vector that is the first one on which the row does
    not vanish (DIY15 §4.1.2).
    """
    images = [times(allowed, vector) for vector in basis]
    program = _RowProgram(_lines(conditions, count, images, allowed), count, allowed)
    shift = (0,) * (count + 1)
    row = program.best_row(
        ([(-1, *shift, *image)], [(0, *shift, *other) for other in images[:k]])
        for k, image in enumerate(images)
    )
    if row is None:
        raise MethodNotApplicable(
            "no row has a bounded width: the differences of conflicting cells are not bounded for every size"
        )
    values = times(basis, row)
    divisor = math.gcd(*values)
    if divisor > 1:
        # A multiple is wider, unless the width is zero; then it would leave the matrix not unimodular.
        once = [(-value // divisor, *shift, *image) for value, image in zip(values, images, strict=True)]
        row = program.best_row([([], once)]) or row
    return first_positive(row)


# ---------------------------------------------------------------- the integer program


def _lines(
    conditions: Sequence[Vector], count: int, images: Sequence[Vector], allowed: Sequence[Vector]
) -> list[Vector]:
    """Inequalities (constant, measures, largest entry s, factors m of the allowed rows)."""
    lines = [(0, *condition[:count], 0, *combine(condition[count:], images)) for condition in conditions]
    for column in zip(*allowed, strict=True):
        lines += [(0, *[0] * count, 1, *(sign * entry for entry in column)) for sign in (1, -1)]
    return lines


_Case = tuple[Sequence[Vector], Sequence[Vector]]


@dataclass(frozen=True)
class _RowProgram:
    """Least measures, then the least s with |c| <= s in every entry, for c = sum of m_k times allowed_k."""

    lines: Sequence[Vector]
    measures: int
    allowed: Sequence[Vector]

    def best_row(self, cases: Iterable[_Case]) -> Vector | None:
        """The best row over all cases: more inequalities and equations.

        Among equals the least sum of absolute entries wins, then entries on earlier axes.
        """
        best: tuple[Vector, int, list[int], Vector] | None = None
        for inequalities, equations in cases:
            solutions = isl.Set.from_basic_set(self._all_rows.intersect(polyhedron(inequalities, equations)))
            if solutions.is_empty():
                continue
            point = smallest_point(solutions)
            least = point[: self.measures + 1]
            for row in self._equal_rows(solutions, point) if best is None or least <= best[0] else ():
                found = least, sum(map(abs, row)), [-abs(entry) for entry in row], row
                best = found if best is None else min(best, found)
        return None if best is None else best[3]

    @cached_property
    def _all_rows(self) -> isl.BasicSet:
        """{ [measures, s, m] }: what the lines leave, of which every case takes a part."""
        return polyhedron(self.lines)

    def _equal_rows(self, solutions: isl.Set, point: Vector) -> list[Vector]:
        """The rows with the same measures and largest entry, if that is small; else only this one."""
        fixed, factors = point[: self.measures + 1], [point[self.measures + 1 :]]
        if fixed[-1] <= _SMALL_ENTRY:
            for k, value in enumerate(fixed):
                solutions = solutions.fix_val(isl.dim_type.set, k, integer(value))
            factors = [vector[self.measures + 1 :] for vector in points(solutions)]
        return [combine(vector, self.allowed) for vector in factors]
