"""Vertices and rays of polyhedra, which is where affine forms must be looked at (Minkowski, Farkas)."""

from __future__ import annotations

from fractions import Fraction
from operator import mul

import islpy as isl

from arrayfold.exact.lattice import Vector, whole_multiple

# Eliminating Farkas' multipliers is fast for few constraints only; parametric vertices for few parameters.
_FEW_CONSTRAINTS = 12
_FEW_PARAMETERS = 1


def nonnegative_forms(piece: isl.BasicSet) -> list[Vector]:
    """Vectors v such that a form f is nonnegative on the piece iff v . f >= 0 for each of them.

    A form is (constant, coefficients of the parameters, coefficients of the indices). The vectors are the
    vertices (first entry positive) and rays (first entry zero) of the piece, parameters in front; a line
    gives two opposite ones. Existential variables are dropped, which may enlarge the piece.

    >>> nonnegative_forms(isl.BasicSet("[N] -> { A[i] : 0 <= i < N }"))
    [(0, 1, 0), (0, 1, 1), (1, 1, 0)]
    """
    plain = piece.remove_divs()
    few = plain.dim(isl.dim_type.param) <= _FEW_PARAMETERS
    if few and plain.n_constraint() > _FEW_CONSTRAINTS and isl.Set.from_basic_set(plain).is_bounded():
        return forms_of_vertices(plain)
    return forms_of_multipliers(plain)


def forms_of_multipliers(piece: isl.BasicSet) -> list[Vector]:
    """The vectors of `nonnegative_forms` as the constraints of a cone, by Farkas' lemma."""
    found: set[Vector] = set()
    for constraint in piece.coefficients().get_constraints():
        count = constraint.dim(isl.dim_type.set)
        entries = [constraint.get_coefficient_val(isl.dim_type.set, k).to_python() for k in range(count)]
        found.add(tuple(entries))
        if constraint.is_equality():
            found.add(tuple(-entry for entry in entries))
    return sorted(found)


def forms_of_vertices(piece: isl.BasicSet) -> list[Vector]:
    """The same, from vertices that are affine in the parameters, on the parts of the context where they are.

    piece  bounded for every value of the parameters, without existential variables
    """
    found: set[Vector] = set()
    for where, corner in vertices(piece):
        entries = list(map(_affine, corner))
        for weights in forms_of_multipliers(where):
            # The vertex at these parameters, times the weight in front; where it moves for a ray.
            values = [sum(map(mul, entry, weights)) for entry in entries]
            found.add(whole_multiple([*weights, *values]))
    return sorted(found)


def vertices(piece: isl.BasicSet) -> list[tuple[isl.BasicSet, list[isl.Aff]]]:
    """The vertices of a piece, affine in the parameters, each with the values { : } of these where it is one.

    >>> [corner for _, corner in vertices(isl.BasicSet("[N] -> { A[i] : 0 <= i < N }"))]
    [[Aff("[N] -> { [(-1 + N)] }")], [Aff("[N] -> { [(0)] }")]]
    """
    # Nothing is computed in the callback: islpy prints and forgets exceptions there.
    found: list[isl.Vertex] = []
    piece.compute_vertices().foreach_vertex(found.append)
    corners = [(vertex.get_domain(), vertex.get_expr()) for vertex in found]
    return [(where, [at.get_at(k) for k in range(at.dim(isl.dim_type.out))]) for where, at in corners]


def _affine(entry: isl.Aff) -> list[int | Fraction]:
    """The constant of a form of the parameters, and their coefficients."""
    count = entry.dim(isl.dim_type.param)
    values = [entry.get_coefficient_val(isl.dim_type.param, k) for k in range(count)]
    return [
        value.to_python() if value.is_int() else Fraction(str(value))
        for value in (entry.get_constant_val(), *values)
    ]
