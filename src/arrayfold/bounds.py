"""Lower bounds: cells that are all live at one moment need as many addresses, whatever the mapping.

With exact parametric counting (barvinok inside islpy) the bound is a formula; without it, it is counted
at given parameter values. Under a partial order more cells may conflict with each other than are live at one
moment; at given parameter values the largest such set is found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, TypeAlias, cast

import islpy as isl

from arrayfold._budget import Budget
from arrayfold._in_time import isolated
from arrayfold._isl import (
    can_count,
    few_parameter_points,
    first_images,
    fix_parameters,
    large_parameters,
    last_images,
    parameter_names,
    visit_points,
)
from arrayfold.conflicts import Conflicts
from arrayfold.errors import ArrayfoldError, BudgetExceeded, IslFailure
from arrayfold.formula import Formula
from arrayfold.formula_isl import from_qpolynomial, to_pw_aff
from arrayfold.formula_text import read_formula
from arrayfold.mapping import FoldMapping, TableMapping
from arrayfold.reuse import conflict_graph

_Counts: TypeAlias = tuple[bool, list[tuple[isl.Set, tuple[Formula, ...]]]]

_MOST_OPERATIONS = 6_000_000
_MOST_COUNTED = 2_000_000
_OPERATIONS_TO_COUNT = 3_000_000
_MOST_POINTS = 64
_MOST_TERMS = 12
_SHARE_FOR_MOMENTS = 0.5
_SHARE_FOR_CLIQUE = 0.5


@dataclass(frozen=True)
class Clique:
    """Cells that all conflict with each other, at some parameter values; no larger set of them does."""

    params: Mapping[str, int]
    cells: tuple[tuple[int, ...], ...]

    def is_at(self, params: Mapping[str, int]) -> bool:
        """Whether it is known for these parameter values."""
        return all(params.get(name) == value for name, value in self.params.items())


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The largest number of cells that are known to conflict with each other.

    formula  the bound where `when` holds; None if it is not known as a formula
    when     parameter values for which the formula was shown; None for all of the context
    pieces   { : } with formulas that some moment attains there
    is_attained  whether the maximum of these formulas is the bound, not only below it
    moments  { [t] -> A[x] }, to count at given parameter values
    clique   a largest set of cells that all conflict, at the parameter values of the request
    """

    formula: Formula | None
    when: isl.Set | None
    pieces: tuple[tuple[isl.Set, tuple[Formula, ...]], ...]
    is_attained: bool
    moments: isl.Map | None
    clique: Clique | None = None

    def at(self, params: Mapping[str, int]) -> int | None:
        """The bound at these parameter values; None if it is unknown or too large to be counted."""
        if self.clique is not None and self.clique.is_at(params):
            return len(self.clique.cells)
        here = fix_parameters(params)
        found = [
            formula.at(params)
            for where, formulas in self.pieces
            if not where.intersect(here).is_empty()
            for formula in formulas
        ]
        if self.is_attained or self.moments is None:
            return max(found, default=None)
        counted = _count_largest(self.moments.intersect_params(here))
        return max([*found, *([] if counted is None else [counted])], default=None)

    def equals(self, size: Formula, params: Mapping[str, int]) -> bool:
        """Whether a size is the bound: for all of the context, or at parameter values that fix the size.

        The latter counts where the bound is not known as a formula, or the formula not for all sizes, or
        where a larger number of conflicting cells was found there.
        """
        if self.formula == size and self.when is None:
            return True
        if self.clique is not None and self.clique.is_at(params) and size.names() <= set(params):
            return size.at(params) == len(self.clique.cells)
        is_known = self.formula is not None and (self.formula != size or self.when is None)
        if is_known and not (self.is_attained and self.when is None):
            return self.formula == size
        return size.names() <= set(params) and bool(params) and self.at(params) == size.at(params)

    def is_enough(self, size: Formula, *where: Mapping[str, int]) -> bool:
        """Whether a size is the bound at some parameter values, as far as the formula of the bound says."""
        if self.formula is None:
            return False
        if self.when is not None and any(self.when.is_disjoint(fix_parameters(one)) for one in where):
            return False
        return all(size.evaluate(one) == self.formula.evaluate(one) for one in where)

    def is_reached(self, mapping: FoldMapping, params: Mapping[str, int]) -> bool:
        """Whether a mapping has no more addresses than the bound; a table at its own parameter values."""
        if isinstance(mapping, TableMapping):
            return self.at(mapping.params) == mapping.size.at({})
        return self.equals(mapping.size, params)


UNKNOWN = LowerBound(None, None, (), False, None)


def find_lower_bound(
    conflicts: Conflicts, budget: Budget | None = None, params: Mapping[str, int] | None = None
) -> LowerBound:
    """The largest number of cells that are live together, over all moments.

    params  where these fix all sizes, and moments may miss some, the largest number there of cells that
            all conflict
    """
    budget = budget or Budget(None)
    bound = _count_moments(conflicts, budget)
    return replace(bound, clique=_largest_clique(conflicts, params or {}, budget))


def _largest_clique(conflicts: Conflicts, params: Mapping[str, int], budget: Budget) -> Clique | None:
    sizes = few_parameter_points(conflicts.context.intersect(fix_parameters(params)), 1)
    if conflicts.moments_suffice or not sizes:
        return None
    try:
        with budget.limit("the largest set of conflicting cells", _SHARE_FOR_CLIQUE):
            graph = conflict_graph(conflicts.at(sizes[0]))
            return Clique(sizes[0], tuple(sorted(graph.cells[x] for x in graph.cover.antichain)))
    except ArrayfoldError:
        return None


