"""Validity of mappings whose coefficients or moduli are polynomials of the parameters: two arguments.

By the kernel: two cells share an address iff their difference lies in the kernel of the mapping, a lattice.
Suppose that lattice has a basis B whose entries are affine in the parameters. Every difference in it is
d = B k with integer k, and k = adj(B) d / det(B) is bounded because the differences are. If the bound of the
k that belong to vectors with parameters is a number for all parameter values, finitely many values of them
remain. For each, B k is affine in the other k, and whether it is a conflicting difference is an affine
question.

The basis is guessed from a few sizes and then checked exactly, as polynomials:

- every basis vector is in the kernel: each row takes it to a polynomial multiple of its modulus;
- the mapping reaches all addresses, so that the kernel has index b1*b2*...; and |det(B)| is that number,
  so that the basis generates the whole kernel;
- the bound is one that `exact.signs` shows.

By corners, for mappings of one row: let the axes be ordered by their coefficients, largest first, and call a
difference positive if its first entry that is not zero moves the address up. Differences come in opposite
pairs, so it is enough that every positive one moves the address by at least 1 and at most b - 1. At fixed
parameters the move is linear in the difference, so its extremes over a polytope are at corners. Corners are
affine in the parameters; there the move is a polynomial of the parameters alone, which is positive if no term
is negative once the least parameter values are taken as the origin.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
from flint import fmpz, fmpz_mat

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.factors import cofactor, determinant, quotient
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding, from_aff
from arrayfold.exact.generators import vertices
from arrayfold.exact.isl import fresh_names, image, is_bounded, linear_form
from arrayfold.exact.lattice import (
    Vector,
    common_divisors_divide,
    is_onto,
    rank_modulo,
    reduced_kernel,
)
from arrayfold.exact.parameter_values import large_parameters, parameter_minima
from arrayfold.exact.signs import absolute_bound, is_positive
from arrayfold.mapping.modular import ModularMapping

_GUESSED_FROM = (60, 61, 62, 63)
_MOST_MULTIPLES = 6
_MOST_CHECKS = 20_000
_MOST_PIECES = 100

Matrix = list[list[Formula]]


@dataclass(frozen=True, eq=False)
class LatticeVerdict:
    """The multiples that had to be checked, and the colliding differences that were found.

    colliding  { A[d] }  empty iff the mapping is valid
    """

    basis: tuple[tuple[Formula, ...], ...]
    multiples: tuple[int | None, ...]
    colliding: isl.Set


def check_lattice(conflicts: Conflicts, mapping: ModularMapping) -> LatticeVerdict | None:
    """All conflicting differences in the kernel of the mapping; None where the argument does not apply."""
    low = parameter_minima(conflicts.context)
    if not low or not _reaches_all_addresses(mapping) or not mapping.size.is_polynomial:
        return None
    basis = _guess_basis(mapping, low)
    if basis is None or not _generates_kernel(mapping, basis):
        return None
    multiples = _bound_multiples(conflicts, basis, low)
    if multiples is None or math.prod(2 * k + 1 for k in multiples if k) > _MOST_CHECKS:
        return None
    colliding = _collisions(conflicts, basis, multiples)
    return LatticeVerdict(tuple(map(tuple, basis)), multiples, colliding)


# ---------------------------------------------------------------- the kernel


def _reaches_all_addresses(mapping: ModularMapping) -> bool:
    """One row with an entry ±1, constant rows that map onto all integer vectors, or prime by prime."""
    rows = mapping.matrix
    if len(rows) == 1 and any(entry in (Formula.constant(1), Formula.constant(-1)) for entry in rows[0]):
        return True
    if all(entry.is_constant for row in rows for entry in row) and is_onto(
        [[int(entry.as_number()) for entry in row] for row in rows]
    ):
        return True
    return _is_onto_modulo_primes(mapping)


def _is_onto_modulo_primes(mapping: ModularMapping) -> bool:
    """Rows reach every address iff for each prime those whose modulus it divides are independent modulo it.

    One row may have a modulus that is no number. Common divisors of that row and its modulus divide a number
    D, by polynomials u with u . row + v modulus = D; so only primes of D and of the other moduli need a look,
    each at its finitely many residues of the parameter.
    """
    formulas = (*itertools.chain(*mapping.matrix), *mapping.moduli)
    names = {name for formula in formulas for name in formula.names()}
    moving = [k for k, modulus in enumerate(mapping.moduli) if not modulus.is_constant]
    if len(names) > 1 or len(moving) > 1 or not all(f.is_polynomial and f.is_whole for f in formulas):
        return False
    name = next(iter(names), "")
    numbers = [int(modulus.as_number()) for modulus in mapping.moduli if modulus.is_constant]
    for k in moving:
        together = (*mapping.matrix[k], mapping.moduli[k])
        divisor = common_divisors_divide([_coefficients(one) for one in together if one.terms])
        if divisor is None:
            return False
        numbers.append(divisor)
    primes = [int(prime) for prime, _ in fmpz(math.prod(numbers)).factor()]
    return all(
        _are_independent(mapping, prime, {name: residue}) for prime in primes for residue in range(prime)
    )


def _are_independent(mapping: ModularMapping, prime: int, params: Mapping[str, int]) -> bool:
    active = [
        [entry.at(params) for entry in row]
        for row, modulus in zip(mapping.matrix, mapping.moduli, strict=True)
        if modulus.at(params) % prime == 0
    ]
    return not active or rank_modulo(active, prime) == len(active)


def _coefficients(polynomial: Formula) -> list[int]:
    """Coefficients of a polynomial of one parameter, from the constant on."""
    found = {sum(power for _, power in monomial): int(number) for monomial, number in polynomial.terms}
    return [found.get(power, 0) for power in range(max(found) + 1)]


def _guess_basis(mapping: ModularMapping, low: Mapping[str, int]) -> Matrix | None:
    """Vectors with affine entries that form a basis of the kernel at a few sizes.

    It is reduced but for multiples of vectors that are the same at all sizes: the others are brought to
    the same place with respect to these, because the shortest one may depend on the parity of a size.
    None if no affine fit exists.
    """
    (name, *others) = low
    if others or not all(one.is_whole for one in (*itertools.chain(*mapping.matrix), *mapping.moduli)):
        return None
    sizes = [max(low[name], 0) + offset for offset in _GUESSED_FROM]
    if any(modulus.at({name: size}) < 1 for modulus in mapping.moduli for size in sizes):
        return None
    bases = [_kernel_at(mapping, {name: size}) for size in sizes]
    same = [vector for vector in bases[0] if all(vector in basis for basis in bases)]
    bases = [[*same, *(_settled(v, same) for v in basis if v not in same)] for basis in bases]
    fitted: Matrix = []
    for vectors in zip(*bases, strict=True):
        line: list[Formula] = []
        for values in zip(*vectors, strict=True):
            slope = values[1] - values[0]
            start = values[0] - slope * sizes[0]
            if any(value != start + slope * size for value, size in zip(values, sizes, strict=True)):
                return None
            line.append(Formula.name(name) * slope + start)
        fitted.append(line)
    return fitted


def _settled(vector: Vector, same: Sequence[Vector]) -> Vector:
    """A vector without multiples of others, at the axes where these leave it the fewest values.

    Where they leave one value only, such as along (3, 1), the place does not depend on residues of a size.
    """
    rank = len(vector)
    best: tuple[int, Vector] | None = None
    for axes in itertools.permutations(range(rank)):
        rows = [[one[axis] for axis in axes] for one in same]
        echelon = [[int(entry) for entry in line] for line in fmpz_mat(rows).hnf().tolist()] if rows else []
        left = [vector[axis] for axis in axes]
        values = 1
        for line in echelon:
            pivot = next((k for k, entry in enumerate(line) if entry), None)
            if pivot is not None:
                times = left[pivot] // line[pivot]
                left = [a - times * b for a, b in zip(left, line, strict=True)]
                values *= line[pivot]
        if best is None or values < best[0]:
            best = values, tuple(left[axes.index(axis)] for axis in range(rank))
    assert best is not None
    return best[1]


def _kernel_at(mapping: ModularMapping, params: Mapping[str, int]) -> list[Vector]:
    rows = [[entry.at(params) for entry in row] for row in mapping.matrix]
    return reduced_kernel(rows, [modulus.at(params) for modulus in mapping.moduli])


def _generates_kernel(mapping: ModularMapping, basis: Matrix) -> bool:
    for row, modulus in zip(mapping.matrix, mapping.moduli, strict=True):
        for vector in basis:
            if not _is_multiple(_dot(row, vector), modulus):
                return False
    index = determinant(basis)
    return mapping.size in (index, -index)


def _dot(left: Sequence[Formula], right: Sequence[Formula]) -> Formula:
    return Formula.sum(a * b for a, b in zip(left, right, strict=True))


def _is_multiple(value: Formula, modulus: Formula) -> bool:
    """Whether a polynomial is an integer polynomial times another."""
    return quotient(value, modulus) is not None


# ---------------------------------------------------------------- finitely many multiples


def _bound_multiples(
    conflicts: Conflicts, basis: Matrix, low: Mapping[str, int]
) -> tuple[int | None, ...] | None:
    """Numbers that no difference exceeds in its coordinates with respect to the basis.

    Vectors of numbers need none (None); the whole is None where another vector has none.

    Coordinate j of d is the sum over i of cofactor(j, i) * d_i / det, and |d_i| <= reach_i.
    """
    differences = conflicts.differences.intersect_params(conflicts.context)
    reaches = [_reach(differences, k, conflicts.context) for k in range(len(basis))]
    if not all(reach.is_polynomial for reach in reaches):
        return None
    index = determinant(basis)
    if index.evaluate(low) < 0:
        index = -index
    found: list[int | None] = []
    for j, vector in enumerate(basis):
        if all(entry.is_constant for entry in vector):
            found.append(None)
            continue
        total = Formula.constant(0)
        for i, reach in enumerate(reaches):
            total += absolute_bound(cofactor(basis, j, i), low) * absolute_bound(reach, low)
        rests = (index * (k + 1) - total for k in range(_MOST_MULTIPLES))
        bound = next((k for k, rest in enumerate(rests) if is_positive(rest, conflicts.context)), None)
        if bound is None:
            return None
        found.append(bound)
    return tuple(found)


def _reach(differences: isl.Set, axis: int, context: isl.Set) -> Formula:
    unit = [int(axis == k) for k in range(differences.dim(isl.dim_type.set))]
    return exceeding(image(differences, linear_form(differences.get_space(), unit)), context) - 1


def _collisions(conflicts: Conflicts, basis: Matrix, multiples: Sequence[int | None]) -> isl.Set:
    """{ A[d] }: conflicting differences among the combinations of the basis.

    Vectors of numbers enter any number of times, the others as often as their bound allows.
    """
    differences = conflicts.differences.intersect_params(conflicts.context)
    fixed = [vector for vector, bound in zip(basis, multiples, strict=True) if bound is None]
    moving = [vector for vector, bound in zip(basis, multiples, strict=True) if bound is not None]
    bounds = [bound for bound in multiples if bound is not None]
    found = isl.Set.empty(differences.get_space())
    for factors in itertools.product(*(range(-k, k + 1) for k in bounds)):
        if next(filter(None, factors), 1) > 0:
            weights = [Formula.constant(factor) for factor in factors]
            vector = [_dot(weights, column) for column in zip(*moving, strict=True)] if moving else None
            found = found.union(_line(differences.get_space(), vector, fixed).intersect(differences))
    return found


def _line(space: isl.Space, start: Sequence[Formula] | None, fixed: Matrix) -> isl.Set:
    """{ A[d] }: start, an affine vector, plus all integer combinations of vectors of numbers."""
    rank = space.dim(isl.dim_type.set)
    origin = start or [Formula.constant(0)] * rank
    parameters = sorted({name for entry in origin for name in entry.names()})
    names = fresh_names("factor", len(fixed), parameters)
    indices = fresh_names("d", rank, [*parameters, *names])
    entries = [
        str(sum((v[k] * Formula.name(n) for v, n in zip(fixed, names, strict=True)), start=origin[k]))
        for k in range(rank)
    ]
    tuple_name = space.get_tuple_name(isl.dim_type.set) or ""
    equations = " and ".join(f"{index} = {entry}" for index, entry in zip(indices, entries, strict=True))
    exists = f"exists ({', '.join(names)} : {equations})" if names else equations
    return isl.Set(f"[{', '.join(parameters)}] -> {{ {tuple_name}[{', '.join(indices)}] : {exists} }}")


# ---------------------------------------------------------------- corners


def check_linear(conflicts: Conflicts, mapping: ModularMapping) -> int | None:
    """How many corners show that the mapping is valid; None where the argument does not apply."""
    if len(mapping.moduli) != 1 or not all(entry.is_polynomial for entry in mapping.matrix[0]):
        return None
    (row,), (modulus,) = mapping.matrix, mapping.moduli
    differences = conflicts.differences.intersect_params(conflicts.context)
    if not modulus.is_polynomial or not is_bounded(differences):
        return None
    count = 0
    parts = _positive_parts(differences, row, conflicts.context)
    pieces = [piece for part in parts for piece in part.remove_divs().get_basic_sets()]
    if len(pieces) > _MOST_PIECES:
        return None
    for piece in pieces:
        for where, corner in vertices(piece):
            move = _dot(row, list(map(from_aff, corner)))
            here = conflicts.context.intersect(isl.Set.from_basic_set(where).params())
            if not (is_positive(move, here) and is_positive(modulus - move, here)):
                return None
            count += 1
    return count


def _positive_parts(differences: isl.Set, row: Sequence[Formula], context: isl.Set) -> Iterator[isl.Set]:
    """The differences by the first axis on which they are not zero, one of each opposite pair."""
    far = large_parameters(context)
    values = [entry.evaluate(far) for entry in row]
    rest = differences
    for axis in sorted(range(len(row)), key=lambda k: -abs(values[k])):
        if values[axis] > 0:
            yield rest.lower_bound_val(isl.dim_type.set, axis, 1)
        else:
            yield rest.upper_bound_val(isl.dim_type.set, axis, -1)
        rest = rest.fix_val(isl.dim_type.set, axis, 0)
