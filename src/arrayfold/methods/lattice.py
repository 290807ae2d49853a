"""A lattice of short reuse vectors as the kernel of the mapping (DIY15 §4.2, heuristic 2)."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import origin
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Method, Request
from arrayfold.methods.reuse_chains import Completion, find_by_chains, mapping_of
from arrayfold.methods.reuse_vectors import (
    NORM_ORDERS,
    directions,
    extended_gcd,
    extruded,
    line,
    norm_key,
    reuse_along,
)

# By the number of dimensions that are left: the largest entry of a direction, and how many are followed.
_LARGEST_ENTRY = {1: 1, 2: 2}
_BRANCHES = {1: 1, 2: 4, 3: 2}


def find_lattice(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mappings whose kernels are lattices of short reuse vectors."""
    found = find_by_chains(conflicts, request, complete_by_directions, "lattice")
    mappings = [mapping_of(conflicts, chain, completion) for chain, completion in found]
    if not request.power_of_two:
        mappings = [with_elementary_divisors(mapping) for mapping in mappings]
    return sorted(mappings, key=lambda mapping: request.rank(mapping.size))


def complete_by_directions(here: isl.Set, rows: tuple[Vector, ...], request: Request) -> Completion:
    """Reuse vectors with constant directions, whose lengths depend on the parameters.

    here  { [d] }  differences at the size of the request

    In each small direction the first multiple beyond all differences is a reuse vector. The shortest ones
    are tried, and the differences extruded along them (DIY15 §4.2.3).
    """
    if not rows:
        return Completion((), 1)
    request.budget.check("completing reuse vectors")
    beside = extruded(here, rows)
    if beside.is_subset(origin(beside.get_space())):
        return Completion(rows, 1)
    found: list[Completion] = []
    for vector in _shortest_multiples(beside)[: _BRANCHES.get(len(rows), 1)]:
        reuse = reuse_along(vector, rows)
        rest = complete_by_directions(here, reuse.beyond, request)
        found.append(Completion((*rest.rows, reuse.row), rest.size * reuse.modulus))
    return min(found, key=lambda completion: completion.size)


def _shortest_multiples(beside: isl.Set) -> list[Vector]:
    """For small directions the first multiple that is beyond all differences along it, the shortest first."""
    rank = beside.dim(isl.dim_type.set)
    found: list[Vector] = []
    for direction in directions(rank, _LARGEST_ENTRY.get(rank, 1)):
        along = line(beside, direction)
        beyond = 1 if along.is_empty() else along.dim_max_val(0).to_python() + 1
        found.append(tuple(beyond * entry for entry in direction))
    return sorted(found, key=lambda vector: norm_key(NORM_ORDERS[0], vector))


def with_elementary_divisors(mapping: ModularMapping) -> ModularMapping:
    """The same kernel with the fewest rows, where all moduli are numbers: each modulus divides the next one.

    Rows r mod g*p and s mod g*q with a*p + b*q = 1 are worth a*r + b*s mod g and p*s - q*r mod g*p*q.

    >>> from arrayfold.exact.formula_parse import read_formula as f
    >>> rows = ModularMapping.of("A", ("i", "j"), [[1, 0], [0, 1]], [f("2"), f("3")])
    >>> print(with_elementary_divisors(rows))
    A[i, j] -> [(3*i + 2*j) mod 6]
    """
    if not all(modulus.is_constant for modulus in mapping.moduli):
        return mapping
    moduli = [int(modulus.as_number()) for modulus in mapping.moduli]
    rows = [[int(entry.as_number()) for entry in row] for row in mapping.matrix]
    for k in range(len(rows)):
        for j in range(k + 1, len(rows)):
            common, a, b = extended_gcd(moduli[k], moduli[j])
            p, q = moduli[k] // common, moduli[j] // common
            first = [a * r + b * s for r, s in zip(rows[k], rows[j], strict=True)]
            second = [p * s - q * r for r, s in zip(rows[k], rows[j], strict=True)]
            rows[k], rows[j] = first, second
            moduli[k], moduli[j] = common, common * p * q
    rows = [[_nearest(entry, b) for entry in row] for row, b in zip(rows, moduli, strict=True)]
    return ModularMapping.of(mapping.array, mapping.dimensions, rows, list(map(Formula.constant, moduli)))


def _nearest(entry: int, modulus: int) -> int:
    """The remainder closest to zero."""
    return (entry + (modulus - 1) // 2) % modulus - (modulus - 1) // 2


METHOD = Method(
    "lattice",
    "a lattice of short reuse vectors, as the kernel of the mapping",
    "DIY15 §4.2, heuristic 2",
    find_lattice,
)
