"""Determinants and cofactors of square matrices of formulas."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.exact.formula import Formula


def determinant(matrix: Sequence[Sequence[Formula]]) -> Formula:
    """The determinant, by its first row; 1 without rows.

    >>> n = Formula.name("N")
    >>> determinant([[n, Formula.constant(2)], [Formula.constant(3), n]])
    N^2 - 6
    """
    if not matrix:
        return Formula.constant(1)
    terms = (entry * cofactor(matrix, 0, column) for column, entry in enumerate(matrix[0]))
    return sum(terms, start=Formula.constant(0))


def cofactor(matrix: Sequence[Sequence[Formula]], row: int, column: int) -> Formula:
    """The determinant without a row and a column, with the sign of their place."""
    minor = [[*line[:column], *line[column + 1 :]] for k, line in enumerate(matrix) if k != row]
    return determinant(minor) * (-1) ** (row + column)
