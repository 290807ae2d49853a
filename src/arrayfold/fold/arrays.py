"""The main job: analyse, fold, prove, and say how far from the minimum the answer is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.defects import reported
from arrayfold.base.errors import InputError, NothingProved
from arrayfold.bounds.moments import LowerBound, find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.deadline import Progress, chosen_arrays, fold_in_time
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.frontends.kernel import Kernel, as_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import AddressMapping, EmittableMapping, ModularMapping, TableMapping
from arrayfold.methods import Request
from arrayfold.program.model import Problem
from arrayfold.select.cases import Case, find_cases
from arrayfold.select.choose import checked_method, choose
from arrayfold.select.policy import Favor, best_for_loops

_SHARE_FOR_CONFLICTS = 0.6


@reported
def fold(
    problem: Problem | Kernel,
    *,
    params: Mapping[str, int] | None = None,
    arrays: Sequence[str] = (),
    method: str = "auto",
    budget: Budget | float | None = None,
    power_of_two: bool = False,
    favor: Favor = "size",
    progress: Progress = lambda _: None,
) -> FoldResult:
    """Fold the temporaries of a problem and prove each mapping for every parameter value of the context.

    problem is what read() makes of a file, or a Python kernel.

    params are the sizes at which candidates are compared and numbers shown; without them sizes are
    compared far out. The proof covers the whole context either way, unless the method is one for fixed
    sizes. budget is the time in seconds that the work may take, a minute if nothing is said.

    With favor="speed" and method="auto" a mapping that makes faster loops wins over the smallest one, as long
    as it has at most twice as many cells.
    """
    if favor not in ("size", "speed"):
        raise InputError(f"there is no way to favor {favor!r}; it is size or speed")
    problem = as_problem(problem)
    values = checked_params(problem, params or {})
    return fold_in_time(
        problem,
        values,
        arrays,
        as_budget(budget),
        progress,
        lambda analysis, name, part, say: fold_one(
            analysis, name, values, method, part, say, power_of_two=power_of_two, favor=favor
        ),
    )


def fold_with(
    problem: Problem, mappings: Mapping[str, EmittableMapping], *, budget: Budget | None = None
) -> FoldResult:
    """Fold with given mappings, each of which must be proved; an error says which one is not."""
    budget = as_budget(budget)
    analysis = Analysis.of(problem, budget)
    folded: list[FoldedArray] = []
    for name in chosen_arrays(analysis, list(mappings)):
        start = time.perf_counter()
        conflicts = analysis.conflicts(name, budget)
        with budget.limit(f"the proof of {mappings[name]}"):
            verdict = verify(conflicts, mappings[name])
        if not isinstance(verdict, Proof):
            raise NothingProved(f"{mappings[name]}: {verdict}")
        bound = bound_beside(mappings[name], conflicts, {}, budget)
        seconds = time.perf_counter() - start
        folded.append(FoldedArray(name, "given", mappings[name], verdict, bound, conflicts, seconds, {}))
    return FoldResult(problem, tuple(folded), analysis.kept(), {}, analysis.live_in_arrays())


def fold_all(
    problems: Sequence[Problem],
    folding: Callable[[Problem, Mapping[str, int], Sequence[str]], FoldResult],
    *,
    params: Mapping[str, int],
    arrays: Sequence[str],
) -> list[FoldResult]:
    """Fold each problem; sizes and arrays need to occur in one of them only.

    folding  folds one problem, given its sizes and arrays
    """
    for name in params:
        if not any(name in problem.parameters for problem in problems):
            checked_params(problems[0], {name: params[name]})
    for name in arrays:
        if not any(name == array.name for problem in problems for array in problem.arrays):
            problems[0].array(name)
    results: list[FoldResult] = []
    for problem in problems:
        chosen = [name for name in arrays if any(name == array.name for array in problem.arrays)]
        if arrays and not chosen:
            continue
        sizes = {name: value for name, value in params.items() if name in problem.parameters}
        results.append(folding(problem, sizes, chosen))
    return results


def fold_one(
    analysis: Analysis,
    name: str,
    params: Mapping[str, int],
    method: str,
    budget: Budget,
    progress: Progress,
    *,
    power_of_two: bool = False,
    favor: Favor = "size",
) -> FoldedArray:
    """Fold one array of a problem."""
    start, cuts = time.perf_counter(), len(budget.cuts)
    progress(f"{name}: conflicts")
    conflicts = analysis.conflicts(name, budget, share=_SHARE_FOR_CONFLICTS)
    if conflicts.context.is_empty():
        return _without_cells(conflicts, params, method, time.perf_counter() - start)
    request = Request.of(conflicts, params, budget, power_of_two=power_of_two)
    bound: LowerBound | None = None
    if method == "auto":
        progress(f"{name}: lower bound")
        bound = find_lower_bound(conflicts, budget, params)
    progress(f"{name}: mappings")
    loops = analysis.innermost_loops
    if bound is None or (power_of_two and (favor == "size" or loops is None)):
        best = choose(method, conflicts, request)
    else:
        best = best_for_loops(loops, conflicts, request, _at_the_bound(bound, request), favor)
    assert best.mapping is not None
    assert isinstance(best.verdict, Proof)
    if bound is None:
        progress(f"{name}: lower bound")
        bound = bound_beside(best.mapping, conflicts, params, budget)
    cases: tuple[Case, ...] = ()
    if method == "auto" and not power_of_two:
        progress(f"{name}: cases")
        cases = find_cases(conflicts, request, best.mapping.size, bound)
    seconds = time.perf_counter() - start
    found = (name, best.method, best.mapping, best.verdict, bound, conflicts, seconds, params, cases)
    return FoldedArray(*found, cut_short=budget.cut_words(cuts))


def _without_cells(
    conflicts: Conflicts, params: Mapping[str, int], method: str, seconds: float
) -> FoldedArray:
    """An array of which no cell is ever used, whatever the parameters are."""
    checked_method(method)
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


def checked_params(problem: Problem, params: Mapping[str, int]) -> dict[str, int]:
    """The parameter values, after their names and the context were checked."""
    for name in params:
        if name not in problem.parameters:
            known = ", ".join(problem.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; the parameters are: {known}")
    if problem.context.intersect(fix_parameters(params)).is_empty():
        values = ", ".join(f"{name} = {value}" for name, value in params.items())
        raise InputError(f"{values} contradicts the context {problem.context}")
    return dict(params)
