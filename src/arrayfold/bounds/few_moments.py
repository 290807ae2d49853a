"""How many cells are live at a few moments, for all sizes at once: for programs with too many moments.

In the middle of a loop nest things are as they are most of the time. So of each piece of the moments the
first one is taken, the first one of those that are a step or two away from its borders, and the last one.
The cells that are live at one moment are few pieces, however many those of all moments are; they are counted
exactly: at one size, which is quick, and for all sizes where they are the most there.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, IslFailure
from arrayfold.bounds.live_counts import Counts
from arrayfold.exact.formula_isl import from_qpolynomial
from arrayfold.exact.isl import coalesced, first_images, fix_parameters, last_images
from arrayfold.exact.parameter_values import large_parameters

_MOST_MOMENTS = 48
_MOST_KEPT = 8
_MOST_PIECES = 48
_STEPS = (0, 1, 2)
_MOST_TERMS = 12
_OPERATIONS_FOR_ONE = 400_000


def counts_at_few_moments(moments: isl.Map, context: isl.Set) -> tuple[bool, Counts]:
    """Parameter sets with formulas that some moment attains there; never known to be the largest.

    moments  { [t] -> A[x] }
    """
    here = fix_parameters(large_parameters(context))
    chosen = itertools.islice(_chosen(coalesced(moments.domain()), here), _MOST_MOMENTS)
    at_one_size = moments.intersect_params(here)
    found: list[Counts] = []
    elsewhere: list[Counts] = []
    for moment in sorted(chosen, key=lambda one: -_number(at_one_size, one)):
        with _limit():
            cells = coalesced(moments.intersect_domain(moment).range())
            counts = _counts(cells) if cells.n_basic_set() <= _MOST_PIECES else []
            is_here = any(not where.is_disjoint(here) for where, _ in counts)
            (found if is_here else elsewhere).append(counts)
        if len(found) == _MOST_KEPT:
            break
    return False, [piece for counts in [*found, *elsewhere][:_MOST_KEPT] for piece in counts]


@contextmanager
def _limit() -> Generator[None]:
    """One moment may fail, or be given up."""
    with (
        suppress(BudgetExceeded, IslFailure),
        Budget.of_work(_OPERATIONS_FOR_ONE, 0.25).limit("the cells of a moment"),
    ):
        yield


def _number(moments: isl.Map, moment: isl.Set) -> int:
    """How many cells are live at a moment of one size; none if that is not known."""
    with _limit():
        cells = moments.intersect_domain(moment).range().project_out_all_params()
        counted = (from_qpolynomial(count).as_number() for _, count in cast(Any, cells).card().get_pieces())
        return int(max(counted, default=0))
    return 0


def _counts(cells: isl.Set) -> Counts:
    """How many cells there are, without formulas that nobody could read."""
    pieces = ((where, from_qpolynomial(count)) for where, count in cast(Any, cells).card().get_pieces())
    return [(where, (formula,)) for where, formula in pieces if len(formula.terms) <= _MOST_TERMS]


def _chosen(times: isl.Set, here: isl.Set) -> Iterator[isl.Set]:
    """{ [t] }: for each size at most one moment.

    here  { : }  one size, and of the last moments only those that there are at that size are taken
    """
    pieces = [isl.Set.from_basic_set(piece) for piece in times.get_basic_sets()]
    for piece in pieces:
        for steps in _STEPS:
            inside = _inside(piece, steps)
            if not inside.is_empty():
                yield first_images(isl.Map.from_range(inside)).range()
    for piece in pieces:
        if not piece.intersect_params(here).is_empty():
            yield last_images(isl.Map.from_range(piece)).range()


def _inside(times: isl.Set, steps: int) -> isl.Set:
    """The moments that stay in the set with so many steps to either side along dimensions that vary."""
    found = times
    for k in range(times.dim(isl.dim_type.set) if steps else 0):
        if times.plain_get_val_if_fixed(isl.dim_type.set, k).is_int():
            continue
        for step in (steps, -steps):
            moved = isl.MultiAff.identity(times.get_space().map_from_set())
            moved = moved.set_aff(k, moved.get_aff(k).add_constant_val(isl.Val(step)))
            found = found.intersect(times.preimage_multi_aff(moved))
    return found
