"""A problem with its liveness, ready to give the conflicts of its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Construction
from arrayfold.base.deadline import answer_in_time
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.conflicts.early_reads import why_read_before_written
from arrayfold.conflicts.liveness import Liveness, analyse, given_conflicts
from arrayfold.exact.isl import sets_of
from arrayfold.order.code_order import CodeOrder
from arrayfold.order.events import order_of
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.program.model import Parallelism, Problem, Program
from arrayfold.select.innermost_loops import InnermostLoops


@dataclass(frozen=True, eq=False)
class Analysis:
    """A problem with its liveness, ready to give the conflicts of its arrays."""

    problem: Problem
    liveness: Liveness | None

    @staticmethod
    def of(problem: Problem, budget: Budget | None = None) -> Analysis:
        """The analysis of a problem."""
        if not isinstance(problem, Program):
            return Analysis(problem, None)
        with (budget or Budget(None)).limit("the analysis"):
            return Analysis(problem, analyse(problem))

    @staticmethod
    def in_time(problem: Problem, budget: Budget) -> Analysis:
        """The analysis of a problem, or an error, when the budget ends at the latest."""
        return answer_in_time(lambda _: Analysis.of(problem, budget), budget, "the analysis", known=problem)

    def conflicts_in_time(
        self, name: str, budget: Budget, construction: Construction = "values"
    ) -> Conflicts:
        """The conflicts of one array, or an error, when the budget ends at the latest."""
        what = f"the search for conflicts of {name}"
        return answer_in_time(
            lambda _: self.conflicts(name, budget, construction), budget, what, known=(self, self.problem)
        )

    def with_parallel(self, parallel: Mapping[int, Parallelism]) -> Analysis:
        """The same for other parallel loops, which change the order and no value."""
        assert isinstance(self.problem, Program)
        assert self.liveness is not None
        program = replace(self.problem, parallel=parallel)
        return Analysis(program, replace(self.liveness, program=program, order=order_of(program)))

    def conflicts(
        self,
        name: str,
        budget: Budget | None = None,
        construction: Construction = "values",
        share: float = 1.0,
    ) -> Conflicts:
        """The conflicts of one array, for a share of the budget."""
        with (budget or Budget(None)).limit(f"the conflicts of {name}", share):
            if self.liveness is not None:
                return self.liveness.conflicts(name, construction)
            assert not isinstance(self.problem, Program)
            return given_conflicts(self.problem, name)

    @cached_property
    def innermost_loops(self) -> InnermostLoops | None:
        """The innermost loops of a program that came from C."""
        program = self.problem
        if not isinstance(program, Program) or program.source is None:
            return None
        return InnermostLoops.of(with_guard_reads(program), CodeOrder.of(program, program.source))

    def foldable(self) -> tuple[str, ...]:
        """The arrays that may be folded."""
        if self.liveness is None:
            return tuple(array.name for array in self.problem.arrays)
        return self.liveness.temporaries

    def live_in_arrays(self) -> frozenset[str]:
        """The arrays that hold values before the program which it may read."""
        if self.liveness is None:
            return frozenset()
        return frozenset(cells.get_tuple_name() for cells in sets_of(self.liveness.live_in))

    def kept(self) -> dict[str, str]:
        """The arrays that stay as they are, each with the reason."""
        if self.liveness is None:
            return {}
        live_in = self.live_in_arrays()
        program = self.liveness.program
        needed = program.live_out.intersect_params(program.context)
        live_out = {cells.get_tuple_name() for cells in sets_of(needed)}
        reasons: dict[str, str] = {}
        for array in self.problem.arrays:
            if array.name in self.liveness.temporaries or (program.source and array.rank == 0):
                continue
            if array.name in program.kept:
                reasons[array.name] = program.kept[array.name].reason
                continue
            words = ["live-in"] * (array.name in live_in) + ["live-out"] * (array.name in live_out)
            otherwise = "never written" if program.source else "not listed as temporary"
            reasons[array.name] = " and ".join(words) or otherwise
            if program.source and words == ["live-in"]:
                why = why_read_before_written(program, self.liveness.order, array.name)
                reasons[array.name] = why or reasons[array.name]
        return reasons
