"""Rows and moduli of a lattice whose basis is affine in the parameter.

They are integer combinations of the columns of the adjugate of the basis, which vanish on the lattice modulo
its determinant; where they share a factor with the determinant, a second row modulo that factor takes its
place (DSV05). Which rows do may depend on the residue of the parameter, because the group of classes does.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.factors import cofactor, common_factor, determinant, quotient
from arrayfold.exact.formula import Formula
from arrayfold.exact.parameter_values import parameter_minima
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.auto.affine_lattices import AffineBasis

_FACTORS = (2, 3)
_MOST_SMALL = 3
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
        [Formula.sum(c * w for c, w in zip(line, weight, strict=True)) for line in columns]
        for weight in weights
        if any(weight)
    ]
    common = common_factor([entry for line in columns for entry in line])
    if rank > 1 and not common.is_constant:
        yield from _rows_with_common_factor(conflicts, matrix, rows, common, tried)
        return
    for factor in (1, *_FACTORS):
        candidates = sorted(_divided(rows, index, factor, tried), key=_simplicity)
        for row, modulus in candidates:
            extra = _second_row(matrix, factor, tried) if factor > 1 else None
            if factor > 1 and extra is None:
                continue
            lines = [row] if extra is None else [row, extra]
            moduli = [modulus] if factor == 1 else [modulus, Formula.constant(factor)]
            yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, lines, moduli)


def _rows_with_common_factor(
    conflicts: Conflicts,
    matrix: Matrix,
    rows: Sequence[Sequence[Formula]],
    common: Formula,
    tried: Sequence[Point],
) -> Iterator[ModularMapping]:
    """Rows where the adjugate has a factor with parameters: the lattice of m*(2, 1) and m*(1, 2).

    The moduli are the invariant factors of the basis: a row of the adjugate goes with the last one, small
    numbers with the others, which divide it.
    """
    whole = common_factor([entry for line in matrix for entry in line])
    index, middle = quotient(determinant(matrix), common), quotient(common, whole)
    if index is None or middle is None:
        return
    # With two dimensions the factors are those of the adjugate and what is left of the index.
    rest = [common] if len(matrix) == 2 else [middle, whole]
    moduli = [one if one.evaluate(tried[0]) > 0 else -one for one in (index, *rest)]
    moduli = [one for one in moduli if one != Formula.constant(1)]
    small = [
        [list(row) for row in _vanishing_rows(matrix, modulus, tried)][:_MOST_SMALL] for modulus in moduli[1:]
    ]
    large: list[list[Formula]] = []
    for row in rows:
        parts = [quotient(entry, common) for entry in row]
        smaller = [part for part in parts if part is not None]
        if len(smaller) == len(row) and all(
            math.gcd(moduli[0].at(sizes), *(entry.at(sizes) for entry in smaller)) == 1 for sizes in tried
        ):
            large.append(_with_positive_start(smaller))
    large.sort(key=lambda row: _simplicity((row, moduli[0])))
    for row in large[:_MOST_SMALL]:
        for others in itertools.product(*small):
            yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, [row, *others], moduli)


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
    return next(_vanishing_rows(matrix, Formula.constant(factor), tried, factor), None)


def _vanishing_rows(
    matrix: Sequence[Sequence[Formula]], modulus: Formula, tried: Sequence[Point], numbers: int = 2
) -> Iterator[list[Formula]]:
    """Rows of numbers below a small one that vanish on the lattice modulo a formula, at the sizes tried."""
    at_sizes = [
        (modulus.at(sizes), [part.at(sizes) for part in vector]) for vector in matrix for sizes in tried
    ]
    everything = itertools.product(range(numbers), repeat=len(matrix))
    for entries in sorted(everything, key=lambda e: (sum(e), tuple(-x for x in e))):
        if any(entries) and not any(
            sum(map(operator.mul, entries, vector)) % factor for factor, vector in at_sizes
        ):
            yield [Formula.constant(entry) for entry in entries]
