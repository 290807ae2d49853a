"""Short reuse vectors: the lattice side of DIY15 (§4.2), one vector at a time.

A reuse vector is found outside the conflicting differences, or rather outside their extrusion along the reuse
vectors before it. The extrusion is kept as an image: `rows` vanish on the vectors so far and map the integer
vectors onto all integer vectors, so { rows . d } says of every difference where it lies beside them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.exact.isl import (
    coordinate,
    integer,
    joined,
    linear_form,
    nonzero,
    points,
    polyhedron,
    smallest_point,
    without_parameters,
)
from arrayfold.exact.lattice import (
    Vector,
    axes,
    combine,
    first_positive,
    kernel_frame,
    primitive_vectors,
    times,
)
from arrayfold.exact.relations import relation
from arrayfold.methods.widths import within_box

# Largest entry of the vectors that are listed one by one, by the rank of the array.
_LISTED = {1: 12, 2: 6, 3: 3, 4: 2}
_MOST_TRIES = 40

Norm = Callable[[Sequence[int]], int]


@dataclass(frozen=True)
class Reuse:
    """A reuse vector, as a row of the mapping and its modulus.

    beside  where it lies beside the vectors before it
    row     takes it to its modulus up to sign, and every vector before it to 0
    beyond  rows that vanish on this vector and on all before it, onto what is left
    """

    beside: Vector
    row: Vector
    modulus: int
    beyond: tuple[Vector, ...]


# ---------------------------------------------------------------- norms


def largest_entry(vector: Sequence[int]) -> int:
    """The maximum norm."""
    return max(map(abs, vector))


def manhattan(vector: Sequence[int]) -> int:
    """The sum of the absolute values."""
    return sum(map(abs, vector))


def unevenness(vector: Sequence[int]) -> int:
    """The sum of the distances between any two entries: small for diagonal vectors (DIY15 §4.2.1)."""
    return sum(abs(a - b) for a, b in itertools.combinations(vector, 2))


NORM_ORDERS: tuple[tuple[Norm, ...], ...] = (
    (largest_entry, manhattan, unevenness),
    (manhattan, unevenness, largest_entry),
    (manhattan, largest_entry, unevenness),
)


def norm_key(norms: Sequence[Norm], vector: Sequence[int]) -> tuple[object, ...]:
    """What the vectors are sorted by: the norms in turn; then the entries, so that answers never vary."""
    return (*(norm(vector) for norm in norms), [abs(entry) for entry in vector], [-entry for entry in vector])


# ---------------------------------------------------------------- the set to stay out of


def of_any_size(differences: isl.Set, context: isl.Set) -> isl.Set:
    """{ [d] }: the differences for any value of the parameters (DIY15 §4.2.3)."""
    return joined(without_parameters(differences.intersect_params(context).reset_tuple_id()))


def star_shaped(differences: isl.Set) -> isl.Set:
    """{ [d] }: the integer vectors d = s*e, 0 < s <= 1, where e runs over the polyhedra of the set.

    differences  { [d] }  without parameters; strides are ignored, which adds vectors and is safe

    Fourier-Motzkin elimination of s, polyhedron by polyhedron (DIY15 §4.2.4).

    >>> star_shaped(isl.Set("{ [x, y] : 2 <= y <= 3 }"))
    Set("{ [i0, i1] : 0 < i1 <= 3 }")
    """
    stars = map(_star_of, differences.remove_divs().get_basic_sets())
    return joined(reduce(isl.Set.union, stars, isl.Set.empty(differences.get_space())))


def _star_of(basic: isl.BasicSet) -> isl.BasicSet:
    bounds = list(_bounds(basic))
    lines = [(constant if constant >= 0 else -1, *normal) for normal, constant in bounds]
    for (far, outer), (near, inner) in itertools.product(bounds, repeat=2):
        if inner < 0 < outer:
            lines.append((0, *(a * -inner + b * outer for a, b in zip(far, near, strict=True))))
    return polyhedron(lines) if lines else basic


def _bounds(basic: isl.BasicSet) -> Iterator[tuple[list[int], int]]:
    """Pairs (a, c) with a . d + c >= 0; an equation gives two."""
    for constraint in basic.get_constraints():
        normal = [
            constraint.get_coefficient_val(isl.dim_type.set, k).to_python()
            for k in range(basic.dim(isl.dim_type.set))
        ]
        constant = constraint.get_constant_val().to_python()
        yield normal, constant
        if constraint.is_equality():
            yield [-entry for entry in normal], -constant


def extruded(differences: isl.Set, rows: Sequence[Vector]) -> isl.Set:
    """{ [rows . d] }: where differences lie beside the vectors on which the rows vanish, zero included."""
    rank = differences.dim(isl.dim_type.set)
    if len(rows) == rank and all(row[k] == sum(map(abs, row)) for k, row in enumerate(rows)):
        return differences
    images = isl.MultiPwAff.zero(isl.Space.alloc(differences.get_ctx(), 0, rank, len(rows)))
    for k, row in enumerate(rows):
        images = images.set_pw_aff(k, linear_form(differences.get_space(), row))
    return joined(differences.apply(isl.Map.from_multi_pw_aff(images)))


def line(differences: isl.Set, direction: Vector) -> isl.Set:
    """{ [k] : k >= 1 and k * direction is a difference }."""
    images = [f"{entry}*k" for entry in direction]
    return relation(["k"], images, "k >= 1").intersect_range(differences).domain()


# ---------------------------------------------------------------- short vectors outside


def reuse_vectors(
    beside: isl.Set, rows: Sequence[Vector], candidates: Iterable[Vector], most: int
) -> list[Reuse]:
    """The first candidates of which no multiple is a difference, at most so many, each of its own direction.

    beside  { [y] }  the extruded differences, y = rows . d
    """
    found: list[Reuse] = []
    seen: set[Vector] = set()
    for vector in itertools.islice(candidates, _MOST_TRIES):
        image = times(rows, vector)
        modulus = math.gcd(*image)
        direction = first_positive(tuple(entry // max(1, modulus) for entry in image))
        if modulus and direction not in seen and line(beside, image).is_empty():
            found.append(reuse_along(image, rows))
            seen.add(direction)
        if len(found) >= most:
            break
    return found


def reuse_along(beside: Vector, rows: Sequence[Vector]) -> Reuse:
    """The row, modulus and rest of a vector that the rows take to `beside`, which is not zero."""
    modulus = math.gcd(*beside)
    primitive = tuple(entry // modulus for entry in beside)
    kernel, _ = kernel_frame(primitive)
    rest = tuple(first_positive(combine(coefficients, rows)) for coefficients in kernel)
    return Reuse(beside, first_positive(combine(_unit_row(primitive), rows)), modulus, rest)


def small_vectors(rank: int) -> list[Vector]:
    """All vectors with small entries, one of each pair of opposite ones, the shortest first."""
    largest = _LISTED.get(rank, 1)
    everything = itertools.product(range(-largest, largest + 1), repeat=rank)
    half = (vector for vector in everything if next(filter(None, vector), 0) > 0)
    return sorted(half, key=lambda v: norm_key(NORM_ORDERS[0], v))


def vectors_outside(beside: isl.Set, rows: Sequence[Vector]) -> list[Vector]:
    """Vectors outside: the shortest ones for each order of the norms, then others by their Manhattan norm.

    beside  { [y] }  the extruded differences, y = rows . d
    """
    outside = _outside(beside, rows)
    if outside.is_empty():
        return []
    near = within_box(outside, _LISTED.get(len(rows[0]), 1))
    if near.is_empty():
        shapes = (within_box, _within_sum)
        return [_shortest(outside, shapes), _shortest(outside, shapes[::-1])]
    listed = points(near)
    best = [min(listed, key=lambda v, norms=norms: norm_key(norms, v)) for norms in NORM_ORDERS]
    return [*best, *sorted(listed, key=lambda v: norm_key(NORM_ORDERS[2], v))]


def _outside(beside: isl.Set, rows: Sequence[Vector]) -> isl.Set:
    """{ [x] : rows . x is not in the set and not zero }, one of each pair of opposite vectors."""
    space = beside.get_space()
    half = isl.Set.universe(space).lower_bound_val(isl.dim_type.set, 0, isl.Val(0))
    images = half.intersect(nonzero(space)).subtract(beside)
    names = [f"x{k}" for k in range(len(rows[0]))]
    texts = [" + ".join(f"{entry}*{name}" for entry, name in zip(row, names, strict=True)) for row in rows]
    return joined(images).apply(relation(names, texts).reverse())


def _within_sum(vectors: isl.Set, largest: int) -> isl.Set:
    for signs in itertools.product((1, -1), repeat=vectors.dim(isl.dim_type.set)):
        room = linear_form(vectors.get_space(), signs).neg().add_constant_val(integer(largest))
        vectors = vectors.intersect(room.nonneg_set())
    return vectors


def _shortest(vectors: isl.Set, shapes: Sequence[Callable[[isl.Set, int], isl.Set]]) -> Vector:
    """A vector in the smallest ball of the first shape that has one, then in the smallest of the next."""
    for shape in shapes:
        point = vectors.sample_point()
        known = [coordinate(point, isl.dim_type.set, k) for k in range(vectors.dim(isl.dim_type.set))]
        low, high = 0, manhattan(known)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if shape(vectors, middle).is_empty() else (low, middle)
        vectors = shape(vectors, high)
    return smallest_point(vectors)


# ---------------------------------------------------------------- integers


def directions(rank: int, largest: int) -> list[Vector]:
    """Primitive vectors up to sign, the simplest first."""
    return sorted(primitive_vectors(rank, largest), key=lambda v: norm_key(NORM_ORDERS[1], v))


def _unit_row(primitive: Vector) -> Vector:
    """A row that takes the vector to 1: a unit row where that is possible.

    >>> _unit_row((2, -1)), _unit_row((2, 3))
    ((0, -1), (-1, 1))
    """
    for k, entry in enumerate(primitive):
        if abs(entry) == 1:
            return tuple(entry * one for one in axes(len(primitive))[k])
    divisor, row = 0, [0] * len(primitive)
    for k, entry in enumerate(primitive):
        divisor, left, right = extended_gcd(divisor, entry)
        row = [left * value for value in row]
        row[k] = right
    return tuple(row)


def extended_gcd(a: int, b: int) -> tuple[int, int, int]:
    """(g, s, t) with s*a + t*b = g, the nonnegative greatest common divisor."""
    if b == 0:
        return (abs(a), -1 if a < 0 else 1, 0)
    divisor, s, t = extended_gcd(b, a % b)
    return divisor, t, s - (a // b) * t
