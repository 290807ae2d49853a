"""Farkas' lemma: what a row must satisfy to be no wider than an affine bound (DIY15 §4.1.1 and §4.1.3).

An affine form is nonnegative on a polyhedron iff it is nonnegative at its vertices and along its rays; isl
finds those as the constraints of `BasicSet.coefficients`. Parameters count as variables of the polyhedron.
So "no difference exceeds Delta.n + delta along row c" is a set of linear inequalities on delta, Delta and c.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import islpy as isl
from flint import fmpz_mat

from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import parameter_names
from arrayfold.exact.lattice import Vector, axes, independent, whole_multiple

_LARGEST_SCALE = 5040


@dataclass(frozen=True)
class Measures:
    """What is minimised, one after the other: linearly independent values of the bound Delta.n + delta.

    forms  (0, r) is its growth along a ray r of the context, (w, w*n) is w times its value at a corner n;
           all values at rays and corners of the context are combinations of these
    """

    forms: tuple[Vector, ...]

    def combinations(self, values: Sequence[Vector]) -> list[list[Fraction]]:
        """Values of the bound, each as a combination of the measures.

        >>> Measures(((0, 1), (1, 3))).combinations([(1, 5)])
        [[Fraction(2, 1), Fraction(1, 1)]]
        """
        units = axes(len(self.forms[0]))
        whole: Any = fmpz_mat([list(form) for form in independent([*self.forms, *units])])
        numerators, denominator = whole.inv().transpose().numer_denom()
        columns = [[int(entry) for entry in line] for line in numerators.tolist()[: len(self.forms)]]
        return [
            [Fraction(sum(map(mul, value, column)), int(denominator)) for column in columns]
            for value in values
        ]


def measures(context: isl.Set, sizes: Mapping[str, int]) -> list[Measures]:
    """Every order of the directions in which parameters grow, the fastest growing parameter first.

    For parameters that grow independently of each other these are the entries of Delta in some order, and
    then delta, counted from the smallest parameters on.

    >>> measures(isl.Set("[N] -> { : N >= 3 }"), {"N": 8})
    [Measures(forms=((0, 1), (1, 3)))]
    """
    names = parameter_names(context)
    forms = sorted(_context_forms(context), key=lambda form: (sum(map(bool, form)), form))
    rays = [form for form in forms if form[0] == 0]
    corners = [form for form in forms if form[0] > 0]
    fastest = sorted(range(len(names)), key=lambda k: -abs(sizes.get(names[k], 0)))
    orders: list[Measures] = []
    for order in itertools.permutations(fastest):
        leading: list[Vector] = []
        for k in order:
            leading += [ray for ray in rays if ray[1 + k] and ray not in leading][:1]
        found = Measures(tuple(independent([*leading, *rays, *corners])))
        if found not in orders:
            orders.append(found)
    return orders


def _context_forms(context: isl.Set) -> set[Vector]:
    pieces = isl.Set.from_params(context.params()).get_basic_sets()
    return {form for piece in pieces for form in nonnegative_forms(piece)}


def bound_forms(differences: isl.Set, context: isl.Set) -> set[Vector]:
    """Vectors v such that c is no wider than a nonnegative bound iff v . (bound, c) >= 0 for each of them.

    differences  { [y] }  symmetric, so that one side of c.y is enough; parameters as in the context
    """
    rank = differences.dim(isl.dim_type.set)
    split = 1 + context.dim(isl.dim_type.param)
    forms = {form + (0,) * rank for form in _context_forms(context)}
    for piece in _one_of_each_pair(differences):
        for form in nonnegative_forms(piece):
            forms |= {form, form[:split] + tuple(-entry for entry in form[split:])}
    return forms


def width_conditions(forms: Iterable[Vector], measured: Measures) -> list[Vector]:
    """The conditions of `bound_forms` as vectors v with v . (measures, row) >= 0.

    Measures are multiplied by a number that makes the least ones of a whole row whole, so that comparing
    whole measures is comparing widths.
    """
    count, split = len(measured.forms), len(measured.forms[0])
    ordered = sorted(forms)
    combined = measured.combinations([form[:split] for form in ordered])
    conditions = {
        whole_multiple([*left, *form[split:]]) for left, form in zip(combined, ordered, strict=True)
    }
    scale = math.lcm(*(entry for condition in conditions for entry in condition[:count] if entry))
    if scale > _LARGEST_SCALE:
        scale = 1
    scaled = (
        [*condition[:count], *(scale * entry for entry in condition[count:])] for condition in conditions
    )
    return sorted(set(map(whole_multiple, scaled)))


def _one_of_each_pair(differences: isl.Set) -> list[isl.BasicSet]:
    """The pieces without those that are the negative of one before."""
    kept: list[isl.BasicSet] = []
    for piece in differences.get_basic_sets():
        negative = piece.neg()
        if not any(negative.plain_is_equal(other) for other in kept):
            kept.append(piece)
    return kept
