"""C expressions as sums of strides times affine values: `y*w + x` is w times y and 1 times x."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.tree import Expression, Variable
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff, to_pw_aff
from arrayfold.exact.isl import coalesced, integer
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.integers import constant

ONE = Formula.constant(1)
_ZERO = Formula.constant(0)
_MOST_TERMS = 12


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A sum of products of a stride, which is a polynomial of the parameters, and an affine value.

    terms  stride -> { [i] -> [v] }, the strides as the text writes them: 3*x is 3 times x, not 1 times 3x
    """

    terms: Mapping[Formula, isl.PwAff] = field(default_factory=dict[Formula, isl.PwAff])

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for stride, value in other.terms.items():
            terms[stride] = terms[stride].add(value) if stride in terms else value
        return Polynomial(terms)

    def scaled(self, factor: Formula) -> Polynomial:
        """The product with a polynomial of the parameters."""
        if not factor.terms:
            return Polynomial()
        return Polynomial({stride * factor: value for stride, value in self.terms.items()})

    def __neg__(self) -> Polynomial:
        return Polynomial({stride: value.neg() for stride, value in self.terms.items()})

    def mapped(self, change: Callable[[isl.PwAff], isl.PwAff]) -> Polynomial:
        """The same with other values."""
        return Polynomial({stride: change(value) for stride, value in self.terms.items()})

    def as_formula(self) -> Formula | None:
        """It as a polynomial of the parameters; None if iterators are in it, or a parameter decides."""
        total = _ZERO
        for stride, value in self.terms.items():
            pieces = value.get_pieces()
            if value.involves_dims(isl.dim_type.in_, 0, value.dim(isl.dim_type.in_)) or len(pieces) != 1:
                return None
            where, aff = pieces[0]
            if aff.dim(isl.dim_type.div) or not where.plain_is_universe():
                return None
            total += stride * from_aff(aff)
        return total

    def affine(self, space: isl.Space) -> isl.PwAff | None:
        """It as an affine value { [i] -> [v] } in a space; None if it is none."""
        total = constant(space, 0)
        for stride, value in self.terms.items():
            if stride.is_constant:
                total = total.add(value.scale_val(integer(int(stride.as_number()))))
            elif stride.is_affine and value.is_cst():
                total = total.add(to_pw_aff(stride, space).mul(value))
            else:
                return None
        return coalesced(total)

    def strides(self) -> list[Formula]:
        """The strides of what iterators change."""
        return [
            stride
            for stride, value in self.terms.items()
            if value.involves_dims(isl.dim_type.in_, 0, value.dim(isl.dim_type.in_))
        ]


class PolynomialReader:
    """Reads expressions as polynomials. Sums and products are taken as whole numbers: a subscript that is
    right has no part that overflows, and one without sign wraps around back to what is meant."""

    def __init__(self, affine: AffineReader) -> None:
        self._affine = affine

    def read(self, expression: Expression, scope: Scope, depth: int = 0) -> Polynomial:
        """The value of an expression; NotAffine with its place if it is no such sum."""
        match expression:
            case c.Parentheses(inner=inner):
                return self.read(inner, scope, depth)
            case c.Unary(operator="-" | "+" as operator, operand=operand):
                value = self.read(operand, scope, depth)
                return -value if operator == "-" else value
            case c.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
                first, second = self.read(left, scope, depth), self.read(right, scope, depth)
                if operator == "*":
                    return self._product(expression, first, second)
                result = first + (second if operator == "+" else -second)
                if len(result.terms) > _MOST_TERMS:
                    return self._leaf(expression, scope)
                return result
            case c.Cast(operand=operand, type=kind) if kind.is_integer and operand.type.is_integer:
                if kind.is_boolean or kind.bits < min(operand.type.bits, 32):
                    return self._leaf(expression, scope)
                return self._converted(expression, operand, scope, depth)
            case c.Reference(variable=variable) if variable in scope.sums:
                return scope.sums[variable].mapped(scope.lifted)
            case c.Reference(variable=variable) if self._affine.has_initial_value(variable):
                known = self._initial(variable)
                if known is not None:
                    return known.mapped(scope.lifted)
            case _:
                pass
        try:
            return self._leaf(expression, scope)
        except NotAffine:
            found = self._by_parts(expression, scope, depth)
            if found is None:
                raise
            return found

    def _initial(self, variable: Variable) -> Polynomial | None:
        """What a variable is when the region begins, if that is a product such as `plane = w*h`."""
        if self._affine.initial_value(variable) is not None:
            return None
        try:
            found = self.read(self._affine.initial[variable], Scope.outside())
        except NotAffine:
            return None
        return found if found.as_formula() is not None else None

    def _leaf(self, expression: Expression, scope: Scope) -> Polynomial:
        return Polynomial({ONE: self._affine.attempt(expression, scope)})

    def _converted(self, cast: c.Cast, operand: Expression, scope: Scope, depth: int) -> Polynomial:
        """A conversion; where it widens a value without sign, what wraps around before it stays so."""
        if cast.type.bits > operand.type.bits and operand.type.kind == "unsigned":
            try:
                return self._leaf(cast, scope)
            except NotAffine:
                pass
        return self.read(operand, scope, depth)

    def _product(self, expression: c.Binary, left: Polynomial, right: Polynomial) -> Polynomial:
        for value, factor in ((left, right.as_formula()), (right, left.as_formula())):
            if factor is not None:
                return value.scaled(factor)
        raise self._affine.not_affine(expression)

    def _by_parts(self, expression: Expression, scope: Scope, depth: int) -> Polynomial | None:
        """A choice or a call of which the parts are polynomials."""
        match expression:
            case c.Conditional(condition=condition, then=then, otherwise=otherwise):
                truth = self._affine.truth(condition, scope)
                if not truth.is_exact:
                    return None
                fails = truth.negated()
                first = self.read(then, scope.narrowed(truth.must, truth.must), depth)
                second = self.read(otherwise, scope.narrowed(fails.may, fails.must), depth)
                return either(first, second, truth.must, scope)
            case c.Call(function=c.Function(returned=returned)) if returned is not None:
                inside = self._affine.inside_call(expression, scope, depth)
                return None if inside is None else self.read(returned, inside, depth + 1)
            case _:
                return None


def either(then: Polynomial, otherwise: Polynomial, where: isl.Set, scope: Scope) -> Polynomial:
    """One value in some iterations { [i] }, and another one in all others."""
    zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(scope.space)))
    terms: dict[Formula, isl.PwAff] = {}
    for stride in dict.fromkeys([*then.terms, *otherwise.terms]):
        first, second = (scope.lifted(one.terms.get(stride, zero)) for one in (then, otherwise))
        terms[stride] = coalesced(
            first.intersect_domain(where).union_add(second.intersect_domain(where.complement()))
        )
    return Polynomial(terms)
