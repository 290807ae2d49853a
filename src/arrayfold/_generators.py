"""Vertices and rays of polyhedra, which is where affine forms must be looked at (Minkowski, Farkas)."""

from __future__ import annotations

import islpy as isl

from arrayfold._integer import Vector


def nonnegative_forms(piece: isl.BasicSet) -> list[Vector]:
    """Vectors v such that a form f is nonnegative on the piece iff v . f >= 0 for each of them.

    A form is (constant, coefficients of the parameters, coefficients of the indices). The vectors are the
    vertices (first entry positive) and rays (first entry zero) of the piece, parameters in front; a line
    gives two opposite ones. Existential variables are dropped, which may enlarge the piece.

    >>> nonnegative_forms(isl.BasicSet("[N] -> { A[i] : 0 <= i < N }"))
    [(0, 1, 0), (0, 1, 1), (1, 1, 0)]
    """
    found: set[Vector] = set()
    for constraint in piece.remove_divs().coefficients().get_constraints():
        count = constraint.dim(isl.dim_type.set)
        entries = [constraint.get_coefficient_val(isl.dim_type.set, k).to_python() for k in range(count)]
        found.add(tuple(entries))
        if constraint.is_equality():
            found.add(tuple(-entry for entry in entries))
    return sorted(found)
