"""Factors and quotients of formulas, by FLINT, and determinants of matrices of them.

Products in place of sums: `N^2 - 5*N + 6` is `(N - 2)*(N - 3)`, whose factors are looked at one by one.

A product of two negative factors is positive, so that a count of cells which is right for large sizes may be
too large where there are none. Each factor raised to zero makes it zero there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import starmap

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from flint.utils.flint_exceptions import DomainError

from arrayfold.exact.formula import Atom, Formula, Monomial


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
    (2*N - 7, N - 3, N^2 + 1)
    """
    if formula.is_constant:
        return (formula,)
    atoms, (polynomial,) = _polynomials(formula)
    content, factors = polynomial.factor()
    found: list[Formula] = []
    rest = Formula.constant(_number(content))
    for factor, times in factors:
        one = _formula(factor, atoms)
        if sum(factor.degrees()) == 1:
            found += [one] * times
        else:
            rest *= one**times
    found.sort(key=str)
    return tuple(found) if found and rest == Formula.constant(1) else (*found, rest)


@lru_cache(maxsize=4096)
def quotient(formula: Formula, divisor: Formula) -> Formula | None:
    """The quotient by a formula that divides another one with whole coefficients; None if none does.

    >>> n, m = Formula.name("N"), Formula.name("M")
    >>> quotient(n * m * 2 + n * 4, n * 2), quotient(n * 3, n * 2), quotient(n + 1, n)
    (M + 2, None, None)
    """
    if not divisor.terms:
        return None
    atoms, (dividend, by) = _polynomials(formula, divisor)
    try:
        found = _formula(dividend / by, atoms)
    except DomainError:
        return None
    return found if found.denominator == 1 else None


def with_remainder(formula: Formula, divisor: Formula) -> tuple[Formula, Formula] | None:
    """Quotient and remainder with whole coefficients, where a number as remainder is not negative; or None.

    >>> n, m = Formula.name("N"), Formula.name("M")
    >>> with_remainder(n * m + n + m, m + 1), with_remainder(n * m + 3, m), with_remainder(n, m * 2)
    ((N, M), (N, 3), (0, N))
    """
    if not divisor.terms:
        return None
    atoms, (dividend, by) = _polynomials(formula, divisor)
    found, rest = (_formula(one, atoms) for one in divmod(dividend, by))
    if rest.is_constant and rest.as_number() < 0:
        found, rest = found - 1, rest + divisor
    return (found, rest) if found.denominator == rest.denominator == 1 else None


def common_factor(formulas: Sequence[Formula]) -> Formula:
    """The largest polynomial that divides all formulas with whole coefficients; its sign is any.

    >>> n = Formula.name("N")
    >>> common_factor([n * n * 2, n * 6 * (n + 1), Formula.constant(0)])
    2*N
    """
    atoms, polynomials = _polynomials(*formulas)
    some = [one for one in polynomials if one]
    if not some:
        return Formula.constant(0)
    shared = _formula(reduce(lambda one, other: one.gcd(other), some), atoms)
    shared *= (
        Fraction(1, math.gcd(*(int(c * shared.denominator) for _, c in shared.terms))) * shared.denominator
    )
    rests = [quotient(one, shared) for one in formulas if one.terms]
    numbers = [int(c) for rest in rests if rest is not None for _, c in rest.terms]
    return shared * math.gcd(*numbers)


def _polynomials(*formulas: Formula) -> tuple[list[Atom], list[fmpq_mpoly]]:
    """Formulas as polynomials of FLINT, and the atoms that its variables stand for."""
    atoms = list(dict.fromkeys(a for formula in formulas for m, _ in formula.terms for a, _ in m))
    variables = fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(atoms))])

    def term(monomial: Monomial, number: Fraction) -> tuple[tuple[int, ...], fmpq]:
        powers = dict(monomial)
        return tuple(powers.get(atom, 0) for atom in atoms), fmpq(number.numerator, number.denominator)

    return atoms, [variables.from_dict(dict(starmap(term, formula.terms))) for formula in formulas]


def _formula(polynomial: fmpq_mpoly, atoms: Sequence[Atom]) -> Formula:
    terms = (
        Formula.product(Formula.atom(atom) ** power for atom, power in zip(atoms, key, strict=True))
        * _number(number)
        for key, number in polynomial.to_dict().items()
    )
    return Formula.sum(terms)


def _number(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def determinant(matrix: Sequence[Sequence[Formula]]) -> Formula:
    """The determinant, by its first row; 1 without rows.

    >>> n = Formula.name("N")
    >>> determinant([[n, Formula.constant(2)], [Formula.constant(3), n]])
    N^2 - 6
    """
    if not matrix:
        return Formula.constant(1)
    terms = (entry * cofactor(matrix, 0, column) for column, entry in enumerate(matrix[0]))
    return Formula.sum(terms)


def cofactor(matrix: Sequence[Sequence[Formula]], row: int, column: int) -> Formula:
    """The determinant without a row and a column, with the sign of their place."""
    minor = [[*line[:column], *line[column + 1 :]] for k, line in enumerate(matrix) if k != row]
    return determinant(minor) * (-1) ** (row + column)
