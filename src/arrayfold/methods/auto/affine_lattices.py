"""Lattices whose basis is affine in the parameter, fitted to the smallest lattices at a few sizes.

A lattice has many bases, and the shortest ones at different sizes need not belong together. So lines are
fitted first: vectors that are affine in the parameter and lie in a smallest lattice at every size. A basis is
made of lines whose determinant is that of the smallest lattices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.lattice import Vector, axes, combine, contains, determinant, reduced_basis, same_lattice
from arrayfold.methods.exhaustive import differences_at, smallest_lattices

_MOST_LINES = {1: 4, 2: 40, 3: 14}
_MOST_LATTICES = 12
_MOST_WORK = 400_000
_MOST_DIFFERENCES = 8000

Affine = tuple[int, int]  # constant and slope
Line = tuple[Affine, ...]
AffineBasis = tuple[Line, ...]
Sizes = Mapping[str, int]


# ---------------------------------------------------------------- the smallest lattices at a few sizes


@dataclass(frozen=True)
class Optimum:
    """The smallest lattices at one size.

    index    cells of each
    example  a short basis of one of them
    bases    short bases, one a lattice; none if there are too many lattices to tell them all
    """

    index: int
    example: tuple[Vector, ...]
    bases: tuple[tuple[Vector, ...], ...]


@dataclass(eq=False)
class Optima:
    """The smallest lattices of one array, kept so that each size is searched once.

    most_lattices  how many smallest lattices of one size are told
    """

    conflicts: Conflicts
    budget: Budget
    most_lattices: int = _MOST_LATTICES
    _known: dict[tuple[tuple[str, int], ...], Optimum | None] = field(
        default_factory=dict[tuple[tuple[str, int], ...], "Optimum | None"]
    )

    def at(self, sizes: Sizes) -> Optimum | None:
        """What is smallest at these values of the parameters; None where that takes too long."""
        key = tuple(sorted(sizes.items()))
        if key not in self._known:
            try:
                self._known[key] = self._search(sizes)
            except ArrayfoldError:
                self._known[key] = None
        return self._known[key]

    def _search(self, sizes: Sizes) -> Optimum | None:
        rank = self.conflicts.array.rank
        differences = differences_at(self.conflicts, sizes)
        if len(differences) > _MOST_DIFFERENCES:
            return None
        if not differences:
            whole = tuple(axes(rank))
            return Optimum(1, whole, (whole,))
        lattices = smallest_lattices(differences, rank, self.budget, most_work=_MOST_WORK)
        first = next(lattices)
        with suppress(BudgetExceeded):
            found = [first, *itertools.islice(lattices, self.most_lattices)]
            bases = tuple(tuple(reduced_basis(basis)) for basis in found)
            return Optimum(
                abs(determinant(first)), bases[0], bases if len(bases) <= self.most_lattices else ()
            )
        return Optimum(abs(determinant(first)), tuple(reduced_basis(first)), ())


# ---------------------------------------------------------------- lines through them


def fit_bases(table: Sequence[Optimum]) -> list[AffineBasis]:
    """Bases that give a smallest lattice at each of the sizes 0, 1, 2, ...; simple ones first.

    >>> fit_bases([Optimum(2, ((2,),), (((2,),),)), Optimum(3, ((3,),), (((3,),),))])
    [(((2, 1),),)]
    """
    if len(table) < 2 or not all(optimum.bases for optimum in table):
        return []
    found: list[AffineBasis] = []
    for first, last in itertools.product(table[0].bases, table[-1].bases):
        lines = _common_lines(first, last, table)
        basis = next(_bases_of(lines, table, len(first)), None)
        if basis is not None and basis not in found:
            found.append(basis)
    return sorted(found, key=_simplicity)


def basis_at(basis: AffineBasis, size: int) -> tuple[Vector, ...]:
    """The vectors at a value of the parameter."""
    return tuple(_line_at(line, size) for line in basis)


def moved(basis: AffineBasis, start: int) -> AffineBasis:
    """The basis in the parameter itself, where it was fitted with `start` counted as 0."""
    return tuple(tuple((constant - slope * start, slope) for constant, slope in line) for line in basis)


def in_class(basis: AffineBasis, period: int, residue: int) -> AffineBasis:
    """The basis in m, where the parameter is period * m + residue."""
    return tuple(
        tuple((constant + slope * residue, slope * period) for constant, slope in line) for line in basis
    )


def _line_at(line: Line, size: int) -> Vector:
    return tuple(constant + slope * size for constant, slope in line)


def _common_lines(first: Sequence[Vector], last: Sequence[Vector], table: Sequence[Optimum]) -> list[Line]:
    """Lines through short vectors of two lattices that lie in some smallest lattice in between."""
    gap = len(table) - 1
    found: set[Line] = set()
    for start, end in itertools.product(short_vectors(first), short_vectors(last)):
        for sign in (1, -1):
            rise = [sign * b - a for a, b in zip(start, end, strict=True)]
            if any(step % gap for step in rise):
                continue
            line = tuple((a, step // gap) for a, step in zip(start, rise, strict=True))
            if all(
                any(contains(basis, _line_at(line, size)) for basis in optimum.bases)
                for size, optimum in enumerate(table[1:-1], 1)
            ):
                found.add(line)
    return sorted(found, key=lambda line: (_entries(line), line))[: _MOST_LINES[len(first)]]


def short_vectors(basis: Sequence[Vector]) -> list[Vector]:
    """Small combinations of a short basis, one of each pair of opposite ones."""
    largest = 1 if len(basis) > 2 else 2
    weights = itertools.product(range(-largest, largest + 1), repeat=len(basis))
    return [combine(weight, basis) for weight in weights if any(weight) and next(filter(None, weight)) > 0]


def _bases_of(lines: Sequence[Line], table: Sequence[Optimum], rank: int) -> Iterator[AffineBasis]:
    for basis in itertools.combinations(lines, rank):
        if all(
            abs(determinant(basis_at(basis, size))) == optimum.index
            and any(same_lattice(basis_at(basis, size), other) for other in optimum.bases)
            for size, optimum in enumerate(table)
        ):
            yield basis


def _entries(line: Line) -> int:
    return sum(abs(part) for entry in line for part in entry)


def _simplicity(basis: AffineBasis) -> tuple[int, AffineBasis]:
    return sum(map(_entries, basis)), basis
