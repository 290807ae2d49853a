"""Guess and prove: one row whose coefficients and modulus are polynomials of the parameter.

Ring buffers such as `(N*i + j) mod (N + 1)` are often the only minimal mappings. For programs with one
parameter, small polynomials are tried at a few small sizes, smaller moduli first; a row that no conflict
refutes there is a guess, and the judge proves it for all sizes or drops it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from arrayfold._budget import Budget
from arrayfold._isl import parameter_minima, points
from arrayfold.bounds import LowerBound, find_lower_bound
from arrayfold.conflicts import Conflicts
from arrayfold.errors import BudgetExceeded
from arrayfold.formula import Formula
from arrayfold.mapping import Mapping
from arrayfold.methods import Request

_SIZES = 3
_MOST_WORK = 3_000_000
_MOST_GUESSES = 3
_MOST_DIFFERENCES = 4000
_SHARE = 0.3
_CONSTANTS = range(-10, 11)
_MIDDLE = range(-10, 7)
_FAR = 10**6

Polynomial = tuple[int, ...]  # coefficients, from the constant on


def search_polynomial_row(conflicts: Conflicts, request: Request, best: Formula | None) -> Sequence[Mapping]:
    """Guessed mappings of one row that are smaller than the best size so far, smallest first."""
    least = parameter_minima(conflicts.context)
    rank = conflicts.array.rank
    if least is None or len(least) != 1 or not 2 <= rank <= 4 or best is None:
        return []
    ((name, start),) = least.items()
    budget = request.budget.part(_SHARE)
    tables = list(_tables(conflicts, name, start, budget))
    if len(tables) < _SIZES:
        return []
    bound = find_lower_bound(conflicts, budget)
    if bound.formula == best:
        return []
    found: list[Mapping] = []
    work = 0
    with suppress(BudgetExceeded):
        for modulus in _moduli(tables, bound, best, name):
            guess = _Guess(tables, modulus, rank, budget)
            found += [_mapping(conflicts, name, row, modulus) for row in guess.rows()]
            work += guess.work
            if len(found) >= _MOST_GUESSES or work > _MOST_WORK:
                break
    return found


@dataclass(frozen=True)
class _Table:
    """The differences at one size, one of each pair of opposite ones."""

    size: int
    differences: list[tuple[int, ...]]


def _tables(conflicts: Conflicts, name: str, start: int, budget: Budget) -> Iterator[_Table]:
    for size in range(start + 1, start + 1 + _SIZES):
        budget.check("guessing a row")
        everything = points(conflicts.differences.intersect_params(conflicts.at({name: size}).context))
        if not everything or len(everything) > 2 * _MOST_DIFFERENCES:
            return
        half = [d for d in everything if next(filter(None, d)) > 0]
        yield _Table(size, sorted(half, key=lambda d: (sum(map(abs, d)), d)))


def _moduli(tables: Sequence[_Table], bound: LowerBound, best: Formula, name: str) -> Iterator[Polynomial]:
    """Polynomials between the lower bound and the best size, smallest first for a large parameter."""
    least = [bound.at({name: table.size}) or 1 for table in tables]
    below = [best.at({name: table.size}) for table in tables]
    degree = round(math.log(max(1, best.evaluate({name: _FAR})), _FAR))
    if not 1 <= degree <= 3:
        return
    leading = range(1, int(best.evaluate({name: _FAR}) / _FAR**degree) + 2)
    floor = bound.formula.evaluate({name: _FAR}) if bound.formula is not None else 1
    found: list[Polynomial] = []
    for coefficients in itertools.product(_CONSTANTS, *[_MIDDLE] * (degree - 1), leading):
        values = [_value(coefficients, table.size) for table in tables]
        fits = all(low <= value < high for low, value, high in zip(least, values, below, strict=True))
        if fits and floor <= _value(coefficients, _FAR):
            found.append(coefficients)
    yield from sorted(found, key=lambda coefficients: _value(coefficients, _FAR))


def _value(coefficients: Polynomial, size: int) -> int:
    return sum(c * size**k for k, c in enumerate(coefficients))


class _Guess:
    """Rows for one modulus, found axis by axis: the axes chosen so far tell apart what differs along them."""

    def __init__(self, tables: Sequence[_Table], modulus: Polynomial, rank: int, budget: Budget) -> None:
        self.tables = tables
        self.moduli = [_value(modulus, table.size) for table in tables]
        self.rank = rank
        self.budget = budget
        self.candidates = _small_polynomials(rank)
        self.work = 0

    def rows(self) -> Iterator[tuple[Polynomial, ...]]:
        """Rows with a 1 at the last axis, then at others; the first one of each kind."""
        for unit in reversed(range(self.rank)):
            axes = [unit, *(k for k in reversed(range(self.rank)) if k != unit)]
            row = self._extend({unit: (1,)}, axes[1:])
            if row is not None:
                yield tuple(row[k] for k in range(self.rank))
                return

    def _extend(self, row: dict[int, Polynomial], axes: Sequence[int]) -> dict[int, Polynomial] | None:
        if not self._separates(row):
            return None
        if not axes:
            return row
        self.budget.check("guessing a row")
        for candidate in self.candidates:
            longer = self._extend({**row, axes[0]: candidate}, axes[1:])
            if longer is not None:
                return longer
        return None

    def _separates(self, row: dict[int, Polynomial]) -> bool:
        newest = next(reversed(row))
        others = [k for k in range(self.rank) if k not in row]
        for table, modulus in zip(self.tables, self.moduli, strict=True):
            values = {k: _value(polynomial, table.size) for k, polynomial in row.items()}
            for difference in table.differences:
                self.work += 1
                if not difference[newest] or any(difference[k] for k in others):
                    continue
                if sum(value * difference[k] for k, value in values.items()) % modulus == 0:
                    return False
        return True


def _small_polynomials(rank: int) -> list[Polynomial]:
    """Coefficients to try, the simplest first."""
    ranges = [range(-2, 3), range(-1, 2), range(-1, 2)] if rank == 4 else [range(-4, 5), range(-3, 4)]
    return sorted(itertools.product(*ranges), key=lambda p: (sum(map(abs, p)), p))


def _mapping(conflicts: Conflicts, name: str, row: Sequence[Polynomial], modulus: Polynomial) -> Mapping:
    def formula(coefficients: Polynomial) -> Formula:
        terms = (Formula.name(name) ** k * c for k, c in enumerate(coefficients))
        return sum(terms, start=Formula.constant(0))

    dimensions = conflicts.array.dimensions
    return Mapping.of(conflicts.name, dimensions, [[formula(p) for p in row]], [formula(modulus)])
