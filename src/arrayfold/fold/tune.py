"""The order that is fastest when it is measured: the best candidates are folded and timed in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Favor
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError
from arrayfold.codegen import FoldedRegion, write_c
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldResult
from arrayfold.fold.run import array_bytes
from arrayfold.ordering.auto import ChooseOrder, compared_orders, favor_options
from arrayfold.passes.reorder import Reorder, refuse_aliases
from arrayfold.program.model import ChosenOrder, MeasuredVersion, Problem, Program
from arrayfold.run.compare import is_main
from arrayfold.run.compiler import CannotRun, find_compiler
from arrayfold.run.timing import Timing, time_versions

_ORIGINAL = "the original"
_AS_WRITTEN = "as written"
_MOST_ORDERS = 4
_ROUNDS = 3
_LEAST_SECONDS = 0.05
_SECONDS_FOR_THE_ORIGINAL = 600.0
_SHARE_FOR_FOLDS = 0.5
# A start of a version may take so many times as long as one of the original, and so many seconds at least.
_TIMES_SLOWER = 4
_SECONDS_OF_A_START = 10.0
# Versions are equally fast if their times differ by no more; then the smaller one is taken.
_CLOSE = 1.02
_FASTER = 1.05


@dataclass(frozen=True)
class Tuning:
    """How orders are measured.

    parallel   outermost loops that carry no dependence become doall
    region     what to write for a fold
    say        is told how long it will take, before
    count      is told how many of all steps are done
    measuring  is entered while programs are compiled and run, which is no work of a budget
    """

    parallel: bool = False
    region: Callable[[FoldResult], FoldedRegion] = FoldResult.region
    say: Callable[[str], None] = lambda _: None
    count: Callable[[int, int], None] = lambda _done, _all: None
    measuring: Callable[[], AbstractContextManager[None]] = nullcontext


FoldAs: TypeAlias = Callable[[Problem, FoldOptions, Budget, Progress], FoldResult]
_Fold: TypeAlias = Callable[[Problem, FoldOptions, Budget], FoldResult]


@dataclass(frozen=True)
class _Order:
    """An order to measure, with which mappings go with it."""

    name: str
    order: Reorder
    favor: Favor = "size"


@dataclass(frozen=True)
class _Asked:
    """A version that is to be made."""

    name: str
    order: Reorder
    options: FoldOptions
    region: Callable[[FoldResult], FoldedRegion]

    def code(self, result: FoldResult) -> tuple[FoldedRegion, bytes]:
        """What to write for a fold."""
        region = self.region(result)
        return region, write_c([region])


@dataclass(frozen=True, eq=False)
class _Version:
    """A fold to measure; without one, the original."""

    name: str
    options: tuple[str, ...]
    result: FoldResult
    code: bytes
    size_bytes: int


def fold_tuned(
    problem: Problem,
    options: FoldOptions,
    fold_as: FoldAs,
    budget: Budget,
    tuning: Tuning,
    progress: Progress,
) -> FoldResult:
    """The fold in the order that was measured to be fastest, the smallest one of equally fast ones.

    The original is among the versions: where none is as fast, nothing is folded. Sizes are those of the
    options, which must be complete.
    """

    def fold(one: Problem, how: FoldOptions, part: Budget) -> FoldResult:
        return fold_as(one, how, part, progress)

    program = measurable(problem, options.params)
    asked, why_no_others = _orders(program, options.params, budget, tuning)
    versions: list[_Version] = []
    for number, one in enumerate(asked):
        progress(f"to measure: {one.name}")
        part = budget.first_part(1 / (len(asked) - number))
        how = options.favoring(one.favor)
        version = _folded(_Asked(one.name, one.order, how, tuning.region), program, fold, part)
        if version is not None and all(version.code != other.code for other in versions):
            versions.append(version)
    # What was cut short would not be found again.
    versions = [one for one in versions if not any(array.cut_short for array in one.result)] or versions
    if not versions:
        raise BudgetExceeded("no version could be folded in time; raise the time with --budget")
    original = _original(program, options, fold, budget, versions[0])
    with tuning.measuring():
        timing = _timed(program, [original, *versions], options.params, tuning)
    return _best(original, versions, timing, options, why_no_others)


def measurable(problem: Problem, params: Mapping[str, int]) -> Program:
    """The program, if it can be compiled and timed at these sizes."""
    if not isinstance(problem, Program) or problem.source is None:
        raise InputError("measuring orders needs a C file", hint="Without --tune the cost model chooses.")
    if problem.schedule is None:
        raise InputError("measuring orders needs a program with a schedule")
    missing = [name for name in problem.parameters if name not in params]
    if missing:
        given = " ".join(f"--param {name}=2000" for name in missing)
        raise InputError(
            f"versions are measured at sizes, and none is given for {', '.join(missing)}",
            hint=f"Say those that matter to you, as in {given}.",
        )
    if is_main(problem.source):
        raise InputError(
            "versions of a function are measured, but this region stands in main",
            hint="Put it into a function of its own.",
        )
    try:
        compiler = find_compiler()
    except CannotRun as error:
        raise InputError(str(error)) from None
    if compiler is None:
        raise InputError(
            "measuring orders needs a C compiler, and there is none (looked for CC, cc, gcc, clang)",
            hint="Without --tune the cost model chooses.",
        )
    return problem


def _orders(
    program: Program, params: Mapping[str, int], budget: Budget, tuning: Tuning
) -> tuple[list[_Order], str]:
    """The orders to measure with the mappings that go with them, that of the text first.

    Also why there are no others, if there are none.
    """
    found = [_Order(_AS_WRITTEN, Reorder(parallel=tuning.parallel))]
    try:
        refuse_aliases(program)
        choice = compared_orders(program, params, budget)
    except (InputError, BudgetExceeded) as error:
        return found, str(error).splitlines()[0]
    how = ChooseOrder(params, tuning.parallel)
    others = [rated for rated in choice.rated if not rated.is_as_written][:_MOST_ORDERS]
    found += [_Order(one.candidate.name, how.reorder(program, one), one.candidate.favor) for one in others]
    return found, ""


def _folded(asked: _Asked, program: Program, fold: _Fold, budget: Budget) -> _Version | None:
    """A version, unless its order is none or its code would take too long to write."""
    try:
        ordered = asked.order.apply(program, budget)
        result = fold(ordered, asked.options, budget.first_part(_SHARE_FOR_FOLDS))
        if result.cut_short:
            return None
        region, code = answer_in_time(lambda _: asked.code(result), budget, "new loops", known=result)
    except ArrayfoldError:
        return None
    _, size_bytes = array_bytes(result, asked.options.params, region)
    favor = favor_options(asked.options.favor)
    return _Version(asked.name, (*asked.order.options(), *favor), result, code, size_bytes)


def _original(
    program: Program, options: FoldOptions, fold: _Fold, budget: Budget, like: _Version
) -> _Version:
    """The program as it is."""
    assert program.source is not None
    plain = replace(options, method="identity", favor="size", share=None, local=None, power_of_two=False)
    result = fold(program, plain, budget)
    before, _ = array_bytes(like.result, options.params, None)
    return _Version(_ORIGINAL, ("--method", "identity"), result, program.source.text.as_written, before)


def _timed(
    program: Program, versions: Sequence[_Version], params: Mapping[str, int], tuning: Tuning
) -> Timing:
    """The times of all versions; the original is timed alone before, to say how long all will take."""
    ticks = [time.monotonic()]
    code = {version.name: version.code for version in versions}
    given = {name: params[name] for name in program.parameters}
    try:
        time_versions(
            program,
            {_ORIGINAL: code[_ORIGINAL]},
            given,
            rounds=1,
            seconds=_SECONDS_FOR_THE_ORIGINAL,
            least=0.0,
            done=lambda _done, _all: ticks.append(time.monotonic()),
        )
    except CannotRun as error:
        raise InputError(f"{program.name} cannot be measured: {error}") from None
    compiling, start = ticks[1] - ticks[0], ticks[2] - ticks[1] + _LEAST_SECONDS
    expected = len(code) * (compiling + _ROUNDS * start)
    sizes = ", ".join(f"{name} = {value}" for name, value in given.items())
    where = f" at {sizes}" if sizes else ""
    tuning.say(
        f"{len(code)} versions of {program.name} are measured{where}, which takes about {expected:.0f} s"
    )
    return time_versions(
        program,
        code,
        given,
        rounds=_ROUNDS,
        seconds=max(_SECONDS_OF_A_START, _TIMES_SLOWER * start),
        least=_LEAST_SECONDS,
        may_fail=[name for name in code if name != _ORIGINAL],
        done=tuning.count,
    )


def _best(
    original: _Version,
    versions: Sequence[_Version],
    timing: Timing,
    options: FoldOptions,
    why_no_others: str,
) -> FoldResult:
    """The fold of the fastest version, with all that were measured."""
    took = timing.seconds
    slowest_allowed = _CLOSE * min(took.values())
    written = took.get(_AS_WRITTEN, float("inf"))
    close = [
        one
        for one in (*versions, original)
        if one.name in took and took[one.name] <= min(slowest_allowed, max(written, min(took.values())))
    ]
    best = min(close, key=lambda one: (one.size_bytes, took[one.name]))
    problem = best.result.problem
    assert isinstance(problem, Program)
    sizes = ", ".join(f"{name} = {options.params[name]}" for name in problem.parameters)
    where = f" at {sizes}" if sizes else ""
    speed = took[_ORIGINAL] / took[best.name]
    name, why = best.name, _why(speed)
    if best is original:
        name, why = (
            _AS_WRITTEN,
            "nothing is folded, because no version was measured to be as fast as the original",
        )
    others = f"; no other order: {why_no_others}" if why_no_others else ""
    chosen = ChosenOrder(
        name, f"{why}{where}{others}", best.options, speed, tuple(_measured([original, *versions], timing))
    )
    return replace(best.result, problem=replace(problem, chosen=chosen))


def _why(speed: float) -> str:
    if speed > _FASTER:
        return f"measured to be {speed:.2f} times as fast as the original"
    return "measured to be as fast as the original"


def _measured(versions: Sequence[_Version], timing: Timing) -> Iterator[MeasuredVersion]:
    """The versions, the fastest one first, those that could not be timed last."""
    for one in sorted(versions, key=lambda one: timing.seconds.get(one.name, float("inf"))):
        seconds, reason = timing.seconds.get(one.name), timing.failures.get(one.name, "")
        is_original = one.name == _ORIGINAL
        yield MeasuredVersion(one.name, one.options, seconds, one.size_bytes, reason, is_original)
