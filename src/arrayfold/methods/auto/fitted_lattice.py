"""Guess and prove: the smallest lattices at a few sizes, fitted by one that is affine in the parameter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import determinant
from arrayfold.exact.parameter_values import parameter_minima
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.auto.affine_lattices import AffineBasis, Optima, basis_at, fit_bases, moved
from arrayfold.methods.auto.lattice_rows import rows_of_lattice

_SIZES = 4
_FEWEST_SIZES = 3
_FIRST_SIZE = 4
_MOST_RANK = 3
_MOST_BASES = 4
_MOST_MAPPINGS = 3
_SHARE = 0.3


def search_fitted_lattice(
    conflicts: Conflicts, request: Request, best: Formula | None
) -> Sequence[ModularMapping]:
    """Mappings for all sizes that share one fitted lattice, where it is smaller than the best size so far."""
    least = parameter_minima(conflicts.context)
    if least is None or len(least) != 1 or not 0 < conflicts.array.rank <= _MOST_RANK or best is None:
        return []
    ((name, start),) = least.items()
    optima = Optima(conflicts, request.budget.part(_SHARE))
    far = next(iter(request.far.values()))
    if len(request.far) != 1 or far <= start + _SIZES:
        return []
    bases = fitted_bases(optima, name, range(first_fitted(request, start), far))
    smaller = (b for b in bases if abs(determinant(basis_at(b, far))) < best.evaluate({name: far}))
    return list(mappings_of_bases(conflicts, smaller))


def first_fitted(request: Request, start: int) -> int:
    """The least value of the parameter, which is at least `start`, to which lattices are fitted."""
    return max(start + 1, _FIRST_SIZE) if request.first_fitted is None else max(start, request.first_fitted)


def fitted_bases(
    optima: Optima, name: str, sizes: Sequence[int], period: int = 1, residue: int = 0
) -> list[AffineBasis]:
    """Bases in m that give a smallest lattice at the first sizes period * m + residue.

    name   the only parameter
    sizes  values of m
    """
    table = [optima.at({name: period * size + residue}) for size in itertools.islice(sizes, _SIZES)]
    known = [*itertools.takewhile(lambda optimum: optimum is not None, table)]
    if len(known) < min(len(table), _FEWEST_SIZES):
        return []
    return [moved(basis, sizes[0]) for basis in fit_bases([one for one in known if one is not None])]


def mappings_of_bases(conflicts: Conflicts, bases: Iterator[AffineBasis]) -> Iterator[ModularMapping]:
    """A few mappings for each of a few lattices; the judge decides."""
    for basis in itertools.islice(bases, _MOST_BASES):
        yield from itertools.islice(rows_of_lattice(conflicts, basis), _MOST_MAPPINGS)
