"""The fold of one array: its conflicts, the smallest proved mapping, the lower bound, and cases."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from arrayfold.base.budget import Budget
from arrayfold.base.progress import ProgressStep
from arrayfold.bounds.moments import LowerBound, find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import AddressMapping, ModularMapping, TableMapping
from arrayfold.methods import Request
from arrayfold.program.model import Program
from arrayfold.select.cases import find_cases, settled
from arrayfold.select.choose import choose
from arrayfold.select.linear_form import in_linear_form
from arrayfold.select.mapping_case import MappingCase
from arrayfold.select.policy import best_for_loops, stands_for
from arrayfold.select.smaller_lattices import find_smallest_lattice

_SHARE_FOR_CONFLICTS = 0.6
_OPERATIONS_FOR_BOUND = 1_500_000
# What is done of the work on an array then, as a rule.
_AFTER_CONFLICTS, _AFTER_BOUND, _AFTER_MAPPINGS = 0.2, 0.4, 0.9


def fold_one(
    analysis: Analysis, name: str, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldedArray:
    """Fold one array of a problem."""
    params, method, power_of_two, favor = options.params, options.method, options.power_of_two, options.favor
    start, cuts = time.perf_counter(), len(budget.cuts)
    progress(f"{name}: conflicts")
    conflicts = analysis.conflicts(name, budget, share=_SHARE_FOR_CONFLICTS)
    if conflicts.context.is_empty():
        return without_cells(conflicts, params, method, time.perf_counter() - start)
    request = Request.of(conflicts, params, budget, power_of_two=power_of_two)
    bound: LowerBound | None = None
    if method == "auto":
        progress(ProgressStep(f"{name}: lower bound", _AFTER_CONFLICTS))
        bound = find_lower_bound(conflicts, _budget_for_bound(analysis, budget), params)
    progress(ProgressStep(f"{name}: mappings", _AFTER_BOUND))
    loops = analysis.innermost_loops
    if bound is None or (power_of_two and (favor == "size" or loops is None)):
        best = choose(method, conflicts, request)
    else:
        best = best_for_loops(loops, conflicts, request, _at_the_bound(bound, request), favor)
    if options.linear_form:
        best = in_linear_form(best, conflicts, request)
    assert best.mapping is not None
    assert isinstance(best.verdict, Proof)
    if bound is None:
        progress(f"{name}: lower bound")
        bound = bound_beside(best.mapping, conflicts, params, budget)
    cases: tuple[MappingCase, ...] = ()
    if method == "auto" and not (power_of_two or options.linear_form):
        progress(ProgressStep(f"{name}: cases", _AFTER_MAPPINGS))
        found = find_cases(conflicts, request, best.mapping.size, bound)
        best, cases = settled(
            conflicts,
            request,
            best,
            found,
            partial(stands_for, loops=loops, conflicts=conflicts, request=request, favor=favor),
        )
        assert best.mapping is not None
        assert isinstance(best.verdict, Proof)
    seconds = time.perf_counter() - start
    parts = (name, best.method, best.mapping, best.verdict, bound, conflicts, seconds, params, cases)
    found = FoldedArray(*parts, cut_short=budget.cut_words(cuts))
    if found.is_optimal or power_of_two or found.limits:
        return found
    return replace(found, smallest_lattice=find_smallest_lattice(conflicts, found.size, budget))


def _budget_for_bound(analysis: Analysis, budget: Budget) -> Budget:
    """What a lower bound may cost; in an order that nobody asked for in particular less than otherwise."""
    chosen = analysis.problem.chosen if isinstance(analysis.problem, Program) else None
    return budget if chosen is None or not chosen.options else budget.part(1.0, _OPERATIONS_FOR_BOUND)


def without_cells(
    conflicts: Conflicts, params: Mapping[str, int], method: str, seconds: float
) -> FoldedArray:
    """An array of which no cell is ever used, whatever the parameters are."""
    mapping = ModularMapping(conflicts.name, conflicts.array.dimensions, (), (), ())
    proof = verify(conflicts, mapping)
    assert isinstance(proof, Proof)
    bound = find_lower_bound(conflicts)
    name = "identity" if method == "auto" else method
    return FoldedArray(conflicts.name, name, mapping, proof, bound, conflicts, seconds, params)


def _at_the_bound(bound: LowerBound, request: Request) -> Callable[[Formula], bool]:
    return lambda size: bound.is_enough(size, request.sizes, request.far)


def bound_beside(
    mapping: AddressMapping, conflicts: Conflicts, params: Mapping[str, int], budget: Budget
) -> LowerBound:
    """The lower bound to compare a mapping with; for a table, with the cells that show it at its sizes."""
    if isinstance(mapping, TableMapping):
        return find_lower_bound(replace(conflicts, moments_suffice=False), budget, mapping.params)
    return find_lower_bound(conflicts, budget, params)
