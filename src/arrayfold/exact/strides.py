"""The lattice that vectors of a set generate, and coordinates in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import islpy as isl
from flint import fmpq_mat, fmpz_mat

from arrayfold.exact.isl import coordinate
from arrayfold.exact.lattice import Vector, axes, determinant, kernel, unimodular_complement

_DIMENSIONS = (isl.dim_type.cst, isl.dim_type.div, isl.dim_type.set)


def generated_lattice(vectors: isl.Set) -> tuple[Vector, ...] | None:
    """A basis, in echelon form, of a lattice of full rank that all vectors of a set { A[d] } lie in.

    It has the strides of the set as isl sees them, and no others. None where that is all integer vectors.

    >>> generated_lattice(isl.Set("[N] -> { A[i, j] : 0 <= i, j <= N and (i + j) mod 2 = 0 }"))
    ((1, 1), (0, 2))
    >>> generated_lattice(isl.Set("{ A[i] : i mod 2 = 1 }"))
    """
    rank = vectors.dim(isl.dim_type.set)
    pieces = vectors.get_basic_sets()
    if rank == 0 or not pieces:
        return None
    # One vector of each piece often shows that there is no stride.
    inside = _echelon([_some_vector(piece) for piece in pieces])
    for piece in pieces:
        if len(inside) == rank and abs(determinant(inside)) == 1:
            return None
        inside = _echelon([*inside, *_generators(piece)])
    basis = _echelon([*inside, *unimodular_complement(inside, rank)])
    return None if abs(determinant(basis)) == 1 else tuple(basis)


def _some_vector(piece: isl.BasicSet) -> Vector:
    point = piece.sample_point()
    return tuple(coordinate(point, isl.dim_type.set, k) for k in range(piece.dim(isl.dim_type.set)))


def _generators(piece: isl.BasicSet) -> list[Vector]:
    """Vectors that generate a lattice with all vectors of a piece { A[d] }, whatever the parameters are."""
    rank = piece.dim(isl.dim_type.set)
    hull = piece.project_out(isl.dim_type.param, 0, piece.dim(isl.dim_type.param)).affine_hull()
    lines = _table(hull.equalities_matrix(*_DIMENSIONS, isl.dim_type.param))
    columns = 1 + hull.dim(isl.dim_type.div) + rank
    # The constant is an unknown, too: then multiples of solutions are solutions.
    return [solution[-rank:] for solution in (kernel(lines, columns) if lines else axes(columns))]


def dual_rows(basis: Sequence[Vector]) -> list[list[Fraction]]:
    """Rows that give the coordinates of a vector with respect to a basis.

    >>> [[str(entry) for entry in row] for row in dual_rows([(1, 1), (0, 2)])]
    [['1', '0'], ['-1/2', '1/2']]
    """
    inverse: Any = fmpq_mat(fmpz_mat([list(vector) for vector in basis])).inv()
    rank = len(basis)
    return [[Fraction(int(inverse[j, k].p), int(inverse[j, k].q)) for j in range(rank)] for k in range(rank)]


def reduced(vector: Vector, basis: Sequence[Vector]) -> Vector:
    """The vector less one of a lattice, with small entries that are not negative.

    >>> reduced((3, 4), ((1, 1), (0, 2)))
    (0, 1)
    """
    rest = list(vector)
    for k, line in enumerate(basis):
        times = rest[k] // line[k]
        rest = [a - times * b for a, b in zip(rest, line, strict=True)]
    return tuple(rest)


def _echelon(vectors: Sequence[Sequence[int]]) -> list[Vector]:
    if not vectors:
        return []
    echelon: Any = fmpz_mat([list(vector) for vector in vectors]).hnf()
    return [line for line in (tuple(int(entry) for entry in row) for row in echelon.tolist()) if any(line)]


def _table(matrix: isl.Mat) -> list[Vector]:
    rows, columns = matrix.rows(), matrix.cols()
    return [tuple(matrix.get_element_val(j, k).to_python() for k in range(columns)) for j in range(rows)]
