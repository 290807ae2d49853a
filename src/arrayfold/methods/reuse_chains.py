"""Reuse vectors one after the other, and the mappings they become; shared by `lattice` and `combined`.

A chain of constant reuse vectors rarely spans the whole space: as soon as differences grow with a parameter
in every direction left, no constant vector is outside. What completes the chain is what tells the two
methods apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import exceeding
from arrayfold.exact.isl import at_sizes, image, integer, is_bounded, linear_form, strided_pieces
from arrayfold.exact.lattice import Vector, axes
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.method import Request
from arrayfold.methods.reuse_vectors import (
    Reuse,
    extruded,
    of_any_size,
    reuse_vectors,
    small_vectors,
    star_shaped,
    vectors_outside,
)

_BRANCHES = (8, 2, 1)
_HOLES = 2
_MOST_DIMENSIONS = 6
_KEPT = 3
_SHARE = 0.5
_MOST_STRIDED_PIECES = 16

# Largest entry of the rows and directions that are tried, by the number of dimensions that are left.
LARGEST_ENTRY = {1: 1, 2: 4, 3: 2}


@dataclass(frozen=True)
class Chain:
    """Reuse vectors, each outside the extrusion along those before it; rows that vanish on all of them."""

    found: tuple[Reuse, ...]
    rows: tuple[Vector, ...]


@dataclass(frozen=True)
class Completion:
    """Rows to put in front of those of a chain, and the product of their moduli where sizes are compared."""

    rows: tuple[Vector, ...]
    size: int


Complete = Callable[[isl.Set, tuple[Vector, ...], Request], Completion]


def find_by_chains(
    conflicts: Conflicts, request: Request, complete: Complete, name: str
) -> list[tuple[Chain, Completion]]:
    """The chains whose completion gives the smallest sizes where sizes are compared, smallest first.

    complete  takes { [d] }, the differences at that size, and the rows that vanish on the chain
    """
    check_applicable(conflicts, name)
    if conflicts.differences.is_empty():
        return [(Chain((), ()), Completion((), 1))]
    here = at_sizes(conflicts.differences, request.sizes).reset_tuple_id()
    part = replace(request, budget=request.budget.part(_SHARE))
    found: list[tuple[int, Chain, Completion]] = []
    with suppress(BudgetExceeded), part.budget.limit("the search for reuse vectors"):
        found.extend(
            _completed(chain, complete(here, chain.rows, part)) for chain in _chains(conflicts, part)
        )
    nothing = _no_chain(conflicts)
    found.append(_completed(nothing, complete(here, nothing.rows, request)))
    best = sorted(found, key=lambda candidate: candidate[0])[:_KEPT]
    return [(chain, completion) for _, chain, completion in best]


def _completed(chain: Chain, completion: Completion) -> tuple[int, Chain, Completion]:
    return completion.size * math.prod(reuse.modulus for reuse in chain.found), chain, completion


def _no_chain(conflicts: Conflicts) -> Chain:
    return Chain((), tuple(axes(conflicts.array.rank)))


def check_applicable(conflicts: Conflicts, name: str) -> None:
    """Raise unless short vectors can be searched: few dimensions, and bounded differences."""
    rank = conflicts.array.rank
    if rank > _MOST_DIMENSIONS:
        raise MethodNotApplicable(
            f"{name}: {conflicts.name} has {rank} dimensions; the search for short vectors is made for "
            f"{_MOST_DIMENSIONS} at most"
        )
    if not is_bounded(conflicts.differences):
        raise MethodNotApplicable(
            f"{name}: conflicting cells of {conflicts.name} are arbitrarily far apart for fixed parameters; "
            "the method needs a bounded set of differences"
        )


def _chains(conflicts: Conflicts, request: Request) -> Iterator[Chain]:
    """Every beginning of a chain, shortest vectors first, but for the empty one.

    The chains of the star-shaped differences come first. Where making them a star adds vectors, holes may be
    of use: then follow vectors of which no multiple is among the differences as they are (DIY15 §4.2.4).
    Many pieces with strides have no complement that could be computed.
    """
    exact = of_any_size(conflicts.differences, conflicts.context)
    star = star_shaped(exact)
    nothing = _no_chain(conflicts)
    yield from _longer_in_star(nothing, star, request)
    if strided_pieces(exact) <= _MOST_STRIDED_PIECES and not star.is_subset(exact):
        yield from _longer_in_holes(nothing, exact, request)


def _longer_in_star(chain: Chain, star: isl.Set, request: Request) -> Iterator[Chain]:
    """The chains that go on from this one.

    Integer vectors of a star need not be a star again beside the chain, so they are made one.
    """
    request.budget.check("the search for reuse vectors")
    if not chain.rows:
        return
    beside = star_shaped(extruded(star, chain.rows))
    most = _BRANCHES[min(len(chain.found), len(_BRANCHES) - 1)]
    for reuse in reuse_vectors(beside, chain.rows, vectors_outside(beside, chain.rows), most):
        longer = Chain((*chain.found, reuse), reuse.beyond)
        yield longer
        yield from _longer_in_star(longer, star, request)


def _longer_in_holes(chain: Chain, exact: isl.Set, request: Request) -> Iterator[Chain]:
    """The chain with the first small vectors that fit; complements of sets with strides are out of reach."""
    request.budget.check("the search for reuse vectors")
    if not chain.rows:
        return
    beside = extruded(exact, chain.rows)
    most = _HOLES if not chain.found else 1
    for reuse in reuse_vectors(beside, chain.rows, small_vectors(len(chain.rows[0])), most):
        longer = Chain((*chain.found, reuse), reuse.beyond)
        yield longer
        yield from _longer_in_holes(longer, exact, request)


def mapping_of(conflicts: Conflicts, chain: Chain, completion: Completion) -> ModularMapping:
    """The mapping: rows of the completion with their widths, then the rows of the chain, last one first.

    The modulus of a row of the completion exceeds the differences on which the rows before it vanish; what
    is left then lies along the chain, where the moduli of the reuse vectors hold (DIY15 §4.3).
    """
    remaining = conflicts.differences
    rows: list[Vector] = []
    moduli: list[Formula] = []
    own = [(row, None) for row in completion.rows]
    given = [(reuse.row, reuse.modulus) for reuse in reversed(chain.found)]
    for row, most in (*own, *given):
        if remaining.is_empty():
            break
        form = linear_form(remaining.get_space(), row)
        modulus = exceeding(image(remaining, form), conflicts.context)
        if most is not None and not (modulus.is_constant and modulus.as_number() <= most):
            modulus = Formula.constant(most)
        rows.append(row)
        moduli.append(modulus)
        if most is None:
            remaining = remaining.intersect(form.zero_set())
        else:
            remaining = remaining.intersect(form.mod_val(integer(most)).zero_set())
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)
