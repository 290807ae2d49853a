"""The main job: analyse, fold, prove, and say how far from the minimum the answer is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.defects import reported
from arrayfold.base.errors import InputError, NothingProved
from arrayfold.bounds.moments import LowerBound, find_lower_bound
from arrayfold.codegen.lowering import InnermostLoops, loop_cost
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.lattice import Vector
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.deadline import Progress, chosen_arrays, fold_in_time
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.frontends.kernel import Kernel, as_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import AddressMapping, EmittableMapping, ModularMapping, TableMapping
from arrayfold.methods import Request
from arrayfold.program.model import Problem
from arrayfold.select.cases import Case, find_cases
from arrayfold.select.choose import Candidate, ask_all, best_of, candidates_of_auto, checked_method, choose
from arrayfold.select.contiguous import keep_inner_dimensions

Favor = Literal["size", "speed"]
_SHARE_FOR_CONFLICTS = 0.6
_ALIKE = Fraction(101, 100)


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


def best_for_loops(
    loops: InnermostLoops | None,
    conflicts: Conflicts,
    request: Request,
    is_enough: Callable[[Formula], bool],
    favor: Favor,
) -> Candidate:
    """The mapping of all methods that size and innermost loops speak for.

    is_enough  whether no mapping is smaller than such a size
    """
    if favor == "speed" and loops is not None:
        return _fastest(loops, conflicts, request, is_enough)
    candidates = candidates_of_auto(conflicts, request, is_enough)
    best = best_of(candidates, conflicts, request)
    assert best.mapping is not None
    if loops is None or is_enough(best.mapping.size):
        return best
    return _cheaper_loops(loops, conflicts, request, best, candidates)


def _at_the_bound(bound: LowerBound, request: Request) -> Callable[[Formula], bool]:
    return lambda size: bound.is_enough(size, request.sizes, request.far)


def _cheaper_loops(
    loops: InnermostLoops,
    conflicts: Conflicts,
    request: Request,
    first: Candidate,
    candidates: Sequence[Candidate],
) -> Candidate:
    """The first candidate, or the smallest one that spares innermost loops a modulo and is hardly larger.

    At the sizes asked for; without any, sizes are so large that leading terms decide.
    """
    assert first.mapping is not None
    steps = loops.steps(conflicts.name)
    if not isinstance(first.mapping, ModularMapping) or loop_cost(first.mapping, steps, conflicts) == 0:
        return first
    limit = request.rank(first.mapping.size * _ALIKE)
    hinders, best = _with_best_loops([first, *candidates], limit, steps, conflicts, request)
    return best if hinders == 0 else first


def _with_best_loops(
    candidates: Sequence[Candidate],
    limit: tuple[object, ...],
    steps: Sequence[Vector],
    conflicts: Conflicts,
    request: Request,
) -> tuple[int | None, Candidate]:
    """The candidate up to a size that hinders innermost loops least, and how much; of several the smallest.

    The first candidate, if there is none with moduli.
    """
    best, least = candidates[0], None
    for candidate in candidates:
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        rank = request.rank(mapping.size)
        if rank <= limit:
            hinders = loop_cost(mapping, steps, conflicts), rank
            if least is None or hinders < least:
                best, least = candidate, hinders
    return None if least is None else least[0], best


def _fastest(
    loops: InnermostLoops, conflicts: Conflicts, request: Request, is_enough: Callable[[Formula], bool]
) -> Candidate:
    """The candidate with the best loops among those with at most twice the cells of the smallest.

    Of several with equally good loops the smallest. One that is not in the way of loops at all, and that no
    mapping is smaller than, ends the search.
    """
    steps = loops.steps(conflicts.name)
    candidates: list[Candidate] = []
    for candidate in ask_all(conflicts, request):
        candidates.append(candidate)
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        if is_enough(mapping.size) and loop_cost(mapping, steps, conflicts) == 0:
            return candidate
    smallest = best_of(candidates, conflicts, request)
    assert smallest.mapping is not None
    limit = request.rank(smallest.mapping.size * 2)
    everything = [smallest, *candidates, *_whole_lines(conflicts, request, steps)]
    return _with_best_loops(everything, limit, steps, conflicts, request)[1]


def _whole_lines(conflicts: Conflicts, request: Request, steps: Sequence[Vector]) -> Iterator[Candidate]:
    """Mappings that leave the dimensions alone along which innermost loops walk most often."""
    kept = [k for k, by in enumerate(steps[0]) if by] if steps else []
    if 0 < len(kept) < conflicts.array.rank:
        yield from keep_inner_dimensions(conflicts, request, kept)


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
