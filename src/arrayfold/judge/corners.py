"""Validity of one-row mappings whose coefficients are polynomials of any number of parameters.

Let the axes be ordered by their coefficients, largest first, and call a difference positive if its first
entry that is not zero moves the address up. Differences come in opposite pairs, so it is enough that every
positive one moves the address by at least 1 and at most b - 1. At fixed parameters the move is linear in the
difference, so its extremes over a polytope are at corners. Corners are affine in the parameters; there the
move is a polynomial of the parameters alone, which is positive if no term is negative once the least
parameter values are taken as the origin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff
from arrayfold.exact.isl import is_bounded
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.exact.signs import is_positive
from arrayfold.mapping.modular import ModularMapping

_MOST_PIECES = 100

Corner = tuple[Formula, ...]


def check_linear(conflicts: Conflicts, mapping: ModularMapping) -> int | None:
    """How many corners show that the mapping is valid; None where the argument does not apply."""
    if len(mapping.moduli) != 1 or not all(entry.is_polynomial for entry in mapping.matrix[0]):
        return None
    (row,), (modulus,) = mapping.matrix, mapping.moduli
    differences = conflicts.differences.intersect_params(conflicts.context)
    if not modulus.is_polynomial or not is_bounded(differences):
        return None
    count = 0
    parts = _positive_parts(differences, row, conflicts.context)
    pieces = [piece for part in parts for piece in part.remove_divs().get_basic_sets()]
    if len(pieces) > _MOST_PIECES:
        return None
    for piece in pieces:
        for where, corner in _corners(piece):
            move = sum((a * x for a, x in zip(row, corner, strict=True)), start=Formula.constant(0))
            here = conflicts.context.intersect(where)
            if not (is_positive(move, here) and is_positive(modulus - move, here)):
                return None
            count += 1
    return count


def _positive_parts(differences: isl.Set, row: Sequence[Formula], context: isl.Set) -> Iterator[isl.Set]:
    """The differences by the first axis on which they are not zero, one of each opposite pair."""
    far = large_parameters(context)
    values = [entry.evaluate(far) for entry in row]
    rest = differences
    for axis in sorted(range(len(row)), key=lambda k: -abs(values[k])):
        if values[axis] > 0:
            yield rest.lower_bound_val(isl.dim_type.set, axis, 1)
        else:
            yield rest.upper_bound_val(isl.dim_type.set, axis, -1)
        rest = rest.fix_val(isl.dim_type.set, axis, 0)


def _corners(piece: isl.BasicSet) -> list[tuple[isl.Set, Corner]]:
    """{ : } and the corner of a piece of the differences that there is for these parameters."""
    found: list[tuple[isl.Set, Corner]] = []

    def visit(vertex: isl.Vertex) -> None:
        corner = vertex.get_expr()
        entries = tuple(from_aff(corner.get_at(k)) for k in range(corner.dim(isl.dim_type.out)))
        found.append((isl.Set.from_basic_set(vertex.get_domain()).params(), entries))

    piece.compute_vertices().foreach_vertex(visit)
    return found
