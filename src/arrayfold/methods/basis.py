"""Successive modulo along rows of least width (DIY15, heuristic 1 with optimised basis, §4.1.1 to §4.1.3).

Successive modulo works for any linearly independent rows, not only for the array axes. Here each row is the
one along which the differences that are left have the least width, so its modulus is as small as it can be.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

from arrayfold.base.errors import BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding
from arrayfold.exact.isl import image, linear_form
from arrayfold.exact.lattice import Vector, axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.farkas import measures
from arrayfold.methods.method import Method, Request
from arrayfold.methods.narrow_rows import NarrowRows

_MOST_MEASURES = 6
_MOST_ORDERS = 120


def find_basis(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mapping over the bases of narrow rows, and over the orders of their rows.

    There is a basis for each order in which the growth with the parameters is minimised. The orders of the
    rows are those of DIY15 §4.1: a width depends on the rows before, and the order in which they were found
    is not always the best.
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
    @cache
    def modulus(row: Vector, settled: frozenset[Vector]) -> Formula:
        return _modulus(conflicts, row, settled)

    for order in itertools.islice(itertools.permutations(rows), _MOST_ORDERS if request.all_orders else 1):
        moduli = [modulus(row, frozenset(order[:k])) for k, row in enumerate(order)]
        yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, order, moduli)


def _modulus(conflicts: Conflicts, row: Vector, settled: frozenset[Vector]) -> Formula:
    """One more than the largest value of the row on the differences where the settled rows vanish."""
    aligned = conflicts.differences
    for other in sorted(settled):
        aligned = aligned.intersect(linear_form(aligned.get_space(), other).zero_set())
    return exceeding(image(aligned, linear_form(aligned.get_space(), row)), conflicts.context)


METHOD = Method(
    "basis",
    "fold along the rows of least width, found one after the other",
    "DIY15 §4.1, heuristic 1 with optimised basis",
    find_basis,
)
