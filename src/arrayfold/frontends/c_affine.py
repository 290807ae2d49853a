"""C expressions as affine functions of iterators and parameters, conditions as sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

import islpy as isl

from arrayfold._isl import fresh_names
from arrayfold._pieces import in_one_piece
from arrayfold.c.source import CText
from arrayfold.c.tree import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expression,
    Literal_,
    Member,
    Number,
    Opaque,
    Parentheses,
    Reference,
    Subscript,
    Unary,
    Variable,
    walk,
)
from arrayfold.errors import InputError, NotAffine

_COMPARISONS = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}
_DEEPEST_CALL = 20


@dataclass(frozen=True, eq=False)
class Scope:
    """What surrounds a piece of C: the loops, known values, and when it is reached.

    may, must  { [i] }  iterations that may, or surely do, reach it
    values     variables that are known to be affine: { [i] -> [v] } of the loops around their definition
    """

    iterators: tuple[Variable, ...]
    may: isl.Set
    must: isl.Set
    values: Mapping[Variable, isl.PwAff] = field(default_factory=dict[Variable, isl.PwAff])

    def narrowed(self, may: isl.Set, must: isl.Set) -> Scope:
        """The same place, reached less often."""
        return replace(self, may=self.may.intersect(may), must=self.must.intersect(must))

    @property
    def space(self) -> isl.Space:
        """The space of the iterations, without parameters."""
        return isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(self.iterators))


@dataclass(frozen=True, eq=False)
class Truth:
    """When a condition holds: surely in `must`, possibly in `may`; equal for affine ones.

    must, may  { [i] }
    """

    must: isl.Set
    may: isl.Set

    @property
    def is_exact(self) -> bool:
        """Whether the condition depends on nothing but iterators and parameters."""
        return bool(self.must.is_equal(self.may))

    def negated(self) -> Truth:
        """When it fails."""
        return Truth(self.may.complement(), self.must.complement())


class AffineReader:
    """Reads expressions of a region; collects the parameters and what must be assumed of them."""

    def __init__(
        self,
        text: CText,
        names: Mapping[Variable, str],
        written: frozenset[Variable],
        iterators: frozenset[Variable],
    ) -> None:
        self.text = text
        self.names = names
        self.written = written
        self.iterators = iterators
        self.parameters: dict[str, Variable] = {}
        self.assumed = isl.Set("{ : }")

    # ------------------------------------------------ values

    def value(self, expression: Expression, scope: Scope, depth: int = 0) -> isl.PwAff:
        """{ [i] -> [v] }: the value of an expression; NotAffine with its place if it is not affine."""
        result = self._value(expression, scope, depth)
        if expression.type.kind == "unsigned" and not isinstance(expression, Parentheses):
            self._exclude_wrapping(expression, result, scope)
        return result

    def constant(self, expression: Expression) -> int | None:
        """The value of an expression without variables; None if it has some."""
        everything = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
        if any(isinstance(node, Reference) for node in walk(expression)):
            return None
        value = self.value(expression, Scope((), everything, everything))
        return int(str(value.max_val()))

    def _value(self, expression: Expression, scope: Scope, depth: int) -> isl.PwAff:
        match expression:
            case Number(value=value):
                return _constant(scope, value)
            case Reference(variable=variable):
                return self._variable(expression, variable, scope)
            case Parentheses(inner=inner):
                return self.value(inner, scope, depth)
            case Cast(operand=operand, type=kind) if kind.is_integer and operand.type.is_integer:
                value = self.value(operand, scope, depth)
                self._refuse_narrowing(expression, value)
                return value
            case Unary(operator="-" | "+", operand=operand):
                inner = self.value(operand, scope, depth)
                return inner.neg() if expression.operator == "-" else inner
            case Binary(operator="+" | "-" | "*" | "/" | "%" | "<<" | ">>"):
                left = self.value(expression.left, scope, depth)
                right = self.value(expression.right, scope, depth)
                return self._arithmetic(expression, left, right)
            case Conditional():
                truth = self.truth(expression.condition, scope)
                if truth.is_exact:
                    then = self.value(expression.then, scope.narrowed(truth.must, truth.must), depth)
                    fails = truth.negated()
                    otherwise = self.value(expression.otherwise, scope.narrowed(fails.may, fails.may), depth)
                    return then.intersect_domain(truth.must).union_add(otherwise.intersect_domain(fails.must))
            case Call(function=function, arguments=arguments) if function.returned and depth < _DEEPEST_CALL:
                if len(arguments) == len(function.parameters):
                    bound = {
                        parameter: self.value(argument, scope, depth)
                        for parameter, argument in zip(function.parameters, arguments, strict=True)
                    }
                    inside = replace(scope, values={**scope.values, **bound})
                    for local in function.locals:
                        assert local.initial is not None
                        value = self.value(local.initial, inside, depth + 1)
                        inside = replace(inside, values={**inside.values, local: value})
                    return self.value(function.returned, inside, depth + 1)
            case _:
                pass
        raise self._not_affine(expression)

    def _variable(self, expression: Expression, variable: Variable, scope: Scope) -> isl.PwAff:
        if variable in scope.iterators:
            return isl.PwAff.from_aff(
                isl.Aff.var_on_domain(
                    isl.LocalSpace.from_space(scope.space),
                    isl.dim_type.set,
                    len(scope.iterators) - 1 - scope.iterators[::-1].index(variable),
                )
            )
        if variable in scope.values:
            known = scope.values[variable]
            missing = len(scope.iterators) - known.dim(isl.dim_type.in_)
            return known.add_dims(isl.dim_type.in_, missing)
        changes = variable in self.written or variable in self.iterators
        if not variable.type.is_integer or changes or variable.is_volatile or variable not in self.names:
            raise self._not_affine(expression)
        name = self.names[variable]
        self.parameters.setdefault(name, variable)
        (*dims,) = fresh_names("i", len(scope.iterators), [name])
        return isl.PwAff(f"[{name}] -> {{ [{', '.join(dims)}] -> [{name}] }}")

    def _arithmetic(self, expression: Binary, left: isl.PwAff, right: isl.PwAff) -> isl.PwAff:
        match expression.operator:
            case "+":
                return left.add(right)
            case "-":
                return left.sub(right)
            case "*" if left.is_cst() or right.is_cst():
                return left.mul(right)
            case "/" | "%" | "<<" | ">>" if right.is_cst():
                divided = [
                    (self._by_constant(expression, left, aff.get_constant_val().to_python()), where)
                    for where, aff in right.get_pieces()
                ]
                pieces = [piece.intersect_domain(where) for piece, where in divided]
                return reduce(isl.PwAff.union_add, pieces)
            case _:
                raise self._not_affine(expression)

    def _by_constant(self, expression: Binary, left: isl.PwAff, number: int) -> isl.PwAff:
        """C division truncates towards zero, and the remainder has the sign of the dividend."""
        zeros = isl.Set.universe(left.domain().get_space())
        constant = isl.PwAff.from_aff(_constant_aff(zeros, abs(number)))
        if expression.operator in ("<<", ">>") and 0 <= number < 31:
            factor = isl.PwAff.from_aff(_constant_aff(zeros, 1 << number))
            return left.mul(factor) if expression.operator == "<<" else left.div(factor).floor()
        if expression.operator in ("/", "%") and number != 0:
            if expression.operator == "%":
                return left.tdiv_r(constant)
            quotient = left.tdiv_q(constant)
            return quotient if number > 0 else quotient.neg()
        raise self._not_affine(expression)

    # ------------------------------------------------ conditions

    def truth(self, condition: Expression, scope: Scope) -> Truth:
        """When a condition holds; conditions on data may hold anywhere."""
        match condition:
            case Parentheses(inner=inner):
                return self.truth(inner, scope)
            case Cast(operand=operand, type=kind) if kind.is_integer and operand.type.is_integer:
                return self.truth(operand, scope)
            case Unary(operator="!", operand=operand):
                return self.truth(operand, scope).negated()
            case Binary(operator="&&", left=left, right=right):
                first = self.truth(left, scope)
                second = self.truth(right, scope.narrowed(first.may, first.must))
                return Truth(first.must.intersect(second.must), first.may.intersect(second.may))
            case Binary(operator="||", left=left, right=right):
                first = self.truth(left, scope)
                fails = first.negated()
                second = self.truth(right, scope.narrowed(fails.may, fails.must))
                return Truth(first.must.union(second.must), first.may.union(second.may))
            case _:
                pass
        everywhere = isl.Set.universe(scope.space)
        parameters, assumed = dict(self.parameters), self.assumed
        try:
            holds = self._comparison(condition, scope)
        except NotAffine:
            self.parameters, self.assumed = parameters, assumed
            return Truth(isl.Set.empty(scope.space), everywhere)
        return Truth(holds, holds)

    def _comparison(self, condition: Expression, scope: Scope) -> isl.Set:
        if isinstance(condition, Binary) and condition.operator in _COMPARISONS:
            left, right = self.value(condition.left, scope), self.value(condition.right, scope)
            return in_one_piece(getattr(left, _COMPARISONS[condition.operator])(right))
        return self.value(condition, scope).ne_set(_constant(scope, 0)).coalesce()

    # ------------------------------------------------ refusals

    def _exclude_wrapping(self, expression: Expression, value: isl.PwAff, scope: Scope) -> None:
        """Unsigned values are taken as whole numbers, so they must not be negative before they wrap."""
        negative = value.lt_set(_constant(scope, 0)).intersect(scope.may).intersect_params(self.assumed)
        if negative.is_empty():
            return
        depends_on_iterators = value.involves_dims(isl.dim_type.in_, 0, len(scope.iterators))
        excluded = negative.params()
        if depends_on_iterators or self.assumed.is_subset(excluded):
            raise self.text.not_affine(
                "this unsigned value may wrap around below zero",
                expression.span.start,
                "Use a signed type for it, or state what is known: #pragma arrayfold context(N >= 1)",
            )
        self.assumed = self.assumed.subtract(excluded).coalesce()

    def _refuse_narrowing(self, expression: Cast, value: isl.PwAff) -> None:
        is_small = value.is_cst() and -128 <= int(str(value.min_val())) <= int(str(value.max_val())) < 128
        if expression.type.bits < min(32, expression.operand.type.bits) and not is_small:
            raise self.text.not_affine(
                f"the conversion to {expression.type.spelling} may cut the value off", expression.span.start
            )

    def _not_affine(self, expression: Expression) -> InputError:
        offset = expression.span.start
        what, hint = _explain(expression, self.written | self.iterators)
        return self.text.not_affine(what, offset, hint)


def _explain(expression: Expression, written: frozenset[Variable]) -> tuple[str, str | None]:
    match expression:
        case Reference(variable=variable) if variable in written:
            return (
                f"{variable.name} changes inside the region, so this is not affine",
                "Only loop iterators, unchanging integers and sums of their multiples may stand here.",
            )
        case Reference(variable=variable):
            return f"{variable.name} is no integer variable", None
        case Subscript() | Member():
            return (
                "this depends on data that the program computes",
                "Loop bounds and subscripts must be affine in iterators and parameters.",
            )
        case Binary(operator="*"):
            return (
                "the product of two variables is not affine",
                "If one of them is a fixed size, make it a constant: -- -DNAME=VALUE",
            )
        case Binary(operator=operator):
            return f"operator {operator} is affine only with a constant on its right", None
        case Call(function=function):
            return f"the value of {function.name}() is not affine", None
        case Literal_():
            return "this is no integer", None
        case Opaque(what=what):
            return f"this is not affine: {what}", None
        case _:
            return "this is not affine in iterators and parameters", None


def _constant(scope: Scope, value: int) -> isl.PwAff:
    return isl.PwAff.from_aff(_constant_aff(isl.Set.universe(scope.space), value))


def _constant_aff(domain: isl.Set, value: int) -> isl.Aff:
    return isl.Aff.val_on_domain(isl.LocalSpace.from_space(domain.get_space()), isl.Val(str(value)))
