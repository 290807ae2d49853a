"""Every method side by side on every array."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import in_time
from arrayfold.base.errors import BudgetExceeded, NothingProved
from arrayfold.bounds.minimal import Gap, gap_of
from arrayfold.bounds.moments import UNKNOWN, LowerBound, find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.deadline import chosen_arrays, keep_in_time, likely_arrays, share_of_one
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray
from arrayfold.judge.verify import verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import METHODS, Request
from arrayfold.program.model import Problem
from arrayfold.select.cases import find_cases, settled
from arrayfold.select.choose import Candidate, ask, ask_all, best_of
from arrayfold.select.mapping_case import MappingCase

_SHARE_OF_OTHERS = 0.1


@dataclass(frozen=True, eq=False)
class ComparedArray:
    """What every method makes of one array."""

    conflicts: Conflicts
    candidates: tuple[Candidate, ...]
    lower_bound: LowerBound
    params: Mapping[str, int]
    cases: tuple[MappingCase, ...] = ()

    def __post_init__(self) -> None:
        for candidate in self.candidates:
            gap = self.gap(candidate)
            if gap is not None and gap.bound.remark:
                object.__setattr__(self, "lower_bound", gap.bound)

    def gap(self, candidate: Candidate) -> Gap | None:
        """What a method found beside the lower bound; None if it found nothing."""
        if candidate.mapping is None:
            return None
        return gap_of(candidate.mapping, self.lower_bound, self.conflicts, self.params)


def compare(
    problem: Problem,
    options: FoldOptions | None = None,
    budget: Budget | float | None = None,
    *,
    only_general: bool = False,
    analysis: Analysis | None = None,
    progress: Progress = lambda _: None,
) -> list[ComparedArray]:
    """The smallest proved mapping of each method, or why it has none, for each array.

    only_general  leave out the methods that `auto` does not ask
    analysis      that of the problem, where it is known already
    """
    options = (options or FoldOptions()).for_problem(problem)
    values, limit = options.params, as_budget(budget)
    chosen: list[str] = []
    found: dict[str, ComparedArray] = {}

    def work(send: Callable[[Any], None]) -> None:
        known = analysis or Analysis.of(problem, limit)
        names = chosen_arrays(known, options.arrays)
        send(list(names))
        for number, name in enumerate(names):
            part = limit.part(share_of_one(len(names) - number))
            with suppress(BudgetExceeded):
                conflicts = known.conflicts(name, part)
                if conflicts.context.is_empty():
                    send(_without_cells(conflicts, values))
                    continue
                request = Request.of(conflicts, values, part, power_of_two=options.power_of_two)
                send(f"{name}: mappings")
                send(_compared(conflicts, request, values, only_general=only_general))

    def receive(one: list[str] | ComparedArray | str) -> None:
        match one:
            case list():
                chosen.extend(one)
            case ComparedArray():
                found[one.conflicts.name] = one
            case _:
                progress(one)

    ending = "cut short"
    try:
        ending = in_time(work, limit, receive=receive, known=(problem, analysis)) or ending
    except BudgetExceeded as error:
        ending = str(error)
    return [
        found.get(name) or _not_compared(problem, name, values, ending, only_general=only_general)
        for name in chosen or likely_arrays(problem, options.arrays)
    ]


def _compared(
    conflicts: Conflicts, request: Request, params: Mapping[str, int], *, only_general: bool
) -> ComparedArray:
    everything = list(ask_all(conflicts, request, most=None))
    # The first candidate of a method is what it finds itself; a later one is for cells divided by a stride.
    first = {candidate.method: candidate for candidate in reversed(everything)}
    candidates = [first[name] for name in dict.fromkeys(c.method for c in everything) if name in METHODS]
    bound = find_lower_bound(conflicts, request.budget, params)
    others = (name for name, method in METHODS.items() if not (method.is_general or only_general))
    rest = replace(request, budget=request.budget.part(_SHARE_OF_OTHERS))
    candidates += [ask(name, conflicts, rest) for name in others]
    best, cases = _auto(everything, conflicts, request), ()
    if best.mapping is not None and not request.power_of_two:
        start = time.perf_counter()
        found = find_cases(conflicts, request, best.mapping.size, bound)
        best, cases = settled(conflicts, request, best, found)
        seconds = best.seconds + time.perf_counter() - start
        best = replace(best, method="auto", seconds=seconds)
    return ComparedArray(conflicts, (*candidates, best), bound, params, cases)


def _not_compared(
    problem: Problem, name: str, params: Mapping[str, int], reason: str, *, only_general: bool
) -> ComparedArray:
    """What can be said of an array for which there was no time."""
    (kept,) = keep_in_time(problem, [name], params, reason)
    names = [name for name, method in METHODS.items() if method.is_general or not only_general]
    candidates = {
        method: Candidate(method, None, None, 0.0, reason, is_cut=True) for method in (*names, "auto")
    }
    if not isinstance(kept, FoldedArray):
        raise BudgetExceeded(f"{name}: {reason}")
    for method in ("identity", "auto"):
        candidates[method] = Candidate(method, kept.mapping, kept.proof, 0.0)
    return ComparedArray(kept.conflicts, tuple(candidates.values()), UNKNOWN, params)


def _without_cells(conflicts: Conflicts, params: Mapping[str, int]) -> ComparedArray:
    """All methods agree on an array of which no cell is ever used."""
    mapping = ModularMapping(conflicts.name, conflicts.array.dimensions, (), (), ())
    verdict = verify(conflicts, mapping)
    candidates = [Candidate(method, mapping, verdict, 0.0) for method in (*METHODS, "auto")]
    return ComparedArray(conflicts, tuple(candidates), find_lower_bound(conflicts), params)


def _auto(everything: Sequence[Candidate], conflicts: Conflicts, request: Request) -> Candidate:
    """What `auto` makes of all candidates; its time is that of all of them together."""
    seconds = sum(candidate.seconds for candidate in everything)
    try:
        return replace(best_of(everything, conflicts, request), method="auto", seconds=seconds)
    except NothingProved as error:
        return Candidate("auto", None, None, seconds, str(error))
