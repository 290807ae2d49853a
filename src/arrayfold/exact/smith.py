"""Rows and moduli of a lattice: the Smith normal form of its basis gives the moduli, short vectors the rows.

The rows that vanish on a lattice modulo s form a lattice themselves. If s is the largest entry of the Smith
normal form, a row among them that takes all values modulo s tells as many classes apart as one row can; the
next row does so modulo the next entry, and tells apart what the rows before it do not (DSV05; DIY15 §4.2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from flint import fmpz_mat

from arrayfold.exact.lattice import Vector, combine, reduced_kernel

_FIRST_COEFFICIENTS = 2


def smith_rows(basis: Sequence[Vector]) -> tuple[list[Vector], list[int]]:
    """Rows with small entries and their moduli, the largest first; together they vanish on the lattice only.

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
    diagonal: Any = fmpz_mat([list(vector) for vector in basis]).snf().tolist() if basis else []
    return [abs(int(line[k])) for k, line in enumerate(diagonal)]


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
    multiples = [[largest * int(j == k) for j in range(dimensions)] for k in range(dimensions)]
    echelon: Any = fmpz_mat([*scaled, *multiples]).hnf().tolist()
    return largest**dimensions // math.prod(int(echelon[k][k]) for k in range(dimensions))
