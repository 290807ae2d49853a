"""Storage hyperplanes found by integer programming (BBC16, algorithm 1).

The differences are a union of conflict polyhedra. A row is chosen that tells apart the cells of as many
polyhedra as possible, and among those the one with the smallest modulus; it is repeated on what the rows so
far leave unsatisfied, until nothing is left. Besides the paper's greedy choice, rows that satisfy fewer
polyhedra with a smaller modulus are followed, too, and polyhedra are also split (BBC16 §3.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import coalesced, is_bounded, linear_form
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.hyperplane_program import ConflictPolyhedron, Hyperplane, HyperplaneProgram
from arrayfold.methods.method import Method, Request
from arrayfold.methods.widths import with_moduli

_MOST_POLYHEDRA = 24
_MOST_PARTS = 12
_KEPT = 3
_MOST_VARIABLES = 2
_SHARE = 0.7

# Choices of a row that are followed, by the rank of the array.
_MOST_CHOICES = {1: 4, 2: 16, 3: 5}

# Choices other than the greedy ones in the whole search, by the rank of the array.
_MOST_VARIATIONS = {1: 60, 2: 60, 3: 16}


def find_hyperplanes(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mappings that the greedy choice and its variations find, smallest first."""
    if not is_bounded(conflicts.differences):
        raise MethodNotApplicable(
            f"{conflicts.name}: conflicting cells are arbitrarily far apart, so no hyperplane has a bound"
        )
    search = _Search(request, request.budget.part(_SHARE))
    differences = conflicts.differences.align_params(conflicts.context.get_space())
    try:
        for polyhedra in _specifications(differences):
            search.extend((), polyhedra, 1)
    except BudgetExceeded:
        if not search.best:
            raise
    found = [with_moduli(conflicts, rows) for _, rows in search.best]
    return sorted(found, key=lambda mapping: request.rank(mapping.size))


@dataclass(eq=False)
class _Search:
    """The best sizes so far, at the sizes that are compared, with their rows."""

    request: Request
    budget: Budget
    best: list[tuple[int, tuple[Vector, ...]]] = field(default_factory=list[tuple[int, tuple[Vector, ...]]])
    variations: int = 0

    def extend(self, rows: tuple[Vector, ...], polyhedra: Sequence[ConflictPolyhedron], size: int) -> None:
        """Add rows until every polyhedron is satisfied; the first descent is the paper's greedy one."""
        if not polyhedra:
            found = {known: value for value, known in self.best}
            found[rows] = min(size, found.get(rows, size))
            ranked = sorted((value, known) for known, value in found.items())
            self.best = ranked[:_KEPT]
            return
        program = HyperplaneProgram(polyhedra, self.request.sizes, self.budget)
        for hyperplane in self._choices(program, size):
            rest = _unsatisfied(polyhedra, hyperplane.row)
            self.extend((*rows, hyperplane.row), rest, size * (hyperplane.reach + 1))

    def _choices(self, program: HyperplaneProgram, size: int) -> Iterator[Hyperplane]:
        """The row that satisfies most polyhedra, then narrower ones, and ones that satisfy what it does not.

        Only rows that satisfy different polyhedra count as different.
        """
        seen: set[frozenset[int]] = set()
        waiting: list[tuple[frozenset[int], int | None]] = [(frozenset(), None)]
        # More choices are put at the end while the loop goes on.
        for forced, limit in waiting:
            if forced or limit is not None:
                if self.variations >= _MOST_VARIATIONS.get(program.rank, 12):
                    return
                self.variations += 1
            hyperplanes = program.solve(forced, self._lower(limit, size))
            for hyperplane in hyperplanes:
                if hyperplane.satisfied not in seen:
                    seen.add(hyperplane.satisfied)
                    yield hyperplane
            for hyperplane in hyperplanes[:1]:
                missing = sorted(set(range(len(program.polyhedra))) - hyperplane.satisfied)
                others = [(forced, hyperplane.reach - 1), *((forced | {k}, limit) for k in missing)]
                waiting += [choice for choice in others if choice not in waiting]
                del waiting[_MOST_CHOICES.get(program.rank, 3) :]

    def _lower(self, limit: int | None, size: int) -> int | None:
        """The limit below which a row may still lead to a smaller size than the best so far."""
        if not self.best:
            return limit
        useful = (self.best[0][0] - 1) // size - 1
        return useful if limit is None else min(limit, useful)


