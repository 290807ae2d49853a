"""Every method side by side on every array."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arrayfold._budget import Budget
from arrayfold.bounds import LowerBound, find_lower_bound
from arrayfold.choose import Candidate, ask, choose
from arrayfold.conflicts import Conflicts
from arrayfold.errors import NothingProved
from arrayfold.fold import Analysis, Progress, checked_params, chosen_arrays
from arrayfold.methods import METHODS, Request
from arrayfold.program import Problem


@dataclass(frozen=True, eq=False)
class ComparedArray:
    """What every method makes of one array."""

    conflicts: Conflicts
    candidates: tuple[Candidate, ...]
    lower_bound: LowerBound
    params: Mapping[str, int]


def compare(
    problem: Problem,
    *,
    params: Mapping[str, int] | None = None,
    arrays: Sequence[str] = (),
    budget: Budget | None = None,
    power_of_two: bool = False,
    progress: Progress = lambda _: None,
) -> list[ComparedArray]:
    """The smallest proved mapping of each method, or why it has none, for each array."""
    values = checked_params(problem, params or {})
    budget = budget or Budget(None)
    analysis = Analysis.of(problem, budget)
    compared: list[ComparedArray] = []
    for name in chosen_arrays(analysis, arrays):
        progress(f"{name}: conflicts")
        conflicts = analysis.conflicts(name, budget)
        request = Request.of(conflicts, values, budget, power_of_two=power_of_two)
        candidates: list[Candidate] = []
        for method in METHODS:
            progress(f"{name}: {method}")
            candidates.append(ask(method, conflicts, request))
        progress(f"{name}: auto")
        candidates.append(_best_of_all(conflicts, request))
        compared.append(
            ComparedArray(conflicts, tuple(candidates), find_lower_bound(conflicts, budget), values)
        )
    return compared


def _best_of_all(conflicts: Conflicts, request: Request) -> Candidate:
    start = time.perf_counter()
    try:
        best = choose("auto", conflicts, request)
    except NothingProved as error:
        return Candidate("auto", None, None, time.perf_counter() - start, str(error))
    return replace(best, method="auto", seconds=time.perf_counter() - start)
