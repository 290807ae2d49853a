"""Pointers into arrays: which array, and how far from its first element."""

from __future__ import annotations

from dataclasses import dataclass

from arrayfold.c.tree import Variable
from arrayfold.frontends.c.polynomials import Polynomial


@dataclass(frozen=True, eq=False)
class Address:
    """A place in an array; its index is None where that may be any."""

    array: Variable
    index: Polynomial | None
