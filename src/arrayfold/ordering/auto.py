"""The pass behind `--order auto`: the program in the order that the cost model prefers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import Favor
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError
from arrayfold.exact.isl import coalesced, maps_of
from arrayfold.order.loops import loop_dimensions
from arrayfold.ordering.choose import ComparedOrders, Rated, choose_order
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.passes.reorder import Reorder, refuse_aliases
from arrayfold.program.model import ChosenOrder, Problem, Program

_SHARE = 0.5
_NOT_PARALLEL = "would be better, but its outermost loop cannot run in parallel"
_WORTH_SAYING = 1.05


@dataclass(frozen=True)
class ChooseOrder:
    """The fastest order that the cost model finds, dependences kept; of similarly fast ones the smallest.

    params    sizes at which orders are compared; others are taken to be large
    parallel  outermost loops that carry no dependence become doall afterwards
    """

    name: ClassVar[str] = "choose-order"
    flags: ClassVar[tuple[str, ...]] = ("--order auto",)
    params: Mapping[str, int] = field(default_factory=dict[str, int])
    parallel: bool = False

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program in that order, as written where nothing better is found or allowed."""
        if not isinstance(program, Program) or program.schedule is None:
            raise InputError("choosing an order needs a program with a schedule")
        limit = as_budget(budget)
        as_written = Reorder(parallel=self.parallel)
        if program.domain().intersect_params(program.context).is_empty():
            return program
        try:
            refuse_aliases(program)
            choice = compared_orders(program, self.params, limit)
        except (InputError, BudgetExceeded) as error:
            why = f"it stays as written: {str(error).splitlines()[0]}"
            return replace(as_written.apply(program, limit), chosen=ChosenOrder("as written", why, ()))
        before = as_written.apply(program, limit)
        given_up = ""
        for rated in choice.rated:
            if not choice.is_allowed(rated):
                continue
            asked = self.reorder(program, rated)
            try:
                found = asked.apply(program, limit)
            except ArrayfoldError:
                continue
            if before.parallel and _loops_around_parallel_ones(found) > _loops_around_parallel_ones(before):
                given_up = given_up or f"; {rated.candidate.name} {_NOT_PARALLEL}"
                continue
            return replace(found, chosen=_words(rated, choice, asked, given_up))
        return before

    def reorder(self, program: Program, rated: Rated) -> Reorder:
        """What brings the program into one of the orders that were compared."""
        if rated.is_as_written:
            return Reorder(parallel=self.parallel)
        is_parallel = self.parallel or bool(program.parallel)
        return Reorder(schedule=schedule_text(program, rated.candidate.schedule), parallel=is_parallel)


def compared_orders(program: Program, params: Mapping[str, int], budget: Budget) -> ComparedOrders:
    """The orders of a program by their predicted cost, for a share of the budget."""
    part = budget.first_part(_SHARE)
    work = partial(_compared, program, params, part)
    return answer_in_time(work, part, "the choice of an order", known=program)


def _compared(program: Program, params: Mapping[str, int], budget: Budget, _: object) -> ComparedOrders:
    with budget.limit("the choice of an order"):
        sequential = replace(program, happens_before=None, tiles=())
        return choose_order(with_guard_reads(sequential), params)


def schedule_text(program: Program, schedule: isl.UnionMap) -> str:
    """An order as --schedule takes it, without what is known of the iterations anyway."""
    domains = {statement.name: statement.domain for statement in program.statements}
    texts: list[str] = []
    for part in sorted(maps_of(schedule), key=lambda one: list(domains).index(str(_name(one)))):
        domain = domains[str(_name(part))].intersect_params(program.context)
        text = str(coalesced(part.gist_domain(domain)))
        texts.append(text[text.index("{") + 1 : text.rindex("}")].strip())
    return "; ".join(texts)


def _name(part: isl.Map) -> str | None:
    return part.get_tuple_name(isl.dim_type.in_)


def _loops_around_parallel_ones(program: Program) -> int:
    """How many loops are around the first parallel one; more than all if none is parallel."""
    assert program.schedule is not None
    loops = loop_dimensions(program.schedule)
    first = min(program.parallel, default=None)
    return len(loops) + 1 if first is None else sum(1 for d in loops if d < first)


def favor_options(favor: Favor) -> tuple[str, ...]:
    """The options for mappings that go with an order."""
    return () if favor == "size" else ("--favor", favor)


def _words(rated: Rated, choice: ComparedOrders, asked: Reorder, given_up: str) -> ChosenOrder:
    sizes = ", ".join(f"{name} = {value}" for name, value in choice.sizes.items())
    where = f" at {sizes}" if sizes else ""
    if rated.is_as_written:
        compared = len(choice.rated) - 1
        others = (
            "no other order was found"
            if not compared
            else f"none of {compared} others is predicted to be better"
        )
        if given_up:
            others = given_up.removeprefix("; ")
        return ChosenOrder(rated.candidate.name, f"{others}{where}", (), 1.0)
    speed = choice.as_written.cost.cycles / max(1.0, rated.cost.cycles)
    favor = rated.candidate.favor
    before, after = choice.as_written.cost.cells, rated.cost.cells
    faster = (
        f"predicted to be {speed:.1f} times as fast as written"
        if speed > _WORTH_SAYING
        else "predicted to be as fast as written"
    )
    live = f", with {after:,} instead of {before:,} live cells of temporaries" if after < before else ""
    options = (*asked.options(), *favor_options(favor))
    return ChosenOrder(rated.candidate.name, f"{faster}{where}{live}{given_up}", options, speed, favor=favor)
