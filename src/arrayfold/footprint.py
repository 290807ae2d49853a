"""Memory of all arrays together: blocks that several share, and how many cells there are in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from arrayfold._isl import parameter_names
from arrayfold.bounds import LowerBound
from arrayfold.formula import Formula
from arrayfold.formula_signs import is_at_most


@dataclass(frozen=True)
class Block:
    """Memory for several arrays, one after the other or beside each other.

    offsets  array -> where it begins, in cells
    """

    name: str
    size: Formula
    offsets: Mapping[str, Formula]


@dataclass(frozen=True, eq=False)
class Footprint:
    """Cells of all arrays together.

    bound     the largest number of cells of all of them that are live at one moment; None if unknown
    blocks    memory that arrays share
    remarks   what is worth saying of it, such as why it is not smaller
    """

    before: Formula
    after: Formula
    bound: LowerBound | None
    blocks: tuple[Block, ...] = ()
    remarks: tuple[str, ...] = ()
    params: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def is_sized(self) -> bool:
        """Whether every parameter has a value, so that numbers can be shown."""
        moments = None if self.bound is None else self.bound.moments
        names = set[str]() if moments is None else set(parameter_names(moments))
        return (self.before.names() | self.after.names() | names) <= self.params.keys()

    @property
    def is_least(self) -> bool:
        """Whether no memory for these values is smaller."""
        return self.bound is not None and self.bound.equals(self.after, self.params if self.is_sized else {})


def largest(sizes: Iterable[tuple[Formula, isl.Set]]) -> Formula:
    """A formula that is as large as each size wherever that one matters, { : }; as simple as can be seen."""
    found: list[tuple[Formula, isl.Set]] = []
    for size, where in sizes:
        larger = [k for k, (other, _) in enumerate(found) if is_at_most(size, other, where)]
        if larger:
            # Who replaces the larger one must replace this one, too.
            other, there = found[larger[0]]
            found[larger[0]] = (other, there.union(where))
            continue
        smaller = [one for one in found if is_at_most(one[0], size, one[1])]
        everywhere = reduce(isl.Set.union, (there for _, there in smaller), where)
        found = [*(one for one in found if all(one is not gone for gone in smaller)), (size, everywhere)]
    return Formula.extreme("max", [size for size, _ in found]) if found else Formula.constant(0)
