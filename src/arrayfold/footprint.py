"""Memory of all arrays together: blocks that several share, and how many cells there are in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import islpy as isl

from arrayfold.bounds import LowerBound
from arrayfold.formula import Formula
from arrayfold.formula_isl import to_pw_aff


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
        return (self.before.names() | self.after.names()) <= self.params.keys()

    @property
    def is_least(self) -> bool:
        """Whether no memory for these values is smaller."""
        return self.bound is not None and self.bound.equals(self.after, self.params if self.is_sized else {})


def largest(formulas: Iterable[Formula], context: isl.Set) -> Formula:
    """The largest of several sizes at every value of the parameters, as simple as can be seen."""
    found: list[Formula] = []
    for formula in formulas:
        if any(is_at_most(formula, other, context) for other in found):
            continue
        found = [other for other in found if not is_at_most(other, formula, context)] + [formula]
    return Formula.extreme("max", found) if found else Formula.constant(0)


def is_at_most(first: Formula, second: Formula, context: isl.Set) -> bool:
    """Whether one size is never above another; what is not seen is not."""
    difference = second - first
    if difference.is_constant:
        return difference.as_number() >= 0
    if difference.is_affine and difference.is_polynomial:
        below = to_pw_aff(difference).lt_set(to_pw_aff(Formula.constant(0)))
        return bool(context.intersect(below).is_empty())
    return difference.is_polynomial and all(
        coefficient >= 0
        and all(
            isinstance(atom, str) and is_at_most(Formula.constant(0), Formula.name(atom), context)
            for atom, _ in monomial
        )
        for monomial, coefficient in difference.terms
    )
