"""The integer program behind one storage hyperplane (BBC16 §3.4).

Its unknowns are the hyperplane g and an affine bound u.n + w on |g.d| over all differences d. A conflict
polyhedron is satisfied if g.d >= 1 on all of it, or g.d <= -1 on all of it. Farkas' lemma turns statements
on all points of a polyhedron into linear constraints on the unknowns. The decision variables of BBC16, two
a polyhedron, are enumerated by branch and bound; so their products with the bound need no big constant c.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import integer, linear_form, parameter_names, points, polyhedron
from arrayfold.exact.lattice import Vector
from arrayfold.methods.widths import within_box

_MOST_NODES = 100
_LARGEST_COEFFICIENT = 32


@dataclass(frozen=True, eq=False)
class ConflictPolyhedron:
    """A convex set of differences and what it asks of the unknowns.

    differences  { A[d] }  one of the two signs is enough; strides are dropped, which errs to the safe side
    """

    differences: isl.BasicSet

    @cached_property
    def forms(self) -> list[Vector]:
        """Vectors v such that w + u.n + g.d >= 0 for all differences iff v . (w, u, g) >= 0 for each."""
        return nonnegative_forms(self.differences)

    @cached_property
    def bounding(self) -> isl.BasicSet:
        """{ [w, u..., g...] : |g.d| <= u.n + w for all differences }."""
        start = len(self.forms[0]) - self.rank
        return polyhedron(
            [
                (0, *form[:start], *(sign * entry for entry in form[start:]))
                for form in self.forms
                for sign in (1, -1)
            ]
        )

    @cached_property
    def sides(self) -> tuple[isl.BasicSet, isl.BasicSet]:
        """{ [w, u..., g...] : g.d >= 1 for all differences }, and the same for g.d <= -1."""
        start = len(self.forms[0]) - self.rank
        positive, negative = (
            polyhedron(
                [(-form[0], *[0] * start, *(sign * entry for entry in form[start:])) for form in self.forms]
            )
            for sign in (1, -1)
        )
        return positive, negative

    @property
    def rank(self) -> int:
        """The number of indices of a difference."""
        return self.differences.dim(isl.dim_type.set)

    def is_satisfied(self, row: Vector) -> bool:
        """Whether the row has one sign on all of the polyhedron."""
        values = [(sum(map(operator.mul, form[-len(row) :], row)), form[0]) for form in self.forms]
        return all(value >= least for value, least in values) or all(
            -value >= least for value, least in values
        )

    @property
    def is_satisfiable(self) -> bool:
        """Whether any row has one sign on all of the polyhedron."""
        return not self.sides[0].is_empty()


@dataclass(frozen=True)
class Hyperplane:
    """A row, the polyhedra that it satisfies, and its affine bound at the sizes that are compared."""

    row: Vector
    satisfied: frozenset[int]
    reach: int


@dataclass(eq=False)
class HyperplaneProgram:
    """The rows that satisfy most polyhedra, and have the smallest bound among those."""

    polyhedra: Sequence[ConflictPolyhedron]
    sizes: Mapping[str, int]
    budget: Budget

    def __post_init__(self) -> None:
        some = self.polyhedra[0].differences
        self.rank = some.dim(isl.dim_type.set)
        values = [self.sizes[name] for name in parameter_names(isl.Set.from_basic_set(some))]
        self.bounded = self.polyhedra[0].bounding
        for other in self.polyhedra[1:]:
            self.bounded = self.bounded.intersect(other.bounding)
        form = linear_form(self.bounded.get_space(), [1, *values, *[0] * self.rank])
        ((_, self.bound),) = form.get_pieces()
        # Where there are no conflicts at these sizes, nothing else keeps the bound from being negative.
        nonnegative = self.bound.neg().add_constant_val(integer(-1)).neg_basic_set()
        self.bounded = self.bounded.intersect(nonnegative).remove_redundancies()

    def solve(self, forced: frozenset[int] = frozenset(), limit: int | None = None) -> list[Hyperplane]:
        """The best rows that satisfy the forced polyhedra and have a bound of at most the limit."""
        descent = _Descent(self, limit)
        undecided = tuple(k for k in range(len(self.polyhedra)) if k not in forced)
        descent.force(self.bounded, tuple(sorted(forced)), undecided, 0)
        distinct = {hyperplane.row: hyperplane for hyperplane in descent.found}
        return sorted(distinct.values(), key=lambda hyperplane: _simplicity(hyperplane.row))

    def hyperplanes(self, region: isl.BasicSet, reach: int) -> list[Hyperplane]:
        """The simplest rows of the region with this bound, those that satisfy most polyhedra first."""
        found = [
            Hyperplane(row, frozenset(k for k, p in enumerate(self.polyhedra) if p.is_satisfied(row)), reach)
            for row in self._rows_within(region, reach)
        ]
        return sorted(found, key=lambda hyperplane: -len(hyperplane.satisfied))

    def _rows_within(self, region: isl.BasicSet, reach: int) -> list[Vector]:
        """The rows of the region with this bound whose largest coefficient is smallest, simplest first."""
        exact = region.intersect(self.bound.add_constant_val(integer(-reach)).zero_basic_set())
        unknowns = exact.dim(isl.dim_type.set)
        rows = isl.Set.from_basic_set(exact).project_out(isl.dim_type.set, 0, unknowns - self.rank)
        for largest in range(_LARGEST_COEFFICIENT + 1):
            box = within_box(rows, largest)
            if not box.is_empty():
                return sorted({_last_positive(row) for row in points(box)}, key=_simplicity)
        point = rows.sample_point()
        entries = (point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(self.rank))
        return [_last_positive(tuple(entries))]


@dataclass(eq=False)
class _Descent:
    """Branch and bound over the decisions: which polyhedra are satisfied, and with which sign."""

    program: HyperplaneProgram
    limit: int | None
    found: list[Hyperplane] = field(default_factory=list[Hyperplane])
    nodes: int = 0

    def force(
        self, region: isl.BasicSet, forced: tuple[int, ...], undecided: tuple[int, ...], decided: int
    ) -> None:
        """Both signs for each polyhedron that must be satisfied, then the free decisions."""
        if not forced:
            self._branch(region, undecided, decided)
            return
        for side in self._sides(forced[0], decided):
            self.force(region.intersect(side), forced[1:], undecided, decided + 1)

    def _sides(self, k: int, decided: int) -> Sequence[isl.BasicSet]:
        sides = self.program.polyhedra[k].sides
        # Until a sign is fixed, a row and its opposite are the same hyperplane.
        return sides if decided else sides[:1]

    def _branch(self, region: isl.BasicSet, undecided: tuple[int, ...], decided: int) -> None:
        """The best row regardless of the undecided polyhedra; then decide on those that it leaves open."""
        self.program.budget.check("the hyperplane program")
        self.nodes += 1
        if self.nodes > _MOST_NODES or region.is_empty():
            return
        reach = -region.max_val(self.program.bound.neg()).to_python()
        if not self._may_improve(decided + len(undecided), reach):
            return
        hyperplanes = self.program.hyperplanes(region, reach)
        for hyperplane in hyperplanes:
            self._keep(hyperplane)
        for k in undecided:
            if k in hyperplanes[0].satisfied:
                continue
            if not self._may_improve(decided + len(undecided), reach):
                return
            undecided = tuple(other for other in undecided if other != k)
            for side in self._sides(k, decided):
                self._branch(region.intersect(side), undecided, decided + 1)

    def _may_improve(self, satisfied: int, reach: int) -> bool:
        if self.limit is not None and reach > self.limit:
            return False
        return not self.found or (satisfied, -reach) > self._rank(self.found[0])

    def _keep(self, hyperplane: Hyperplane) -> None:
        best = self._rank(self.found[0]) if self.found else (0, 0)
        if self._rank(hyperplane) > best and hyperplane.satisfied:
            self.found = []
        if hyperplane.satisfied and self._rank(hyperplane) >= best:
            self.found.append(hyperplane)

    @staticmethod
    def _rank(hyperplane: Hyperplane) -> tuple[int, int]:
        return len(hyperplane.satisfied), -hyperplane.reach


def _simplicity(row: Vector) -> tuple[int, Vector]:
    return sum(map(abs, row)), tuple(-entry for entry in row)


def _last_positive(row: Vector) -> Vector:
    """The row or its opposite, which is the same hyperplane."""
    last = next(filter(None, reversed(row)), 1)
    return row if last > 0 else tuple(-entry for entry in row)
