"""Successive modulo along rows of least width (DIY15, heuristic 1 with optimised basis, §4.1.1 to §4.1.3).

Successive modulo works for any linearly independent rows, not only for the array axes. Here each row is the
one along which the differences that are left have the least width, so its modulus is as small as it can be.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from arrayfold.base.errors import BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.lattice import Vector, axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.farkas import measures
from arrayfold.methods.method import Method, Request
from arrayfold.methods.narrow_rows import NarrowRows
from arrayfold.methods.piecewise_moduli import RowWidths, fold_in_order, fold_piece_by_piece

_MOST_MEASURES = 6
_MOST_ORDERS = 120


def find_basis(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mapping over the bases of narrow rows, and over the orders of their rows.

    There is a basis for each order in which the growth with the parameters is minimised. The orders of the
    rows are those of DIY15 §4.1: a width depends on the rows before, and the order in which they were found
    is not always the best; pieces of the differences may have orders of their own.
    """
    if conflicts.differences.is_empty():
        return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    found: list[ModularMapping] = []
    try:
        for rows in _bases(conflicts, request):
            for mapping in _mappings(conflicts, rows, request):
                found.append(mapping)
                request.budget.check("the moduli of narrow rows")
    except BudgetExceeded:
        if not found:
            raise
    return [min(found, key=lambda mapping: request.rank(mapping.size))]


def _bases(conflicts: Conflicts, request: Request) -> Iterator[list[Vector]]:
    context = conflicts.context.align_params(conflicts.differences.get_space())
    narrow = NarrowRows(conflicts.differences, context, axes(conflicts.array.rank), request.budget)
    most = _MOST_MEASURES if request.all_orders else 1
    seen: list[list[Vector]] = []
    for measured in measures(context, request.sizes)[:most]:
        rows = narrow.find(measured)
        if rows not in seen:
            seen.append(rows)
            yield rows


def _mappings(conflicts: Conflicts, rows: Sequence[Vector], request: Request) -> Iterator[ModularMapping]:
    permutations = itertools.permutations(range(len(rows)))
    orders = list(itertools.islice(permutations, _MOST_ORDERS if request.all_orders else 1))
    widths = RowWidths(conflicts.differences, conflicts.context, rows)
    for order in orders:
        yield fold_in_order(conflicts, widths, order)
    yield from fold_piece_by_piece(conflicts, rows, orders, request)


METHOD = Method(
    "basis",
    "fold along the rows of least width, found one after the other",
    "DIY15 §4.1, heuristic 1 with optimised basis",
    find_basis,
)
