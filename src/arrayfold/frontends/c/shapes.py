"""Shapes of flat arrays: strides such as w that make `p[y*w + x]` an element p[y, x] of several dimensions.

The flat subscript is s*y + x. Where 0 <= x < s, two accesses meet the same element if and only if y and x
are the same. So every access must keep its inner subscripts in there; what leaves them by one turn at an
edge, such as x - 1 at x = 0, is the end of the row before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from arrayfold.exact.factors import quotient, with_remainder
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.isl import coalesced, integer
from arrayfold.frontends.c.integers import constant
from arrayfold.frontends.c.polynomials import ONE, Polynomial

_TURNS = (-1, 0, 1)


@dataclass(frozen=True)
class Shape:
    """The strides of a flat array, the outermost first; each one divides the one before, the last is 1."""

    strides: tuple[Formula, ...]

    @cached_property
    def extents(self) -> tuple[Formula, ...]:
        """The extents of all dimensions but the first, which need not be known."""
        pairs = zip(self.strides, self.strides[1:], strict=False)
        found = [quotient(outer, inner) for outer, inner in pairs]
        return tuple(one for one in found if one is not None)

    @property
    def is_valid(self) -> bool:
        """Whether its extents are affine, so that isl can say them."""
        return len(self.extents) == len(self.strides) - 1 and all(one.is_affine for one in self.extents)

    def coefficients(self, subscript: Polynomial, space: isl.Space) -> list[isl.PwAff] | None:
        """How often each stride is in a subscript { [i] -> [v] }; None if it is no sum of such multiples."""
        found = [constant(space, 0)] * len(self.strides)
        for stride, value in _expanded(subscript):
            for k, own in enumerate(self.strides):
                part = _multiple(stride, own, value)
                if part is not None:
                    found[k] = found[k].add(part)
                    break
            else:
                return self._divided(subscript, space)
        return found

    def _divided(self, subscript: Polynomial, space: isl.Space) -> list[isl.PwAff] | None:
        """The same for a subscript without iterators, such as that of the last element, n*(m + 1) + m."""
        rest = subscript.as_formula()
        found: list[isl.PwAff] = []
        for own in self.strides:
            parts = None if rest is None else with_remainder(rest, own)
            if parts is None or not parts[0].is_affine:
                return None
            found.append(to_pw_aff(parts[0], space))
            rest = parts[1]
        return found


def _expanded(subscript: Polynomial) -> Iterable[tuple[Formula, isl.PwAff]]:
    """The terms of a polynomial; what no iterator changes is one polynomial of the parameters."""
    fixed = Polynomial(
        {one: value for one, value in subscript.terms.items() if one not in subscript.strides()}
    )
    total = fixed.as_formula()
    for stride, value in subscript.terms.items():
        if total is None or stride not in fixed.terms:
            yield stride, value
    if total is None or not fixed.terms:
        return
    space = next(iter(fixed.terms.values())).get_domain_space()
    for term in total.terms:
        yield Formula((term,)), constant(space, 1)


def _multiple(stride: Formula, own: Formula, value: isl.PwAff) -> isl.PwAff | None:
    """stride * value / own, if that is affine."""
    if own == ONE and not stride.is_affine:
        return None
    factor = quotient(stride, own)
    if factor is None or not factor.is_affine:
        return None
    if factor.is_constant:
        return value.scale_val(integer(int(factor.as_number())))
    if not value.is_cst():
        return None
    return to_pw_aff(factor, value.get_domain_space()).mul(value)


def candidate_shapes(subscripts: Sequence[Polynomial]) -> list[Shape]:
    """Shapes that the strides in some subscripts suggest, the one of most dimensions first.

    Strides that are numbers, as of the colours in `(y*w + x)*3 + c`, may be left out, and so may multiples of
    others, as in `2*y*w + x` beside `y*w + x`.
    """
    strides = dict.fromkeys(abs_of(one) for subscript in subscripts for one in subscript.strides())
    symbolic = _chain(one for one in strides if not one.is_constant)
    if symbolic == []:
        # Parts of one array, at p, p + n and p + 2*n.
        symbolic = _chain(dict.fromkeys(abs_of(one) for part in subscripts for one in _offsets(part)))
    numbers = [one for one in strides if one.is_constant and one != ONE]
    if symbolic is None or not symbolic:
        return []
    rows = [one for one in symbolic if not any(_is_larger_multiple(one, other) for other in symbolic)]
    shapes: list[Shape] = []
    for more, some in itertools.product((symbolic, rows), (numbers, [])):
        chain = _chain([*more, *some])
        if chain is not None:
            shape = Shape((*chain, ONE))
            if shape.is_valid and shape not in shapes:
                shapes.append(shape)
    return shapes


def _offsets(subscript: Polynomial) -> Iterable[Formula]:
    """The strides by which a subscript moves in no iteration."""
    return (one for one in subscript.terms if not one.is_constant and one not in subscript.strides())


def _is_larger_multiple(stride: Formula, other: Formula) -> bool:
    """Whether a stride is twice another one, or more times."""
    factor = quotient(stride, other)
    return factor is not None and factor.is_constant and abs(factor.as_number()) > 1


def abs_of(stride: Formula) -> Formula:
    """A stride with a positive first coefficient."""
    return -stride if stride.terms and stride.terms[0][1] < 0 else stride


def _chain(strides: Iterable[Formula]) -> list[Formula] | None:
    """The strides in an order in which each one divides the one before; None if there is none."""
    chain: list[Formula] = []
    for stride in strides:
        for k, other in enumerate(chain):
            if quotient(stride, other) is not None:
                chain.insert(k, stride)
                break
        else:
            chain.append(stride)
    pairs = itertools.pairwise(chain)
    return chain if all(quotient(outer, inner) is not None for outer, inner in pairs) else None


# ---------------------------------------------------------------- ranges


@dataclass(frozen=True, eq=False)
class SplitSubscript:
    """A subscript, dimension by dimension, and where it may leave them.

    subscripts  { [i] -> [x] }
    outside     { [i] }  where an inner one leaves its extent
    beyond      { [i] }  where it does so by more than a turn
    which       the dimension that is left, None if none is
    """

    subscripts: tuple[isl.PwAff, ...]
    outside: isl.Set
    beyond: isl.Set
    which: int | None


def split(shape: Shape, subscript: Polynomial, possible: isl.Set) -> SplitSubscript | None:
    """A flat subscript as an element of a shape, on the iterations { [i] } that are possible.

    None if it is no sum of multiples of the strides.
    """
    found = shape.coefficients(subscript, possible.get_space())
    if found is None:
        return None
    outside = beyond = isl.Set.empty(possible.get_space())
    which: int | None = None
    for k in range(len(found) - 1, 0, -1):
        extent = to_pw_aff(shape.extents[k - 1], possible.get_space())
        leaves = _leaving(found[k], extent, possible, 0)
        if leaves.is_empty():
            continue
        which = k if which is None else which
        outside = outside.union(leaves)
        beyond = beyond.union(_leaving(found[k], extent, possible, 1))
        found[k - 1], found[k] = _carried(found[k - 1], found[k], extent, possible)
    return SplitSubscript(tuple(found), coalesced(outside), coalesced(beyond), which)


def _leaving(value: isl.PwAff, extent: isl.PwAff, possible: isl.Set, turns: int) -> isl.Set:
    """{ [i] }: where a value is not in 0 .. extent - 1, give or take so many extents."""
    below = value.add(extent.scale_val(integer(turns))) if turns else value
    above = value.sub(extent.scale_val(integer(turns))) if turns else value
    zero = constant(possible.get_space(), 0)
    left = below.lt_set(zero).union(above.ge_set(extent)).union(extent.le_set(zero))
    return coalesced(possible.intersect(left))


def _carried(
    outer: isl.PwAff, inner: isl.PwAff, extent: isl.PwAff, possible: isl.Set
) -> tuple[isl.PwAff, isl.PwAff]:
    """Two subscripts with the inner one inside of its extent, where it leaves that by one turn at most."""
    zero = constant(possible.get_space(), 0)
    rows: list[isl.PwAff] = []
    columns: list[isl.PwAff] = []
    for turn in _TURNS:
        row = outer.add(constant(possible.get_space(), turn))
        rest = inner.sub(extent.scale_val(integer(turn)))
        where = rest.ge_set(zero).intersect(rest.lt_set(extent))
        if possible.is_subset(where):
            return row, rest
        if not where.intersect(possible).is_empty():
            rows.append(row.intersect_domain(where))
            columns.append(rest.intersect_domain(where))
    if not rows:
        return outer, inner
    return coalesced(reduce(isl.PwAff.union_add, rows)), coalesced(reduce(isl.PwAff.union_add, columns))
