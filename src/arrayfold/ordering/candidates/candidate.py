"""What a candidate is: an order and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from arrayfold.ordering.sized_program import SizedProgram


@dataclass(frozen=True, eq=False)
class OrderCandidate:
    """An order that might be better than the one written; it need not be legal.

    name      the kind of order, in words that follow "the order is"
    schedule  { S[i] -> [t] }
    """

    name: str
    schedule: isl.UnionMap


Propose: TypeAlias = Callable[[SizedProgram], Iterator[OrderCandidate]]
