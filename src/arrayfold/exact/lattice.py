"""Integer vectors and lattices, exactly, by FLINT."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from flint import fmpq_poly, fmpz_mat, nmod_mat

Vector = tuple[int, ...]

_SHORT = 6
_FIRST_COEFFICIENTS = 2


def axes(rank: int) -> list[Vector]:
    """The unit vectors."""
    return [tuple(int(axis == k) for k in range(rank)) for axis in range(rank)]


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    """The scalar product of two vectors of one length."""
    return sum(map(mul, left, right))


def times(rows: Iterable[Vector], vector: Vector) -> Vector:
    """The rows applied to a vector."""
    return tuple(dot(row, vector) for row in rows)


def primitive_vectors(rank: int, largest: int) -> Iterator[Vector]:
    """The primitive vectors with entries up to a number, one of each pair of opposite ones.

    >>> [*primitive_vectors(2, 1)]
    [(0, 1), (1, -1), (1, 0), (1, 1)]
    """
    everything = itertools.product(range(-largest, largest + 1), repeat=rank)
    return (v for v in everything if math.gcd(*v) == 1 and first_positive(v) == v)


def whole_multiple(vector: Sequence[int | Fraction]) -> Vector:
    """The shortest positive multiple with whole entries.

    >>> whole_multiple([Fraction(1, 2), 3])
    (1, 6)
    """
    scale = math.lcm(*(entry.denominator for entry in vector))
    numbers = [int(entry * scale) for entry in vector]
    divisor = math.gcd(*numbers) or 1
    return tuple(number // divisor for number in numbers)


def determinant(matrix: Sequence[Vector]) -> int:
    """The determinant of a square matrix.

    >>> determinant(((2, 1), (1, 3)))
    5
    """
    return int(fmpz_mat([list(row) for row in matrix]).det())


def kernel_frame(row: Sequence[int]) -> tuple[list[Vector], list[Vector]]:
    """A short basis of the integer vectors on which a primitive row vanishes, and rows that are dual to it.

    basis  vectors d with row . d = 0, all of them are integer combinations
    dual   rows r with r_j . basis_k = 1 if j = k else 0

    >>> kernel_frame((1, -1))
    ([(1, 1)], [(1, 0)])
    """
    transform = [line[1:] for line in _echelon([row], len(row))]
    kernel = _table(fmpz_mat(transform[1:]).lll()) if len(row) > 1 else []
    whole: Any = fmpz_mat([transform[0], *kernel])
    dual = _table(whole.inv().transpose())[1:]
    return [tuple(vector) for vector in kernel], [tuple(vector) for vector in dual]


def kernel(rows: Sequence[Vector], rank: int) -> list[Vector]:
    """A short basis of the integer vectors on which all rows vanish.

    >>> kernel([(1, -1, 0)], 3)
    [(0, 0, 1), (1, 1, 0)]
    """
    count = len(rows)
    inside = [line[count:] for line in _echelon(rows, rank) if not any(line[:count])]
    return [tuple(vector) for vector in _table(fmpz_mat(inside).lll())] if inside else []


def unimodular_complement(vectors: Sequence[Vector], rank: int) -> list[Vector]:
    """Vectors that together with the vectors of the same linear span form a basis of all integer vectors.

    >>> unimodular_complement([(2, 4)], 2), unimodular_complement([], 1)
    ([(0, -1)], [(1,)])
    """
    across = kernel(vectors, rank) if vectors else axes(rank)
    return [tuple(line[len(across) :]) for line in _echelon(across, rank)[: len(across)]] if across else []


def independent(vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors that are no linear combination of those before.

    >>> independent([(1, 2), (2, 4), (0, 1)])
    [(1, 2), (0, 1)]
    """
    kept: list[Vector] = []
    for vector in vectors:
        if fmpz_mat([list(other) for other in (*kept, vector)]).rank() > len(kept):
            kept.append(vector)
    return kept


def _echelon(rows: Sequence[Sequence[int]], rank: int) -> list[list[int]]:
    """What rows make of each unit vector, and that vector beside it, in Hermite normal form."""
    return _table(fmpz_mat([[*(row[k] for row in rows), *axis] for k, axis in enumerate(axes(rank))]).hnf())


def multiplier_row(vector: Sequence[int]) -> Vector:
    """A row with product 1 with a primitive vector.

    >>> multiplier_row((3, 5))
    (2, -1)
    """
    first = _echelon([vector], len(vector))[0]
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


def contains(basis: Sequence[Vector], vector: Vector) -> bool:
    """Whether a vector lies in the lattice of a basis, by Cramer's rule.

    >>> contains([(2, 0), (1, 1)], (3, 1)), contains([(2, 0), (1, 1)], (1, 0))
    (True, False)
    """
    whole = determinant(basis)
    return all(
        determinant([vector if k == axis else row for k, row in enumerate(basis)]) % whole == 0
        for axis in range(len(basis))
    )


