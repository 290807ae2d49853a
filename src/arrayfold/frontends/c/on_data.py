"""For loops of which nobody knows how often they run: they are read as while loops."""

from __future__ import annotations

from collections.abc import Collection

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.source import Region, assigned_in, loop_variable
from arrayfold.c.tree import CType, Span, Variable, walk

_INT = CType("int", "signed", 32, "int")


class LoopsOnData(Exception):
    """Some loops cannot be read as loops over an iterator.

    variables  their iterators, which are variables like others then
    loops      those of them without an iterator
    reason     what is wrong with the loops as they are
    """

    def __init__(self, reason: InputError, variables: Collection[Variable], loops: Collection[c.For]) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.variables = frozenset(variables)
        self.loops = frozenset(loops)


def loops_over(region: Region, variables: Collection[Variable]) -> set[c.For]:
    """The for loops of a region that start with, or step, one of some variables."""
    loops = (node for node in region.nodes() if isinstance(node, c.For))
    return {
        loop
        for loop in loops
        if loop_variable(loop) in variables
        or (loop.step is not None and not set(variables).isdisjoint(assigned_in(walk(loop.step))))
    }


def as_while(loop: c.For) -> c.While:
    """The loop without its start; its body holds the step as well, if there is one, as a second statement."""
    nothing = Span(loop.span.start, loop.span.start, is_text=False)
    condition = loop.condition or c.Number(nothing, _INT, 1, "1")
    body = loop.body
    if loop.step is not None:
        span = loop.step.span
        step = c.Evaluate(Span(span.start, span.end, is_text=False), loop.step)
        body = c.Block(Span(body.span.start, body.span.end, is_text=False), (body, step))
    return c.While(loop.span, condition, body, is_late=False)
