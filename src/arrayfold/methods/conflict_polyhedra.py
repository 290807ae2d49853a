"""Differences as conflict polyhedra, and what a hyperplane leaves of them (BBC16 §3.3 to §3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from arrayfold.exact.isl import coalesced, linear_form
from arrayfold.exact.lattice import Vector
from arrayfold.methods.hyperplane_program import ConflictPolyhedron

_MOST_POLYHEDRA = 24
_MOST_PARTS = 12
_MOST_VARIABLES = 2


def unsatisfied(polyhedra: Sequence[ConflictPolyhedron], row: Vector) -> list[ConflictPolyhedron]:
    """The conflicts that the row does not tell apart, polyhedron by polyhedron (BBC16 Eq. 8 and 9)."""
    space = polyhedra[0].differences.get_space()
    ((_, form),) = linear_form(space, row).get_pieces()
    vanishing = form.zero_basic_set()
    rest = (polyhedron.differences.intersect(vanishing) for polyhedron in polyhedra)
    return _polyhedra(list(rest))


def specifications(differences: isl.Set) -> Iterator[list[ConflictPolyhedron]]:
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


def disjoint_specifications(differences: isl.Set) -> list[list[ConflictPolyhedron]]:
    """Disjoint conflict polyhedra: by the first axis along which cells differ, then by all signs.

    differences  { A[d] }  symmetric, without zero

    BBC16 leaves open how a conflict set is divided; where its polyhedra overlap, a hyperplane that satisfies
    one of them need not satisfy the other (DIY15 Fig. 7).
    """
    halves = [coalesced(differences.intersect(half)) for half in _halves(differences.get_space())]
    found = [_basic_sets([half.remove_divs().make_disjoint() for half in halves])]
    finest = halves
    for axis in range(1, differences.dim(isl.dim_type.set)):
        finest = [coalesced(part) for half in finest for part in _by_sign(half, axis)]
    found.append(_basic_sets([part.remove_divs().make_disjoint() for part in finest]))
    few = [basics for basics in found if len(basics) <= _MOST_POLYHEDRA]
    return [_polyhedra(basics) for basics in few or [[half.remove_divs().simple_hull() for half in halves]]]


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
