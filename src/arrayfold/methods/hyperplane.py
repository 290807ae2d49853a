"""Storage hyperplanes found by integer programming (BBC16, algorithm 1).

The differences are a union of conflict polyhedra. A row is chosen that tells apart the cells of as many
polyhedra as possible, and among those the one with the smallest modulus; it is repeated on what the rows so
far leave unsatisfied, until nothing is left. Besides the paper's greedy choice, rows that satisfy fewer
polyhedra with a smaller modulus are followed, too, and polyhedra are also split (BBC16 §3.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import is_bounded
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.conflict_polyhedra import specifications, unsatisfied
from arrayfold.methods.hyperplane_program import ConflictPolyhedron, Hyperplane, HyperplaneProgram
from arrayfold.methods.method import Method, Request
from arrayfold.methods.widths import with_moduli

_KEPT = 3
_SHARE = 0.7

# Choices of a row that are followed, by the rank of the array.
_MOST_CHOICES = {1: 4, 2: 16, 3: 5}

# Choices other than the greedy ones in the whole search, by the rank of the array.
_MOST_VARIATIONS = {1: 60, 2: 60, 3: 16}


def find_hyperplanes(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The smallest mappings that the greedy choice and its variations find, smallest first."""
    if not is_bounded(conflicts.differences):
        raise MethodNotApplicable(
            f"{conflicts.name}: conflicting cells are arbitrarily far apart, so no hyperplane has a bound"
        )
    search = _Search(request, request.budget.part(_SHARE))
    differences = conflicts.differences.align_params(conflicts.context.get_space())
    try:
        for polyhedra in specifications(differences):
            search.extend((), polyhedra, 1)
    except BudgetExceeded:
        if not search.best:
            raise
    found = [with_moduli(conflicts, rows) for _, rows in search.best]
    return sorted(found, key=lambda mapping: request.rank(mapping.size))


@dataclass(eq=False)
class _Search:
    """The best sizes so far, at the sizes that are compared, with their rows."""

    request: Request
    budget: Budget
    best: list[tuple[int, tuple[Vector, ...]]] = field(default_factory=list[tuple[int, tuple[Vector, ...]]])
    variations: int = 0

    def extend(self, rows: tuple[Vector, ...], polyhedra: Sequence[ConflictPolyhedron], size: int) -> None:
        """Add rows until every polyhedron is satisfied; the first descent is the paper's greedy one."""
        if not polyhedra:
            found = {known: value for value, known in self.best}
            found[rows] = min(size, found.get(rows, size))
            ranked = sorted((value, known) for known, value in found.items())
            self.best = ranked[:_KEPT]
            return
        program = HyperplaneProgram(polyhedra, self.request.sizes, self.budget)
        for hyperplane in self._choices(program, size):
            rest = unsatisfied(polyhedra, hyperplane.row)
            self.extend((*rows, hyperplane.row), rest, size * (hyperplane.reach + 1))

    def _choices(self, program: HyperplaneProgram, size: int) -> Iterator[Hyperplane]:
        """The row that satisfies most polyhedra, then narrower ones, and ones that satisfy what it does not.

        Only rows that satisfy different polyhedra count as different.
        """
        seen: set[frozenset[int]] = set()
        waiting: list[tuple[frozenset[int], int | None]] = [(frozenset(), None)]
        # More choices are put at the end while the loop goes on.
        for forced, limit in waiting:
            if forced or limit is not None:
                if self.variations >= _MOST_VARIATIONS.get(program.rank, 12):
                    return
                self.variations += 1
            hyperplanes = program.solve(forced, self._lower(limit, size))
            for hyperplane in hyperplanes:
                if hyperplane.satisfied not in seen:
                    seen.add(hyperplane.satisfied)
                    yield hyperplane
            for hyperplane in hyperplanes[:1]:
                missing = sorted(set(range(len(program.polyhedra))) - hyperplane.satisfied)
                others = [(forced, hyperplane.reach - 1), *((forced | {k}, limit) for k in missing)]
                waiting += [choice for choice in others if choice not in waiting]
                del waiting[_MOST_CHOICES.get(program.rank, 3) :]

    def _lower(self, limit: int | None, size: int) -> int | None:
        """The limit below which a row may still lead to a smaller size than the best so far."""
        if not self.best:
            return limit
        useful = (self.best[0][0] - 1) // size - 1
        return useful if limit is None else min(limit, useful)


METHOD = Method(
    "hyperplane",
    "storage hyperplanes that satisfy most conflict polyhedra, then the smallest modulus",
    "BBC16 algorithm 1",
    find_hyperplanes,
)
