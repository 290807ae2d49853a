"""Which turn of a loop it is, modulo a small number, and how many turns there were, as conditions in C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arrayfold.c import tree as c
from arrayfold.c.source import Region, loop_variable
from arrayfold.c.tree import CStatement, Expression, Node, Variable, bare, walk
from arrayfold.frontends.c.jumps import jumps_out
from arrayfold.frontends.c.normal.counting import Count, count_of, limit_of, stays
from arrayfold.frontends.c.normal.scene import RegionScene
from arrayfold.frontends.c.normal.texts import TreeText


@dataclass(frozen=True, eq=False)
class CountedLoop:
    """The turns of a for loop that counts, the first one with number 0.

    start      the first value of its iterator, as C; `origin` is that value if it is a number
    limit      what the iterator is compared with; None if the loop may end in another way
    is_signed  neither can wrap around where one is subtracted from the other
    """

    count: Count
    start: str
    origin: int | None
    limit: tuple[str, str] | None
    is_signed: bool

    def number(self) -> str | None:
        """The number of a turn, inside of the loop; None if that is no simple formula."""
        return self._distance if abs(self.count.amount) == 1 else None

    @property
    def _distance(self) -> str | None:
        """How far the iterator is from its first value, inside of the loop."""
        name = self.count.variable.name
        if self.count.amount > 0:
            return name if self.origin == 0 else self._difference(name, self.start)
        return self._difference(self.start, name) if self.is_signed else None

    def _difference(self, high: str, low: str) -> str:
        """A difference that is not negative, in a type that holds it."""
        is_small = not self.is_signed or (low == self.start and (self.origin or 0) > 0)
        return f"({'' if is_small else '(long long)'}{high} - {low})"

    def is_turn(self, phase: int, period: int) -> str | None:
        """The condition that the number of a turn leaves a remainder, inside of the loop."""
        step, distance = abs(self.count.amount), self._distance
        return None if distance is None else f"{distance} % {step * period} == {step * phase}"

    def total(self) -> tuple[str, str] | None:
        """How many turns there were, behind the loop, and the condition that there were any."""
        if self.limit is None or abs(self.count.amount) != 1:
            return None
        operator, end = self.limit
        is_up = self.count.amount > 0
        is_last = operator == ("<=" if is_up else ">=")
        if not is_last and operator not in (("<", "!=") if is_up else (">", "!=")):
            return None
        start = self.start
        low, high = (start, end) if is_up else (end, start)
        if is_last:
            distance = f"((long long){high} + 1)" if low == "0" else f"({self._difference(high, low)} + 1)"
            return (distance, f"{high} >= {low}") if self.is_signed else None
        distance = high if low == "0" else self._difference(high, low)
        return distance, f"{high} > {low}"


def turns_of(scene: RegionScene, loop: c.For) -> CountedLoop | None:
    """The turns of a loop; None if it does not count by a constant in its header."""
    count = count_of(scene, loop)
    variable = loop_variable(loop)
    if count is None or variable is None or variable is not count.variable or loop.condition is None:
        return None
    if count.place != "header" or "continue" in jumps_out(loop.body):
        return None
    first = _first(loop, variable)
    if first is None or not stays(scene, first, loop):
        return None
    number = bare(first)
    origin = number.value if isinstance(number, c.Number) else None
    text = TreeText(scene.text).expression(first)
    start = text if text.isalnum() else f"({text})"
    found = limit_of(scene, loop.condition, count, loop)
    can_end = "break" in jumps_out(loop.body)
    limit = None if found is None or can_end else (found.operator, _plain(found.limit))
    return CountedLoop(count, start, origin, limit, variable.type.kind == "signed")


def _plain(text: str) -> str:
    inner = text[1:-1]
    return inner if text.startswith("(") and text.endswith(")") and inner.isalnum() else text


def _first(loop: c.For, variable: Variable) -> Expression | None:
    match loop.start:
        case c.Declare():
            return variable.initial
        case c.Evaluate(expression=c.Assign(value=value)):
            return value
        case _:
            return None


def mentions(node: Node, variable: Variable) -> list[c.Reference]:
    """The places inside a node that name a variable."""
    return [one for one in walk(node) if isinstance(one, c.Reference) and one.variable is variable]


def statements_in(body: CStatement) -> Sequence[CStatement]:
    """The statements in the braces of a loop."""
    inner = body.statements if isinstance(body, c.Block) else (body,)
    return statements_in(inner[0]) if len(inner) == 1 and isinstance(inner[0], c.Block) else inner


def is_nested(region: Region, loop: c.For) -> bool:
    """Whether a loop stands in another one of a region."""
    start = loop.span.start
    # Statements of the region that end before the loop, or begin after it, hold none around it.
    around = (one for one in region.statements if one.span.start <= start < one.span.end)
    return any(
        isinstance(node, c.For | c.While) and node is not loop and node.span.start <= start < node.span.end
        for statement in around
        for node in walk(statement)
    )
