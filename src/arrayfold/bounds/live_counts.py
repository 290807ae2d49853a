"""How many cells are live at a moment, counted for all sizes at once (barvinok inside islpy).

The number of cells at a moment is a piecewise quasi-polynomial of the moment and the parameters. Its maximum
over the moments is wanted as a formula of the parameters, and only of moments that there are:

- Where the number is affine, its values are a Presburger set, whose largest element isl finds exactly.
- Elsewhere moments are looked at one by one: corners of a piece, rounded to whole numbers, and its first and
  last moments. Each counts only for parameter values at which it is a moment of that piece.

isl's own bound of a polynomial (Bernstein expansion) is one over all rational points, floors taken as free,
even where isl calls it tight; it is above the number at every moment. So it serves for one thing: where a
moment attains it there are no larger numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, TypeAlias, cast

import islpy as isl

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff, from_qpolynomial, isl_text, to_pw_aff
from arrayfold.exact.generators import vertices
from arrayfold.exact.isl import first_images, fresh_names, last_images, parameter_names

Counts: TypeAlias = list[tuple[isl.Set, tuple[Formula, ...]]]

_MOST_CORNERS = 24
_MOST_ROUNDED = 4


def largest_counts(moments: isl.Map) -> tuple[bool, Counts]:
    """Whether the largest count is known, and parameter sets with formulas that some moment attains there.

    moments  { [t] -> A[x] }
    """
    found: Counts = []
    is_largest = True
    for domain, polynomial in _card(moments).get_pieces():
        piece = _Piece(domain, polynomial)
        if piece.count.is_affine:
            found += piece.exact_maximum()
            continue
        attained = list(piece.at_some_moments())
        is_largest = is_largest and piece.is_never_above(attained)
        found += attained
    return is_largest, found


def counts_at_ends(moments: isl.Map) -> tuple[bool, Counts]:
    """The counts at the first and last moment of each piece: attained, if not always the largest."""
    found: Counts = []
    for domain, _ in _card(moments).get_pieces():
        times = isl.Map.from_range(domain)
        for moment in (first_images(times).range(), last_images(times).range()):
            for where, polynomial in _card(moments.intersect_domain(moment).range()).get_pieces():
                found.append((where, (from_qpolynomial(polynomial),)))
    return False, found


class _Piece:
    """Moments at which the number of cells is one quasi-polynomial.

    domain  { [t] }  the moments
    where   { : }    the same with times as further parameters
    times   names of these
    count   the number of cells, a formula of the parameters and times
    """

    def __init__(self, domain: isl.Set, polynomial: isl.QPolynomial) -> None:
        self.domain = domain
        rank = domain.dim(isl.dim_type.set)
        self.names = parameter_names(domain)
        self.times = fresh_names("t", rank, self.names)
        self.polynomial = polynomial
        known = domain.dim(isl.dim_type.param)
        named = domain.move_dims(isl.dim_type.param, known, isl.dim_type.set, 0, rank)
        moved = polynomial.move_dims(isl.dim_type.param, known, isl.dim_type.in_, 0, rank)
        for k, time in enumerate(self.times):
            named = named.set_dim_name(isl.dim_type.param, known + k, time)
            moved = moved.set_dim_name(isl.dim_type.param, known + k, time)
        self.where = named.params()
        self.count = from_qpolynomial(moved)

    def exact_maximum(self) -> Counts:
        """The largest number of cells, where that is affine in moment and parameters."""
        names = ", ".join([*self.names, *self.times])
        scale = self.count.denominator
        equation = f"{scale}*v = {isl_text(self.count * scale)}"
        values = isl.Set(f"[{names}] -> {{ [v] : {equation} }}").intersect_params(self.where)
        for time in self.times:
            values = values.project_out(
                isl.dim_type.param, values.find_dim_by_name(isl.dim_type.param, time), 1
            )
        # The maximum is a whole number, so that its floor says the same without fractions.
        return [(here, (from_aff(aff.floor()),)) for here, aff in values.dim_max(0).get_pieces()]

    def at_some_moments(self) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
        """Where there are such moments, { : }, and how many cells are live at them."""
        for here, moment in (*self._rounded_corners(), *self._ends()):
            values = dict(zip(self.times, moment, strict=True))
            where = here.intersect(self._where_there_is(moment))
            if not where.is_empty():
                yield where, (self.count.replace_names(values),)

    def is_never_above(self, attained: Counts) -> bool:
        """Whether isl's bound shows that there are no larger numbers than those that are attained."""
        bound, _ = isl.PwQPolynomial.alloc(self.domain, self.polynomial).bound(isl.fold.max)
        nowhere = isl.Set.empty(self.where.get_space())
        return all(
            where.is_subset(
                reduce(isl.Set.union, (here for here, found in attained if formula in found), nowhere)
            )
            for where, formulas in _fold_pieces(bound)
            for formula in formulas
        )

    def _where_there_is(self, moment: Sequence[Formula]) -> isl.Set:
        """{ : }: the parameter values for which a vector of formulas is a moment of the piece."""
        found = self.where
        for time, value in zip(self.times, moment, strict=True):
            equal = to_pw_aff(Formula.name(time)).eq_set(to_pw_aff(value)).params()
            found = found.intersect(equal)
        for time in self.times:
            found = found.project_out(isl.dim_type.param, found.find_dim_by_name(isl.dim_type.param, time), 1)
        return found

    def _rounded_corners(self) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
        corners = itertools.chain(*map(vertices, self.domain.remove_divs().get_basic_sets()))
        for where, entries in itertools.islice(corners, _MOST_CORNERS):
            choices = [
                [aff] if aff.get_denominator_val().is_one() else [aff.floor(), aff.ceil()] for aff in entries
            ]
            # A corner exists for parameters in its own domain; rounded it may be a moment beyond that.
            is_exact = all(len(one) == 1 for one in choices)
            here = isl.Set.from_basic_set(where).params() if is_exact else isl.Set("{ : }")
            for rounded in itertools.islice(itertools.product(*choices), _MOST_ROUNDED):
                yield here, tuple(map(from_aff, rounded))

    def _ends(self) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
        times = isl.Map.from_range(self.domain)
        for ends in (first_images(times), last_images(times)):
            found: list[tuple[isl.Set, isl.MultiAff]] = []
            ends.range().as_pw_multi_aff().foreach_piece(lambda w, m, f=found: f.append((w, m)))
            for where, moment in found:
                yield (
                    where.params(),
                    tuple(from_aff(moment.get_at(k)) for k in range(moment.dim(isl.dim_type.out))),
                )


def _card(items: isl.Map | isl.Set) -> isl.PwQPolynomial:
    return cast(Any, items).card()


def _fold_pieces(bound: isl.PwQPolynomialFold) -> Iterator[tuple[isl.Set, tuple[Formula, ...]]]:
    found: list[tuple[isl.Set, isl.QPolynomialFold]] = []
    bound.foreach_piece(lambda where, fold: found.append((where, fold)))
    for where, fold in found:
        polynomials: list[isl.QPolynomial] = []
        fold.foreach_qpolynomial(polynomials.append)
        yield where, tuple(from_qpolynomial(polynomial) for polynomial in polynomials)
