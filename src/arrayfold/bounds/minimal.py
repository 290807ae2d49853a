"""A proved size beside a lower bound: no bound is above it, and for which parameter values it is minimal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.bounds.moments import LowerBound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters, parameter_names
from arrayfold.exact.parameter_values import (
    are_finite,
    first_parameter_points,
    large_parameters,
    smallest_parameters,
)
from arrayfold.exact.parameter_words import in_words
from arrayfold.exact.signs import below, is_at_most
from arrayfold.mapping.modular import EmittableMapping, TableMapping

_LARGE = 10**4
_FIRST = 64
_EXCEEDS = (
    "a lower bound was found that exceeds the size of a proved mapping, so it is wrong and not used; "
    "please report it"
)


@dataclass(frozen=True, eq=False)
class Gap:
    """A proved size and a lower bound that it does not fall below.

    size        of a proved mapping, for all of the context
    bound       as far as it is not above that size
    context     { : }  of the problem, also where there are no cells
    params      parameter values that the request fixed; None unless it fixed all of them
    size_here   the size at these, and the bound, if it is known
    only_here   the mapping is meant for these parameter values only
    """

    size: Formula
    bound: LowerBound
    context: isl.Set
    params: Mapping[str, int] | None
    size_here: int | None
    bound_here: int | None
    only_here: bool = False

    @staticmethod
    def of(
        size: Formula,
        bound: LowerBound,
        context: isl.Set,
        params: Mapping[str, int] | None = None,
        *,
        size_here: int | None = None,
        only_here: bool = False,
    ) -> Gap:
        """Both, after a look at whether the bound can be true: the size is one that suffices.

        size_here  the size at these parameter values, where it may be smaller than the formula says
        only_here  the size is one at these parameter values, and there is none for others
        """
        context = context.params()
        bound_here = None
        if params is not None:
            size_here = size.at(params) if size_here is None else size_here
            bound_here = bound.at(params)
        is_above_here = size_here is not None and bound_here is not None and bound_here > size_here
        if is_above_here:
            bound = _without(bound)
        elif not only_here:
            bound = not_above(bound, size, context)
        if bound.remark:
            bound_here = 0 if size_here == 0 else None
        return Gap(size, bound, context, params, size_here, bound_here, only_here)

    @cached_property
    def minimal_where(self) -> isl.Set:
        """{ : }: the parameter values for which no mapping is shown to be smaller."""
        here = isl.Set.empty(self.context.get_space())
        if self.params is not None and self.size_here == self.bound_here:
            here = self.context.intersect(fix_parameters(self.params))
        if self.only_here:
            return here
        found = self.bound.reached(self.size, self.context).union(here)
        cells = self.bound.where
        if self.params is not None and self.size_here and self.bound_here == 0:
            found = found.subtract(fix_parameters(self.params))
        is_known = cells is None or cells.is_empty() or not found.is_disjoint(cells)
        return found if is_known else isl.Set.empty(self.context.get_space())

    @property
    def is_minimal_everywhere(self) -> bool:
        """Whether no mapping is smaller, for all of the context."""
        return bool(self.context.is_subset(self.minimal_where))

    @property
    def is_minimal(self) -> bool:
        """Whether no mapping is smaller: for all of the context, or at the parameter values of the request.

        The latter counts where the size is the formula of the bound, or that is not known for all sizes.
        """
        if self.is_minimal_everywhere:
            return True
        formula = self.bound.formula
        can_be = self.only_here or formula is None or formula == self.size or self.bound.when is None
        return self.params is not None and self.size_here == self.bound_here and can_be

    @property
    def words(self) -> str:
        """`minimal`, with the parameter values for which it holds; nothing where that is not known.

        Values are named if they are all large ones, or those of the request are among them.
        """
        if self.is_minimal_everywhere or (self.only_here and self.is_minimal):
            return "minimal"
        where = self.minimal_where
        is_asked = self.params is not None and not where.intersect(self._cells).is_disjoint(
            fix_parameters(self.params)
        )
        if where.is_empty() or not (is_asked or _holds_for_large(where, self.context)):
            return ""
        told = self._telling(where)
        return f"minimal for {in_words(told, self._cells) or in_words(told, self.context)}"

    @property
    def shown_for(self) -> str:
        """The parameter values for which the formula of the bound was shown, in words; nothing if all."""
        return self._shown_among(self.context)

    @property
    def shown_for_cells(self) -> str:
        """The same among the parameter values for which there are cells."""
        return self._shown_among(self._cells)

    def _shown_among(self, sizes: isl.Set) -> str:
        when = self.bound.when
        return "" if self.bound.formula is None or when is None else in_words(self._telling(when), sizes)

    @cached_property
    def _cells(self) -> isl.Set:
        """{ : }: the parameter values for which there are cells; all if there are none for any."""
        cells = self.bound.where
        return self.context if cells is None or cells.is_empty() else self.context.intersect(cells)

    def _telling(self, where: isl.Set) -> isl.Set:
        """{ : }: of some parameter values those worth telling, for which there are cells.

        Where it holds for large ones, a few small ones besides are left out, unless they were asked for.
        """
        cells = self._cells
        where = where.intersect(cells)
        if are_finite(cells):
            return where
        large = isl.Set.empty(where.get_space())
        for basic in where.get_basic_sets():
            piece = isl.Set.from_basic_set(basic)
            if _holds_for_large(piece, cells):
                large = large.union(piece)
        is_small = self.params is not None and large.is_disjoint(fix_parameters(self.params))
        return where if large.is_empty() or is_small else large

    @property
    def no_cells(self) -> str:
        """The parameter values without cells, in words, if size and bound do not say so themselves."""
        where = self.bound.where
        if where is None or (self._says_no_cells(self.size) and self.bound_says_no_cells):
            return ""
        return in_words(self.context.subtract(where), self.context)

    @property
    def bound_says_no_cells(self) -> bool:
        """Whether the formula of the bound, if there is one, is zero where there are no cells."""
        return self.bound.formula is None or self._says_no_cells(self.bound.formula)

    def _says_no_cells(self, formula: Formula) -> bool:
        where = self.bound.where
        return where is None or is_at_most(formula, Formula.constant(0), self.context.subtract(where))

    @property
    def is_bound_known(self) -> bool:
        """Whether there is a bound to tell: a formula, or a number at the parameter values of the request."""
        return self.bound.formula is not None or self.bound_here is not None

    @property
    def times(self) -> float | None:
        """How many times as large as the bound the size is, at the parameter values of the request."""
        return self.size_here / self.bound_here if self.size_here and self.bound_here else None


def gap_of(
    mapping: EmittableMapping, bound: LowerBound, conflicts: Conflicts, params: Mapping[str, int]
) -> Gap:
    """A proved mapping of an array beside a bound; a table is one at its own parameter values."""
    if bound.where is None and not conflicts.whole_context.is_subset(conflicts.context):
        bound = replace(bound, where=conflicts.context)
    if isinstance(mapping, TableMapping):
        return Gap.of(mapping.size, bound, conflicts.whole_context, mapping.params, only_here=True)
    is_sized = set(parameter_names(conflicts.context)) <= set(params)
    size = conflicts.size_of(mapping.moduli)
    if bound.is_as_counted(mapping.size) or _says_more(size, bound, conflicts.whole_context):
        # The same number, written as the size is.
        bound = bound.written(size, conflicts.whole_context)
    size_here = conflicts.size_at(size, params) if is_sized else None
    return Gap.of(size, bound, conflicts.whole_context, params if is_sized else None, size_here=size_here)


def _says_more(size: Formula, bound: LowerBound, context: isl.Set) -> bool:
    """Whether a bound is a size for all of a context, or for large values of which its formula is silent."""
    if bound.formula is None or bound.formula == size:
        return False
    cells = context if bound.where is None else context.intersect(bound.where)
    reached = bound.reached(size, cells)
    if cells.is_subset(reached):
        return not cells.is_empty()
    return bound.when is not None and _holds_for_large(reached.subtract(bound.when), context)


def not_above(bound: LowerBound, size: Formula, where: isl.Set) -> LowerBound:
    """The bound, or none where it is above a size that was proved to suffice at parameter values { : }.

    It holds for every proved mapping, so that one which is not used can show that it is wrong.
    """
    return _without(bound) if _exceeds(bound, size, where.params()) else bound


def is_above_somewhere(formula: Formula, size: Formula, where: isl.Set) -> bool:
    """Whether a formula is above a size: exactly if both are affine, and at sample points elsewhere."""
    if where.is_empty() or formula == size:
        return False
    difference = size - formula
    if difference.is_affine:
        return not where.is_disjoint(below(difference, 0))
    return any(
        difference.number(point) < 0
        for basic in where.get_basic_sets()
        for point in _sample_points(isl.Set.from_basic_set(basic))
    )


def _sample_points(where: isl.Set) -> Iterator[dict[str, int]]:
    yield from first_parameter_points(where, _FIRST)
    yield large_parameters(where)
    yield smallest_parameters(where)


def _without(bound: LowerBound) -> LowerBound:
    return LowerBound(where=bound.where, remark=_EXCEEDS)


def _holds_for_large(where: isl.Set, context: isl.Set) -> bool:
    """Whether there are values in a set that are large for each parameter which can be large."""
    far = large_parameters(context)
    for name in parameter_names(context):
        least = min(far[name], _LARGE)
        where = where.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {least} }}"))
    return not where.is_empty()


def _exceeds(bound: LowerBound, size: Formula, context: isl.Set) -> bool:
    """Whether some formula of a bound is above a size where it should hold and there are cells."""
    context = context if bound.where is None else context.intersect(bound.where)
    return any(
        is_above_somewhere(formula, size, where.intersect(context))
        for where, formulas in _claims(bound)
        for formula in formulas
    )


def _claims(bound: LowerBound) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
    yield from bound.pieces
    if bound.formula is not None:
        yield isl.Set("{ : }") if bound.when is None else bound.when, (bound.formula,)
