"""One modulus on a linearised array (De Greef, Catthoor and De Man 1997; DIY15 §6, BBC16 §6).

Laid out in memory, a cell is one number: its row-major address, for some order of the axes and some direction
along each. Conflicting cells are at most so far apart in it; one more than that is a modulus that wraps none
of them together. Strides are products of the array's lengths, so the coefficients contain parameters.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding, from_aff
from arrayfold.exact.generators import vertices
from arrayfold.exact.isl import at_sizes, fix_parameters, image, linear_form
from arrayfold.exact.parameter_values import large_parameters, parameter_minima, smallest_parameters
from arrayfold.exact.signs import from_origin
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.widths import Widths

_MOST_LINEARISATIONS = 400
_KEPT = 2
_KEPT_MANY_PARAMETERS = 6
_PROPOSED = 2
_STEPS = (0, 1, 2, 3, 7, 20)
_MOST_SAMPLES = 40
_FITTED_FROM = 12

Strides = tuple[Formula, ...]
Values = dict[str, int]


def find_linear(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The linearisations with the smallest moduli, each with the smallest moduli that could be proved."""
    if conflicts.differences.is_empty():
        return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    reach = _Reach(conflicts, request)
    lengths = [length for _, length in conflicts.box]
    strides = list(itertools.islice(_linearisations(lengths, request.all_orders), _MOST_LINEARISATIONS))
    ranked = sorted(enumerate(strides), key=lambda item: (*reach.rank(item[1]), item[0]))
    several = len(request.far) > 1
    return [
        ModularMapping.of(conflicts.name, conflicts.array.dimensions, [row], [modulus])
        for _, row in ranked[: _KEPT_MANY_PARAMETERS if several else _KEPT]
        for modulus in reach.moduli(row)
    ]


def _linearisations(lengths: Sequence[Formula], every_order: bool) -> Iterator[Strides]:
    """Strides of every order of the axes and every choice of directions, up to a common sign, once each."""
    rank = len(lengths)
    seen: set[Strides] = set()
    for order in itertools.permutations(range(rank)) if every_order else [tuple(range(rank))]:
        for signs in itertools.product((1, -1), repeat=rank - 1):
            strides = [Formula.constant(1)] * rank
            for position, axis in enumerate(order):
                inner = Formula.product(lengths[other] for other in order[position + 1 :])
                strides[axis] = inner * (1, *signs)[position]
            if tuple(strides) not in seen:
                seen.add(tuple(strides))
                yield tuple(strides)


