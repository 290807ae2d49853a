"""Exact integer lattices, by FLINT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpz_mat

Vector = tuple[int, ...]


def kernel_frame(row: Sequence[int]) -> tuple[list[Vector], list[Vector]]:
    """A short basis of the integer vectors on which a primitive row vanishes, and rows that are dual to it.

    basis  vectors d with row . d = 0, all of them are integer combinations
    dual   rows r with r_j . basis_k = 1 if j = k else 0

    >>> kernel_frame((1, -1))
    ([(1, 1)], [(1, 0)])
    """
    size = len(row)
    beside = [[row[k], *(int(j == k) for j in range(size))] for k in range(size)]
    transform = [line[1:] for line in _table(fmpz_mat(beside).hnf())]
    kernel = _table(fmpz_mat(transform[1:]).lll()) if size > 1 else []
    whole: Any = fmpz_mat([transform[0], *kernel])
    dual = _table(whole.inv().transpose())[1:]
    return [tuple(vector) for vector in kernel], [tuple(vector) for vector in dual]


def combine(coefficients: Sequence[int], vectors: Sequence[Vector]) -> Vector:
    """The sum of coefficients times vectors.

    >>> combine((2, -1), [(1, 0), (1, 1)])
    (1, -1)
    """
    return tuple(
        sum(a * v for a, v in zip(coefficients, column, strict=True)) for column in zip(*vectors, strict=True)
    )


def _table(matrix: Any) -> list[list[int]]:
    return [[int(entry) for entry in line] for line in matrix.tolist()]
