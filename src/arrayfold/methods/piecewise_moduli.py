"""Moduli of rows, and the moduli that each symmetric piece of the differences asks for (DIY15 §4.1)."""

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
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Request

_MOST_PIECES = 16
_MOST_COMBINATIONS = 4096


class RowWidths:
    """Moduli of rows on one set of differences, each computed once.

    differences  { A[d] }  symmetric
    """

    def __init__(self, differences: isl.Set, context: isl.Set, rows: Sequence[Vector]) -> None:
        self.differences = differences
        self.context = context
        self.rows = rows
        self.modulus = cache(self._modulus)

    def _modulus(self, row: int, settled: frozenset[int]) -> Formula:
        """One more than the largest value of the row where the settled rows vanish."""
        aligned = self.differences
        for other in sorted(settled):
            aligned = aligned.intersect(linear_form(aligned.get_space(), self.rows[other]).zero_set())
        return exceeding(image(aligned, linear_form(aligned.get_space(), self.rows[row])), self.context)

    def moduli(self, order: Sequence[int]) -> list[Formula]:
        """The modulus of each row; those earlier in the order are settled."""
        found = [Formula.constant(1)] * len(order)
        for position, row in enumerate(order):
            found[row] = self.modulus(row, frozenset(order[:position]))
        return found


def fold_in_order(conflicts: Conflicts, widths: RowWidths, order: Sequence[int]) -> ModularMapping:
    """The rows in this order, each modulo its width where those before it vanish (DIY15 heuristic 1)."""
    moduli = widths.moduli(order)
    return ModularMapping.of(
        conflicts.name,
        conflicts.array.dimensions,
        [widths.rows[row] for row in order],
        [moduli[row] for row in order],
    )


def fold_piece_by_piece(
    conflicts: Conflicts, rows: Sequence[Vector], orders: Sequence[Sequence[int]], request: Request
) -> list[ModularMapping]:
    """Each symmetric piece in an order of its own; moduli are the maxima over the pieces.

    A larger modulus keeps a mapping valid on a piece, so the maxima are valid on all of them. With one order
    or one piece there is nothing to choose, with many pieces too much.
    """
    if len(orders) < 2 or conflicts.differences.n_basic_set() > _MOST_PIECES:
        return []
    pieces = _symmetric_pieces(conflicts.differences)
    if len(pieces) < 2:
        return []
    choices = [
        [
            (moduli, [modulus.evaluate(request.sizes) for modulus in moduli])
            for moduli in map(RowWidths(piece, conflicts.context, rows).moduli, orders)
        ]
        for piece in pieces
    ]
    best = _best_choice(choices)
    moduli = [_maximum([found[row] for found, _ in best], conflicts.context) for row in range(len(rows))]
    return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)]


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
