"""Guess and prove with several parameters: lattices whose basis is affine in all of them.

The smallest lattices are found by enumeration at one point and one step from it along each parameter. A
vector of the lattice at the point is continued along each parameter by small steps that stay in the lattices
there, and a basis is made of such vectors, whose determinant is the index at all points, also at one where
all parameters are larger. The judge proves rows for it, or drops them.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters, parameter_names
from arrayfold.exact.lattice import Vector, determinant, dot, first_positive, same_lattice, short_basis
from arrayfold.exact.parameter_values import parameter_minima
from arrayfold.exact.strides import dual_rows
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.auto.affine_lattices import Optima, Optimum, short_vectors
from arrayfold.methods.auto.lattice_rows import Matrix, rows_of_matrix

_FIRST_SIZES = (8, 10, 9)
_LARGEST_STEP = 2
_MOST_PARAMETERS = 3
_MOST_RANK = 3
_MOST_LINES = 24
_MOST_STARTS = 3
_MOST_LATTICES = 24
_MOST_STEPS = 8
_MOST_BASES = 3
_MOST_MAPPINGS = 3
_SHARE = 0.3

SizePoint: TypeAlias = Mapping[str, int]
_Line: TypeAlias = tuple[Vector, tuple[Vector, ...]]


@dataclass(frozen=True, eq=False)
class FittedLattices:
    """Fitted lattices, and mappings that have one of them each.

    point     the least parameter values to which lattices were fitted
    matrices  their bases
    """

    point: SizePoint
    matrices: tuple[Matrix, ...]
    mappings: tuple[ModularMapping, ...]


def search_several_parameters(
    conflicts: Conflicts, request: Request, best: Formula | None
) -> Sequence[ModularMapping]:
    """Mappings for all sizes whose lattices seem to be the smallest ones, where these are below the best."""
    found = None if best is None else fit_several_parameters(conflicts, request, best)
    return () if found is None else found.mappings


def fit_several_parameters(conflicts: Conflicts, request: Request, best: Formula) -> FittedLattices | None:
    """Lattices that seem to be the smallest ones from a point on, if they are smaller than the best there."""
    least = parameter_minima(conflicts.context)
    rank = conflicts.array.rank
    if least is None or not 2 <= len(least) <= _MOST_PARAMETERS or not 1 <= rank <= _MOST_RANK:
        return None
    names = _names_that_matter(conflicts, list(least))
    point = {
        name: max(low + 1, first) for (name, low), first in zip(least.items(), _FIRST_SIZES, strict=False)
    }
    steps = [{**point, name: point[name] + 1} for name in names]
    together = {name: value + (2 if name in names else 0) for name, value in point.items()}
    if any(conflicts.context.is_disjoint(fix_parameters(one)) for one in (point, *steps, together)):
        return None
    optima = Optima(conflicts, request.budget.part(_SHARE), _MOST_LATTICES)
    table: list[tuple[SizePoint, Optimum]] = []
    for one in (point, *steps, together):
        optimum = optima.at(one)
        if optimum is None or not optimum.bases:
            return None
        table.append((one, optimum))
    if all(best.evaluate(one) <= optimum.index for one, optimum in table):
        return None
    matrices = tuple(itertools.islice(_bases(table, names), _MOST_BASES))
    mappings = [
        mapping
        for matrix in matrices
        for mapping in itertools.islice(rows_of_matrix(conflicts, matrix, names), _MOST_MAPPINGS)
    ]
    return FittedLattices(point, matrices, tuple(mappings))


def _names_that_matter(conflicts: Conflicts, names: Sequence[str]) -> list[str]:
    """The parameters that conflicting differences depend on."""
    known = parameter_names(conflicts.differences)
    return [name for name in names if name in known]


def _bases(table: Sequence[tuple[SizePoint, Optimum]], names: Sequence[str]) -> Iterator[Matrix]:
    """Bases that give a smallest lattice at all points of the table, the simplest first."""
    (point, first), *others = table
    rank = len(first.example)
    for start in first.bases[:_MOST_STARTS]:
        lines = _lines(start, point, others, names)
        for matrix in itertools.combinations(lines, rank):
            if all(_is_basis(matrix, at, optimum) for at, optimum in table):
                yield [list(line) for line in matrix]
                break


def _is_basis(matrix: Sequence[Sequence[Formula]], at: SizePoint, optimum: Optimum) -> bool:
    vectors = [tuple(entry.at(at) for entry in line) for line in matrix]
    if abs(determinant(vectors)) != optimum.index:
        return False
    return any(same_lattice(vectors, other) for other in optimum.bases)


def _lines(
    start: Sequence[Vector],
    point: SizePoint,
    others: Sequence[tuple[SizePoint, Optimum]],
    names: Sequence[str],
) -> list[tuple[Formula, ...]]:
    """Vectors with entries affine in the parameters that lie in a smallest lattice at each point."""
    rank = len(start)
    near = range(-_LARGEST_STEP, _LARGEST_STEP + 1)
    steps = sorted(itertools.product(near, repeat=rank), key=lambda step: sum(map(abs, step)))
    lattices = [[_Membership.of(basis) for basis in optimum.bases] for _, optimum in others]
    at_last, _ = others[-1]
    moved = [at_last[name] - point[name] for name in names]
    found: dict[_Line, int] = {}
    short = itertools.chain(short_vectors(start), short_vectors(short_basis(start)))
    for vector in {first_positive(one) for one in short}:
        along = [
            [*itertools.islice(_kept(vector, steps, known), _MOST_STEPS)] for known in lattices[: len(names)]
        ]
        for slopes in itertools.product(*along):
            last = _moved(vector, slopes, moved)
            if any(one.holds(last) for one in lattices[-1]):
                constants = _moved(vector, slopes, [-point[name] for name in names])
                found[constants, slopes] = sum(map(abs, constants)) + 5 * sum(
                    abs(by) for slope in slopes for by in slope
                )
    # Where many lines are equally simple, those whose numbers come first are taken.
    simplest = heapq.nsmallest(_MOST_LINES, found, key=lambda line: (found[line], line))
    return [_formulas(constants, slopes, names) for constants, slopes in simplest]


def _kept(vector: Vector, steps: Sequence[Vector], known: Sequence[_Membership]) -> Iterator[Vector]:
    """The steps from a vector that end in one of the lattices."""
    for step in steps:
        end = _moved(vector, [step], [1])
        if any(one.holds(end) for one in known):
            yield step


def _formulas(constants: Vector, slopes: Sequence[Vector], names: Sequence[str]) -> tuple[Formula, ...]:
    """A vector that grows by these steps along the parameters."""
    return tuple(
        sum(
            (Formula.name(name) * by[k] for name, by in zip(names, slopes, strict=True) if by[k]),
            start=Formula.constant(entry),
        )
        for k, entry in enumerate(constants)
    )


def _moved(vector: Vector, slopes: Sequence[Vector], by: Sequence[int]) -> Vector:
    """A vector and multiples of others."""
    return tuple(
        entry + sum(times * slope[k] for times, slope in zip(by, slopes, strict=True))
        for k, entry in enumerate(vector)
    )


@dataclass(frozen=True)
class _Membership:
    """A lattice, prepared to be asked for many vectors.

    columns  of the adjugate of a basis: a vector lies in the lattice iff its products with these are
             multiples of the index
    """

    columns: tuple[Vector, ...]
    index: int

    @staticmethod
    def of(basis: Sequence[Vector]) -> _Membership:
        """The lattice of a basis."""
        index = determinant(basis)
        columns = tuple(tuple(int(entry * index) for entry in row) for row in dual_rows(basis))
        return _Membership(columns, abs(index))

    def holds(self, vector: Sequence[int]) -> bool:
        """Whether a vector lies in it."""
        return all(dot(column, vector) % self.index == 0 for column in self.columns)
