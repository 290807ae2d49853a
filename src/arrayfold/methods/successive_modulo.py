"""Successive modulo along the array axes (Lefebvre and Feautrier 1998; DIY15 §4.1).

The first axis is folded by one more than the largest difference along it; the next one by one more than
the largest difference along it among conflicting cells that agree on the axes before; and so on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.lattice import axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.piecewise_moduli import RowWidths, fold_in_order, fold_piece_by_piece

_MOST_ORDERS = 120


def find_successive_modulo(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mapping over the orders of the axes, and over orders chosen piece by piece."""
    rank = conflicts.array.rank
    permutations = itertools.permutations(range(rank))
    orders = list(itertools.islice(permutations, _MOST_ORDERS if request.all_orders else 1))
    widths = RowWidths(conflicts.differences, conflicts.context, axes(rank))
    candidates = [fold_in_order(conflicts, widths, order) for order in orders]
    candidates += fold_piece_by_piece(conflicts, axes(rank), orders, request)
    return [min(candidates, key=lambda mapping: request.rank(mapping.size))]


METHOD = Method(
    "successive-modulo",
    "fold along the array axes, in the best order",
    "Lefebvre and Feautrier 1998; DIY15 §4.1",
    find_successive_modulo,
)
