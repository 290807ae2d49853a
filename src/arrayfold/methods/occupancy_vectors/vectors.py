"""Occupancy vectors: cells so far apart may share an address, wherever they are (DIY16 §4); their stores.

A vector is one iff neither it nor a multiple of it is a difference of conflicting cells, for any size. With
the order of a schedule it belongs to that schedule, with that of all legal schedules it is universal (UOV),
with that of all tilings quasi-universal (QUOV): see `passes/all_orders.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import coalesced, image, linear_form, without_parameters
from arrayfold.exact.lattice import Vector, first_positive, kernel_frame, multiplier_row
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Array

_LONGEST = {1: 1000, 2: 24, 3: 10}
_LONGEST_OTHERWISE = 4


def shortest_occupancy_vector(conflicts: Conflicts) -> Vector | None:
    """The shortest vector between cells that may share an address at every size; None if none is found."""
    return next(occupancy_vectors(conflicts), None)


def occupancy_vectors(conflicts: Conflicts) -> Iterator[Vector]:
    """Vectors between cells that may share an address at every size, the shortest first.

    Shortest in Manhattan length, ties to the most even one, then to the lexicographically largest. Of two
    opposite ones, that whose first entry is positive.
    """
    rank = conflicts.array.rank
    of_some_size = without_parameters(conflicts.differences.intersect_params(conflicts.context))
    differences = coalesced(of_some_size)
    return valid_vectors(
        rank,
        _LONGEST.get(rank, _LONGEST_OTHERWISE),
        lambda vector: first_positive(vector) == vector and is_free(differences, vector),
    )


def shortest_vector(rank: int, longest: int, is_valid: Callable[[Vector], bool]) -> Vector | None:
    """The valid vector of least Manhattan length, then the most even, then the lexicographically largest."""
    return next(valid_vectors(rank, longest, is_valid), None)


def valid_vectors(rank: int, longest: int, is_valid: Callable[[Vector], bool]) -> Iterator[Vector]:
    """The valid vectors by Manhattan length, then the most even, then the lexicographically largest."""
    for length in range(1, longest + 1):
        found = [vector for vector in vectors_of_length(rank, length) if is_valid(vector)]
        yield from sorted(found, key=lambda vector: (max(map(abs, vector)), [-entry for entry in vector]))


def is_free(differences: isl.Set, vector: Vector) -> bool:
    """Whether no multiple of a vector is among the differences { A[d] }, which are symmetric."""
    names = [f"d{axis}" for axis in range(len(vector))]
    along = " and ".join(f"{name} = {entry}k" for name, entry in zip(names, vector, strict=True))
    tuple_name = differences.get_tuple_name() or ""
    line = f"{{ {tuple_name}[{', '.join(names)}] : exists k : k >= 1 and {along} }}"
    return bool(differences.is_disjoint(isl.Set(line)))


def vectors_of_length(rank: int, length: int) -> Iterator[Vector]:
    """All vectors of a Manhattan length.

    >>> sorted(vectors_of_length(2, 1))
    [(-1, 0), (0, -1), (0, 1), (1, 0)]
    """
    for sizes in itertools.product(range(length + 1), repeat=rank):
        if sum(sizes) != length:
            continue
        signs = [(1, -1) if size else (1,) for size in sizes]
        for chosen in itertools.product(*signs):
            yield tuple(sign * size for sign, size in zip(chosen, sizes, strict=True))


def mapping_along(array: Array, context: isl.Set, vector: Vector) -> ModularMapping:
    """The mapping that gives cells one address iff they are a multiple of the vector apart (TVA07 §3.3.2).

    Rows of a unimodular matrix vanish on the primitive part of the vector; their moduli are the lengths of
    what the cells span, so that nothing else is wrapped. If the vector is g times its primitive part, one
    more row counts the steps along it modulo g.
    """
    cells = array.cells.intersect_params(context)
    divisor = math.gcd(*vector)
    primitive = tuple(entry // divisor for entry in vector)
    rows: list[Vector] = []
    moduli: list[Formula] = []
    offset: list[Formula] = []
    basis, _ = kernel_frame(primitive)
    for row in basis:
        ((low, length),) = extents(image(cells, linear_form(cells.get_space(), row)), context)
        rows.append(row)
        moduli.append(length)
        offset.append(-low)
    if divisor > 1:
        rows.append(multiplier_row(primitive))
        moduli.append(Formula.constant(divisor))
        offset.append(Formula.constant(0))
    return ModularMapping.of(array.name, array.dimensions, rows, moduli, offset)
