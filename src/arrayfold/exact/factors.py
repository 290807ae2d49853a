"""Products in place of sums: `N^2 - 5*N + 6` is `(N - 2)*(N - 3)`, whose factors are looked at one by one.

A product of two negative factors is positive, so that a count of cells which is right for large sizes may be
too large where there are none. Each factor raised to zero makes it zero there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from arrayfold.exact.formula import Atom, Formula

_LARGEST_ROOT = 10_000


def positive_factors(formula: Formula, params: Mapping[str, int]) -> tuple[Formula, ...]:
    """Factors of a formula that are all positive at some parameter values, and whose product it is.

    It stays one factor where there are no others, or it is not positive there itself.

    >>> n, m = Formula.name("N"), Formula.name("M")
    >>> positive_factors(n * m - n * 3, {"N": 9, "M": 9})
    (M - 3, N)
    >>> positive_factors(n * m - n * 3, {"N": -9, "M": -9})
    (-M + 3, -N)
    """
    if formula.evaluate(params) <= 0:
        return (formula,)
    return tuple(one if one.evaluate(params) > 0 else -one for one in linear_factors(formula))


def linear_factors(formula: Formula) -> tuple[Formula, ...]:
    """Factors `q*atom - p` of a formula as far as it has any, and what is left of it; 1 is left out.

    Floors, maxima and minima count as names of their own.

    >>> n = Formula.name("N")
    >>> linear_factors((n * 2 - 7) * (n - 3) * (n * n + 1))
    (N - 3, 2*N - 7, N^2 + 1)
    """
    found: list[Formula] = []
    rest = formula
    for atom in dict.fromkeys(atom for monomial, _ in formula.terms for atom, _ in monomial):
        while (divided := _divided(rest, atom)) is not None:
            factor, rest = divided
            found.append(factor)
    return tuple(found) if found and rest == Formula.constant(1) else (*found, rest)


def _divided(formula: Formula, atom: Atom) -> tuple[Formula, Formula] | None:
    """A factor `q*atom - p` and the rest, if there is one."""
    coefficients = _coefficients(formula, atom)
    if len(coefficients) <= 1:
        return None
    for root in _candidates(coefficients, formula.denominator):
        *quotient, remainder = _horner(coefficients, root)
        if remainder == Formula.constant(0):
            powers = zip(reversed(quotient), itertools.count(), strict=False)
            rest = sum((c * Formula.atom(atom) ** k for c, k in powers), start=Formula.constant(0))
            factor = Formula.atom(atom) * root.denominator - root.numerator
            return factor, rest * Fraction(1, root.denominator)
    return None


def _coefficients(formula: Formula, atom: Atom) -> list[Formula]:
    """Formulas without an atom, the k-th to be multiplied by its k-th power."""
    found: list[Formula] = []
    for monomial, number in formula.terms:
        power = dict(monomial).get(atom, 0)
        found += [Formula.constant(0)] * (power + 1 - len(found))
        others = Formula.product(Formula.atom(one) ** k for one, k in monomial if one != atom)
        found[power] += others * number
    return found


def _candidates(coefficients: Sequence[Formula], scale: int) -> list[Fraction]:
    """Rational roots that a polynomial may have, by its first and last coefficient times a number."""
    first, last = (_content(one * scale) for one in (coefficients[0], coefficients[-1]))
    if first == 0:
        return [Fraction(0)]
    if max(first, last) > _LARGEST_ROOT:
        return []
    roots = {Fraction(p, q) for p in _divisors(first) for q in _divisors(last)}
    return [signed for root in sorted(roots) for signed in (root, -root)]


def _content(formula: Formula) -> int:
    return math.gcd(*(int(number) for _, number in formula.terms))


def _divisors(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]


def _horner(coefficients: Sequence[Formula], root: Fraction) -> list[Formula]:
    """The coefficients of the quotient by `atom - root`, highest first, and the remainder."""
    found: list[Formula] = []
    value = Formula.constant(0)
    for coefficient in reversed(coefficients):
        value = value * root + coefficient
        found.append(value)
    return found
