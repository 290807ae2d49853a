"""Which points a relation of isl has: its constraints are read once and evaluated for many points at a time.

Listing the points of a relation with isl takes far longer than a whole analysis of a small program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np

_KINDS = (isl.dim_type.cst, isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)


@dataclass(frozen=True)
class _Piece:
    """Divisions are further columns: floor(line . point / denominator), each after those that it needs."""

    divisions: tuple[tuple[np.ndarray, int], ...]
    equalities: np.ndarray
    inequalities: np.ndarray

    def has(self, points: np.ndarray) -> np.ndarray:
        for line, denominator in self.divisions:
            column = (points @ line[: points.shape[1]]) // denominator
            points = np.column_stack([points, column])
        return np.all(points @ self.equalities.T == 0, axis=1) & np.all(
            points @ self.inequalities.T >= 0, axis=1
        )


class Membership:
    """Whether a map has pairs, or a set has elements, given the parameters in the order of its own."""

    def __init__(self, relation: isl.Map | isl.Set) -> None:
        points = relation.wrap() if isinstance(relation, isl.Map) else relation
        points = points.compute_divs()
        count = points.dim(isl.dim_type.param)
        self.parameters = [points.get_dim_name(isl.dim_type.param, k) for k in range(count)]
        self._pieces = [_piece(basic) for basic in points.get_basic_sets()]

    def has(self, params: dict[str, int], points: Sequence[Sequence[int]]) -> np.ndarray:
        """For each point, input and output in a row, whether it is one of the relation."""
        if not points:
            return np.zeros(0, dtype=bool)
        known = [1, *(params[name] for name in self.parameters)]
        rows = np.array([[*known, *point] for point in points], dtype=np.int64)
        found = np.zeros(len(points), dtype=bool)
        for piece in self._pieces:
            found |= piece.has(rows)
        return found


def _piece(basic: isl.BasicSet) -> _Piece:
    divisions = tuple(map(_division, (basic.get_div(k) for k in range(basic.dim(isl.dim_type.div)))))
    lines = (_rows(matrix(*_KINDS)) for matrix in (basic.equalities_matrix, basic.inequalities_matrix))
    return _Piece(divisions, *lines)


def _division(form: isl.Aff) -> tuple[np.ndarray, int]:
    """The line and the denominator of floor(form); the variables of a set are inputs of its forms."""
    denominator = form.get_denominator_val()
    entries = [form.get_constant_val()]
    for kind in (isl.dim_type.param, isl.dim_type.in_, isl.dim_type.div):
        entries += [form.get_coefficient_val(kind, k) for k in range(form.dim(kind))]
    line = [entry.mul(denominator).to_python() for entry in entries]
    return np.array(line, dtype=np.int64), denominator.to_python()


def _rows(matrix: isl.Mat) -> np.ndarray:
    rows, columns = matrix.rows(), matrix.cols()
    entries = [[matrix.get_element_val(j, k).to_python() for k in range(columns)] for j in range(rows)]
    return np.array(entries, dtype=np.int64).reshape(rows, columns)
