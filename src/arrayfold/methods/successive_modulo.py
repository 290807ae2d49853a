"""Successive modulo along the array axes (Lefebvre and Feautrier 1998; DIY15 §4.1).

The first axis is folded by one more than the largest difference along it; the next one by one more than
the largest difference along it among conflicting cells that agree on the axes before; and so on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import TypeAlias

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding, fit, to_pw_aff
from arrayfold.exact.isl import coalesced, image, linear_form
from arrayfold.exact.lattice import axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request

_MOST_ORDERS = 120
_MOST_PIECES = 16
_MOST_COMBINATIONS = 4096


def find_successive_modulo(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mapping over the orders of the axes, and over orders chosen piece by piece."""
    permutations = itertools.permutations(range(conflicts.array.rank))
    orders = list(itertools.islice(permutations, _MOST_ORDERS if request.all_orders else 1))
    whole = _AxisModuli(conflicts.differences, conflicts.context)
    candidates = [_mapping(conflicts, order, whole.moduli(order)) for order in orders]
    if request.all_orders and len(orders) > 1 and conflicts.differences.n_basic_set() <= _MOST_PIECES:
        pieces = _symmetric_pieces(conflicts.differences)
        candidates.append(_piece_by_piece(conflicts, pieces, orders, request))
    return [min(candidates, key=lambda mapping: request.rank(mapping.size))]


class _AxisModuli:
    """Moduli along the axes of one set of differences, each computed once.

    differences  { A[d] }  symmetric
    """

    def __init__(self, differences: isl.Set, context: isl.Set) -> None:
        self.differences = differences
        self.context = context
        self.modulus = cache(self._modulus)

    def _modulus(self, axis: int, settled: frozenset[int]) -> Formula:
        """One more than the largest difference along the axis where the settled axes agree."""
        aligned = self.differences
        for other in settled:
            aligned = aligned.fix_val(isl.dim_type.set, other, isl.Val(0))
        unit = axes(aligned.dim(isl.dim_type.set))[axis]
        return exceeding(image(aligned, linear_form(aligned.get_space(), unit)), self.context)

    def moduli(self, order: Sequence[int]) -> list[Formula]:
        """The modulus of each axis, in the order of the array's dimensions."""
        found = [Formula.constant(1)] * len(order)
        for position, axis in enumerate(order):
            found[axis] = self.modulus(axis, frozenset(order[:position]))
        return found


def _mapping(conflicts: Conflicts, order: Sequence[int], moduli: Sequence[Formula]) -> ModularMapping:
    """Rows in an order of the axes; the moduli are in the order of the array's dimensions."""
    units = axes(conflicts.array.rank)
    rows, moduli = [units[axis] for axis in order], [moduli[axis] for axis in order]
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)


def _piece_by_piece(
    conflicts: Conflicts, pieces: Sequence[isl.Set], orders: Sequence[tuple[int, ...]], request: Request
) -> ModularMapping:
    """Each symmetric piece of the differences in an order of its own; moduli are the maxima over pieces.

    A larger modulus keeps a mapping valid on a piece, so the maxima are valid on all of them (DIY15 §4.1).
    """
    choices = [
        [
            (moduli, [modulus.evaluate(request.sizes) for modulus in moduli])
            for moduli in map(_AxisModuli(piece, conflicts.context).moduli, orders)
        ]
        for piece in pieces
    ]
    best = _best_choice(choices)
    moduli = [
        _maximum([found[axis] for found, _ in best], conflicts.context)
        for axis in range(conflicts.array.rank)
    ]
    return _mapping(conflicts, range(conflicts.array.rank), moduli)


def _symmetric_pieces(differences: isl.Set) -> list[isl.Set]:
    pieces: list[isl.Set] = []
    for basic in differences.get_basic_sets():
        piece = isl.Set.from_basic_set(basic)
        piece = coalesced(piece.union(piece.neg()))
        if not any(piece.is_subset(other) for other in pieces):
            pieces = [other for other in pieces if not other.is_subset(piece)]
            pieces.append(piece)
    return pieces


# The moduli of one piece in one order, and their values at the sizes where sizes are compared.
_Choice: TypeAlias = tuple[Sequence[Formula], Sequence[Fraction]]


def _best_choice(choices: Sequence[Sequence[_Choice]]) -> list[_Choice]:
    """One choice a piece with the smallest product of maxima: exactly if cheap, else piece after piece."""
    if math.prod(map(len, choices)) <= _MOST_COMBINATIONS:
        return list(min(itertools.product(*choices), key=_product_of_maxima))
    chosen: list[_Choice] = []
    for options in choices:
        chosen.append(min(options, key=lambda option: _product_of_maxima([*chosen, option])))
    return chosen


def _product_of_maxima(chosen: Sequence[_Choice]) -> Fraction:
    return math.prod(map(max, zip(*(values for _, values in chosen), strict=True)), start=Fraction(1))


def _maximum(formulas: Sequence[Formula], context: isl.Set) -> Formula:
    if not formulas:
        return Formula.constant(1)
    return fit(reduce(isl.PwAff.max, map(to_pw_aff, formulas)), context, "max")


METHOD = Method(
    "successive-modulo",
    "fold along the array axes, in the best order",
    "Lefebvre and Feautrier 1998; DIY15 §4.1",
    find_successive_modulo,
)