def _unsatisfied(polyhedra: Sequence[ConflictPolyhedron], row: Vector) -> list[ConflictPolyhedron]:
    """The conflicts that the row does not tell apart, polyhedron by polyhedron (BBC16 Eq. 8 and 9)."""
    space = polyhedra[0].differences.get_space()
    ((_, form),) = linear_form(space, row).get_pieces()
    vanishing = form.zero_basic_set()
    rest = (polyhedron.differences.intersect(vanishing) for polyhedron in polyhedra)
    return _polyhedra(list(rest))


def _specifications(differences: isl.Set) -> Iterator[list[ConflictPolyhedron]]:
    """The differences as conflict polyhedra: as they are, and split more and more finely.

    First at the first axis along which they differ, then also by their signs along the other axes.

    differences  { A[d] }  symmetric, without zero
    """
    halves = [coalesced(differences.intersect(half)) for half in _halves(differences.get_space())]
    halves = [half for half in halves if not half.is_empty()]
    if _count(halves) > _MOST_POLYHEDRA:
        yield _polyhedra([half.remove_divs().simple_hull() for half in halves])
        return
    yield _polyhedra(differences.get_basic_sets())
    yield _polyhedra(_basic_sets(halves))
    finest = halves
    for axis in range(1, differences.dim(isl.dim_type.set)):
        finer = [coalesced(part) for half in finest for part in _by_sign(half, axis)]
        finest = finer if _count(finer) <= _MOST_PARTS else finest
    if len(finest) > len(halves):
        yield _polyhedra(_basic_sets(finest))


def _count(parts: Sequence[isl.Set]) -> int:
    return sum(part.n_basic_set() for part in parts)


def _basic_sets(parts: Sequence[isl.Set]) -> list[isl.BasicSet]:
    return [basic for part in parts for basic in part.get_basic_sets()]


def _by_sign(part: isl.Set, axis: int) -> list[isl.Set]:
    """The nonempty parts with a positive, zero and negative difference along the axis."""
    parts = (
        part.lower_bound_val(isl.dim_type.set, axis, isl.Val(1)),
        part.fix_val(isl.dim_type.set, axis, isl.Val(0)),
        part.upper_bound_val(isl.dim_type.set, axis, isl.Val(-1)),
    )
    return [piece for piece in parts if not piece.is_empty()]


def _halves(space: isl.Space) -> Iterator[isl.Set]:
    """{ A[d] }: the vectors whose first nonzero entry is positive, by the place of that entry."""
    for k in range(space.dim(isl.dim_type.set)):
        half = isl.Set.universe(space).lower_bound_val(isl.dim_type.set, k, isl.Val(1))
        for other in range(k):
            half = half.fix_val(isl.dim_type.set, other, isl.Val(0))
        yield half


def _polyhedra(basics: Sequence[isl.BasicSet]) -> list[ConflictPolyhedron]:
    """Conflict polyhedra that hold one sign of every difference; those that no row satisfies are split.

    A part whose first nonzero entry has one sign is satisfied by that axis, so every step makes progress.
    """
    found: list[ConflictPolyhedron] = []
    for basic in _one_of_each_sign(basics):
        polyhedron = ConflictPolyhedron(basic)
        if polyhedron.is_satisfiable:
            found.append(polyhedron)
            continue
        both = isl.Set.from_basic_set(basic)
        both = both.union(both.neg())
        parts = [both.intersect(half) for half in _halves(basic.get_space())]
        found += [ConflictPolyhedron(piece) for piece in _basic_sets(parts) if not piece.is_empty()]
    return found


def _one_of_each_sign(basics: Sequence[isl.BasicSet]) -> list[isl.BasicSet]:
    kept: list[tuple[isl.BasicSet, isl.Set]] = []
    for basic in basics:
        one = isl.Set.from_basic_set(basic)
        if one.is_empty() or any(_is_part(basic, other) for _, other in kept):
            continue
        both = one.union(one.neg())
        kept = [(other, known) for other, known in kept if not _is_part(other, both)]
        kept.append((basic, both))
    return [basic for basic, _ in kept]


def _is_part(basic: isl.BasicSet, both: isl.Set) -> bool:
    """Whether a piece lies in a set; of one with many variables of its own, whether it is a piece of it."""
    pieces = both.get_basic_sets()
    if any(piece.dim(isl.dim_type.div) > _MOST_VARIABLES for piece in pieces):
        return any(piece.plain_is_equal(basic) for piece in pieces)
    return bool(isl.Set.from_basic_set(basic).is_subset(both))


METHOD = Method(
    "hyperplane",
    "storage hyperplanes that satisfy most conflict polyhedra, then the smallest modulus",
    "BBC16 algorithm 1",
    find_hyperplanes,
)
