"""Storage for more than one order: for every legal schedule, or for every legal tiling, of a program.

Liveness needs to know who surely comes first, not when. In all legal schedules that is what the dependences
imply by transitivity; what an array needs then is valid whatever schedule is chosen later, as with universal
occupancy vectors (Strout, Carter, Ferrante and Simon 1998; DIY16 §4). In all rectangular tilings of a loop
nest it is an instance that is nowhere behind another one (quasi-universal occupancy vectors; Yuki and
Rajopadhye 2013).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import AnyOrder
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import InputError
from arrayfold.order.dependences import checked_tiles, memory_dependences, union_of
from arrayfold.order.guarded import with_guarded_order
from arrayfold.order.loops import loop_dimensions
from arrayfold.order.tiles import ANY_SIZE
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.passes.reorder import refuse_aliases
from arrayfold.program.model import Problem, Program


@dataclass(frozen=True)
class AllOrders:
    """The order that all legal schedules of a program, or all its legal tilings, have in common."""

    name: ClassVar[str] = "all-orders"
    flags: ClassVar[tuple[str, ...]] = ("--order",)
    which: AnyOrder = "dependences"

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program with that order."""
        if not isinstance(program, Program):
            raise InputError("other orders need a program, but the file gives conflicts")
        if program.schedule is None:
            raise InputError(
                "other orders need a schedule to start from, but the program gives happens_before"
            )
        refuse_aliases(program)
        guarded, limit = with_guard_reads(program), as_budget(budget)

        def find(_: object) -> Program:
            with limit.limit("the order"):
                return for_all_schedules(guarded) if self.which == "dependences" else for_all_tilings(guarded)

        return answer_in_time(find, limit, "the order", known=guarded)


def for_all_schedules(program: Program) -> Program:
    """The program ordered by its memory dependences only; the schedule stays as one of the executions."""
    dependences = union_of(program, memory_dependences(program))
    return with_guarded_order(replace(program, happens_before=dependences, parallel={}, tiles=()))


def for_all_tilings(program: Program) -> Program:
    """The program ordered as in all rectangular tilings of its loops.

    Dimensions that only tell statements apart are not cut; an error shows a dependence that forbids to cut
    the others.
    """
    assert program.schedule is not None
    loops = loop_dimensions(program.schedule)
    sizes = tuple(ANY_SIZE if k in loops else "1" for k in range(max(loops, default=-1) + 1))
    return checked_tiles(replace(program, happens_before=None, parallel={}, tiles=sizes))
