"""Rows with polynomial coefficients: the differences that such a row takes to a multiple of its modulus.

An address such as `N*M*t + N*i + j` is a number with the digits t, i and j, and is decided digit by digit,
from the largest coefficient on. Let `c*d + rest = target`, where c is that coefficient and the rest has
smaller ones, and let `target = c*q + r` by long division. Then `c*(d - q) = r - rest`, and if that is shown
to be less than `(J + 1)*c`, only the 2J + 1 values of d next to q remain. Each of them fixes the index to an
affine value, and leaves an equation with one coefficient less. What is left at the end has numbers as
coefficients, and is affine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import fit, to_pw_aff
from arrayfold.exact.isl import coalesced, linear_form
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.exact.signs import is_at_least, is_positive

_MOST_PIECES = 100
_MOST_EQUATIONS = 2000
_MOST_MULTIPLES = 8
_MOST_VALUES = 32

_ZERO = Formula.constant(0)


class _NotShown(Exception):
    """The argument does not apply."""


@dataclass(frozen=True, eq=False)
class _Equation:
    """coefficients . d = target, for the differences d of a piece { A[d] }."""

    piece: isl.Set
    coefficients: tuple[Formula, ...]
    target: Formula

    @cached_property
    def sizes(self) -> isl.Set:
        """{ : }: the parameter values at which the piece has differences."""
        return self.piece.params()

    def with_index(self, axis: int, value: Formula) -> _Equation:
        """The equation of the differences with a value at an axis."""
        space = self.piece.get_space()
        unit = linear_form(space, [int(k == axis) for k in range(len(self.coefficients))])
        rest = tuple(_ZERO if k == axis else entry for k, entry in enumerate(self.coefficients))
        piece = self.piece.intersect(unit.eq_set(to_pw_aff(value, space)))
        return _Equation(piece, rest, self.target - self.coefficients[axis] * value)


def taken_to_multiples(
    differences: isl.Set, row: Sequence[Formula], modulus: Formula, context: isl.Set
) -> tuple[isl.Set, int] | None:
    """The differences that a row takes to a multiple of its modulus, and the largest multiple looked at.

    differences  { A[d] }  symmetric, in few pieces: joining them here takes longer than all the rest
    result       { A[d] }  exactly those; None where that is not shown
    """
    pieces = [isl.Set.from_basic_set(one) for one in differences.get_basic_sets() if not one.is_empty()]
    whole = all(one.is_polynomial and one.is_whole for one in (*row, modulus))
    if len(pieces) > _MOST_PIECES or not whole or not is_positive(modulus, context):
        return None
    found = isl.Set.empty(differences.get_space())
    most = 0
    left = itertools.count()
    try:
        for piece in pieces:
            equation = _Equation(piece, tuple(row), _ZERO)
            multiples = _multiples(equation, modulus)
            most = max(most, multiples)
            for multiple in range(multiples + 1):
                for solution in _solutions(replace(equation, target=modulus * multiple), left):
                    found = found.union(solution)
    except _NotShown:
        return None
    return coalesced(found.union(found.neg())), most


def _multiples(equation: _Equation, modulus: Formula) -> int:
    """A number of moduli that no difference of the piece reaches beyond."""
    low, high = _range(equation)
    for multiple in range(_MOST_MULTIPLES):
        beyond = modulus * (multiple + 1)
        if is_positive(beyond - high, equation.sizes) and is_positive(beyond + low, equation.sizes):
            return multiple
    raise _NotShown


def _solutions(equation: _Equation, count: Iterator[int]) -> Iterator[isl.Set]:
    """Sets of differences { A[d] } that together are those which solve the equation."""
    if equation.piece.is_empty():
        return
    if next(count) > _MOST_EQUATIONS:
        raise _NotShown
    moving = [k for k, entry in enumerate(equation.coefficients) if not entry.is_constant]
    if not moving:
        yield from _affine_solutions(equation)
        return
    axis, values = _few_values(equation, moving) or _values_near_quotient(equation, moving)
    for value in values:
        yield from _solutions(equation.with_index(axis, value), count)


def _affine_solutions(equation: _Equation) -> Iterator[isl.Set]:
    """The solutions where all coefficients are numbers."""
    if equation.target.is_affine:
        space = equation.piece.get_space()
        form = linear_form(space, [int(entry.as_number()) for entry in equation.coefficients])
        yield equation.piece.intersect(form.eq_set(to_pw_aff(equation.target, space)))
        return
    low, high = _range(equation)
    above, below = equation.target - high, low - equation.target
    if not (is_positive(above, equation.sizes) or is_positive(below, equation.sizes)):
        raise _NotShown


def _few_values(equation: _Equation, axes: Sequence[int]) -> tuple[int, list[Formula]] | None:
    """An axis that takes finitely many values among the differences, and these values."""
    for axis in axes:
        low, high = equation.piece.dim_min_val(axis), equation.piece.dim_max_val(axis)
        if low.is_int() and high.is_int() and high.to_python() - low.to_python() < _MOST_VALUES:
            return axis, [Formula.constant(v) for v in range(low.to_python(), high.to_python() + 1)]
    return None


def _values_near_quotient(equation: _Equation, axes: Sequence[int]) -> tuple[int, list[Formula]]:
    """The axis with the largest coefficient, and the affine values to which the equation leaves it."""
    far = large_parameters(equation.sizes)
    axis = max(axes, key=lambda k: abs(equation.coefficients[k].evaluate(far)))
    coefficient = equation.coefficients[axis]
    if coefficient.evaluate(far) < 0:
        negated = tuple(-entry for entry in equation.coefficients)
        equation, coefficient = replace(equation, coefficients=negated, target=-equation.target), -coefficient
    quotient, rest = equation.target.divided(coefficient)
    others = tuple(_ZERO if k == axis else entry for k, entry in enumerate(equation.coefficients))
    low, high = _range(replace(equation, coefficients=others))
    if not quotient.is_affine or not is_positive(coefficient, equation.sizes):
        raise _NotShown
    # coefficient * (index - quotient) = rest - others, which is between rest - high and rest - low.
    steps = range(_MOST_MULTIPLES)
    above = (k for k in steps if is_positive(coefficient * (k + 1) - rest + low, equation.sizes))
    below = (k for k in steps if is_positive(coefficient * (k + 1) + rest - high, equation.sizes))
    last, first = next(above, None), next(below, None)
    if last is None or first is None:
        raise _NotShown
    return axis, [quotient + k for k in range(-first, last + 1)]


def _range(equation: _Equation) -> tuple[Formula, Formula]:
    """Formulas that coefficients . d is nowhere below and nowhere above."""
    low = high = _ZERO
    box = equation.piece.remove_divs()
    for axis, entry in enumerate(equation.coefficients):
        if entry == _ZERO:
            continue
        if not box.dim_is_bounded(isl.dim_type.set, axis):
            raise _NotShown
        ends = fit(box.dim_min(axis), equation.sizes, "min"), fit(box.dim_max(axis), equation.sizes, "max")
        if is_at_least(entry, 0, equation.sizes):
            least, most = ends
        elif is_at_least(-entry, 0, equation.sizes):
            most, least = ends
        else:
            raise _NotShown
        low, high = low + entry * least, high + entry * most
    return low, high
