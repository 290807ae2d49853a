"""Is a mapping that somebody brings valid, and is it tight?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import in_time
from arrayfold.base.errors import BudgetExceeded, NothingProved
from arrayfold.bounds.minimal import Gap, gap_of, not_above
from arrayfold.bounds.moments import UNKNOWN, LowerBound, find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.array import bound_beside
from arrayfold.fold.deadline import everything_conflicts
from arrayfold.fold.options import FoldOptions, Progress, checked_params
from arrayfold.judge.verify import Counterexample, Proof, Undecided, Verdict, verify
from arrayfold.judge.witness import Clobber, find_clobber
from arrayfold.mapping.modular import (
    AddressMapping,
    EmittableMapping,
    ModularMapping,
    RelationMapping,
    TableMapping,
)
from arrayfold.mapping.parse import read_mappings
from arrayfold.methods import Request
from arrayfold.program.model import Problem
from arrayfold.select.choose import Candidate, choose, is_proved

_NOTHING_SMALLER = (
    "the search for smaller mappings and the lower bound: cut short; raise the limit with --budget"
)


@dataclass(frozen=True, eq=False)
class Checked:
    """The verdict on one mapping, with what is known of smaller ones.

    smaller    a proved mapping with fewer cells, if one was found
    shrunk     the same mapping with one modulus reduced, if that is still valid
    cut_short  what of the search for smaller ones was given up
    """

    conflicts: Conflicts
    mapping: AddressMapping
    verdict: Verdict
    clobber: Clobber | None
    lower_bound: LowerBound
    smaller: Candidate | None
    shrunk: ModularMapping | None
    params: Mapping[str, int]
    cut_short: str = ""

    def __post_init__(self) -> None:
        if self.gap is not None:
            object.__setattr__(self, "lower_bound", self.gap.bound)

    @cached_property
    def gap(self) -> Gap | None:
        """The size beside the lower bound, if it is one and proved to suffice."""
        if isinstance(self.mapping, RelationMapping) or not self.is_valid:
            return None
        bound = self.lower_bound
        others = (self.shrunk, None if self.smaller is None else self.smaller.mapping)
        for other in others:
            if isinstance(other, ModularMapping):
                size = self.conflicts.size_of(other.moduli)
                bound = not_above(bound, size, self.conflicts.whole_context)
        return gap_of(self.mapping, bound, self.conflicts, self.params)

    @property
    def is_valid(self) -> bool:
        """Whether the mapping is proved."""
        return isinstance(self.verdict, Proof)

    @property
    def size(self) -> Formula | None:
        """Cells of the mapping; None for relations without moduli."""
        if isinstance(self.mapping, ModularMapping):
            return self.conflicts.size_of(self.mapping.moduli)
        return None if isinstance(self.mapping, RelationMapping) else self.mapping.size

    @property
    def is_minimal(self) -> bool:
        """Whether the size is the lower bound."""
        return self.gap is not None and self.gap.is_minimal

    @property
    def summary(self) -> str:
        """One word: invalid, undecided, minimal, loose or valid."""
        if isinstance(self.verdict, Counterexample):
            return "invalid"
        if not self.is_valid:
            return "undecided"
        if self.is_minimal:
            return "minimal"
        return "loose" if self.smaller or self.shrunk else "valid"


def check(
    problem: Problem,
    text: str,
    options: FoldOptions | None = None,
    budget: Budget | float | None = None,
    *,
    progress: Progress = lambda _: None,
) -> list[Checked]:
    """The verdict on every mapping in the text."""
    values = checked_params(problem, (options or FoldOptions()).params)
    limit = as_budget(budget)
    mappings = read_mappings(text, problem)

    found: dict[int, Checked] = {}

    def work(send: Callable[[Any], None]) -> None:
        analysis = Analysis.of(problem, limit)
        for number, mapping in enumerate(mappings):
            send(f"{mapping.array}: conflicts")
            conflicts = analysis.conflicts(mapping.array, limit)
            send(f"{mapping.array}: verification")
            for one in _check_one(analysis, conflicts, mapping, values, limit):
                send((number, one))

    def receive(one: str | tuple[int, Checked]) -> None:
        if isinstance(one, str):
            progress(one)
        else:
            found.update([one])

    why = ""
    try:
        ending = in_time(work, limit, receive=receive, known=(problem, mappings))
        why = str(limit.exceeded("the check", ending)) if ending else ""
    except BudgetExceeded as error:
        why = str(error)
    for number, mapping in enumerate(mappings):
        if number not in found:
            found[number] = _undecided(problem, mapping, values, why)
    return [found[number] for number in range(len(mappings))]


def _undecided(problem: Problem, mapping: AddressMapping, params: Mapping[str, int], why: str) -> Checked:
    """What is said of a mapping that could not be checked in time."""
    conflicts = everything_conflicts(problem, mapping.array)
    return Checked(conflicts, mapping, Undecided(why), None, UNKNOWN, None, None, params)


def _check_one(
    analysis: Analysis,
    conflicts: Conflicts,
    mapping: AddressMapping,
    params: Mapping[str, int],
    budget: Budget,
) -> Iterator[Checked]:
    """The verdict, as soon as it is known, and then the same with what is known of smaller mappings."""
    cuts = len(budget.cuts)
    with budget.limit(f"the verification of {mapping}"):
        verdict = verify(conflicts, mapping)
    clobber = None
    if isinstance(verdict, Counterexample) and analysis.liveness is not None:
        with suppress(BudgetExceeded), budget.limit("the counterexample"):
            clobber = find_clobber(analysis.liveness, verdict)
    if conflicts.context.is_empty():
        bound = find_lower_bound(conflicts)
        yield Checked(conflicts, mapping, verdict, clobber, bound, None, None, params)
        return
    is_valid = isinstance(verdict, Proof)
    left_out = _NOTHING_SMALLER if is_valid else ""
    yield Checked(conflicts, mapping, verdict, clobber, UNKNOWN, None, None, params, left_out)
    smaller, shrunk = None, None
    if is_valid and not isinstance(mapping, RelationMapping):
        sizes = mapping.params if isinstance(mapping, TableMapping) else params
        smaller = _smaller(conflicts, mapping, Request.of(conflicts, sizes, budget))
    if is_valid and isinstance(mapping, ModularMapping):
        with suppress(BudgetExceeded), budget.limit("smaller versions of the mapping"):
            shrunk = _shrunk(conflicts, mapping)
    bound = bound_beside(mapping, conflicts, params, budget)
    cut_short = budget.cut_words(cuts) if is_valid else ""
    yield Checked(conflicts, mapping, verdict, clobber, bound, smaller, shrunk, params, cut_short)


def _smaller(conflicts: Conflicts, mapping: EmittableMapping, request: Request) -> Candidate | None:
    try:
        best = choose("auto", conflicts, request)
    except (NothingProved, BudgetExceeded):
        return None
    assert best.mapping is not None
    fewer = best.mapping.size.evaluate(request.sizes) < mapping.size.evaluate(request.sizes)
    return best if fewer else None


def _shrunk(conflicts: Conflicts, mapping: ModularMapping) -> ModularMapping | None:
    """The mapping with one modulus smaller by one, where that is still valid."""
    for k, modulus in enumerate(mapping.moduli):
        moduli = [*mapping.moduli[:k], modulus - 1, *mapping.moduli[k + 1 :]]
        candidate = replace(mapping, moduli=tuple(moduli))
        if modulus != Formula.constant(1) and is_proved(conflicts, candidate):
            return candidate
    return None
