"""Between isl's piecewise functions of the parameters and formulas."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.exact.formula import Extreme, Floor, Formula, Remainder
from arrayfold.exact.isl import coalesced, fresh_names, integer
from arrayfold.exact.parameter_values import large_parameters

_FEW_PIECES = 24
_FEW_FORMULAS = 3
_FEW_VARIABLES = 12
_FEW_VARIABLES_OF_A_PIECE = 3


def to_pw_aff(formula: Formula, cells: isl.Space | None = None) -> isl.PwAff:
    """An affine formula as a function on the parameters, or on a set space where one is given.

    >>> to_pw_aff(Formula.name("N") * 2 + 1)
    PwAff("[N] -> { [(1 + 2N)] }")
    >>> to_pw_aff(Formula.name("N"), isl.Set("{ A[i] }").get_space())
    PwAff("[N] -> { A[i0] -> [(N)] }")
    """
    if cells is None and all(isinstance(atom, str) for monomial, _ in formula.terms for atom, _ in monomial):
        return _linear(formula)
    domain = ""
    if cells is not None:
        indices = ", ".join(fresh_names("i", cells.dim(isl.dim_type.set), formula.names()))
        domain = f"{cells.get_tuple_name(isl.dim_type.set) or ''}[{indices}] -> "
    text = f"[{', '.join(sorted(formula.names()))}] -> {{ {domain}[({isl_text(formula)})] }}"
    return isl.PwAff(text)


def _linear(formula: Formula) -> isl.PwAff:
    """An affine formula without floors and maxima; isl takes three times as long to read it from text."""
    if not formula.is_affine:
        raise NotAffine(f"{formula} is not affine in the parameters")
    names = sorted(formula.names())
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for k, name in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, k, name)
    aff = isl.Aff.zero_on_domain_space(space)
    for monomial, coefficient in formula.terms:
        value = integer(coefficient.numerator)
        if coefficient.denominator > 1:
            value = value.div(integer(coefficient.denominator))
        if monomial:
            aff = aff.set_coefficient_val(isl.dim_type.param, names.index(str(monomial[0][0])), value)
        else:
            aff = aff.set_constant_val(value)
    return isl.PwAff.from_aff(aff)


def isl_text(formula: Formula) -> str:
    """An affine formula in isl's notation."""
    if not formula.is_affine:
        raise NotAffine(f"{formula} is not affine in the parameters")
    words: list[str] = []
    for monomial, coefficient in formula.terms:
        factor = str(coefficient.numerator)
        for atom, _ in monomial:
            match atom:
                case str():
                    factor += f"*{atom}"
                case Floor(argument, divisor):
                    factor += f"*floor(({isl_text(argument)})/{divisor})"
                case Extreme(kind, arguments):
                    factor += f"*{kind}({', '.join(map(isl_text, arguments))})"
                case Remainder(argument, modulus):
                    factor += f"*(({isl_text(argument)}) mod {modulus})"
        words.append(
            f"({factor})/{coefficient.denominator}" if coefficient.denominator > 1 else f"({factor})"
        )
    return " + ".join(words) or "0"


def from_aff(aff: isl.Aff) -> Formula:
    """An affine expression of the parameters as a formula.

    >>> from_aff(isl.Aff("[N] -> { [(3 + 2*floor((N + 1)/2))] }"))
    2*floor((N + 1)/2) + 3
    """
    total = Formula.constant(_fraction(aff.get_constant_val()))
    for k in range(aff.dim(isl.dim_type.param)):
        coefficient = _fraction(aff.get_coefficient_val(isl.dim_type.param, k))
        if coefficient:
            total += Formula.name(aff.get_dim_name(isl.dim_type.param, k) or "?") * coefficient
    for k in range(aff.dim(isl.dim_type.div)):
        coefficient = _fraction(aff.get_coefficient_val(isl.dim_type.div, k))
        if coefficient:
            total += _floor_of(aff.get_div(k)) * coefficient
    return total


def _floor_of(aff: isl.Aff) -> Formula:
    denominator = int(str(aff.get_denominator_val()))
    return Formula.floor(from_aff(aff) * denominator, denominator)


