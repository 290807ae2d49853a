"""Folds that end in time: what was found array by array, and the identity for the rest.

An array that costs too much, or at which something fails, keeps its cells and does not end the fold of the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from arrayfold.base.budget import Budget, add_work, work_done
from arrayfold.base.deadline import answer_in_time, in_parallel, in_time
from arrayfold.base.defects import internal
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError, Interrupted, IslFailure
from arrayfold.base.progress import ProgressStep
from arrayfold.bounds.moments import UNKNOWN
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_isl import extents, to_pw_aff
from arrayfold.exact.isl import linear_form, nonzero, sets_of
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Problem, Program

_FEWEST_IN_PARALLEL = 4
_SECONDS_TO_KEEP = 0.4
_OPERATIONS_TO_KEEP = 1_000_000


def fold_in_time(
    problem: Problem,
    options: FoldOptions,
    budget: Budget,
    progress: Progress,
    fold_array: Callable[[Analysis, str, FoldOptions, Budget, Progress], FoldedArray],
) -> FoldResult:
    """The fold of each array, or of those that are named."""
    begun: _Begun | None = None
    done: dict[str, FoldedArray | NotFolded] = {}

    def work(send: Callable[[Any], None]) -> None:
        analysis = Analysis.of(problem, budget)
        with budget.limit("the analysis"):
            chosen = chosen_arrays(analysis, options.arrays)
            send(_Begun(chosen, analysis.kept(), analysis.live_in_arrays()))
        ahead = _Ahead(budget, chosen, send)
        if options.jobs > 1 and len(chosen) >= _FEWEST_IN_PARALLEL:
            ahead.fold(
                lambda name, part: _fold_or_keep(
                    problem,
                    name,
                    options.params,
                    partial(fold_array, analysis, name, options, part, _say_nothing),
                ),
                options.jobs,
                problem,
            )
        while (name := ahead.next_to_send()) is not None:
            fold_this = partial(fold_array, analysis, name, options, ahead.part(), ahead.say)
            ahead.done += 1
            send(_fold_or_keep(problem, name, options.params, fold_this))

    def receive(found: _Begun | FoldedArray | NotFolded | str) -> None:
        nonlocal begun
        match found:
            case _Begun():
                begun = found
            case str():
                progress(found)
            case _:
                done[found.name] = found

    try:
        ending = in_time(work, budget, receive=receive, known=problem)
        ending = str(budget.exceeded("the fold", ending)) if ending else ""
    except BudgetExceeded as error:
        ending = str(error)
    except KeyboardInterrupt:
        raise Interrupted(_had(done.values(), begun)) from None
    begun = begun or _Begun(likely_arrays(problem, options.arrays), {}, frozenset())
    rest = keep_in_time(problem, [name for name in begun.chosen if name not in done], options.params, ending)
    done.update((one.name, one) for one in rest)
    found, kept = _apart(done[name] for name in begun.chosen)
    return FoldResult(problem, found, {**begun.kept, **kept}, options.params, begun.live_in, cut_short=kept)


def _had(done: Iterable[FoldedArray | NotFolded], begun: _Begun | None) -> str:
    """What was found before an interruption, in words."""
    if begun is None:
        return "the analysis was not done yet"
    found = [str(one) for one in done if isinstance(one, FoldedArray)]
    count = f"{len(found)} of {len(begun.chosen)} arrays had been folded"
    return "\n  ".join([f"{count}{':' if found else ''}", *found])


def all_in_time(
    problem: Problem,
    options: FoldOptions,
    budget: Budget,
    progress: Progress,
    fold_all: Callable[[Progress], FoldResult],
) -> FoldResult:
    """A fold of all arrays at once, or all of them as they are.

    Values that have places of their own already take more cells than before, so that they are not kept.
    """
    try:
        return answer_in_time(fold_all, budget, "the fold", known=problem, progress=progress)
    except BudgetExceeded as error:
        if isinstance(problem, Program) and problem.relocation.origins:
            raise
        return kept_result(problem, options, str(error))


def kept_result(problem: Problem, options: FoldOptions, reason: str) -> FoldResult:
    """A fold in which every array is as it was."""
    kept = keep_in_time(problem, likely_arrays(problem, options.arrays), options.params, reason)
    folded, others = _apart(kept)
    return FoldResult(problem, folded, others, options.params, cut_short=others)


def _apart(done: Iterable[FoldedArray | NotFolded]) -> tuple[tuple[FoldedArray, ...], dict[str, str]]:
    """The folded arrays, and the others with the reasons."""
    items = list(done)
    folded = tuple(one for one in items if isinstance(one, FoldedArray))
    return folded, {one.name: one.reason for one in items if isinstance(one, NotFolded)}


def share_of_one(left: int) -> float:
    """What of the budget the next of so many arrays may have; what it leaves is for the others.

    >>> share_of_one(1), share_of_one(3)
    (1.0, 0.5)
    """
    return 2 / (left + 1)


def keep_in_time(
    problem: Problem, names: Sequence[str], params: Mapping[str, int], reason: str
) -> list[FoldedArray | NotFolded]:
    """Arrays with the cells that they have."""
    found: dict[str, FoldedArray | NotFolded] = {name: NotFolded(name, reason) for name in names}

    def work(send: Callable[[Any], None]) -> None:
        for name in names:
            send(keep(problem, name, params, reason))

    def receive(one: FoldedArray | NotFolded) -> None:
        found[one.name] = one

    if names:
        in_time(work, Budget(_SECONDS_TO_KEEP), receive=receive, known=problem)
    return list(found.values())


@dataclass(frozen=True)
class NotFolded:
    """An array that stays as it is, without so much as a proof of that."""

    name: str
    reason: str


def keep(problem: Problem, name: str, params: Mapping[str, int], reason: str) -> FoldedArray | NotFolded:
    """The array with the cells that it has: valid even if all of them conflict."""
    with suppress(ArrayfoldError), Budget.of_work(_OPERATIONS_TO_KEEP).limit(f"the cells of {name}"):
        conflicts = everything_conflicts(problem, name)
        mapping = ModularMapping.identity(name, conflicts.array.dimensions, conflicts.box)
        verdict = verify(conflicts, mapping)
        if isinstance(verdict, Proof):
            found = (name, "identity", mapping, verdict, UNKNOWN, conflicts, 0.0, params)
            return FoldedArray(*found, cut_short=reason)
    return NotFolded(name, reason)


def everything_conflicts(problem: Problem, name: str) -> Conflicts:
    """Conflicts of all cells in the box around an array."""
    array = problem.array(name)
    context = problem.context.intersect(array.cells.params())
    program = problem if isinstance(problem, Program) else None
    space = array.cells.get_space().align_params(context.get_space())
    differences = nonzero(space)
    for k, (_, length) in enumerate(extents(array.cells.intersect_params(context), context)):
        entry = linear_form(space, [int(j == k) for j in range(array.rank)])
        most = to_pw_aff(length, space)
        differences = differences.intersect(entry.lt_set(most)).intersect(entry.neg().lt_set(most))
    return Conflicts(
        array, context, array.cells, None, differences, None, program=program, everywhere=problem.context
    )


def chosen_arrays(analysis: Analysis, names: Sequence[str]) -> tuple[str, ...]:
    """The arrays to fold: those named, or all that may be."""
    foldable = analysis.foldable()
    for name in names:
        analysis.problem.array(name)
        if name not in foldable:
            reason = analysis.kept().get(name, "kept")
            raise InputError(
                f"array {name} is kept: {reason}", hint=f"To fold it all the same, say --temporary {name}."
            )
    return tuple(dict.fromkeys(names)) or foldable


class _Ahead:
    """Arrays that several processes fold at the same time, sent in order as if one came after the other.

    Of what is left of the budget every array has the part that it would have if all before it had been folded
    first. So what was found ahead counts only if it was not cut short, and costs no more than that part.

    done  how many arrays were sent
    """

    def __init__(self, budget: Budget, chosen: Sequence[str], send: Callable[[Any], None]) -> None:
        self.budget, self.chosen, self.send = budget, chosen, send
        self.done = 0
        self._found: dict[str, tuple[FoldedArray | NotFolded, int]] = {}

    def part(self) -> Budget:
        """What the next array may cost."""
        return self.budget.part(share_of_one(len(self.chosen) - self.done))

    def say(self, step: str) -> None:
        """Say what is done for the array at hand, of which there are so many."""
        share = step.share if isinstance(step, ProgressStep) else 0.0
        self.send(ProgressStep(step, share).within(self.done - 1, len(self.chosen)))

    def next_to_send(self) -> str | None:
        """The next array that is still to be folded, once those that were are sent; None if there is none."""
        while self.done < len(self.chosen):
            name = self.chosen[self.done]
            found = self._found.pop(name, None)
            if found is None or not _is_whole(found[0]) or found[1] > self.part().operations:
                return name
            add_work(found[1])
            self.done += 1
            self.send(found[0])
        return None

    def fold(
        self, fold_one: Callable[[str, Budget], FoldedArray | NotFolded], jobs: int, known: Problem
    ) -> None:
        """Fold all arrays in so many processes, each of which takes every so many-th one."""
        most = self.part().operations
        jobs = min(jobs, len(self.chosen))

        def work(first: int, send: Callable[[Any], None]) -> None:
            for name in self.chosen[first::jobs]:
                before = work_done()
                found = fold_one(name, self.budget.part(1.0, most))
                send((found, work_done() - before))

        def receive(one: tuple[FoldedArray | NotFolded, int]) -> None:
            self._found[one[0].name] = one
            self.send(ProgressStep(f"{one[0].name}: done").within(len(self._found), len(self.chosen)))
            if self.chosen[self.done] == one[0].name:
                self.next_to_send()

        works = [partial(work, first) for first in range(jobs)]
        in_parallel(works, self.budget, receive=receive, known=known)


def _say_nothing(_step: str) -> None:
    """Several processes cannot speak through one pipe."""


def _is_whole(found: FoldedArray | NotFolded) -> bool:
    """Whether an array was folded and nothing of it was cut short."""
    return isinstance(found, FoldedArray) and not found.cut_short


@dataclass(frozen=True)
class _Begun:
    """What the analysis said: arrays to fold, those kept with the reason, those that are live-in."""

    chosen: tuple[str, ...]
    kept: Mapping[str, str]
    live_in: frozenset[str]


def _fold_or_keep(
    problem: Problem,
    name: str,
    params: Mapping[str, int],
    fold_array: Callable[[], FoldedArray],
) -> FoldedArray | NotFolded:
    """The fold, or the array as it is where that costs too much or fails."""
    try:
        return fold_array()
    except (BudgetExceeded, IslFailure) as error:
        return keep(problem, name, params, str(error))
    except ArrayfoldError:
        raise
    except Exception as error:
        return keep(problem, name, params, str(internal(error)))


def likely_arrays(problem: Problem, names: Sequence[str]) -> tuple[str, ...]:
    """Arrays that could be folded, as far as that is known without an analysis."""
    if names or not isinstance(problem, Program):
        return tuple(dict.fromkeys(names)) or tuple(array.name for array in problem.arrays)
    if problem.temporaries is not None:
        return tuple(dict.fromkeys((*problem.temporaries, *problem.extra_temporaries)))
    needed = {cells.get_tuple_name() for cells in sets_of(problem.live_in.union(problem.live_out))}
    written = {access.array for one in problem.statements for access in one.accesses if access.is_write}
    out = needed | problem.kept.keys()
    return tuple(array.name for array in problem.arrays if array.name in written and array.name not in out)
