"""The main job: analyse, fold, prove, and say how far from the minimum the answer is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import Favor, Share
from arrayfold.base.errors import InputError, NothingProved
from arrayfold.base.reported import reported
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.array import bound_beside, fold_one
from arrayfold.fold.deadline import chosen_arrays, fold_in_time
from arrayfold.fold.options import FoldOptions, Progress, checked_params
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.frontends.kernel import Kernel, as_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping
from arrayfold.program.model import Problem


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
    share: Share | None = None,
    local: int | str | None = None,
    linear_form: bool = False,
    pieces: bool = False,
    order: Literal["auto"] | None = None,
    tune: bool = False,
    jobs: int = 1,
    progress: Progress = lambda _: None,
) -> FoldResult:
    """Fold the temporaries of a problem and prove each mapping for every parameter value of the context.

    problem is what read() makes of a file, or a Python kernel. The other parameters are those of
    `FoldOptions`, which stand in one record from here on; here they are named one by one because this is
    what people call from Python, and:

    params are the sizes at which candidates are compared and numbers shown; without them sizes are
    compared far out. The proof covers the whole context either way, unless the method is one for fixed
    sizes. budget is the time in seconds that the work may take, a minute if nothing is said.

    With favor="speed" and method="auto" a mapping that makes faster loops wins over the smallest one, as long
    as it has at most twice as many cells. share says how arrays share memory: see fold_shared(). local=2
    gives each iteration of the first two loops a buffer of its own, and local="b" each iteration of the loops
    over b a part of each array. linear_form=True gives every mapping one row;
    pieces=True puts arrays into two parts with a mapping each where that needs fewer cells.

    jobs is how many processes look at arrays at the same time; the answer is the same.

    order="auto" first brings the program into the order that is predicted to be fastest. With tune=True the
    best candidates are compiled and measured at the sizes of params, and the fastest one is taken; what was
    measured is in result.problem.chosen.measured.
    """
    options = FoldOptions(
        dict(params or {}),
        tuple(arrays),
        method,
        power_of_two,
        favor,
        share,
        local,
        linear_form,
        pieces,
        jobs,
    )
    limit = as_budget(budget)
    found = as_problem(problem)
    if order not in (None, "auto"):
        raise InputError(f"there is no order {order!r}; it is 'auto', or what reorder() makes")
    if tune:
        from arrayfold.fold.tune import Tuning, fold_tuned

        return fold_tuned(found, options, fold_as, limit, Tuning(), progress)
    if order is not None:
        from arrayfold.ordering.auto import ChooseOrder

        found = ChooseOrder(options.params).apply(found, limit)
    return fold_as(found, options, limit, progress)


@reported
def fold_shared(
    problem: Problem | Kernel,
    share: Share = "auto",
    *,
    params: Mapping[str, int] | None = None,
    arrays: Sequence[str] = (),
    method: str = "auto",
    budget: Budget | float | None = None,
    progress: Progress = lambda _: None,
) -> FoldResult:
    """Fold the temporaries of a program into as little memory in all as can be.

    share  "arrays": arrays that are never in use together have one buffer
           "offsets": they lie in one block, where they find room
           "cells": cells of different arrays share addresses, by rows M x + o with an offset for each
           "auto": the smallest of these; "none": every array for itself
    """
    options = FoldOptions(dict(params or {}), tuple(arrays), method, share=share)
    return fold_as(as_problem(problem), options, as_budget(budget), progress)


def fold_as(problem: Problem, options: FoldOptions, budget: Budget, progress: Progress) -> FoldResult:
    """The fold that the options ask for: array by array, in one memory, in tiles or in bands."""
    options = options.for_problem(problem)
    if isinstance(options.local, int):
        from arrayfold.fold.tiles import fold_in_tiles

        return fold_in_tiles(problem, options.local, options, budget, progress)
    if options.local is not None:
        from arrayfold.fold.bands import fold_in_bands

        return fold_in_bands(problem, options.local, options, budget, progress)
    if options.pieces:
        from arrayfold.fold.pieces import fold_in_pieces

        return fold_in_pieces(problem, options, budget, progress)
    if options.share is not None:
        from arrayfold.fold.shared import fold_into_one_memory

        return fold_into_one_memory(problem, options.share, options, budget, progress)
    return fold_in_time(problem, options, budget, progress, fold_one)


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
    options: FoldOptions,
    folding: Callable[[Problem, FoldOptions], FoldResult],
) -> list[FoldResult]:
    """Fold each problem of a file; sizes and arrays count where they occur.

    folding  folds one problem, given the options with its sizes and arrays
    """
    results: list[FoldResult] = []
    for problem in problems:
        here = options.of_problem(problem)
        if here.arrays or not options.arrays:
            results.append(folding(problem, here))
    return results


def check_names(problems: Sequence[Problem], options: FoldOptions) -> None:
    """Raise for sizes and arrays that no problem of a file has."""
    for name, value in options.params.items():
        if not any(name in problem.parameters for problem in problems):
            checked_params(problems[0], {name: value})
    for name in options.arrays:
        if not any(name == array.name for problem in problems for array in problem.arrays):
            problems[0].array(name)
