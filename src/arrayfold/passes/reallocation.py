"""Reallocation: the names of arrays are forgotten, every statement has its own (Mor14 §2, §3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import InputError
from arrayfold.base.reported import reported
from arrayfold.conflicts.liveness import analyse
from arrayfold.frontends.kernel import Kernel
from arrayfold.order.movable import find_obstacle, may_move
from arrayfold.passes.expansion import expand
from arrayfold.program.guards import refuse_uncertain_loops
from arrayfold.program.model import ConflictProblem, Problem, Program


@dataclass(frozen=True)
class Reallocate:
    """Values in arrays of the statements that write them.

    Only dependences of values are left between these statements, so that more orders are legal. An array of
    which a value may not be found that way stays as it is.

    arrays      only these, and an error where one cannot be expanded
    everything  not only temporaries: also values of other arrays that are overwritten before the program
                ends, and variables that only the program uses
    """

    name: ClassVar[str] = "reallocate"
    flags: ClassVar[tuple[str, ...]] = ("--mode",)
    arrays: tuple[str, ...] = ()
    everything: bool = False

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program with these arrays."""
        if isinstance(program, ConflictProblem):
            raise InputError("reallocation needs a program, but the file gives conflicts")
        refuse_uncertain_loops(program, "values must stay where they are")
        given, limit = program, as_budget(budget)

        def find(_: object) -> Program:
            with limit.limit("places for values"):
                return _reallocated(given, self.arrays, everything=self.everything)

        return answer_in_time(find, limit, "the search for places for values", known=given)


@reported
def reallocate(
    program: Program | Kernel,
    arrays: Sequence[str] = (),
    *,
    everything: bool = False,
    budget: Budget | float | None = None,
) -> Program:
    """The program with values in arrays of the statements that write them.

    The parameters are those of `Reallocate`; budget is the time in seconds that the work may take, a minute
    if nothing is said.
    """
    given = program.program if isinstance(program, Kernel) else program
    return Reallocate(tuple(arrays), everything).apply(given, as_budget(budget))


def _reallocated(program: Program, arrays: Sequence[str], *, everything: bool) -> Program:
    for name in arrays:
        array = program.array(name)
        reason = find_obstacle(program, name)
        if reason is None and not may_move(program, array):
            reason = program.kept[name].reason if name in program.kept else "it is used outside"
        if reason is not None:
            raise InputError(f"the values of {name} cannot have other places: {reason}")
    return expand(program, arrays or [*_movable(program, everything=everything)])


def _movable(program: Program, *, everything: bool) -> list[str]:
    written = {access.array for item in program.statements for access in item.accesses if access.is_write}
    candidates = [array.name for array in program.arrays if array.name in written]
    if not everything:
        temporaries = analyse(program).temporaries
        candidates = [name for name in candidates if name in temporaries]
    return [
        name
        for name in candidates
        if may_move(program, program.array(name)) and find_obstacle(program, name) is None
    ]
