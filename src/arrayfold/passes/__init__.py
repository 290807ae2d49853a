"""Passes: from a program to another one that computes the same."""

from __future__ import annotations

from typing import ClassVar, Protocol

from arrayfold.base.budget import Budget
from arrayfold.passes.all_orders import AllOrders
from arrayfold.passes.reallocation import Reallocate
from arrayfold.passes.reorder import Reorder
from arrayfold.program.model import Problem, Program


class Pass(Protocol):
    """A frozen dataclass: its fields say what is wanted, and it has a name."""

    name: ClassVar[str]

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The new program, or an error that says why there is none."""
        ...


# What users can ask for, in the order in which it is applied.
PASSES: tuple[type[Pass], ...] = (Reallocate, Reorder, AllOrders)