def _fraction(value: isl.Val) -> Fraction:
    return Fraction(str(value))


def from_qpolynomial(polynomial: isl.QPolynomial) -> Formula:
    """A quasi-polynomial of the parameters as a formula."""
    total = Formula.constant(0)
    for term in polynomial.get_terms():
        product = Formula.constant(_fraction(term.get_coefficient_val()))
        for k in range(term.dim(isl.dim_type.param)):
            power = term.get_exp(isl.dim_type.param, k)
            if power:
                space = polynomial.get_domain_space()
                product *= Formula.name(space.get_dim_name(isl.dim_type.param, k) or "?") ** power
        for k in range(term.dim(isl.dim_type.div)):
            power = term.get_exp(isl.dim_type.div, k)
            if power:
                product *= _floor_of(term.get_div(k)) ** power
        total += product
    return total


def fit(values: isl.PwAff, context: isl.Set, side: Literal["max", "min"]) -> Formula:
    """One formula for a piecewise affine function of the parameters, for all of the context.

    It is the function itself where one formula can say it; otherwise it errs to the given side:
    `max` is never below the function, `min` never above. Where the function is undefined it says nothing.

    >>> fit(isl.PwAff("[N] -> { [(N - 1)] : N >= 4; [(1)] : N = 3 }"), isl.Set("[N] -> { : N >= 3 }"), "max")
    N - 1
    >>> fit(isl.PwAff("[N, M] -> { [(N)] : N >= M; [(M)] : N < M }"), isl.Set("{ : }"), "max")
    max(M, N)
    """
    return simplified(_fit(values, context, side), context)


def _fit(values: isl.PwAff, context: isl.Set, side: Literal["max", "min"]) -> Formula:
    values = coalesced(values.intersect_domain(context.params()))
    domain = values.domain()
    pieces = _whole_pieces(values, side)
    if not pieces:
        return Formula.constant(0)
    covering = [piece for piece in pieces if _is_beyond(piece, values, side)]
    if len(covering) == 1:
        return _only_aff(covering[0])
    if covering:
        probe = large_parameters(context.intersect(domain))
        pick = min if side == "max" else max
        return pick(map(_only_aff, covering), key=lambda formula: formula.evaluate(probe))
    kept = list(pieces)
    for piece in pieces:
        others = [other for other in kept if other is not piece]
        if any(_is_beyond(other, piece.intersect_domain(domain), side) for other in others):
            kept = others
    return Formula.extreme(side, map(_only_aff, kept))


def simplified(formula: Formula, context: isl.Set) -> Formula:
    """The formula without floors whose arguments leave one rest wherever a context { : } holds.

    >>> simplified(Formula.floor(Formula.name("N"), 2) * 8 - 2, isl.Set("[N] -> { : N mod 2 = 0 }"))
    4*N - 2
    >>> n = Formula.name("N")
    >>> simplified(n * Formula.floor(n + 2, 4), isl.Set("[N] -> { : N mod 4 = 3 }"))
    (N^2 + N)/4
    """
    for atom in [one for monomial, _ in formula.terms for one, _ in monomial if isinstance(one, Floor)]:
        inner = simplified(atom.argument, context)
        if not (inner.is_affine and inner.is_whole):
            continue
        rests = to_pw_aff(inner).mod_val(integer(atom.divisor)).intersect_domain(context.params())
        low, high = rests.min_val(), rests.max_val()
        if low.is_int() and low == high:
            whole = (inner - low.to_python()) * Fraction(1, atom.divisor)
            formula = formula.with_atom(atom, whole)
    return formula


def fit_from_above(values: isl.PwAff, context: isl.Set) -> Formula:
    """Like `fit` to the side `max`, but the least of a few formulas where no single one is the function.

    Formulas with floors are not put together: nobody reads them.

    >>> fit_from_above(isl.PwAff("[N] -> { [(N)] : N <= 9; [(9)] : N > 9 }"), isl.Set("[N] -> { : N >= 1 }"))
    min(N, 9)
    """
    values = coalesced(values.intersect_domain(context.params()))
    domain = values.domain()
    least = [piece for piece in _whole_pieces(values, "max") if _is_beyond(piece, values, "max")]
    for piece in tuple(least):
        others = [other for other in least if other is not piece]
        if any(_is_beyond(piece, other.intersect_domain(domain), "max") for other in others):
            least = others
    is_plain = 1 < len(least) <= _FEW_FORMULAS and not any(map(_has_floors, least))
    return Formula.extreme("min", map(_only_aff, least)) if is_plain else fit(values, context, "max")