def reduced_basis(vectors: Sequence[Vector]) -> list[Vector]:
    """A basis of the same lattice with short vectors."""
    return [tuple(vector) for vector in _reduce([list(vector) for vector in vectors])]


def short_basis(vectors: Sequence[Vector]) -> list[Vector]:
    """A basis of the same lattice with the shortest vectors that LLL finds.

    >>> short_basis([(2, 2, 0), (49, -48, 0), (-5, 6, 1)])
    [(2, 2, 0), (-5, 6, 1), (-2, 0, 9)]
    """
    return [tuple(line) for line in _table(fmpz_mat([list(one) for one in vectors]).lll())]


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


def modulo(vector: Vector, lattice: Sequence[Vector]) -> Vector:
    """The vector that differs by one of a lattice, and is least where the echelon form of that begins.

    >>> modulo((14, 1), [(2, 2)]), modulo((15, 1), [(2, 2)]), modulo((3, 5), [])
    ((0, -13), (1, -13), (3, 5))
    """
    echelon = _table(fmpz_mat([list(one) for one in lattice]).hnf()) if lattice else []
    rest = list(vector)
    for line in filter(any, echelon):
        pivot = next(k for k, entry in enumerate(line) if entry)
        factor = rest[pivot] // line[pivot]
        rest = [entry - factor * other for entry, other in zip(rest, line, strict=True)]
    return tuple(rest)


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


# ---------------------------------------------------------------- rows of a lattice


def smith_rows(basis: Sequence[Vector]) -> tuple[list[Vector], list[int]]:
    """Rows with small entries and their moduli, the largest first; together they vanish on the lattice only.

    The rows that vanish on a lattice modulo s form a lattice themselves. If s is the largest entry of the
    Smith normal form, a row among them that takes all values modulo s tells as many classes apart as one row
    can; the next row does so modulo the next entry, and tells apart what the rows before it do not (DSV05;
    DIY15 §4.2).

    basis  linearly independent vectors that generate the lattice, as many as there are dimensions

    >>> smith_rows([(2, 2), (0, 6)])
    ([(1, -1), (1, 0)], [6, 2])
    """
    moduli = [modulus for modulus in reversed(_invariant_factors(basis)) if modulus > 1]
    rows: list[Vector] = []
    for count, modulus in enumerate(moduli, 1):
        wanted = math.prod(moduli[:count])
        rows.append(
            next(
                row for row in _short_rows(basis, modulus) if _classes([*rows, row], moduli[:count]) == wanted
            )
        )
    return rows, moduli


def _invariant_factors(basis: Sequence[Vector]) -> list[int]:
    diagonal = _table(fmpz_mat([list(vector) for vector in basis]).snf()) if basis else []
    return [abs(line[k]) for k, line in enumerate(diagonal)]


def _short_rows(basis: Sequence[Vector], modulus: int) -> Iterator[Vector]:
    """The rows that vanish on the lattice modulo a number, roughly from small entries to large ones."""
    frame = reduced_kernel(basis, [modulus] * len(basis))
    for largest in itertools.count(_FIRST_COEFFICIENTS):
        combinations = itertools.product(range(-largest, largest + 1), repeat=len(frame))
        fresh = (c for c in combinations if largest in (_FIRST_COEFFICIENTS, max(map(abs, c))))
        rows = {tuple(_centred(entry, modulus) for entry in combine(c, frame)) for c in fresh}
        yield from sorted(rows, key=_simplicity)


def _centred(entry: int, modulus: int) -> int:
    rest = entry % modulus
    return rest - modulus if 2 * rest > modulus else rest


def _simplicity(row: Vector) -> tuple[int, int, int, Vector]:
    """Few products, then small entries, then few signs."""
    products = sum(abs(entry) > 1 for entry in row)
    signs = sum(entry < 0 for entry in row)
    return products, sum(map(abs, row)), signs, tuple(-entry for entry in row)


def _classes(rows: Sequence[Vector], moduli: Sequence[int]) -> int:
    """How many different addresses the rows reach modulo their moduli."""
    largest = moduli[0]
    dimensions = len(rows[0])
    scaled = [[largest // m * entry for entry in row] for row, m in zip(rows, moduli, strict=True)]
    multiples = [[largest * entry for entry in axis] for axis in axes(dimensions)]
    echelon = _table(fmpz_mat([*scaled, *multiples]).hnf())
    return largest**dimensions // math.prod(echelon[k][k] for k in range(dimensions))


def _table(matrix: Any) -> list[list[int]]:
    return [[int(entry) for entry in line] for line in matrix.tolist()]
