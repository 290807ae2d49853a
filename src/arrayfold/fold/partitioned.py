"""What folds with buffers of tiles and with bands share: the program with parts, and its analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.exact.isl import sets_of
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.deadline import chosen_arrays
from arrayfold.fold.options import Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.order.events import order_of
from arrayfold.passes.partition import CannotPartition, Partition, taken_names
from arrayfold.program.guards import refuse_uncertain_loops, with_guard_reads
from arrayfold.program.model import Problem, Program


@dataclass(frozen=True, eq=False)
class PartitionedProgram:
    """A program in which some arrays are stored in parts.

    before    the analysis of the program without parts
    analysis  that of the program with them
    others    arrays to be folded that have no parts
    why       why an array has none, if one of them has none
    """

    before: Analysis
    program: Program
    analysis: Analysis
    others: tuple[str, ...]
    why: str

    def result(self, folded: Sequence[FoldedArray], params: Mapping[str, int]) -> FoldResult:
        """All of the folds."""
        before = self.before
        return FoldResult(self.program, tuple(folded), before.kept(), params, before.live_in_arrays())


def partition(
    problem: Problem,
    what: str,
    plan: Callable[[Program, str, list[str]], Partition | None],
    build: Callable[[Program, Sequence[Partition]], Program],
    arrays: Sequence[str],
    budget: Budget,
    progress: Progress,
) -> PartitionedProgram:
    """The program with parts of its temporaries.

    Arrays that are named must allow that; of all temporaries, those that do not stay as they are.

    what   what the parts are called
    plan   program, array, names in use -> how the array is stored in parts, or None if it should not be
    build  program, such plans -> the program with the parts
    """
    if not isinstance(problem, Program):
        raise InputError(f"{what} need a program, but the file gives conflicts")
    refuse_uncertain_loops(problem, "arrays have no parts")
    # New loops evaluate the conditions of a statement at its own time.
    program = with_guard_reads(problem)
    before = Analysis.of(program, budget)
    chosen = chosen_arrays(before, arrays)
    why = "no array is folded"
    taken = taken_names(program)
    parts: list[Partition] = []
    with budget.limit(f"the {what}"):
        for name in chosen:
            progress(f"{name}: {what}")
            try:
                _check_values_stay(before, name)
                part = plan(program, name, taken)
            except InputError as error:
                if arrays:
                    raise
                why = error.message
                continue
            if part is not None:
                parts.append(part)
        progress(what)
        new = _built(program, parts, build, is_strict=bool(arrays))
    others = tuple(name for name in chosen if all(name != one.array for one in new.buffers.values()))
    held = (one for buffer in new.buffers.values() for one in (buffer.name, *buffer.borders))
    # No read of a part is undefined, because all values are as before.
    assert before.liveness is not None
    liveness = replace(before.liveness, program=new, order=order_of(new), temporaries=(*held, *others))
    return PartitionedProgram(before, new, Analysis(new, liveness), others, why)


def _built(
    program: Program,
    parts: Sequence[Partition],
    build: Callable[[Program, Sequence[Partition]], Program],
    *,
    is_strict: bool,
) -> Program:
    """The program with all parts, or with those that can be stored so."""
    while parts:
        try:
            return build(program, parts)
        except CannotPartition as error:
            if is_strict:
                raise
            parts = [part for part in parts if part.array != error.array]
    return program


def _check_values_stay(analysis: Analysis, name: str) -> None:
    """Raise for an array whose values come from outside, or are needed there."""
    assert isinstance(analysis.problem, Program)
    needed = {cells.get_tuple_name() for cells in sets_of(analysis.problem.live_out)}
    if name in analysis.live_in_arrays() | needed:
        raise InputError(f"{name} has values from before the program or for after it, so it has no buffer")