def _has_floors(values: isl.PwAff) -> bool:
    ((_, aff),) = values.get_pieces()
    return aff.dim(isl.dim_type.div) > 0


def _whole_pieces(values: isl.PwAff, side: Literal["max", "min"]) -> list[isl.PwAff]:
    """The distinct affine pieces, rounded to the given side where they are fractions somewhere."""
    found: list[isl.PwAff] = []
    for _, aff in values.get_pieces():
        rounded = aff if aff.get_denominator_val().is_one() else aff.ceil() if side == "max" else aff.floor()
        piece = isl.PwAff.from_aff(rounded)
        if not any(piece.plain_is_equal(other) for other in found):
            found.append(piece)
    return found


def _is_beyond(piece: isl.PwAff, values: isl.PwAff, side: Literal["max", "min"]) -> bool:
    """Whether an affine piece is on the given side of a function wherever that is defined."""
    ((_, bound),) = piece.get_pieces()
    return all(
        where.is_subset(aff.le_set(bound) if side == "max" else aff.ge_set(bound))
        for where, aff in values.get_pieces()
    )


def _only_aff(values: isl.PwAff) -> Formula:
    ((_, aff),) = values.get_pieces()
    return from_aff(aff)


def exceeding(values: isl.Set, context: isl.Set) -> Formula:
    """A formula that exceeds every value of a one-dimensional set, and is at least 1.

    It is one more than the largest value where one formula can say that. Sets of many pieces are replaced
    by their hull first, and so are sets whose pieces have many variables of their own: exact maxima over them
    take minutes and print as riddles.

    >>> exceeding(isl.Set("[N] -> { [v] : -N < v < N }"), isl.Set("[N] -> { : N >= 1 }"))
    N
    """
    values = coalesced(values.intersect_params(context))
    if values.is_empty():
        return Formula.constant(1)
    counts = [basic.dim(isl.dim_type.div) for basic in values.get_basic_sets()]
    if len(counts) > _FEW_PIECES or sum(counts) > _FEW_VARIABLES or max(counts) > _FEW_VARIABLES_OF_A_PIECE:
        hull = isl.Set.from_basic_set(values.remove_divs().polyhedral_hull())
        values = hull if hull.is_bounded() else values
    nothing = to_pw_aff(Formula.constant(0)).intersect_domain(context.params())
    return fit(values.dim_max(0).union_max(nothing).add_constant_val(isl.Val(1)), context, "max")


def extents(cells: isl.Set, context: isl.Set) -> list[tuple[Formula, Formula]]:
    """Lower end and length of the box that a set spans, dimension by dimension.

    >>> extents(isl.Set("[N] -> { A[i] : 1 <= i < N }"), isl.Set("[N] -> { : N >= 3 }"))
    [(1, N - 1)]
    """
    if cells.is_empty():
        return [(Formula.constant(0), Formula.constant(1))] * cells.dim(isl.dim_type.set)
    lengths = (fit(length, context, "max") for length in _lengths(cells))
    return [(fit(cells.dim_min(k), context, "min"), length) for k, length in enumerate(lengths)]


def box_lengths(cells: isl.Set, context: isl.Set) -> list[Formula]:
    """The lengths of the box that a set with points spans, as closely as formulas can say them.

    >>> box_lengths(isl.Set("[N] -> { A[i] : 0 <= i < N and i < 40 }"), isl.Set("[N] -> { : N >= 1 }"))
    [min(N, 40)]
    """
    return [fit_from_above(length, context) for length in _lengths(cells)]


def _lengths(cells: isl.Set) -> Iterator[isl.PwAff]:
    for k in range(cells.dim(isl.dim_type.set)):
        yield cells.dim_max(k).sub(cells.dim_min(k)).add_constant_val(isl.Val(1))
