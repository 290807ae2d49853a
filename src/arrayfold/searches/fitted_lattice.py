"""Guess and prove: the smallest lattices at a few sizes, fitted by a basis that is affine in the parameter.

A lattice whose basis is fitted may need different rows for different residues of the parameter, because the
group of its classes does. The rows are integer combinations of the columns of the adjugate of the basis,
which vanish on the lattice modulo its determinant; where they share a factor with the determinant, a
second row modulo that factor takes its place (DSV05).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from arrayfold._budget import Budget
from arrayfold._integer import Vector, reduced_basis, same_lattice
from arrayfold._isl import parameter_minima
from arrayfold.conflicts import Conflicts, in_residue_class
from arrayfold.errors import ArrayfoldError
from arrayfold.formula import Formula
from arrayfold.mapping import Mapping
from arrayfold.methods import Request
from arrayfold.methods.exhaustive import differences_at, smallest_lattices

_SIZES = 4
_FIRST_SIZE = 4
_MOST_LATTICES = 4
_MOST_WORK = 400_000
_MOST_DIFFERENCES = 3000
_MOST_MAPPINGS = 3
_FACTORS = (2, 3)
_SHARE = 0.3
_TRIED = (50, 51, 52, 53, 54, 55)

Affine = tuple[int, int]  # constant and slope
AffineBasis = tuple[tuple[Affine, ...], ...]


def search_fitted_lattice(conflicts: Conflicts, request: Request, best: Formula | None) -> Sequence[Mapping]:
    """Mappings for all sizes that share one fitted lattice, where it is smaller than the best size so far."""
    found: list[Mapping] = []
    for basis in fit_bases(conflicts, request, best):
        found += itertools.islice(rows_of_lattice(conflicts, basis), _MOST_MAPPINGS)
    return found


# ---------------------------------------------------------------- fitting


def fit_bases(conflicts: Conflicts, request: Request, best: Formula | None) -> list[AffineBasis]:
    """Bases that give a smallest lattice at each of a few sizes; none where the argument does not apply."""
    least = parameter_minima(conflicts.context)
    if least is None or len(least) != 1 or not 2 <= conflicts.array.rank <= 3 or best is None:
        return []
    ((name, start),) = least.items()
    sizes = range(max(start + 1, _FIRST_SIZE), max(start + 1, _FIRST_SIZE) + _SIZES)
    try:
        tables = [_optima(conflicts, name, size, request.budget.part(_SHARE)) for size in sizes]
    except ArrayfoldError:
        return []
    if not all(tables):
        return []
    fitted: list[AffineBasis] = []
    for first, second in itertools.product(tables[-2], tables[-1]):
        agreeing = (
            basis
            for basis in _lines_through(first, second, sizes[-2])
            if all(
                any(same_lattice(_at(basis, size), other) for other in table)
                for size, table in zip(sizes[:-2], tables[:-2], strict=True)
            )
        )
        simplest = min(agreeing, key=_size_of_entries, default=None)
        if simplest is not None:
            fitted.append(simplest)
    far = next(iter(request.far.values()))
    return [basis for basis in fitted if abs(_determinant(_at(basis, far))) < best.evaluate({name: far})]


def _optima(conflicts: Conflicts, name: str, size: int, budget: Budget) -> list[list[Vector]]:
    """The smallest lattices at one size, as short bases; none if they are too many to tell."""
    differences = differences_at(conflicts, {name: size})
    if not differences or len(differences) > _MOST_DIFFERENCES:
        return []
    lattices = smallest_lattices(differences, conflicts.array.rank, budget, most_work=_MOST_WORK)
    found = list(itertools.islice(lattices, _MOST_LATTICES + 1))
    return [reduced_basis(basis) for basis in found] if len(found) <= _MOST_LATTICES else []


def _lines_through(first: Sequence[Vector], second: Sequence[Vector], size: int) -> Iterator[AffineBasis]:
    """Affine bases that agree with two bases at consecutive sizes, in any order and with any signs."""
    for order in itertools.permutations(second):
        for signs in itertools.product((1, -1), repeat=len(order)):
            yield tuple(
                tuple((a - (sign * b - a) * size, sign * b - a) for a, b in zip(vector, other, strict=True))
                for vector, other, sign in zip(first, order, signs, strict=True)
            )


def _size_of_entries(basis: AffineBasis) -> tuple[int, AffineBasis]:
    return sum(abs(part) for vector in basis for entry in vector for part in entry), basis


def _at(basis: AffineBasis, size: int) -> list[Vector]:
    return [tuple(constant + slope * size for constant, slope in vector) for vector in basis]


def _determinant(matrix: Sequence[Sequence[int]]) -> int:
    if not matrix:
        return 1
    minors = ([[*row[:k], *row[k + 1 :]] for row in matrix[1:]] for k in range(len(matrix)))
    return sum((-1) ** k * matrix[0][k] * _determinant(minor) for k, minor in enumerate(minors))


# ---------------------------------------------------------------- rows


def in_class(basis: AffineBasis, modulus: int, residue: int) -> AffineBasis:
    """The basis in m, where the parameter is modulus * m + residue."""
    return tuple(
        tuple((constant + slope * residue, slope * modulus) for constant, slope in vector) for vector in basis
    )


def class_of(
    conflicts: Conflicts, basis: AffineBasis, modulus: int, residue: int, new_name: str
) -> tuple[Conflicts, list[Mapping]]:
    """The conflicts of a residue class of the parameter, and mappings for them, in the new parameter."""
    (name,) = parameter_minima(conflicts.context) or {}
    here = in_residue_class(conflicts, name, modulus, residue, new_name)
    mappings = itertools.islice(rows_of_lattice(here, in_class(basis, modulus, residue)), _MOST_MAPPINGS)
    return here, list(mappings)


def rows_of_lattice(conflicts: Conflicts, basis: AffineBasis) -> Iterator[Mapping]:
    """Mappings whose kernel seems to be the lattice, with simple rows first; the judge decides."""
    (name,) = parameter_minima(conflicts.context) or {"": 0}
    parameter = Formula.name(name)
    matrix = [[parameter * slope + constant for constant, slope in vector] for vector in basis]
    columns, determinant = _adjugate_columns(matrix)
    if determinant.evaluate({name: _TRIED[0]}) < 0:
        determinant = -determinant
    rank = len(basis)
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
        candidates = sorted(_divided(rows, determinant, factor, name), key=_simplicity)
        for row, modulus in candidates:
            extra = _second_row(matrix, factor, name) if factor > 1 else None
            if factor > 1 and extra is None:
                continue
            lines = [row] if extra is None else [row, extra]
            moduli = [modulus] if factor == 1 else [modulus, Formula.constant(factor)]
            yield Mapping.of(conflicts.name, conflicts.array.dimensions, lines, moduli)


def _adjugate_columns(matrix: Sequence[Sequence[Formula]]) -> tuple[list[list[Formula]], Formula]:
    """Entry (i, j) of the adjugate, and the determinant."""
    rank = len(matrix)

    def minor(row: int, column: int) -> Formula:
        rest = [[*line[:column], *line[column + 1 :]] for k, line in enumerate(matrix) if k != row]
        return _formula_determinant(rest) * (-1) ** (row + column)

    adjugate = [[minor(j, i) for j in range(rank)] for i in range(rank)]
    return adjugate, _formula_determinant(matrix)


def _formula_determinant(matrix: Sequence[Sequence[Formula]]) -> Formula:
    if not matrix:
        return Formula.constant(1)
    total = Formula.constant(0)
    for column, entry in enumerate(matrix[0]):
        minor = [[*row[:column], *row[column + 1 :]] for row in matrix[1:]]
        total += entry * _formula_determinant(minor) * (-1) ** column
    return total


def _divided(
    rows: Sequence[Sequence[Formula]], determinant: Formula, factor: int, name: str
) -> Iterator[tuple[list[Formula], Formula]]:
    """Rows divided by a factor that they share with the determinant, where nothing else is shared."""
    if any(coefficient % factor for _, coefficient in determinant.terms):
        return
    modulus = determinant * _inverse(factor)
    for row in rows:
        if any(coefficient % factor for entry in row for _, coefficient in entry.terms):
            continue
        smaller = [entry * _inverse(factor) for entry in row]
        if all(
            math.gcd(modulus.at({name: size}), *(entry.at({name: size}) for entry in smaller)) == 1
            for size in _TRIED
        ):
            yield _with_positive_start(smaller), modulus


def _inverse(factor: int) -> Formula:
    return Formula.constant(Fraction(1, factor))


def _with_positive_start(row: Sequence[Formula]) -> list[Formula]:
    first = next(entry for entry in row if entry.terms)
    return [-entry for entry in row] if first.terms[0][1] < 0 else list(row)


def _simplicity(candidate: tuple[Sequence[Formula], Formula]) -> tuple[int, int, str]:
    row, _ = candidate
    moving = sum(not entry.is_constant for entry in row)
    return moving, int(sum(abs(c) for entry in row for _, c in entry.terms)), str(row)


def _second_row(matrix: Sequence[Sequence[Formula]], factor: int, name: str) -> list[Formula] | None:
    """A row of small numbers that vanishes on the lattice modulo the factor."""
    rank = len(matrix)
    everything = itertools.product(range(factor), repeat=rank)
    for entries in sorted(everything, key=lambda e: (sum(e), tuple(-x for x in e))):
        products = [
            sum(entry * part.at({name: size}) for entry, part in zip(entries, vector, strict=True))
            for vector in matrix
            for size in _TRIED
        ]
        if any(entries) and not any(product % factor for product in products):
            return [Formula.constant(entry) for entry in entries]
    return None
