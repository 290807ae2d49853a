"""Algorithm 1 of BBC16 as printed (§3.4 and §3.5): greedy, with constant coefficients.

A hyperplane satisfies as many conflict polyhedra as any, and has the smallest modulus among those; then the
same is done with what it leaves unsatisfied.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import is_bounded
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.conflict_polyhedra import disjoint_specifications, unsatisfied
from arrayfold.methods.hyperplane_program import ConflictPolyhedron, HyperplaneProgram
from arrayfold.methods.method import Method, Request
from arrayfold.methods.widths import with_moduli


def find_published(conflicts: Conflicts, request: Request) -> Sequence[ModularMapping]:
    """The mapping of the algorithm for each of two ways to divide the conflicts, the smaller one first.

    The paper does not say how conflicts become polyhedra; more polyhedra "can only yield better solutions"
    where a single hyperplane satisfies all of them (§3.6).
    """
    if conflicts.differences.is_empty():
        return [ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])]
    if not is_bounded(conflicts.differences):
        raise MethodNotApplicable(
            f"{conflicts.name}: conflicting cells are arbitrarily far apart, so no hyperplane has a bound"
        )
    differences = conflicts.differences.align_params(conflicts.context.get_space())
    found = [
        with_moduli(conflicts, _hyperplanes(polyhedra, request))
        for polyhedra in disjoint_specifications(differences)
    ]
    return sorted(found, key=lambda mapping: request.rank(mapping.size))


def _hyperplanes(polyhedra: Sequence[ConflictPolyhedron], request: Request) -> list[Vector]:
    """Hyperplanes until every conflict is satisfied by one of them (lines 4 to 7)."""
    rows: list[Vector] = []
    while polyhedra:
        hyperplanes = HyperplaneProgram(polyhedra, request.sizes, request.budget).solve()
        if not hyperplanes:
            raise MethodNotApplicable("no hyperplane satisfies any of the conflict polyhedra that are left")
        rows.append(hyperplanes[0].row)
        polyhedra = unsatisfied(polyhedra, rows[-1])
    return rows


METHOD = Method(
    "hyperplane-as-published",
    "hyperplanes that satisfy most conflict polyhedra, greedily",
    "BBC16 algorithm 1",
    find_published,
    is_general=False,
)
