"""Rows and moduli of a lattice whose basis is affine in the parameter.

They are integer combinations of the columns of the adjugate of the basis, which vanish on the lattice modulo
its determinant; where they share a factor with the determinant, a second row modulo that factor takes its
place (DSV05). Which rows do may depend on the residue of the parameter, because the group of classes does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.factors import cofactor, determinant
from arrayfold.exact.formula import Formula
from arrayfold.exact.parameter_values import parameter_minima
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.auto.affine_lattices import AffineBasis

_FACTORS = (2, 3)
_TRIED = (50, 51, 52, 53, 54, 55)

Matrix = list[list[Formula]]
Point = Mapping[str, int]


def rows_of_lattice(conflicts: Conflicts, basis: AffineBasis) -> Iterator[ModularMapping]:
    """Mappings whose kernel seems to be the lattice, with simple rows first; the judge decides."""
    (name,) = parameter_minima(conflicts.context) or {"": 0}
    parameter = Formula.name(name)
    matrix = [[parameter * slope + constant for constant, slope in vector] for vector in basis]
    yield from rows_of_matrix(conflicts, matrix, [name])


def rows_of_matrix(conflicts: Conflicts, matrix: Matrix, names: Sequence[str]) -> Iterator[ModularMapping]:
    """The same for a basis whose entries are formulas of some parameters."""
    tried = _points(names)
    columns = [[cofactor(matrix, j, i) for j in range(len(matrix))] for i in range(len(matrix))]
    index = determinant(matrix)
    if index.evaluate(tried[0]) < 0:
        index = -index
    if index == Formula.constant(1):
        yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])
        return
    rank = len(matrix)
    weights = sorted(
        itertools.product(range(-2, 3), repeat=rank), key=lambda w: (sum(map(abs, w)), tuple(-x for x in w))
    )
    rows = [
        [
            sum((c * w for c, w in zip(line, weight, strict=True)), start=Formula.constant(0))
            for line in columns
        ]
        for weight in weights
        if any(weight)
    ]
    for factor in (1, *_FACTORS):
        candidates = sorted(_divided(rows, index, factor, tried), key=_simplicity)
        for row, modulus in candidates:
            extra = _second_row(matrix, factor, tried) if factor > 1 else None
            if factor > 1 and extra is None:
                continue
            lines = [row] if extra is None else [row, extra]
            moduli = [modulus] if factor == 1 else [modulus, Formula.constant(factor)]
            yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, lines, moduli)


def _points(names: Sequence[str]) -> list[dict[str, int]]:
    """Parameter values at which rows are tried, with all residues of small factors."""
    if len(names) == 1:
        return [{names[0]: size} for size in _TRIED]
    return [
        {name: size + (k + 1) * turn for k, name in enumerate(names)} for size in _TRIED for turn in range(6)
    ]


def _divided(
    rows: Sequence[Sequence[Formula]], index: Formula, factor: int, tried: Sequence[Point]
) -> Iterator[tuple[list[Formula], Formula]]:
    """Rows divided by a factor that they share with the index, where nothing else is shared."""
    if any(coefficient % factor for _, coefficient in index.terms):
        return
    modulus = index * Fraction(1, factor)
    for row in rows:
        if any(coefficient % factor for entry in row for _, coefficient in entry.terms):
            continue
        smaller = [entry * Fraction(1, factor) for entry in row]
        if all(math.gcd(modulus.at(sizes), *(entry.at(sizes) for entry in smaller)) == 1 for sizes in tried):
            yield _with_positive_start(smaller), modulus


def _with_positive_start(row: Sequence[Formula]) -> list[Formula]:
    first = next(entry for entry in row if entry.terms)
    return [-entry for entry in row] if first.terms[0][1] < 0 else list(row)


def _simplicity(candidate: tuple[Sequence[Formula], Formula]) -> tuple[int, int, str]:
    row, _ = candidate
    moving = sum(not entry.is_constant for entry in row)
    return moving, int(sum(abs(c) for entry in row for _, c in entry.terms)), str(row)


def _second_row(
    matrix: Sequence[Sequence[Formula]], factor: int, tried: Sequence[Point]
) -> list[Formula] | None:
    """A row of small numbers that vanishes on the lattice modulo the factor."""
    rank = len(matrix)
    everything = itertools.product(range(factor), repeat=rank)
    for entries in sorted(everything, key=lambda e: (sum(e), tuple(-x for x in e))):
        products = [
            sum(entry * part.at(sizes) for entry, part in zip(entries, vector, strict=True))
            for vector in matrix
            for sizes in tried
        ]
        if any(entries) and not any(product % factor for product in products):
            return [Formula.constant(entry) for entry in entries]
    return None
