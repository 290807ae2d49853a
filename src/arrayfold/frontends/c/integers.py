"""Integers as C has them: the ranges of types, and values that wrap around at their ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.c.tree import CType, Variable
from arrayfold.exact.isl import coalesced, integer

ORDINARY = 1 << 30
"""Sizes of this magnitude and above do not happen at run time in a loop or a subscript that anybody means."""

_INT_BITS = 32
_MOST_TURNS = 4


@dataclass(frozen=True, eq=False)
class Wrap:
    """A value that wraps around because its type has too few bits.

    where          { [i] }  the iterations in which it does
    sizes          { : }    the parameter values for which it would wherever it is computed
    is_cut         it is converted to a narrower type
    is_below_zero  it would be negative, but its type has no sign
    """

    offset: int
    text: str
    kind: CType
    where: isl.Set
    sizes: isl.Set
    is_cut: bool
    is_below_zero: bool


def limits(kind: CType) -> tuple[int, int]:
    """The smallest and the largest value of an integer type."""
    if kind.is_boolean:
        return 0, 1
    if kind.kind == "unsigned":
        return 0, (1 << kind.bits) - 1
    return -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1


def holds_all_of(kind: CType, other: CType) -> bool:
    """Whether every value of another type is one of this type."""
    (low, high), (least, most) = limits(kind), limits(other)
    return low <= least and most <= high


def is_narrow(kind: CType) -> bool:
    """Whether values of a type are so few that programs meet all of them."""
    return kind.bits < _INT_BITS


def wraps_when_stepping(kind: CType) -> bool:
    """Whether `i++` is defined at the end of the range; int and wider signed types must not get there."""
    return kind.kind == "unsigned" or is_narrow(kind)


def type_ranges(parameters: Mapping[str, Variable], iterators: Sequence[Variable]) -> isl.Set:
    """{ [i] }: parameters and iterators have values of their types."""
    ranges = _everything(parameters, len(iterators))
    for kind, variables in ((isl.dim_type.param, parameters.values()), (isl.dim_type.set, iterators)):
        for k, variable in enumerate(variables):
            low, high = limits(variable.type)
            ranges = ranges.lower_bound_val(kind, k, integer(low)).upper_bound_val(kind, k, integer(high))
    return ranges


def ordinary_sizes(parameters: Mapping[str, Variable]) -> isl.Set:
    """{ : }: parameter values that a program may meet in practice."""
    sizes, kind = _everything(parameters, 0).params(), isl.dim_type.param
    for k in range(len(parameters)):
        sizes = sizes.lower_bound_val(kind, k, integer(1 - ORDINARY))
        sizes = sizes.upper_bound_val(kind, k, integer(ORDINARY - 1))
    return sizes


def _everything(parameters: Iterable[str], depth: int) -> isl.Set:
    """{ [i] }: all iterations of so many loops."""
    names = list(parameters)
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(names), depth)
    for k, name in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, k, name)
    return isl.Set.universe(space)


def is_huge_only(sizes: isl.Set, parameters: Mapping[str, Variable]) -> bool:
    """Whether in a set of parameter values { : } at least one is always beyond what programs meet."""
    return bool(parameters) and bool(sizes.intersect(ordinary_sizes(parameters)).is_empty())


def beyond_ordinary(value: isl.PwAff) -> isl.Set:
    """{ [i] }: where a value is as large as no loop and no subscript is."""
    most, least = (constant(value.get_domain_space(), number) for number in (ORDINARY, -ORDINARY))
    return value.ge_set(most).union(value.le_set(least))


def leaving(value: isl.PwAff, kind: CType) -> tuple[isl.Set, isl.Set]:
    """{ [i] }: where a value is below the range of a type, and where it is above."""
    low, high = (constant(value.get_domain_space(), number) for number in limits(kind))
    return value.lt_set(low), value.gt_set(high)


def wrapped(value: isl.PwAff, kind: CType, where: isl.Set, reached: isl.Set) -> isl.PwAff:
    """A value as its type keeps it: modulo a power of two in some iterations, as it is in the others.

    where    { [i] }  where it may leave the range of its type
    reached  { [i] }  the part of these in which it is computed
    """
    low, high = limits(kind)
    size, space = high - low + 1, value.get_domain_space()
    turns = value.sub(constant(space, low)).scale_down_val(integer(size)).floor()
    stays = value.intersect_domain(where.complement())
    first, last = turns.intersect_domain(reached).min_val(), turns.intersect_domain(reached).max_val()
    if first.is_int() and last.is_int() and last.to_python() - first.to_python() <= _MOST_TURNS:
        parts = [
            value.add_constant_val(integer(-number * size)).intersect_domain(
                where.intersect(turns.eq_set(constant(space, number)))
            )
            for number in range(first.to_python(), last.to_python() + 1)
        ]
        return coalesced(reduce(isl.PwAff.union_add, parts, stays))
    rest = value.sub(turns.scale_val(integer(size)))
    return coalesced(stays.union_add(rest.intersect_domain(where)))


def as_truth(value: isl.PwAff) -> isl.PwAff:
    """A value converted to _Bool: 0 where it is 0, and 1 elsewhere."""
    zero, one = (constant(value.get_domain_space(), number) for number in (0, 1))
    where = value.eq_set(zero)
    return zero.intersect_domain(where).union_add(one.intersect_domain(where.complement()))


def constant(space: isl.Space, number: int) -> isl.PwAff:
    """{ [i] -> [number] } on a space of iterations."""
    return isl.PwAff.from_aff(isl.Aff.val_on_domain(isl.LocalSpace.from_space(space), integer(number)))
