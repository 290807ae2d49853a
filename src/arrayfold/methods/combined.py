"""Constant reuse vectors, completed by rows of small width (DIY15 §4.3, heuristic 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import islpy as isl

from arrayfold.base.errors import BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import linear_form
from arrayfold.exact.lattice import Vector, combine, kernel_frame
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.farkas import measures
from arrayfold.methods.method import Method, Request
from arrayfold.methods.narrow_rows import NarrowRows
from arrayfold.methods.reuse_chains import LARGEST_ENTRY, Chain, Completion, find_by_chains, mapping_of
from arrayfold.methods.reuse_vectors import directions
from arrayfold.methods.widths import Widths

_MOST_MEASURES = 6


def find_combined(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mappings over chains of short reuse vectors, each completed by rows of small width."""
    found = find_by_chains(conflicts, request, complete_by_widths, "combined")
    mappings = [mapping_of(conflicts, chain, completion) for chain, completion in found]
    with suppress(BudgetExceeded):
        mappings += _completed_by_narrow_rows(conflicts, [chain for chain, _ in found], request)
    return sorted(mappings, key=lambda mapping: request.rank(mapping.size))


def _completed_by_narrow_rows(
    conflicts: Conflicts, chains: Sequence[Chain], request: Request
) -> Iterator[ModularMapping]:
    """Chains completed by rows of least width for all parameter values, in the orthogonal of the chain.

    Small rows rank the chains at one size; which rows are narrowest is decided here (DIY15 §4.1.3 and §4.3).
    """
    context = conflicts.context.align_params(conflicts.differences.get_space())
    for chain in chains:
        if not chain.rows or conflicts.differences.is_empty():
            continue
        narrow = NarrowRows(conflicts.differences, context, chain.rows, request.budget)
        for measured in measures(context, request.sizes)[:_MOST_MEASURES]:
            yield mapping_of(conflicts, chain, Completion(tuple(narrow.find(measured)), 1))


def complete_by_widths(here: isl.Set, rows: tuple[Vector, ...], request: Request) -> Completion:
    """Rows that are combinations of the given ones, each of the smallest width that is left.

    here  { [d] }  differences at the size of the request

    After a row, only the differences on which it vanishes are left (DIY15 §4.1, heuristic 1, in the
    orthogonal of the reuse vectors).
    """
    found: list[Vector] = []
    size = 1
    remaining = here
    while rows:
        request.budget.check("completing reuse vectors")
        width, factors = _narrowest(Widths(remaining, is_symmetric=True), rows)
        if not width:
            break
        row = combine(factors, rows)
        found.append(row)
        size *= width + 1
        remaining = remaining.intersect(linear_form(remaining.get_space(), row).zero_set())
        _, dual = kernel_frame(factors)
        rows = tuple(combine(coefficients, rows) for coefficients in dual)
    return Completion((*found, *rows), size)


def _narrowest(widths: Widths, rows: Sequence[Vector]) -> tuple[int, Vector]:
    """The smallest width other than zero among small combinations of the rows, and the first one's factors.

    The width is zero if all widths are, that is, if nothing but zero is left.
    """
    best: tuple[int, Vector] = (0, ())
    for factors in () if widths.is_empty else directions(len(rows), LARGEST_ENTRY.get(len(rows), 1)):
        row = combine(factors, rows)
        if 0 < best[0] <= widths.at_least(row):
            continue
        width = widths.along(row)
        if width and not 0 < best[0] <= width:
            best = width, factors
    return best


METHOD = Method(
    "combined",
    "short constant reuse vectors, completed by rows of small width",
    "DIY15 §4.3, heuristic 3",
    find_combined,
)