def _count_moments(conflicts: Conflicts, budget: Budget) -> LowerBound:
    if conflicts.moments is None:
        return UNKNOWN
    moments = conflicts.moments.intersect_params(conflicts.context)
    if not can_count():
        return LowerBound(None, None, (), False, moments)
    limit = budget.part(_SHARE_FOR_MOMENTS, _MOST_OPERATIONS)
    for count in (_largest_counts, _counts_at_ends):
        counted = isolated(partial(_counted_text, count, moments, limit), limit)
        if counted is not None:
            break
    else:
        return LowerBound(None, None, (), False, moments)
    try:
        with limit.limit("the lower bound"):
            return _symbolic(moments, conflicts.context, counted)
    except BudgetExceeded:
        return LowerBound(None, None, (), False, moments)


def _counted_text(count: Callable[[isl.Map], _Counts], moments: isl.Map, budget: Budget) -> str:
    """Counts as text, for another process."""
    with budget.limit("the lower bound"):
        is_attained, pieces = count(moments)
        texts = [[str(where), [str(formula) for formula in formulas]] for where, formulas in pieces]
    return json.dumps([is_attained, texts])


def _symbolic(moments: isl.Map, context: isl.Set, counted: str) -> LowerBound:
    is_attained, texts = json.loads(counted)
    pieces = tuple((isl.Set(where), tuple(map(read_formula, formulas))) for where, formulas in texts)
    probe = large_parameters(context)
    formula = _formula_at(pieces, probe)
    if formula is None or len(formula.terms) > _MOST_TERMS:
        return LowerBound(None, None, pieces, is_attained, moments)
    shown = isl.Set.empty(context.get_space())
    for where, formulas in pieces:
        shown = shown.union(_where_at_most(where, formula, formulas))
    when = None if context.is_subset(shown) else shown.coalesce().gist(context)
    return LowerBound(formula, when, pieces, is_attained, moments)


def _where_at_most(where: isl.Set, formula: Formula, formulas: tuple[Formula, ...]) -> isl.Set:
    """The part of a parameter set on which a formula is shown not to exceed the maximum of others."""
    known = _fixed_parameters(where)
    formula = formula.replace_names(known)
    formulas = tuple(other.replace_names(known) for other in formulas)
    if formula in formulas:
        return where
    if formula.is_affine and all(other.is_affine for other in formulas):
        value = to_pw_aff(formula)
        parts = (where.intersect(value.le_set(to_pw_aff(other))) for other in formulas)
        return reduce(isl.Set.union, parts, isl.Set.empty(where.get_space()))
    shown = isl.Set.empty(where.get_space())
    for params in few_parameter_points(where, _MOST_POINTS):
        if formula.evaluate(params) <= max(other.evaluate(params) for other in formulas):
            shown = shown.union(fix_parameters(params))
    return shown


def _fixed_parameters(where: isl.Set) -> dict[str, Formula]:
    """The parameters that are one number in all of a set, with it."""
    values = {
        name: where.plain_get_val_if_fixed(isl.dim_type.param, k)
        for k, name in enumerate(parameter_names(where))
    }
    return {name: Formula.constant(int(str(value))) for name, value in values.items() if value.is_int()}


def _formula_at(
    pieces: tuple[tuple[isl.Set, tuple[Formula, ...]], ...], params: Mapping[str, int]
) -> Formula | None:
    here = fix_parameters(params)
    found = [f for where, formulas in pieces if not where.intersect(here).is_empty() for f in formulas]
    return max(found, key=lambda formula: formula.evaluate(params), default=None)


def _largest_counts(moments: isl.Map) -> _Counts:
    """Whether the largest count is known, and parameter sets with formulas that some moment attains.

    isl's bound of the counting polynomial is taken where isl knows that it is attained.
    """
    bound, is_attained = _card(moments).bound(isl.fold.max)
    return (True, list(_fold_pieces(bound))) if is_attained else _counts_at_ends(moments)


def _counts_at_ends(moments: isl.Map) -> _Counts:
    """The counts at the first and last moment of each piece of the counting polynomial.

    They are attained, so they are lower bounds, if not always the largest.
    """
    found: list[tuple[isl.Set, tuple[Formula, ...]]] = []
    for domain, _ in _card(moments).get_pieces():
        times = isl.Map.from_range(domain)
        for moment in (first_images(times).range(), last_images(times).range()):
            for where, polynomial in _card_set(moments.intersect_domain(moment).range()).get_pieces():
                found.append((where, (from_qpolynomial(polynomial),)))
    return False, found


def _card(relation: isl.Map) -> isl.PwQPolynomial:
    return cast(Any, relation).card()


def _card_set(cells: isl.Set) -> isl.PwQPolynomial:
    return cast(Any, cells).card()


def _fold_pieces(bound: isl.PwQPolynomialFold) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
    found: list[tuple[isl.Set, isl.QPolynomialFold]] = []
    bound.foreach_piece(lambda where, fold: found.append((where, fold)))
    for where, fold in found:
        polynomials: list[isl.QPolynomial] = []
        fold.foreach_qpolynomial(polynomials.append)
        yield where, tuple(from_qpolynomial(polynomial) for polynomial in polynomials)


def _count_largest(moments: isl.Map) -> int | None:
    """By plain counting at fixed parameter values; None where that takes too long."""
    incidences = moments.wrap()
    if incidences.is_empty():
        return 0
    try:
        with Budget.of_work(_OPERATIONS_TO_COUNT).limit("counting live cells"):
            if int(str(incidences.count_val())) > _MOST_COUNTED:
                return None
    except (BudgetExceeded, IslFailure):
        return None
    depth = moments.dim(isl.dim_type.in_)
    live: Counter[tuple[int, ...]] = Counter()

    def count(incidence: tuple[int, ...]) -> None:
        live[incidence[:depth]] += 1

    visit_points(incidences, count)
    return max(live.values())
