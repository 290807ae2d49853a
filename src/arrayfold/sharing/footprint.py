"""Memory of all arrays together: blocks that several share, and how many cells there are in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce

import islpy as isl

from arrayfold.bounds.minimal import Gap
from arrayfold.bounds.moments import LowerBound
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import parameter_names
from arrayfold.exact.parameter_values import far_parameters
from arrayfold.exact.signs import is_at_most


@dataclass(frozen=True)
class SharedBlock:
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
    why_larger  why there are more cells than before, where there are
    before_here, after_here  both at the parameter values of the request, if it fixed all of them
    context   { : }  of the problem
    """

    before: Formula
    after: Formula
    bound: LowerBound | None
    blocks: tuple[SharedBlock, ...] = ()
    remarks: tuple[str, ...] = ()
    params: Mapping[str, int] = field(default_factory=dict[str, int])
    before_here: int | None = None
    after_here: int | None = None
    why_larger: str = ""
    context: isl.Set = field(kw_only=True)

    def __post_init__(self) -> None:
        if self.gap is not None:
            object.__setattr__(self, "bound", self.gap.bound)

    @cached_property
    def gap(self) -> Gap | None:
        """All cells beside the lower bound, if there is one."""
        if self.bound is None:
            return None
        params = self.params if self.is_sized else None
        return Gap.of(self.after, self.bound, self.context, params, size_here=self.after_here)

    @property
    def is_sized(self) -> bool:
        """Whether every parameter has a value, so that numbers can be shown."""
        names = {*parameter_names(self.context), *self.before.names(), *self.after.names()}
        return names <= self.params.keys() and self.after_here is not None

    @property
    def is_least(self) -> bool:
        """Whether no memory for these values is smaller."""
        return self.gap is not None and self.gap.is_minimal


def farthest(size: Formula, where: isl.Set) -> dict[str, int]:
    """Large parameter values out of { : } at which a size is as large as it is far out."""
    return max(far_parameters(where), key=size.evaluate)


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
