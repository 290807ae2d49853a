"""The smallest lattice with constant entries that is valid at all sizes, by enumeration.

The differences of all sizes together are finitely many where the parameters are bounded, or where lifetimes
do not grow with them. Then the search through all lattices (DSV05) needs no fixed sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import is_bounded, without_parameters
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.exhaustive import bounded_differences, mapping_of_lattice, smallest_lattices

_MOST_DIMENSIONS = 4
_MOST_WORK = 400_000
_SHARE = 0.3


def search_common_lattice(
    conflicts: Conflicts, request: Request, best: Formula | None
) -> Sequence[ModularMapping]:
    """The mapping of the smallest constant lattice, if it is smaller than the best size so far."""
    of_sizes = conflicts.differences.intersect_params(conflicts.context)
    parameters = of_sizes.dim(isl.dim_type.param)
    everywhere = without_parameters(of_sizes)
    rank = conflicts.array.rank
    if not parameters or not 1 <= rank <= _MOST_DIMENSIONS or best is None or not is_bounded(everywhere):
        return []
    limit = int(best.evaluate(request.sizes))
    try:
        differences = bounded_differences(everywhere)
        budget = request.budget.part(_SHARE)
        lattices = smallest_lattices(differences, rank, budget, below=limit, most_work=_MOST_WORK)
        first = [*itertools.islice(lattices, 1)]
    except ArrayfoldError:
        return []
    return [mapping_of_lattice(conflicts.name, conflicts.array.dimensions, basis) for basis in first]
