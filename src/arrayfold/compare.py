"""Every method side by side on every array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arrayfold._budget import Budget
from arrayfold.analysis import Analysis
from arrayfold.bounds import LowerBound, find_lower_bound
from arrayfold.choose import Candidate, ask, ask_all, best_of
from arrayfold.conflicts import Conflicts
from arrayfold.errors import NothingProved
from arrayfold.fold import Progress, checked_params, chosen_arrays
from arrayfold.methods import METHODS, Request
from arrayfold.program import Problem

_SHARE_OF_OTHERS = 0.1


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
    only_general: bool = False,
    analysis: Analysis | None = None,
    progress: Progress = lambda _: None,
) -> list[ComparedArray]:
    """The smallest proved mapping of each method, or why it has none, for each array.

    only_general  leave out the methods that `auto` does not ask
    analysis      that of the problem, where it is known already
    """
    values = checked_params(problem, params or {})
    budget = budget or Budget(None)
    analysis = analysis or Analysis.of(problem, budget)
    compared: list[ComparedArray] = []
    for name in chosen_arrays(analysis, arrays):
        progress(f"{name}: conflicts")
        conflicts = analysis.conflicts(name, budget)
        request = Request.of(conflicts, values, budget, power_of_two=power_of_two)
        progress(f"{name}: mappings")
        everything = list(ask_all(conflicts, request))
        candidates = [candidate for candidate in everything if candidate.method in METHODS]
        bound = find_lower_bound(conflicts, budget, values)
        others = (name for name, method in METHODS.items() if not (method.is_general or only_general))
        rest = replace(request, budget=budget.part(_SHARE_OF_OTHERS))
        candidates += [ask(name, conflicts, rest) for name in others]
        candidates.append(_auto(everything, conflicts, request))
        compared.append(ComparedArray(conflicts, tuple(candidates), bound, values))
    return compared


def _auto(everything: Sequence[Candidate], conflicts: Conflicts, request: Request) -> Candidate:
    """What `auto` makes of all candidates; its time is that of all of them together."""
    seconds = sum(candidate.seconds for candidate in everything)
    try:
        return replace(best_of(everything, conflicts, request), method="auto", seconds=seconds)
    except NothingProved as error:
        return Candidate("auto", None, None, seconds, str(error))
