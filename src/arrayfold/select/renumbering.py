"""Renumbering: the same cells share addresses, in an order that innermost loops walk through one by one.

A row may be multiplied by a unit of its modulus, which permutes the addresses. If the innermost loop moves a
row by a, the inverse of a makes it move by 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.select.choose import is_proved

_LARGEST_UNIT = 64


def renumbered(mapping: ModularMapping, steps: Sequence[Vector], conflicts: Conflicts) -> ModularMapping:
    """The mapping with rows that move by one in the innermost loops, as far as that can be had."""
    found = mapping
    for k in range(len(mapping.moduli)):
        for step in steps:
            shortest = _shortest_along(step, steps)
            slope = slope_of(found.matrix[k], shortest) * Fraction(1, found.divisor(k))
            if slope == Formula.constant(0):
                continue
            found = _with_unit_slope(found, k, slope)
            break
    return found if found == mapping or is_proved(conflicts, found) else mapping


def _shortest_along(step: Vector, steps: Sequence[Vector]) -> Vector:
    """The shortest step in the direction of one: a loop may write each cell and read each second one."""
    pairs = [(a, b) for a in range(len(step)) for b in range(a)]
    along = (one for one in steps if all(step[a] * one[b] == step[b] * one[a] for a, b in pairs))
    return min([step, *filter(any, along)], key=lambda one: sum(map(abs, one)))


def slope_of(row: Sequence[Formula], step: Vector) -> Formula:
    """How far a step moves a row."""
    terms = (entry * by for entry, by in zip(row, step, strict=True))
    return Formula.sum(terms)


def _with_unit_slope(mapping: ModularMapping, k: int, slope: Formula) -> ModularMapping:
    """Row k times the inverse of its slope modulo its modulus, where there is one for all sizes."""
    modulus = mapping.moduli[k]
    if not (slope.is_constant and slope.is_whole) or abs(int(slope.as_number())) > _LARGEST_UNIT:
        return mapping
    number = int(slope.as_number())
    if number == 1:
        return mapping
    for turns in range(abs(number)):
        unit = (modulus * turns + 1) * Fraction(1, number)
        if unit.is_whole:
            whole = modulus * mapping.divisor(k)
            row = tuple(_reduced(entry * unit, whole) for entry in mapping.matrix[k])
            offset = _reduced(mapping.offset[k] * unit, whole)
            return replace(
                mapping,
                matrix=(*mapping.matrix[:k], row, *mapping.matrix[k + 1 :]),
                offset=(*mapping.offset[:k], offset, *mapping.offset[k + 1 :]),
            )
    return mapping


def _reduced(entry: Formula, modulus: Formula) -> Formula:
    """The simplest of the formulas that differ by a few multiples of the modulus."""
    leading = max((sum(power for _, power in monomial) for monomial, _ in modulus.terms), default=0)
    top = [(m, c) for m, c in modulus.terms if sum(power for _, power in m) == leading]
    guess = 0
    if top:
        monomial, coefficient = top[0]
        guess = round(dict(entry.terms).get(monomial, Fraction(0)) / coefficient)
    candidates = [entry - modulus * turns for turns in (guess - 1, guess, guess + 1)]
    return min(candidates, key=lambda one: (_weight(one), str(one)))


def _weight(formula: Formula) -> tuple[Fraction, Fraction]:
    """The sizes of coefficients, those of parameters first."""
    grown = sum((abs(c) for monomial, c in formula.terms if monomial), start=Fraction(0))
    return grown, sum((abs(c) for monomial, c in formula.terms if not monomial), start=Fraction(0))
