"""What a front end takes for granted of the parameters, so that everybody can be told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import SourcePosition


@dataclass(frozen=True, eq=False)
class Assumption:
    """A condition on the parameters that the text of a program does not say, and why it is needed.

    where  { : }  the parameter values that fulfil it
    words  what is assumed, if it is nothing that parameters say
    """

    where: isl.Set
    reason: str
    place: SourcePosition | None = None
    words: str = ""

    @property
    def text(self) -> str:
        """The condition."""
        return self.words or conditions(self.where)

    def __str__(self) -> str:
        """The condition, the line that needs it, and what for."""
        line = "" if self.place is None else f"line {self.place.line}: "
        return f"{self.text} ({line}{self.reason})"

    def __repr__(self) -> str:
        return f"<assumed: {self}>"


def conditions(context: isl.Set) -> str:
    """The conditions of a set of parameter values, as text.

    >>> conditions(isl.Set("[n, m] -> { : n > 2 and m < 10 }"))
    'n >= 3 and m <= 9'
    """
    text = str(context)
    inner = text[text.index("{") + 1 : text.rindex("}")].strip().removeprefix(":").strip()
    inner = re.sub(r"\b([A-Za-z_]\w*) > (-?\d+)\b", lambda m: f"{m[1]} >= {int(m[2]) + 1}", inner)
    return re.sub(r"\b([A-Za-z_]\w*) < (-?\d+)\b", lambda m: f"{m[1]} <= {int(m[2]) - 1}", inner) or "nothing"


def without_implied(assumptions: Sequence[Assumption], known: isl.Set) -> tuple[Assumption, ...]:
    """The assumptions that neither what is known nor the other ones imply.

    known  { : }  parameter values
    """
    kept = list(assumptions)
    for one in (one for one in assumptions if not one.words):
        others = [other.where for other in kept if other is not one]
        if _intersection(known, others).is_subset(one.where):
            kept.remove(one)
    return tuple(kept)


def _intersection(known: isl.Set, others: Iterable[isl.Set]) -> isl.Set:
    for other in others:
        known = known.intersect(other)
    return known
