"""What a candidate is: an order and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from arrayfold.base.choices import Favor
from arrayfold.ordering.sized_program import SizedProgram


@dataclass(frozen=True, eq=False)
class OrderCandidate:
    """An order that might be better than the one written; it need not be legal.

    name      the kind of order, in words that follow "the order is"
    schedule  { S[i] -> [t] }
    favor     which mappings go with it: those with better loops may take up to twice as many cells
    """

    name: str
    schedule: isl.UnionMap
    favor: Favor = "size"


Propose: TypeAlias = Callable[[SizedProgram], Iterator[OrderCandidate]]
