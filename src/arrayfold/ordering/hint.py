"""Whether another order is worth a try where arrays stay large in the one as written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.ordering.auto import compared_orders
from arrayfold.passes.reorder import refuse_aliases
from arrayfold.program.model import Problem, Program

# Work that the look may take, and what makes an order clearly smaller or faster.
_OPERATIONS = 6_000_000
_TIMES_SMALLER = 2
_TIMES_FASTER = 1.25


@dataclass(frozen=True)
class OrderHint:
    """What another order promises, and the options that ask for it."""

    promise: str
    options: tuple[str, ...]

    def line(self, arguments: Sequence[str]) -> str:
        """The hint as one line, with the command to type; the arguments are those of the one that was typed.

        >>> OrderHint("it is better", ("--order", "auto")).line(["fold", "a.c", "--", "-DN=3"])
        'hint: it is better: arrayfold fold a.c --order auto -- -DN=3'
        """
        end = list(arguments).index("--") if "--" in arguments else len(arguments)
        command = ["arrayfold", *arguments[:end], *self.options, *arguments[end:]]
        return f"hint: {self.promise}: {shlex.join(command)}"


def order_hint(problem: Problem, params: Mapping[str, int], budget: Budget) -> OrderHint | None:
    """A hint, if the cost model finds an order clearly smaller or faster than that of the text, and soon.

    It is looked for in what is left of a budget, however much that is.

    Programs with parallel loops, relations in place of a schedule, or another order are left alone.
    """
    if not isinstance(problem, Program) or problem.schedule is None or not problem.is_as_written:
        return None
    if problem.parallel or problem.happens_before is not None or problem.relocation.origins:
        return None
    with suppress(ArrayfoldError):
        choice = compared_orders(problem, params, budget.part(1.0, _OPERATIONS))
        before, after = choice.as_written.cost, choice.best.cost
        is_smaller = before.cells >= _TIMES_SMALLER * after.cells
        is_faster = before.cycles >= _TIMES_FASTER * after.cycles
        if choice.best.is_as_written or not (is_smaller or is_faster):
            return None
        sizes = ", ".join(f"{name} = {value}" for name, value in choice.sizes.items())
        promise = "another order is predicted to be faster"
        if is_smaller:
            promise = f"another order has about {after.cells:,} instead of {before.cells:,} live cells"
        promise += f" at {sizes}" if sizes else ""
        try:
            refuse_aliases(problem)
        except InputError:
            return OrderHint(f"if its pointers do not overlap, {promise}", ("--order", "auto", "--no-alias"))
        return OrderHint(promise, ("--order", "auto"))
    return None
