"""Heuristic 3 of DIY15 as printed (§4.3): it is what Table 1 calls "Lattice".

Heuristic 2 runs on the star of the differences for all parameter values until no constant reuse vector is
left; heuristic 1 then looks for the narrowest rows, on the original differences, that vanish on the vectors
found. Each step takes the one best vector or row and never comes back to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.farkas import measures
from arrayfold.methods.method import Method, Request
from arrayfold.methods.narrow_rows import NarrowRows
from arrayfold.methods.reuse_chains import Chain, check_applicable
from arrayfold.methods.reuse_vectors import (
    extruded,
    of_any_size,
    reuse_vectors,
    star_shaped,
    vectors_outside,
)
from arrayfold.methods.widths import with_moduli


def find_published(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The one mapping of heuristic 3.

    With a unimodular matrix A whose first columns are the primitive reuse vectors, the first rows are those
    of the inverse of A, modulo the multiples; the other rows are combinations of its last ones, modulo their
    widths plus one (the paper prints the widths).
    """
    check_applicable(conflicts, METHOD.name)
    if conflicts.differences.is_empty():
        return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    chain = constant_vectors(conflicts, request)
    context = conflicts.context.align_params(conflicts.differences.get_space())
    narrow = NarrowRows(conflicts.differences, context, chain.rows, request.budget)
    completed = with_moduli(conflicts, narrow.find(measures(context, request.sizes)[0]) if chain.rows else [])
    chosen = chain.found[::-1]
    rows = [*completed.matrix, *(reuse.row for reuse in chosen)]
    moduli = [*completed.moduli, *(Formula.constant(reuse.modulus) for reuse in chosen)]
    return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)]


def constant_vectors(conflicts: Conflicts, request: Request) -> Chain:
    """The shortest constant reuse vectors one after the other, as far as there are any (heuristic 2).

    Short is the largest entry, then the sum of the entries, then how much they differ (§4.2.1).
    """
    star = star_shaped(of_any_size(conflicts.differences, conflicts.context))
    chain = Chain((), tuple(axes(conflicts.array.rank)))
    while chain.rows:
        request.budget.check("the search for reuse vectors")
        # Integer vectors of a star need not be a star again beside the vectors before.
        beside = star_shaped(extruded(star, chain.rows))
        shortest = vectors_outside(beside, chain.rows)[:1]
        found = reuse_vectors(beside, chain.rows, shortest, 1)
        if not found:
            break
        chain = Chain((*chain.found, found[0]), found[0].beyond)
    return chain


METHOD = Method(
    "lattice-as-published",
    "the shortest constant reuse vectors, completed by the narrowest rows",
    "DIY15 §4.3, heuristic 3",
    find_published,
    is_general=False,
)
