"""Values that the next few iterations need, in variables: rings of cells that move along an innermost loop.

Each cell of a ring is a variable in the loop, and after each iteration the variables hand their values on.
Before the loop they take the values of the cells, after it cells take theirs: memory ends as without them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from arrayfold.c.arithmetic import subscripted
from arrayfold.exact.formula import Formula

MOST_CELLS = 8
MOST_VARIABLES = 16


@dataclass(frozen=True)
class Moving:
    """A coordinate that moves along a loop.

    position  which one of the element it is
    start     its value before the modulo, as a formula
    step      how far it moves in one iteration
    """

    position: int
    start: Formula
    step: int
    period: int

    def is_like(self, other: Moving) -> bool:
        """Whether it is always as far from another one."""
        is_same = (self.position, self.step, self.period) == (other.position, other.step, other.period)
        return is_same and (self.start - other.start).is_constant


@dataclass(eq=False)
class Ring:
    """The cells of an array that one innermost loop accesses.

    array   its name in the code
    type    of its elements
    moving  the coordinate that moves, of the access that was met first
    name    gives names like a given one that occur nowhere else
    others  texts of the other coordinates of each access, a number each
    """

    array: str
    type: str
    moving: Moving
    name: Callable[[str], str]
    others: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    @property
    def size(self) -> int:
        """How many variables it takes."""
        return self.moving.period * len(self.others)

    def variable_of(self, value: Formula, others: tuple[str, ...]) -> str:
        """What stands for an element in the loop."""
        beyond = int((value - self.moving.start).as_number())
        return self._variable(beyond % self.moving.period, others)

    def _variable(self, k: int, others: tuple[str, ...]) -> str:
        return self.name("_".join([self.array, "next", *others, str(k)]))

    @property
    def at(self) -> str:
        """The name of what holds where the access that was met first is."""
        return self.name(f"{self.array}_first")

    def _cell(self, k: int, others: tuple[str, ...]) -> str:
        moving = f"({self.at} + {k}) % {self.moving.period}" if k else self.at
        rows = [*others[: self.moving.position], moving, *others[self.moving.position :]]
        return subscripted(self.array, rows)

    def load(self) -> list[str]:
        """Declares the variables with the values of the cells."""
        return [
            f"{self.type} {self._variable(k, others)} = {self._cell(k, others)};"
            for others in self.others
            for k in range(self.moving.period)
        ]

    def store(self, count: str) -> list[str]:
        """Gives the cells the values of the variables, after so many iterations."""
        moved = count if self.moving.step == 1 else f"{self.moving.step} * {count}"
        return [
            f"{self.at} = ({self.at} + {moved}) % {self.moving.period};",
            *(
                f"{self._cell(k, others)} = {self._variable(k, others)};"
                for others in self.others
                for k in range(self.moving.period)
            ),
        ]

    def turn(self) -> list[str]:
        """Hands the values on by one iteration."""
        return [
            line
            for others in self.others
            for start in range(math.gcd(self.moving.step, self.moving.period))
            for line in self._turned(start, others)
        ]

    def _turned(self, start: int, others: tuple[str, ...]) -> list[str]:
        names = [self._variable(k, others) for k in _cycle(start, self.moving.step, self.moving.period)]
        kept = self.name(f"{names[0]}_kept")
        moves = [f"{one} = {then};" for one, then in zip(names, [*names[1:], kept], strict=True)]
        return [f"const {self.type} {kept} = {names[0]};", *moves]


@dataclass(eq=False)
class Rings:
    """The rings of one innermost loop: arrays of a few cells, all of whose accesses move alike.

    name  gives names like a given one that occur nowhere else
    """

    name: Callable[[str], str]
    _known: dict[str, Ring | None] = field(default_factory=dict[str, "Ring | None"])

    def note(self, array: str, type_: str, moving: Moving | None, others: tuple[str, ...]) -> None:
        """Note an access by the coordinate that moves, None if it is not one, and the texts of the others."""
        is_known = moving is not None and all(map(str.isdecimal, others))
        if array not in self._known and is_known and moving is not None:
            self._known[array] = Ring(array, type_, moving, self.name)
        ring = self._known.setdefault(array, None)
        if ring is None or moving is None or not is_known or not moving.is_like(ring.moving):
            self._known[array] = None
        elif others not in ring.others:
            ring.others.append(others)

    def choose(self) -> None:
        """After a look at all accesses: keep as many as there are registers for."""
        left = MOST_VARIABLES
        for array, ring in self._known.items():
            if ring is None or ring.moving.period > MOST_CELLS or ring.size > left:
                self._known[array] = None
            else:
                left -= ring.size

    def drop_others(self, body: Sequence[str]) -> bool:
        """Give up arrays that are accessed in the body otherwise, too; whether there are any."""
        text = "\n".join(body)
        names = [one.array for one in self.chosen]
        dropped = [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)]
        self._known |= dict.fromkeys(dropped)
        return bool(dropped)

    @property
    def chosen(self) -> list[Ring]:
        """The rings."""
        return [one for one in self._known.values() if one is not None]

    def variable_of(self, array: str, start: Formula, others: tuple[str, ...]) -> str | None:
        """What stands for an element, if it is part of a ring."""
        ring = self._known.get(array)
        return None if ring is None else ring.variable_of(start, others)


def _cycle(first: int, step: int, period: int) -> Sequence[int]:
    """Positions of a ring, from one on, each so many steps after the one before.

    >>> _cycle(0, 2, 6)
    [0, 2, 4]
    """
    return [(first + k * step) % period for k in range(period // math.gcd(step, period))]
