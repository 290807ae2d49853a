"""The iterations of a for loop, with an iterator that may wrap around as its type says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import gcd

import islpy as isl

from arrayfold.c.source import CText
from arrayfold.c.tree import Assign, Binary, Declare, Evaluate, Expression, For, Variable, walk
from arrayfold.exact.isl import coalesced, integer
from arrayfold.exact.pieces import in_one_piece
from arrayfold.exact.relations import relation
from arrayfold.frontends.c import integers
from arrayfold.frontends.c.affine import AffineReader, Scope, Truth
from arrayfold.frontends.c.assumptions import Need
from arrayfold.frontends.c.induction import Induction

_SMALL_STEP = 1 << 16


@dataclass(frozen=True, eq=False)
class Iterations:
    """The iterations of a loop, and what is counted along with them.

    domain    { [outer, i] }
    counted   { [outer, i] -> [v] }  values of variables at the start of each turn
    distance  { [outer, i] -> [d] }  how far the iterator is from its start, in the direction of the step
    """

    domain: isl.Set
    counted: Mapping[Variable, isl.PwAff]
    distance: isl.PwAff


class LoopReader:
    """Finds the iterations of loops; what must not happen in them goes to the needs of the reader."""

    def __init__(self, text: CText, affine: AffineReader) -> None:
        self._text = text
        self._affine = affine

    def of(
        self, loop: For, variable: Variable, step: int, scope: Scope, counted: Induction
    ) -> Iterations | None:
        """From the start in steps, as long as the condition has held all the time.

        None if the condition is not affine.
        """
        assert loop.condition is not None
        start, wraps = self._affine.value_with_wraps(self._start(loop), scope)
        start = start.add_dims(isl.dim_type.in_, 1)
        inner = scope.inside(variable)
        iterator = _last_iterator(inner)
        distance = iterator.sub(start) if step > 0 else start.sub(iterator)
        reached = in_one_piece(distance.nonneg_set()).intersect(inner.may)
        if abs(step) > 1:
            reached = reached.intersect(distance.mod_val(integer(abs(step))).zero_set())
        if integers.wraps_when_stepping(variable.type) and step < 0:
            below, _ = integers.leaving(iterator, variable.type)
            reached = reached.subtract(below)
        along = counted.inside(distance, step, inner)
        inner = replace(inner, may=reached, must=reached, values={**inner.values, **along})
        first = reached.intersect(distance.zero_set())
        truth, left_out = self._affine.truth_without_wraps(loop.condition, inner)
        if not truth.is_exact:
            return None
        holds, fails = _while_true(reached, truth, step)
        if not left_out.intersect(self._evaluated(first, holds, step)).is_empty():
            count = len(self._affine.wraps)
            truth = self._affine.truth(loop.condition, inner)
            holds, fails = _while_true(reached, truth, step)
            evaluated = self._evaluated(first, holds, step)
            found = self._affine.wraps[count:]
            wraps += [replace(wrap, where=wrap.where.intersect(evaluated)) for wrap in found]
        self._limit_bounds(wraps, holds, iterator)
        ends = fails.union(self._limit_iterator(loop, step, inner, start, holds))
        if any(isinstance(node, Binary) and node.operator == "!=" for node in walk(loop.condition)):
            # `i != end` past the end would never stop, which no program means.
            ends = ends.project_out(isl.dim_type.set, len(scope.iterators), 1)
            holds = holds.intersect(ends.add_dims(isl.dim_type.set, 1))
        domain = coalesced(holds)
        along = counted.all_inside(distance, step, inner, domain, self._affine)
        return Iterations(domain, along, distance)

    def _start(self, loop: For) -> Expression:
        match loop.start:
            case Declare(variables=(Variable(initial=initial),)) if initial is not None:
                return initial
            case Evaluate(expression=Assign(value=value)):
                return value
            case _:
                raise self._text.error("this loop has no start value", loop.span.start)

    def _evaluated(self, first: isl.Set, holds: isl.Set, step: int) -> isl.Set:
        """{ [outer, i] }: where the condition is looked at: at the start, and after every iteration."""
        return first.union(holds.apply(_shift(holds, step)))

    def _limit_bounds(self, wraps: Sequence[integers.Wrap], holds: isl.Set, iterator: isl.PwAff) -> None:
        """Bounds that wrap around are taken as they are, unless the loop would run for ages then."""
        for wrap in wraps:
            if wrap.where.is_empty():
                continue
            usual = integers.ordinary_sizes(self._affine.parameters)
            excluded = wrap.where.params()
            ages = holds.intersect(integers.beyond_ordinary(iterator)).intersect_params(
                excluded.intersect(usual)
            )
            if integers.is_huge_only(excluded, self._affine.parameters) or not ages.is_empty():
                self._affine.needs.append(Need.of_wrap(self._text, wrap, holds.params()))

    def _limit_iterator(
        self, loop: For, step: int, inner: Scope, start: isl.PwAff, holds: isl.Set
    ) -> isl.Set:
        """The iterator must not wrap around, unless that ends the loop: { [outer, i] } where it does."""
        variable = inner.iterators[-1]
        kind = variable.type
        nowhere = isl.Set.empty(inner.space)
        if not integers.wraps_when_stepping(kind):
            return nowhere
        assert loop.condition is not None
        iterator = _last_iterator(inner)
        following = iterator.add_constant_val(integer(step))
        outside = reduce(isl.Set.union, integers.leaving(following, kind))
        possible = self._affine.within_types(inner)
        leaves = holds.intersect(outside).intersect(possible)
        if leaves.is_empty():
            return nowhere
        low, high = integers.limits(kind)
        size = high - low + 1
        below, above = integers.leaving(iterator, kind)
        in_range = inner.may.union(inner.may.complement()).subtract(below).subtract(above)
        count = len(self._affine.wraps)
        truth = self._affine.truth(loop.condition, replace(inner, may=in_range, must=in_range))
        del self._affine.wraps[count:]
        again = in_range.intersect(truth.may)
        back = _shift(holds, step - size if step > 0 else step + size).reverse()
        goes_on = leaves.intersect(again.apply(back))
        ends = leaves.subtract(goes_on)
        if goes_on.is_empty():
            return ends
        excluded = goes_on.params()
        stride = gcd(abs(step), size)
        same = iterator.sub(start).mod_val(isl.Val(str(stride))).zero_set()
        stops = in_range.subtract(truth.must).intersect(same).intersect(possible)
        is_endless = stops.intersect_params(excluded).is_empty()
        if is_endless and integers.is_huge_only(excluded, self._affine.parameters):
            # C lets everybody assume that such a loop ends.
            return ends
        may_assume = is_endless or (kind.bits >= 32 and 0 < step < _SMALL_STEP)
        name = f"{'unsigned' if kind.bits >= 32 else kind.spelling} {variable.name}"
        where = " below zero" if kind.kind == "unsigned" and step < 0 else ""
        self._affine.needs.append(
            Need(
                excluded,
                holds.params(),
                f"{variable.name} must not wrap around",
                loop.span.start,
                self._text.error(
                    f"{name} wraps around{where} in this loop", loop.span.start, "Use a signed iterator."
                ),
                may_assume,
            )
        )
        return ends


def later_iterations(of: isl.Set, sign: int) -> isl.Set:
    """{ [outer, i] }: what comes after one of some iterations in a loop up, or down for a negative sign."""
    return of.apply(_onward(of, "j", "i < j" if sign > 0 else "i > j"))


def earlier_iterations(than: isl.Set, sign: int) -> isl.Map:
    """{ [outer, i] -> [outer, j] }: from iterations of a loop to all that come before them."""
    return _onward(than, "j", "j < i" if sign > 0 else "j > i").intersect_domain(than)


def _last_iterator(scope: Scope) -> isl.PwAff:
    space = isl.LocalSpace.from_space(scope.space)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, len(scope.iterators) - 1))


def _while_true(reached: isl.Set, truth: Truth, step: int) -> tuple[isl.Set, isl.Set]:
    """{ [outer, i] }: where the condition has held all the time, and where it fails."""
    holds, fails = reached.intersect(truth.must), reached.subtract(truth.must)
    later = later_iterations(fails, step)
    if not later.intersect(holds).is_empty():
        holds = holds.subtract(later)
    return holds, fails


def _shift(like: isl.Set, step: int) -> isl.Map:
    """{ [outer, i] -> [outer, i + step] }"""
    return _onward(like, f"i + ({step})")


def _onward(like: isl.Set, other: str, where: str = "true") -> isl.Map:
    """{ [outer, i] -> [outer, other] : where }"""
    names = [f"o{k}" for k in range(like.dim(isl.dim_type.set) - 1)]
    return relation([*names, "i"], [*names, other], where)
