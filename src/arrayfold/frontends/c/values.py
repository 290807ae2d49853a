"""Integers that are set in a region: which affine value each of them surely has where the walk stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import Region, assigned_in, variables_with_address
from arrayfold.c.tree import (
    Assign,
    Call,
    CStatement,
    CType,
    Expression,
    Member,
    Opaque,
    Reference,
    Subscript,
    Variable,
    bare,
    declared_in,
    named_in,
    walk,
)
from arrayfold.frontends.c.affine import AffineReader, Scope, Truth
from arrayfold.frontends.c.pointers import PointedElement, joined
from arrayfold.frontends.c.polynomials import Polynomial, PolynomialReader, either

_INT = CType("int", "signed", 32, "int")


class ValueTracker:
    """Puts the last assignment in for a variable, as long as it is the one that surely reaches a place."""

    def __init__(self, affine: AffineReader, region: Region) -> None:
        self._affine = affine
        self._sums = PolynomialReader(affine)
        self._seen = variables_with_address(region.function)

    def _is_tracked(self, variable: Variable) -> bool:
        return (
            variable.type.is_integer
            and not variable.is_array
            and variable.storage in ("local", "parameter")
            and not variable.is_volatile
            and variable not in self._seen
            and variable not in self._affine.iterators
        )

    def before(self, scope: Scope) -> Scope:
        """What is known at the start of the region of variables that it sets again."""
        tracked = (one for one in self._affine.initial if one in self._affine.written)
        values = {one: self._affine.initial_value(one) for one in tracked if self._is_tracked(one)}
        known = {one: value for one, value in values.items() if value is not None}
        return replace(scope, values={**scope.values, **known})

    def declared(self, variable: Variable, scope: Scope) -> Scope:
        """What is known after a declaration."""
        is_set = variable.initial is not None and variable.storage != "static"
        return self._with(variable, variable.initial if is_set else None, scope)

    def evaluated(self, expression: Expression, scope: Scope) -> Scope:
        """What is known after an expression that may be an assignment, or a chain of them."""
        inner = bare(expression)
        match inner:
            case c.Assign(operator=operator, target=target, value=value):
                scope = self.evaluated(value, scope)
                changed = _value_of_chain(value)
            case c.Unary(operator="x++" | "++" | "x--" | "--" as operator, operand=target):
                operator = "+=" if "+" in operator else "-="
                changed = c.Number(inner.span, _INT, 1, "1")
            case _:
                return scope
        reference = bare(target)
        if not isinstance(reference, c.Reference):
            return scope
        if operator != "=":
            changed = _combined(operator.removesuffix("="), reference, changed)
        return self._with(reference.variable, changed, scope)

    def _with(self, variable: Variable, value: Expression | None, scope: Scope) -> Scope:
        """What is known after a variable gets a value, which is none where nothing is known of it."""
        values = {other: known for other, known in scope.values.items() if other is not variable}
        sums = {other: known for other, known in scope.sums.items() if other is not variable}
        if value is not None:
            with suppress(NotAffine):
                if not self._put_affine(variable, value, scope, values) and self._is_tracked(variable):
                    sums[variable] = self._sums.read(value, scope)
        return replace(scope, values=values, sums=sums, definitions=self.defined(variable, value, scope))

    def defined(
        self, variable: Variable, value: Expression | None, scope: Scope
    ) -> dict[Variable, Expression]:
        """What variables are set to after an assignment, as texts of which nothing has changed since."""
        kept = _unchanged(scope.definitions, {variable})
        changing = self._affine.written - kept.keys() - {*scope.iterators}
        can_be_known = variable.is_pointer or (
            self._is_tracked(variable) and value is not None and _reads_variables_alone(value)
        )
        if value is not None and can_be_known and _names(value).isdisjoint(changing):
            kept[variable] = value
        return kept

    def _put_affine(
        self, variable: Variable, value: Expression, scope: Scope, values: dict[Variable, isl.PwAff]
    ) -> bool:
        """Put the value of a variable to the others if it is affine; whether it is."""
        try:
            known = self._affine.attempt(value, scope)
        except NotAffine:
            return False
        if self._is_tracked(variable):
            values[variable] = known
        return True

    def after_choice(self, scope: Scope, truth: Truth, then: Scope, otherwise: Scope) -> Scope:
        """What is known after an if: what both sides agree on, or what an affine condition tells apart."""
        values: dict[Variable, isl.PwAff] = {}
        for variable in (one for one in then.values if one in otherwise.values):
            first, second = (scope.lifted(one.values[variable]) for one in (then, otherwise))
            if first.is_equal(second):
                values[variable] = first
            elif truth.is_exact:
                fails = truth.negated()
                values[variable] = first.intersect_domain(truth.must).union_add(
                    second.intersect_domain(fails.must)
                )
        same = {one: text for one, text in then.definitions.items() if otherwise.definitions.get(one) is text}
        return replace(
            scope,
            values=values,
            definitions=same,
            sums=_sums_after(scope, truth, then, otherwise),
            pointers=_pointers_after(scope, truth, then, otherwise),
        )

    def without_assigned(self, body: CStatement, scope: Scope) -> Scope:
        """What is known at the start of each turn of a loop, and behind it: what it does not change."""
        nodes = list(walk(body))
        changed = {*declared_in(nodes), *assigned_in(nodes)}
        values = {one: value for one, value in scope.values.items() if one not in changed}
        sums = {one: value for one, value in scope.sums.items() if one not in changed}
        pointers = {one: value for one, value in scope.pointers.items() if one not in changed}
        definitions = _unchanged(scope.definitions, changed)
        return replace(scope, values=values, sums=sums, pointers=pointers, definitions=definitions)


def _reads_variables_alone(value: Expression) -> bool:
    """Whether a value is made of variables that are no arrays, and of calls that only compute."""
    for node in walk(value):
        if isinstance(node, Call):
            returned = node.function.returned
            inside = () if returned is None else walk(returned)
            names = {one.variable for one in inside if isinstance(one, Reference)}
            if returned is None or not names <= {*node.function.parameters}:
                return False
            if any(isinstance(one, Call) for one in walk(returned)):
                return False
        if isinstance(node, Reference) and (node.variable.is_array or node.variable.is_pointer):
            return False
        if isinstance(node, Assign | Opaque | Member | Subscript):
            return False
    return True


def _names(value: Expression) -> set[Variable]:
    return set(named_in(walk(value)))


def _unchanged(
    definitions: Mapping[Variable, Expression], changed: Collection[Variable]
) -> dict[Variable, Expression]:
    """The definitions that neither are of variables that change, nor name some."""
    return {
        one: text
        for one, text in definitions.items()
        if one not in changed and _names(text).isdisjoint(changed)
    }


def _sums_after(scope: Scope, truth: Truth, then: Scope, otherwise: Scope) -> dict[Variable, Polynomial]:
    """Sums of products that are known after an if."""
    found: dict[Variable, Polynomial] = {}
    for variable in (one for one in then.sums if one in otherwise.sums):
        first, second = then.sums[variable], otherwise.sums[variable]
        if first is second:
            found[variable] = first
        elif truth.is_exact:
            found[variable] = either(first, second, truth.must, scope)
    return found


def _pointers_after(
    scope: Scope, truth: Truth, then: Scope, otherwise: Scope
) -> dict[Variable, PointedElement]:
    """Where pointers point after an if, as far as that is known."""
    found: dict[Variable, PointedElement] = {}
    for variable in (one for one in then.pointers if one in otherwise.pointers):
        first, second = then.pointers[variable], otherwise.pointers[variable]
        address = first if first is second else None
        if address is None and truth.is_exact:
            address = joined(first, second, truth.must, scope)
        if address is not None:
            found[variable] = address
    return found


def _value_of_chain(value: Expression) -> Expression:
    """What `a = b = x` gives to a: b, after its assignment, with the conversions around it."""
    inner = bare(value)
    if not isinstance(inner, c.Assign):
        return value
    target = bare(inner.target)
    if not isinstance(target, c.Reference):
        return value
    return c.Cast(value.span, value.type, target, is_implied=True)


def _combined(operator: str, reference: c.Reference, value: Expression) -> Expression:
    """`q += x` as an expression: computed in the common type of both, and converted back."""
    left, right = _promoted(reference.type), _promoted(value.type)
    common = left if operator in ("<<", ">>") else _common(left, right)
    other = value if operator in ("<<", ">>") else c.Cast(value.span, common, value, is_implied=True)
    first = c.Cast(reference.span, common, reference, is_implied=True)
    both = c.Binary(value.span, common, operator, first, other)
    return c.Cast(value.span, reference.type, both, is_implied=True)


def _promoted(kind: CType) -> CType:
    return _INT if kind.is_integer and kind.bits < _INT.bits else kind


def _common(left: CType, right: CType) -> CType:
    """The type that C computes in: the wider one, and without sign if both are as wide and one has none."""
    if not (left.is_integer and right.is_integer) or left.bits != right.bits:
        return left if left.bits > right.bits or not right.is_integer else right
    return left if left.kind == "unsigned" else right
