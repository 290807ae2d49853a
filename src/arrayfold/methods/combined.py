"""Constant reuse vectors, completed by rows of small width (DIY15 §4.3, heuristic 3)."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from arrayfold._integer import Vector, combine, kernel_frame
from arrayfold._isl import joined, linear_form
from arrayfold.conflicts import Conflicts
from arrayfold.mapping import Mapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.reuse_chains import LARGEST_ENTRY, Completion, find_by_chains, mapping_of
from arrayfold.methods.reuse_vectors import directions, extruded


def find_combined(conflicts: Conflicts, request: Request) -> Sequence[Mapping]:
    """The smallest mappings over chains of short reuse vectors, each completed by rows of small width."""
    found = find_by_chains(conflicts, request, complete_by_widths, "combined")
    mappings = [mapping_of(conflicts, chain, completion) for chain, completion in found]
    return sorted(mappings, key=lambda mapping: request.rank(mapping.size))


def complete_by_widths(here: isl.Set, rows: tuple[Vector, ...], request: Request) -> Completion:
    """Rows that are combinations of the given ones, each of the smallest width that is left.

    here  { [d] }  differences at the size of the request

    After a row, only the differences on which it vanishes are left, in coordinates of that lattice
    (DIY15 §4.1, heuristic 1, in the orthogonal of the reuse vectors).
    """
    found: list[Vector] = []
    size = 1
    beside = extruded(here, rows)
    while rows:
        request.budget.check("completing reuse vectors")
        width, row = _narrowest(beside)
        if not width:
            break
        found.append(combine(row, rows))
        size *= width + 1
        basis, dual = kernel_frame(row)
        beside = _restricted(beside, basis)
        rows = tuple(combine(coefficients, rows) for coefficients in dual)
    return Completion((*found, *rows), size)


def _narrowest(differences: isl.Set) -> tuple[int, Vector]:
    """The smallest width other than zero among small rows, and the first row that has it.

    The width is zero if all widths are, that is, if nothing but zero is left.
    """
    rank = differences.dim(isl.dim_type.set)
    best: tuple[int, Vector] = (0, ())
    for row in directions(rank, LARGEST_ENTRY.get(rank, 1)):
        ((_, form),) = linear_form(differences.get_space(), row).get_pieces()
        largest = differences.max_val(form)
        width = largest.to_python() if largest.is_int() else 0
        if width and not 0 < best[0] <= width:
            best = width, row
    return best


def _restricted(differences: isl.Set, basis: Sequence[Vector]) -> isl.Set:
    """{ [z] }: coordinates of the differences that are combinations of the basis."""
    names = [f"z{k}" for k in range(len(basis))]
    images = [
        " + ".join(f"{vector[axis]}*{name}" for vector, name in zip(basis, names, strict=True)) or "0"
        for axis in range(differences.dim(isl.dim_type.set))
    ]
    lattice = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(images)}] }}")
    return joined(differences.apply(lattice.reverse()))


METHOD = Method(
    "combined",
    "short constant reuse vectors, completed by rows of small width",
    "DIY15 §4.3, heuristic 3",
    find_combined,
)