class _Reach:
    """How far apart conflicting cells are in a linear address: exactly at some sizes, and as formulas.

    differences  { A[d] }  symmetric; the address difference is strides . d
    """

    def __init__(self, conflicts: Conflicts, request: Request) -> None:
        self.differences = conflicts.differences.intersect_params(conflicts.context)
        self.context = conflicts.context
        self.request = request
        self.least = parameter_minima(conflicts.context)
        self.at_size: dict[tuple[tuple[str, int], ...], Widths] = {}

    def rank(self, strides: Strides) -> tuple[int, int]:
        """The exact moduli at the sizes where sizes are compared."""
        self.request.budget.check("linearisations")
        near = self.modulus_at(strides, self.request.sizes)
        same = self.request.sizes == self.request.far
        return near, near if same else self.modulus_at(strides, self.request.far)

    def modulus_at(self, strides: Strides, params: Mapping[str, int]) -> int:
        """One more than the largest address difference at these parameter values."""
        key = tuple(params.items())
        if key not in self.at_size:
            self.at_size[key] = Widths(at_sizes(self.differences, params))
        here = self.at_size[key]
        return 1 if here.is_empty else 1 + here.along([entry.at(params) for entry in strides])

    def moduli(self, strides: Strides) -> list[Formula]:
        """Formulas for the modulus, smallest first; none is below the exact one at the sizes looked at."""
        if all(entry.is_constant for entry in strides):
            form = linear_form(self.differences.get_space(), [int(entry.as_number()) for entry in strides])
            return [exceeding(image(self.differences, form), self.context)]
        exact = [(params, self.modulus_at(strides, params)) for params in self.samples]
        found = {
            formula
            for formula in self._guesses(strides)
            if all(formula.number(params) >= value for params, value in exact)
        }
        return sorted(found, key=lambda formula: self.request.rank(formula))[:_PROPOSED]

    @cached_property
    def samples(self) -> list[Values]:
        """Parameter values of the context: near its least ones, and far away."""
        found = [smallest_parameters(self.context), large_parameters(self.context)]
        if self.least is not None:
            names = list(self.least)
            steps = itertools.product(_STEPS, repeat=len(names))
            near = sorted(steps, key=lambda step: (sum(step), step))[:_MOST_SAMPLES]
            found += [
                {name: self.least[name] + k for name, k in zip(names, step, strict=True)} for step in near
            ]
        return [params for params in found if not self.context.is_disjoint(fix_parameters(params))]

    # ------------------------------------------------------------ formulas

    @cached_property
    def vertices(self) -> list[tuple[Formula, ...]]:
        """Rational corners of the pieces of the differences; a linear address is largest at one of them."""
        found: dict[tuple[Formula, ...], None] = {}
        for basic in self.differences.remove_divs().get_basic_sets():
            corners = (tuple(map(from_aff, corner)) for _, corner in vertices(basic))
            found.update(dict.fromkeys(sorted(corners, key=str)))
        return list(found)

    def _guesses(self, strides: Strides) -> Iterator[Formula]:
        one = Formula.constant(1)
        tops = {
            Formula.sum((one, *(a * x for a, x in zip(strides, vertex, strict=True))))
            for vertex in self.vertices
        }
        largest = _undominated(tops, self.samples)
        for top in largest:
            yield from _rounded_down(top)
        if all(top.is_affine for top in largest):
            yield Formula.extreme("max", itertools.chain(*map(_rounded_down, largest)))
        if self.least is not None and all(top.is_polynomial for top in largest):
            yield _above_all(largest, self.least)
        yield from self._fitted(strides)

    def _fitted(self, strides: Strides) -> Iterator[Formula]:
        """The polynomial of one parameter through the exact moduli at some sizes, if it has whole numbers."""
        if self.least is None or len(self.least) != 1:
            return
        ((name, low),) = self.least.items()
        sizes = [max(low, 0) + _FITTED_FROM + k for k in range(len(strides) + 2)]
        if any(self.context.is_disjoint(fix_parameters({name: size})) for size in sizes):
            return
        fitted = _interpolate(name, [(size, self.modulus_at(strides, {name: size})) for size in sizes])
        if fitted.is_whole:
            yield fitted


def _undominated(formulas: set[Formula], samples: Sequence[Values]) -> list[Formula]:
    """The fewest of them that together are nowhere below the others, as far as the samples show."""
    values = {formula: [formula.number(params) for params in samples] for formula in formulas}
    top = [max(column) for column in zip(*values.values(), strict=True)]
    kept = [formula for formula in formulas if any(map(operator.eq, values[formula], top))]
    for formula in sorted(kept, key=lambda formula: (sum(values[formula]), str(formula))):
        others = [values[other] for other in kept if other != formula]
        if others and [max(column) for column in zip(*others, strict=True)] == top:
            kept.remove(formula)
    return sorted(kept, key=str)


def _rounded_down(formula: Formula) -> list[Formula]:
    """The formula, or its floor where that can be said; address differences are whole numbers."""
    if formula.is_whole:
        return [formula]
    return [Formula.floor(formula, 1)] if formula.is_affine else []


def _above_all(formulas: Sequence[Formula], least: Mapping[str, int]) -> Formula:
    """A polynomial with whole coefficients that is nowhere below the formulas, for parameters >= least.

    With p = least + s, s >= 0, larger coefficients make a larger polynomial.
    """
    shifted = [dict(from_origin(formula, least).terms) for formula in formulas]
    total = Formula.constant(0)
    for monomial in {monomial for terms in shifted for monomial in terms}:
        coefficient = math.ceil(max(terms.get(monomial, Fraction(0)) for terms in shifted))
        total += Formula(((monomial, Fraction(coefficient)),)) if coefficient else 0
    return from_origin(total, {name: -value for name, value in least.items()})


def _interpolate(name: str, values: Sequence[tuple[int, int]]) -> Formula:
    """Lagrange's polynomial through the values."""
    total = Formula.constant(0)
    for size, value in values:
        others = [other for other, _ in values if other != size]
        factors = [(Formula.name(name) - other) * Fraction(1, size - other) for other in others]
        total += Formula.product(factors) * value
    return total


METHOD = Method(
    "linear",
    "one modulus on the best row-major address of the array",
    "De Greef, Catthoor and De Man 1997; BBC16 §6",
    find_linear,
)
