"""What is shown of the values of a formula on a set of parameters: that they are whole, that they are large.

Affine formulas are Presburger arithmetic and left to isl. Elsewhere a maximum is one of its arguments, and a
floor is `(argument - r)/divisor` for one of finitely many remainders r; each of these cases is looked at
where it holds. What is left is a polynomial: it is never negative from the least parameter values on if it
has no negative coefficient once these are taken as the origin. Whatever is not shown counts as false.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import islpy as isl

from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Remainder
from arrayfold.exact.formula_isl import box_lengths, to_pw_aff
from arrayfold.exact.isl import integer, parameter_names
from arrayfold.exact.parameter_values import (
    few_parameter_points,
    first_parameter_points,
    large_parameters,
    parameter_minima,
)

_MOST_CASES = 256
_MOST_RESIDUES = 4096
_MOST_POINTS = 64
_FIRST_VALUES = 16


def is_at_least(formula: Formula, least: int, where: isl.Set) -> bool:
    """Whether a formula is shown to be at least a number at all parameter values { : }.

    >>> n = Formula.name("N")
    >>> is_at_least(n * n - n * 4, 5, isl.Set("[N] -> { : N >= 5 }"))
    True
    >>> is_at_least(n * Formula.floor(n, 2), 1, isl.Set("[N] -> { : N >= 1 }"))
    False
    """
    rest, where = formula - least, where.params()
    return not _is_negative_nearby(rest, where) and _is_never_negative(rest, where, _MOST_CASES)


def _is_negative_nearby(formula: Formula, where: isl.Set) -> bool:
    """Whether a formula that is not affine is negative at some of the first values, or at large ones.

    A value is found at once, but to look for a proof in vain takes long.
    """
    if formula.is_affine or where.is_empty() or not formula.names() <= {*parameter_names(where)}:
        return False
    nearby = itertools.chain(first_parameter_points(where, _FIRST_VALUES), [large_parameters(where)])
    return any(formula.number(point) < 0 for point in nearby)


def is_positive(formula: Formula, where: isl.Set) -> bool:
    """Whether a formula, which may be a fraction, is shown to be above zero at all parameter values { : }.

    >>> half = Formula.name("N") * Fraction(1, 2)
    >>> where = isl.Set("[N] -> { : N >= 1 }")
    >>> is_positive(half, where), is_at_least(half, 1, where)
    (True, False)
    """
    return is_at_least(formula * formula.denominator, 1, where)


def is_at_most(first: Formula, second: Formula, where: isl.Set) -> bool:
    """Whether a formula is shown to be nowhere above another one at parameter values { : }."""
    return is_at_least(second - first, 0, where)


def never_negative(formula: Formula, where: isl.Set) -> Formula:
    """The formula, raised to zero where it is not seen to be at least that at parameter values { : }.

    >>> never_negative(Formula.name("N") - 2, isl.Set("[N] -> { : N >= 1 }"))
    max(N - 2, 0)
    """
    return (
        formula if is_at_least(formula, 0, where) else Formula.extreme("max", [formula, Formula.constant(0)])
    )


def box_size(cells: isl.Set, context: isl.Set) -> Formula:
    """Cells in the smallest box around a set, at all sizes of a context; nowhere negative."""
    mine = cells.intersect_params(context)
    if mine.is_empty():
        return Formula.constant(0)
    return Formula.product(never_negative(length, context) for length in box_lengths(mine, context))


def is_whole_on(formula: Formula, where: isl.Set) -> bool:
    """Whether a formula is shown to be a whole number at all parameter values { : }.

    >>> n = Formula.name("N")
    >>> is_whole_on((n * n + n) * Fraction(1, 2), isl.Set("[N] -> { : }"))
    True
    >>> [is_whole_on(n * Fraction(1, 2), isl.Set(f"[N] -> {{ : N mod 2 = {k} }}")) for k in (0, 1)]
    [True, False]
    """
    if formula.is_whole:
        return True
    divisor = formula.denominator
    numerator = formula * divisor
    if not numerator.is_whole:
        return False
    if numerator.is_affine:
        rest = to_pw_aff(numerator).mod_val(integer(divisor))
        return bool(where.params().is_subset(rest.zero_set().params()))
    # Its residue is that of a polynomial in its atoms, which are whole numbers.
    atoms = list(dict.fromkeys(atom for monomial, _ in numerator.terms for atom, _ in monomial))
    if divisor ** len(atoms) > _MOST_RESIDUES:
        return False
    return all(
        _value(numerator, dict(zip(atoms, values, strict=True))) % divisor == 0
        or where.params().is_disjoint(_with_residues(atoms, values, divisor))
        for values in itertools.product(range(divisor), repeat=len(atoms))
    )


def _value(formula: Formula, values: dict[Atom, int]) -> Fraction:
    return sum(
        (c * math.prod(values[atom] ** power for atom, power in monomial) for monomial, c in formula.terms),
        start=Fraction(0),
    )


def _with_residues(atoms: list[Atom], values: tuple[int, ...], divisor: int) -> isl.Set:
    """{ : }: the parameter values at which those atoms that are affine have these residues."""
    found = isl.Set("{ : }")
    for atom, value in zip(atoms, values, strict=True):
        if Formula.atom(atom).is_affine:
            found = found.intersect(_with_rest(Formula.atom(atom), divisor, value))
    return found


def _with_rest(formula: Formula, divisor: int, rest: int) -> isl.Set:
    return to_pw_aff(formula - rest).mod_val(integer(divisor)).zero_set().params()


def _is_never_negative(formula: Formula, where: isl.Set, most: int) -> bool:
    """most  how many cases may still be told apart"""
    if where.is_empty():
        return True
    if formula.is_constant:
        return formula.as_number() >= 0
    if formula.is_affine:
        return bool(where.is_disjoint(below(formula, 0)))
    atom = next((a for m, _ in formula.terms for a, _ in m if not isinstance(a, str)), None)
    if atom is None:
        return _is_polynomial_never_negative(formula, where)
    cases = list(itertools.islice(_cases(atom), most + 1))
    if not 0 < len(cases) <= most:
        return False
    rest = most // len(cases)
    # A maximum that is only added is at least as large as each of its arguments.
    if _only_adds(formula, atom) and any(
        _is_never_negative(formula.with_atom(atom, value), where, rest) for value, _ in cases
    ):
        return True
    return all(
        _is_never_negative(formula.with_atom(atom, value), where.intersect(here), rest)
        for value, here in cases
    )


def below(formula: Formula, value: int) -> isl.Set:
    """{ : }: the parameter values at which an affine formula is below a whole number.

    isl takes a < b for a + 1 <= b, which is wrong for fractions, so that denominators are cleared first.
    """
    scale = formula.denominator
    return to_pw_aff(formula * scale).lt_set(to_pw_aff(Formula.constant(value * scale))).params()


def _only_adds(formula: Formula, atom: Atom) -> bool:
    """Whether a maximum is a term with a positive factor, or a minimum one with a negative factor."""
    match atom:
        case Extreme(kind):
            sign = 1 if kind == "max" else -1
            return all(
                len(monomial) == 1 and monomial[0][1] == 1 and coefficient * sign > 0
                for monomial, coefficient in formula.terms
                if any(one == atom for one, _ in monomial)
            )
        case _:
            return False


def _cases(atom: Atom) -> Iterator[tuple[Formula, isl.Set]]:
    """Formulas of which one is the atom wherever it is, and where each may be, { : }; none if unknown."""
    anywhere = isl.Set("{ : }")
    match atom:
        case Extreme(kind, arguments):
            sign = 1 if kind == "max" else -1
            for one in arguments:
                here = anywhere
                for other in arguments:
                    if one.is_affine and other.is_affine and one != other:
                        apart = to_pw_aff((one - other) * sign)
                        here = here.intersect(apart.ge_set(to_pw_aff(Formula.constant(0))).params())
                yield one, here
        case Floor(argument, divisor):
            for rest, here in _residues(argument, divisor):
                yield (argument - rest) * Fraction(1, divisor), here
        case Remainder(argument, modulus) if modulus.is_constant and modulus.as_number() > 0:
            for rest, here in _residues(argument, int(modulus.as_number())):
                yield Formula.constant(rest), here
        case _:
            return


def _residues(formula: Formula, divisor: int) -> Iterator[tuple[int, isl.Set]]:
    """The remainders that a formula may leave, and where each may be, { : }."""
    for rest in range(divisor):
        yield rest, _with_rest(formula, divisor, rest) if formula.is_affine else isl.Set("{ : }")


def _is_polynomial_never_negative(formula: Formula, where: isl.Set) -> bool:
    """Piece by piece, with the parameters that are one number in a piece put in."""
    for basic in where.get_basic_sets():
        piece = isl.Set.from_basic_set(basic)
        rest = formula.replace_names(fixed_parameters(piece))
        if not (rest.is_affine and is_at_least(rest, 0, piece)) and not _is_never_negative_on(rest, piece):
            return False
    return True


def fixed_parameters(where: isl.Set) -> dict[str, Formula]:
    """The parameters that are one number in all of a set, with it."""
    values = {
        name: where.plain_get_val_if_fixed(isl.dim_type.param, k)
        for k, name in enumerate(parameter_names(where))
    }
    return {name: Formula.constant(int(str(value))) for name, value in values.items() if value.is_int()}


def _is_never_negative_on(formula: Formula, where: isl.Set) -> bool:
    for name in set(parameter_names(where)) - formula.names():
        where = where.project_out(isl.dim_type.param, where.find_dim_by_name(isl.dim_type.param, name), 1)
    points = few_parameter_points(where, _MOST_POINTS)
    if points:
        return all(formula.evaluate(point) >= 0 for point in points)
    least = parameter_minima(where)
    if least is None or not formula.names() <= least.keys():
        return False
    if _has_no_negative_term(formula, least):
        return True
    if len(least) != 1:
        return False
    # Of one parameter, the first values can be looked at one by one.
    ((name, low),) = least.items()
    first = range(low, low + _FIRST_VALUES)
    return all(formula.evaluate({name: value}) >= 0 for value in first) and _has_no_negative_term(
        formula, {name: low + _FIRST_VALUES}
    )


def _has_no_negative_term(formula: Formula, origin: Mapping[str, int]) -> bool:
    return all(coefficient >= 0 for _, coefficient in from_origin(formula, origin).terms)


def absolute_bound(formula: Formula, least: Mapping[str, int]) -> Formula:
    """A polynomial that is nowhere below the absolute value of another one, from the least parameters on.

    >>> absolute_bound(Formula.name("N") * 2 - 9, {"N": 4}), absolute_bound(-Formula.name("N"), {"N": 0})
    (2*N - 7, N)
    """
    terms = tuple((monomial, abs(number)) for monomial, number in from_origin(formula, least).terms)
    return from_origin(Formula(terms), {name: -value for name, value in least.items()})


def from_origin(formula: Formula, origin: Mapping[str, int]) -> Formula:
    """The formula with `p + origin` in place of each parameter p."""
    return formula.replace_names({name: Formula.name(name) + value for name, value in origin.items()})
