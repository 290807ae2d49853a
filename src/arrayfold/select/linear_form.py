"""The one-dimensional form of a mapping: as many addresses in one row (DIY15 §4.1)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from arrayfold.base.errors import ArrayfoldError, NothingProved
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.piecewise_moduli import RowWidths, fold_in_order
from arrayfold.select.choose import Candidate

_MOST_ORDERS = 120


def linear_forms(mapping: ModularMapping) -> Iterator[ModularMapping]:
    """c1.x + b1*(c2.x + b2*(...)) mod b1*...*bn for the orders of the rows, that of the mapping first.

    Some are not valid: c1.x may have to stay below b1 for all conflicting cells, and need not do so for a row
    that was chosen after others.

    >>> from arrayfold.exact.formula_parse import read_formula as f
    >>> rows = ModularMapping.of("A", ("x", "y"), [[1, -1], [0, 1]], [f("2*N - 1"), f("2")])
    >>> print(*linear_forms(rows), sep="; ")
    A[x, y] -> [(x + (2*N - 2)*y) mod (4*N - 2)]; A[x, y] -> [(2*x - y) mod (4*N - 2)]
    """
    one = Formula.constant(1)
    size = math.prod(mapping.moduli, start=one)
    for order in itertools.islice(itertools.permutations(range(len(mapping.moduli))), _MOST_ORDERS):
        weight, row, offset = one, [Formula.constant(0)] * len(mapping.dimensions), Formula.constant(0)
        for k in order:
            row = [known + weight * entry for known, entry in zip(row, mapping.matrix[k], strict=True)]
            offset = offset + weight * mapping.offset[k]
            weight = weight * mapping.moduli[k]
        yield ModularMapping.of(mapping.array, mapping.dimensions, [row], [size], [offset])


def in_linear_form(candidate: Candidate, conflicts: Conflicts, request: Request) -> Candidate:
    """The candidate with one row: of the first order of its rows that the judge proves.

    Where moduli are smaller than widths, there may be none; then moduli are widths in the order that needs
    the fewest cells, and the form is valid by construction (DIY15 heuristic 1).
    """
    mapping = candidate.mapping
    if isinstance(mapping, ModularMapping) and len(mapping.moduli) <= 1:
        return candidate
    if not isinstance(mapping, ModularMapping) or mapping.divisors:
        raise NothingProved(f"{conflicts.name}: --linear-form: the mapping {mapping} is not one of rows")
    with request.budget.limit(f"the one-dimensional form of {conflicts.name}"):
        for form in itertools.chain(linear_forms(mapping), _of_widths(mapping, conflicts, request)):
            verdict = _verdict(conflicts, form)
            if verdict is not None:
                return replace(candidate, mapping=form, verdict=verdict)
    raise NothingProved(
        f"{conflicts.name}: --linear-form: no order of the rows of {mapping} gives a valid row; "
        "leave the option away, or choose another --method"
    )


def _of_widths(mapping: ModularMapping, conflicts: Conflicts, request: Request) -> Iterator[ModularMapping]:
    """The rows modulo their widths, as one row; the order with the fewest cells first."""
    if not all(entry.is_constant for row in mapping.matrix for entry in row):
        return
    rows = [tuple(int(entry.as_number()) for entry in row) for row in mapping.matrix]
    widths = RowWidths(conflicts.differences, conflicts.context, rows)
    orders = itertools.islice(itertools.permutations(range(len(rows))), _MOST_ORDERS)
    found = [fold_in_order(conflicts, widths, order) for order in orders]
    for wide in sorted(found, key=lambda one: request.rank(one.size)):
        yield next(linear_forms(wide))


def _verdict(conflicts: Conflicts, mapping: ModularMapping) -> Proof | None:
    try:
        verdict = verify(conflicts, mapping)
    except ArrayfoldError:
        return None
    return verdict if isinstance(verdict, Proof) else None
