"""Exact integer lattices, by FLINT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import fmpq_poly, fmpz_mat, nmod_mat

Vector = tuple[int, ...]

_SHORT = 6


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


def multiplier_row(vector: Sequence[int]) -> Vector:
    """A row with product 1 with a primitive vector.

    >>> multiplier_row((3, 5))
    (2, -1)
    """
    size = len(vector)
    beside = [[vector[k], *(int(j == k) for j in range(size))] for k in range(size)]
    first = _table(fmpz_mat(beside).hnf())[0]
    assert first[0] == 1
    return tuple(first[1:])


def is_onto(rows: Sequence[Sequence[int]]) -> bool:
    """Whether the rows map the integer vectors onto all integer vectors.

    >>> is_onto([[1, -1], [0, 1]]), is_onto([[1, 1], [1, -1]])
    (True, False)
    """
    diagonal = _table(fmpz_mat([list(row) for row in rows]).snf())
    return all(abs(line[k]) == 1 if k < len(line) else False for k, line in enumerate(diagonal))


def common_divisors_divide(polynomials: Sequence[Sequence[int]]) -> int | None:
    """A number that every common divisor of the values divides, at whatever integer; None if there is none.

    polynomials  coefficients from the constant on

    >>> common_divisors_divide([[0, 4], [1, 4, 20]]), common_divisors_divide([[0, 2], [0, 0, 3]])
    (4, None)
    """
    total = fmpq_poly([])
    scale = 1
    for coefficients in polynomials:
        divisor, left, right = total.xgcd(fmpq_poly(list(coefficients)))
        scale *= math.lcm(int(left.denom()), int(right.denom()))
        total = divisor
    return scale if total.degree() == 0 else None


def rank_modulo(rows: Sequence[Sequence[int]], prime: int) -> int:
    """The rank of integer rows over the field of a prime number of elements.

    >>> rank_modulo([[1, 3], [2, 6]], 5), rank_modulo([[1, 3], [2, 1]], 5), rank_modulo([[1, 3], [2, 0]], 5)
    (1, 1, 2)
    """
    return int(
        nmod_mat(len(rows), len(rows[0]), [entry % prime for row in rows for entry in row], prime).rank()
    )


def same_lattice(first: Sequence[Vector], second: Sequence[Vector]) -> bool:
    """Whether two bases generate the same lattice.

    >>> same_lattice([(2, 0), (0, 2)], [(2, 2), (0, -2)])
    True
    """
    return fmpz_mat([list(v) for v in first]).hnf() == fmpz_mat([list(v) for v in second]).hnf()


def reduced_basis(vectors: Sequence[Vector]) -> list[Vector]:
    """A basis of the same lattice with short vectors."""
    return [tuple(vector) for vector in _reduce([list(vector) for vector in vectors])]


def reduced_kernel(rows: Sequence[Sequence[int]], moduli: Sequence[int]) -> list[Vector]:
    """A reduced basis of the vectors that every row takes to a multiple of its modulus.

    >>> reduced_kernel([[1, 2]], [5])
    [(0, 5), (1, 2)]
    """
    size, count = len(rows[0]), len(rows)
    lines: list[list[int]] = []
    for k in range(size + count):
        image = [row[k] if k < size else moduli[j] * int(j == k - size) for j, row in enumerate(rows)]
        lines.append([*image, *(int(j == k) for j in range(size + count))])
    echelon = _table(fmpz_mat(lines).hnf())
    kernel = [line[count : count + size] for line in echelon if not any(line[:count])]
    found = [first_positive(vector) for vector in _reduce(kernel)]
    return sorted(found, key=lambda vector: ([entry != 0 for entry in vector], sum(map(abs, vector))))


def _reduce(vectors: list[list[int]]) -> list[list[int]]:
    """A reduced basis whose short vectors stay out of the others.

    A short vector with an entry ±1 clears that coordinate of the others, which are then reduced among
    themselves. So bases of lattices of one family look alike, whatever their size.
    """
    reduced = _table(fmpz_mat(vectors).lll())
    for short in reduced:
        pivot = next((k for k, entry in enumerate(short) if abs(entry) == 1), None)
        if max(map(abs, short)) <= _SHORT and pivot is not None and len(reduced) > 1:
            others = [
                [a - vector[pivot] * short[pivot] * b for a, b in zip(vector, short, strict=True)]
                for vector in reduced
                if vector is not short
            ]
            return [short, *_reduce(others)]
    return reduced


def first_positive(vector: Sequence[int]) -> Vector:
    """The vector or its opposite, so that the first entry other than zero is positive."""
    sign = -1 if next(filter(None, vector), 1) < 0 else 1
    return tuple(sign * entry for entry in vector)


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
