"""Lower bounds: cells that are all live at one moment need as many addresses, whatever the mapping.

With exact parametric counting (barvinok inside islpy) the bound is a formula; without it, it is counted
at given parameter values. Under a partial order more cells may conflict with each other than are live at one
moment; at given parameter values the largest such set is found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TypeAlias

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.deadline import isolated
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, IslFailure
from arrayfold.base.late import ReadLate
from arrayfold.bounds.conflict_graph import conflict_graph
from arrayfold.bounds.few_moments import counts_at_few_moments
from arrayfold.bounds.live_counts import Counts, counts_at_ends, largest_counts
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.factors import positive_factors
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import simplified, to_pw_aff
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import (
    can_count,
    coalesced,
    fix_parameters,
    parameter_names,
    strided_pieces,
    visit_points,
)
from arrayfold.exact.parameter_values import few_parameter_points, large_parameters, parameter_minima
from arrayfold.exact.signs import below, fixed_parameters, is_at_most, never_negative

Pieces: TypeAlias = tuple[tuple[isl.Set, tuple[Formula, ...]], ...]
_MOST_OPERATIONS = 6_000_000
_MOST_COUNTED = 2_000_000
_MOST_PIECES = 60
_OPERATIONS_TO_COUNT = 3_000_000
_FIRST_VALUES = 6
_MOST_TERMS = 12
_AROUND = 4
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


def _none() -> None:
    """The default of a field that is read late, which must not have one in the class."""


@dataclass(frozen=True, eq=False)
class LowerBound(ReadLate):
    """The largest number of cells that are known to conflict with each other; 0 where there are no cells.

    formula  the bound where `when` holds; None if it is not known as a formula
    when     parameter values for which the formula was shown; None for all of the context
    pieces   { : } with formulas that some moment attains there
    is_attained  whether the maximum of these formulas is the bound, not only below it
    moments  { [t] -> A[x] }, to count at given parameter values
    clique   a largest set of cells that all conflict, at the parameter values of the request
    where    { : } there are cells at all; None for all of the context
    here     parameter values with the bound there, once it has been counted
    remark   why a bound that was found is not used
    counted  the formula before it was raised to zero at some sizes
    _shown   size -> contexts with the part of each on which a piece attains the size
    """

    late_fields = ("moments",)

    formula: Formula | None = None
    when: isl.Set | None = None
    pieces: Pieces = ()
    is_attained: bool = False
    moments: isl.Map | None = field(default_factory=_none)
    clique: Clique | None = None
    where: isl.Set | None = None
    here: tuple[Mapping[str, int], int | None] | None = None
    remark: str = ""
    counted: Formula | None = None
    _shown: dict[Formula, list[tuple[isl.Set, isl.Set]]] = field(
        default_factory=dict[Formula, list[tuple[isl.Set, isl.Set]]], repr=False
    )

    def is_shown_at(self, params: Mapping[str, int]) -> bool:
        """Whether there is a formula that holds at these parameter values."""
        is_here = self.when is None or not self.when.is_disjoint(fix_parameters(params))
        return self.formula is not None and is_here

    def is_as_counted(self, size: Formula) -> bool:
        """Whether a size is the formula, or was it before that was raised to zero at some sizes."""
        return size in (self.formula, self.counted)

    def at(self, params: Mapping[str, int]) -> int | None:
        """The bound at these parameter values; None if it is unknown or too large to be counted."""
        if self.here is not None and self.here[0] == params:
            return self.here[1]
        here = fix_parameters(params)
        if self.where is not None and self.where.is_disjoint(here):
            return 0
        if self.clique is not None and self.clique.is_at(params):
            return len(self.clique.cells)
        found = [formula.at(params) for formula in _formulas_at(self.pieces, params)]
        if self.is_attained or self.moments is None:
            return max(found, default=None)
        counted = _count_largest(self.moments.intersect_params(here))
        return max([*found, *([] if counted is None else [counted])], default=None)

    def reached(self, size: Formula, context: isl.Set) -> isl.Set:
        """{ : }: the parameter values of a context for which a size is shown not to exceed the bound.

        Without cells nothing is needed, so that every size is taken for zero there.
        """
        shown = isl.Set.empty(context.get_space())
        if self.where is not None:
            shown = shown.union(context.subtract(self.where))
        return coalesced(shown.union(self._attained(size, context)).intersect(context))

    def _attained(self, size: Formula, context: isl.Set) -> isl.Set:
        """{ : }: where a size is shown not to exceed a piece; the same bound is asked several times."""
        known = self._shown.setdefault(size, [])
        for there, shown in known:
            if there.plain_is_equal(context):
                return shown
        shown = isl.Set.empty(context.get_space())
        for where, formulas in self.pieces:
            shown = shown.union(_where_at_most(where.intersect(context), size, formulas))
        known.append((context, shown))
        return shown

    def written(self, formula: Formula, context: isl.Set) -> LowerBound:
        """The bound with another formula, and the parameter values of a context for which that is shown."""
        cells = context if self.where is None else context.intersect(self.where)
        shown = self.reached(formula, cells)
        shown = shown.union(_where_at_most(context.subtract(cells), formula, (Formula.constant(0),)))
        when = None if context.is_subset(shown) else coalesced(shown).gist(context)
        return replace(self, formula=formula, when=when)

    def equals(self, size: Formula, params: Mapping[str, int]) -> bool:
        """Whether a size is the bound: for all of the context, or at parameter values that fix the size.

        The latter counts where the bound is not known as a formula, or the formula not for all sizes, or
        where a larger number of conflicting cells was found there.
        """
        if self.formula == size and self.when is None:
            return True
        if self.clique is not None and self.clique.is_at(params) and size.names() <= set(params):
            return size.at(params) == len(self.clique.cells)
        is_known = self.formula is not None and (not self.is_as_counted(size) or self.when is None)
        if is_known and not (self.is_attained and self.when is None):
            return self.formula == size
        return size.names() <= set(params) and bool(params) and self.at(params) == size.at(params)

    def is_enough(self, size: Formula, *where: Mapping[str, int]) -> bool:
        """Whether a size is the bound at some parameter values, as far as the formula of the bound says."""
        formula = self.formula
        if formula is None:
            return False
        return all(self.is_shown_at(one) and size.evaluate(one) == formula.evaluate(one) for one in where)


UNKNOWN = LowerBound()


def find_lower_bound(
    conflicts: Conflicts, budget: Budget | None = None, params: Mapping[str, int] | None = None
) -> LowerBound:
    """The largest number of cells that are live together, over all moments.

    params  where these fix all sizes, and moments may miss some, the largest number there of cells that
            all conflict
    """
    if conflicts.context.is_empty():
        nothing = (conflicts.whole_context, (Formula.constant(0),))
        return LowerBound(Formula.constant(0), None, (nothing,), True, where=conflicts.context)
    budget = budget or Budget(None)
    bound = _count_moments(conflicts, budget)
    where = None if conflicts.whole_context.is_subset(conflicts.context) else conflicts.context
    bound = replace(bound, clique=_largest_clique(conflicts, params or {}, budget), where=where)
    if params is None or not set(parameter_names(conflicts.context)) <= set(params):
        return bound
    return replace(bound, here=(dict(params), bound.at(params)))


def _largest_clique(conflicts: Conflicts, params: Mapping[str, int], budget: Budget) -> Clique | None:
    sizes = few_parameter_points(conflicts.context.intersect(fix_parameters(params)), 1)
    if conflicts.moments_suffice or conflicts.is_assumed or not sizes:
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
        return LowerBound(moments=moments)
    limit = budget.part(_SHARE_FOR_MOMENTS, _MOST_OPERATIONS)
    # Where there are so many pieces, counting all moments would take minutes.
    ways = [] if moments.n_basic_map() > _MOST_PIECES else [largest_counts, counts_at_ends]
    few = partial(counts_at_few_moments, context=conflicts.context)
    for count in (*ways, few):
        # What was given up before leaves nothing of the limit to the few moments.
        limit = budget.part(_SHARE_FOR_MOMENTS, _MOST_OPERATIONS) if count is few and ways else limit
        counted = isolated(partial(_counted_text, count, moments, limit), limit)
        if counted is not None:
            break
    else:
        return LowerBound(moments=moments)
    try:
        with limit.limit("the lower bound"):
            return _symbolic(moments, conflicts, counted)
    except BudgetExceeded:
        return LowerBound(moments=moments)


def _counted_text(count: Callable[[isl.Map], tuple[bool, Counts]], moments: isl.Map, budget: Budget) -> str:
    """Counts as text, for another process."""
    with budget.limit("the lower bound"):
        is_attained, pieces = count(moments)
        texts = [[str(where), [str(formula) for formula in formulas]] for where, formulas in pieces]
    return json.dumps([is_attained, texts])


def _symbolic(moments: isl.Map, conflicts: Conflicts, counted: str) -> LowerBound:
    is_attained, texts = json.loads(counted)
    context = conflicts.context
    is_strided = strided_pieces(context) > 0

    def read(text: str) -> Formula:
        return simplified(read_formula(text), context) if is_strided else read_formula(text)

    pieces = _joined((isl.Set(where), tuple(map(read, formulas))) for where, formulas in texts)
    formula = _best_formula(pieces, conflicts.context)
    if formula is None or len(formula.terms) > _MOST_TERMS:
        return LowerBound(pieces=pieces, is_attained=is_attained, moments=moments)
    counts = (_where_at_most(where, formula, formulas) for where, formulas in pieces)
    shown = reduce(isl.Set.union, counts)
    context = conflicts.whole_context
    whole, when = formula, shown
    for factors in ((formula,), positive_factors(formula, large_parameters(conflicts.context))):
        whole = Formula.product(never_negative(one, context) for one in factors)
        when = shown.union(_where_zero(factors, whole, conflicts))
        if context.is_subset(when):
            return LowerBound(whole, None, pieces, is_attained, moments, counted=formula)
    return LowerBound(whole, coalesced(when).gist(context), pieces, is_attained, moments, counted=formula)


def _joined(pieces: Iterable[tuple[isl.Set, tuple[Formula, ...]]]) -> Pieces:
    """The pieces, those with the same formulas put together."""
    found: dict[tuple[Formula, ...], isl.Set] = {}
    for where, formulas in pieces:
        found[formulas] = found[formulas].union(where) if formulas in found else where
    return tuple((coalesced(where), formulas) for formulas, where in found.items())


def _where_zero(factors: tuple[Formula, ...], product: Formula, conflicts: Conflicts) -> isl.Set:
    """{ : }: sizes at which a product of factors, each raised to zero, is zero, as far as that is seen.

    Every one where all factors are affine; of others those at which there are no cells.
    """
    context = conflicts.whole_context
    found = _where_at_most(context.subtract(conflicts.context), product, (Formula.constant(0),))
    for one in factors:
        if one.is_affine:
            found = found.union(context.subtract(below(-one, 0)))
    return found


def _best_formula(pieces: Pieces, context: isl.Set) -> Formula | None:
    """The formula that is largest far out, at neighbouring sizes, too, where others may be larger by a rest.

    It counts for large sizes, where it must have been found; of equal ones the shortest.
    """
    probe = large_parameters(context)
    known = _formulas_at(pieces, probe)
    if not known:
        return None
    most = max(formula.evaluate(probe) for formula in known)
    around = [{**probe, name: value + step} for name, value in probe.items() for step in range(1, _AROUND)]
    bounds = [
        max((formula.evaluate(params) for formula in _formulas_at(pieces, params)), default=None)
        for params in around
    ]

    def rank(formula: Formula) -> tuple[object, ...]:
        values = [formula.evaluate(params) for params in around]
        holds = [bound is None or value <= bound for value, bound in zip(values, bounds, strict=True)]
        return all(holds), sum(values), -len(str(formula))

    candidates = {f for _, formulas in pieces for f in formulas if f.evaluate(probe) == most}
    return max(sorted(candidates, key=str), key=rank)


def _formulas_at(pieces: Pieces, params: Mapping[str, int]) -> list[Formula]:
    """What some moment attains at these parameter values."""
    here = fix_parameters(params)
    return [f for where, formulas in pieces if not where.is_disjoint(here) for f in formulas]


def _where_at_most(where: isl.Set, formula: Formula, formulas: tuple[Formula, ...]) -> isl.Set:
    """The part of a parameter set on which a formula is shown not to exceed the maximum of others."""
    if where.is_empty():
        return where
    known = fixed_parameters(where)
    formula = formula.replace_names(known)
    formulas = tuple(other.replace_names(known) for other in formulas)
    if formula in formulas:
        return where
    if formula.is_affine and all(other.is_affine for other in formulas):
        value = to_pw_aff(formula)
        parts = (where.intersect(value.le_set(to_pw_aff(other))) for other in formulas)
        return reduce(isl.Set.union, parts, isl.Set.empty(where.get_space()))
    if any(is_at_most(formula, other, where) for other in formulas):
        return where
    shown = isl.Set.empty(where.get_space())
    if all(is_at_most(other + 1, formula, where) for other in formulas):
        return shown
    # With one parameter fixed to each of its first values what is left may be affine, or a number.
    for name, least in (parameter_minima(where) or {}).items():
        for value in range(least, least + _FIRST_VALUES) if name in formula.names() else ():
            here = where.intersect(fix_parameters({name: value}))
            if len(fixed_parameters(here)) > len(known):
                shown = shown.union(_where_at_most(here, formula, formulas))
    return shown


def _count_largest(moments: isl.Map) -> int | None:
    """By plain counting at fixed parameter values; None where that takes too long."""
    incidences = moments.wrap()
    if incidences.is_empty():
        return 0
    try:
        with Budget.of_work(_OPERATIONS_TO_COUNT).limit("counting live cells"):
            if incidences.count_val().to_python() > _MOST_COUNTED:
                return None
    except (BudgetExceeded, IslFailure):
        return None
    depth = moments.dim(isl.dim_type.in_)
    live: Counter[tuple[int, ...]] = Counter()

    def count(incidence: tuple[int, ...]) -> None:
        live[incidence[:depth]] += 1

    visit_points(incidences, count)
    return max(live.values())
