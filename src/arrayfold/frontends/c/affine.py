"""C expressions as affine functions of iterators and parameters, conditions as sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import CText
from arrayfold.c.tree import Expression, Variable, bare, named_in, walk
from arrayfold.exact.isl import coalesced, fresh_names, integer
from arrayfold.exact.pieces import in_one_piece
from arrayfold.frontends.c import integers
from arrayfold.frontends.c.assumptions import Need

if TYPE_CHECKING:
    from arrayfold.frontends.c.pointers import PointedElement
    from arrayfold.frontends.c.polynomials import Polynomial

_COMPARISONS = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}
_DEEPEST_CALL = 20
_ABSOLUTE = frozenset(prefix + name for prefix in ("", "__builtin_") for name in ("abs", "labs", "llabs"))
_MOST_QUOTIENT = 2


@dataclass(frozen=True, eq=False)
class Scope:
    """What surrounds a piece of C: the loops, known values, and when it is reached.

    may, must  { [i] }  iterations that may, or surely do, reach it
    values     variables that are known to be affine: { [i] -> [v] } of the loops around their definition
    sums       variables that are known to be sums of strides times affine values
    pointers   pointers of which it is known where into which array they point
    definitions  what variables were set to, as long as that has the same value
    """

    iterators: tuple[Variable, ...]
    may: isl.Set
    must: isl.Set
    values: Mapping[Variable, isl.PwAff] = field(default_factory=dict[Variable, isl.PwAff])
    sums: Mapping[Variable, Polynomial] = field(default_factory=dict["Variable", "Polynomial"])
    pointers: Mapping[Variable, PointedElement] = field(default_factory=dict["Variable", "PointedElement"])
    definitions: Mapping[Variable, Expression] = field(default_factory=dict["Variable", "Expression"])

    @classmethod
    def outside(cls) -> Scope:
        """A place that no loop is around, and that is always reached."""
        always = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
        return cls((), always, always)

    def inside(self, variable: Variable) -> Scope:
        """A place in a loop, before anything is known of its iterations."""
        may, must = (one.add_dims(isl.dim_type.set, 1) for one in (self.may, self.must))
        return replace(self, iterators=(*self.iterators, variable), may=may, must=must)

    def narrowed(self, may: isl.Set, must: isl.Set) -> Scope:
        """The same place, reached less often."""
        return replace(self, may=self.may.intersect(may), must=self.must.intersect(must))

    def lifted(self, value: isl.PwAff) -> isl.PwAff:
        """A function of the first loops around, such as those around an assignment, as one of all of them."""
        return value.add_dims(isl.dim_type.in_, len(self.iterators) - value.dim(isl.dim_type.in_))

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
    """Reads expressions of a region as C means them; collects the parameters.

    known  { : }  what is known of the parameters beside their types
    initial  what variables are set to before the region, which has the same value in it
    wraps  the values so far that wrap around
    needs  what must not happen, because no model can be made of it
    """

    def __init__(
        self,
        text: CText,
        names: Mapping[Variable, str],
        written: frozenset[Variable],
        iterators: frozenset[Variable],
        known: isl.Set | None = None,
        initial: Mapping[Variable, Expression] | None = None,
    ) -> None:
        self.text = text
        self.initial = initial or {}
        self.names = names
        self.written = written
        self.iterators = iterators
        self.parameters: dict[str, Variable] = {}
        self.known = known if known is not None else isl.Set("{ : }")
        self.wraps: list[integers.Wrap] = []
        self.needs: list[Need] = []
        self._left_out: list[isl.Set] | None = None
        self._values_of_parameters: dict[tuple[str, int], isl.PwAff] = {}
        self._ranges: dict[tuple[tuple[str, ...], tuple[Variable, ...]], isl.Set] = {}

    # ------------------------------------------------ values

    def value(self, expression: Expression, scope: Scope, depth: int = 0) -> isl.PwAff:
        """{ [i] -> [v] }: the value of an expression; NotAffine with its place if it is not affine."""
        result = self._value(expression, scope, depth)
        match expression:
            case c.Cast(type=kind, operand=operand):
                if kind.is_boolean and not operand.type.is_boolean:
                    return integers.as_truth(result)
                if kind.is_integer and not integers.holds_all_of(kind, operand.type):
                    return self._fitted(expression, result, scope)
            case c.Unary(type=kind) | c.Binary(type=kind) if kind.kind == "unsigned":
                return self._fitted(expression, result, scope)
            case _:
                pass
        return result

    def value_with_wraps(self, expression: Expression, scope: Scope) -> tuple[isl.PwAff, list[integers.Wrap]]:
        """The value of an expression, and what wraps around on the way to it."""
        count = len(self.wraps)
        value = self.value(expression, scope)
        return value, self.wraps[count:]

    def attempt(self, expression: Expression, scope: Scope) -> isl.PwAff:
        """The same as `value`, but it leaves nothing behind if the value is not affine."""
        parameters, count = dict(self.parameters), len(self.wraps)
        try:
            return self.value(expression, scope)
        except NotAffine:
            self.parameters = parameters
            del self.wraps[count:]
            raise

    def subscript(self, expression: Expression, scope: Scope) -> isl.PwAff:
        """The value of a subscript; where it wraps around to what no array has, that must not happen."""
        value, wraps = self.value_with_wraps(expression, scope)
        for wrap in wraps:
            is_huge = integers.is_huge_only(wrap.where.params(), self.parameters)
            if not is_huge:
                # What wraps around twice may be an ordinary subscript again.
                negative = value.lt_set(integers.constant(scope.space, 0))
                strange = integers.beyond_ordinary(value).union(negative)
                wrap = replace(wrap, where=wrap.where.intersect(strange))
            usual = integers.ordinary_sizes(self.parameters)
            if is_huge or not wrap.where.intersect_params(usual).is_empty():
                need = Need.of_wrap(self.text, wrap, scope.may.params())
                self.needs.append(replace(need, may_assume=is_huge or not wrap.is_cut))
        return value

    def extent(self, expression: Expression, scope: Scope) -> isl.PwAff:
        """The extent of an array, which must not wrap around."""
        value, wraps = self.value_with_wraps(expression, scope)
        self.needs += [Need.of_wrap(self.text, wrap, scope.may.params()) for wrap in wraps]
        return value

    def within_types(self, scope: Scope) -> isl.Set:
        """{ [i] }: iterations and parameter values that their types and what is known allow."""
        key = tuple(self.parameters), scope.iterators
        if key not in self._ranges:
            self._ranges[key] = integers.type_ranges(self.parameters, scope.iterators)
        return self._ranges[key].intersect_params(self.known)

    def _fitted(self, expression: Expression, value: isl.PwAff, scope: Scope) -> isl.PwAff:
        """A value as the type of an expression keeps it."""
        below, above = integers.leaving(value, expression.type)
        possible = self.within_types(scope).intersect(scope.may)
        is_low, is_high = (not part.intersect(possible).is_empty() for part in (below, above))
        if not (is_low or is_high):
            return value
        # Sizes that their types exclude go on as if nothing wrapped: then large ones are not a special case.
        if value.involves_dims(isl.dim_type.param, 0, value.dim(isl.dim_type.param)):
            above = above.intersect_params(self.within_types(replace(scope, iterators=())).params())
        parts = ([below] if is_low else []) + ([above] if is_high else [])
        where = reduce(isl.Set.union, parts)
        reached = where.intersect(possible)
        if self._left_out is not None:
            self._left_out.append(reached)
            return value
        span = expression.span
        text = " ".join(self.text.text[span.start : span.end].split()) if span.is_text else "a value"
        is_cut = isinstance(expression, c.Cast) and expression.type.bits < expression.operand.type.bits
        is_unsigned = expression.type.kind == "unsigned"
        self.wraps.append(
            integers.Wrap(
                span.start,
                text,
                expression.type,
                reached,
                where.project_out(isl.dim_type.set, 0, len(scope.iterators)).params(),
                is_cut,
                is_low and is_unsigned and not is_cut,
            )
        )
        return integers.wrapped(value, expression.type, where, reached)

    def constant(self, expression: Expression) -> int | None:
        """The value of an expression without variables; None if it has some."""
        if any(named_in(walk(expression))):
            return None
        return int(str(self.value(expression, Scope.outside()).max_val()))

    def _value(self, expression: Expression, scope: Scope, depth: int) -> isl.PwAff:
        match expression:
            case c.Number(value=value):
                return integers.constant(scope.space, value)
            case c.Reference(variable=variable):
                return self._variable(expression, variable, scope)
            case c.Parentheses(inner=inner):
                return self.value(inner, scope, depth)
            case c.Cast(operand=operand, type=kind) if kind.is_integer and operand.type.is_integer:
                return self.value(operand, scope, depth)
            case c.Unary(operator="-" | "+" | "~", operand=operand):
                inner = self.value(operand, scope, depth)
                if expression.operator == "~":
                    return inner.neg().add_constant_val(isl.Val(-1))
                return inner.neg() if expression.operator == "-" else inner
            case c.Binary(operator="+" | "-" | "*" | "/" | "%" | "<<" | ">>"):
                left = self.value(expression.left, scope, depth)
                right = self.value(expression.right, scope, depth)
                return self._arithmetic(expression, left, right, scope)
            case c.Conditional():
                truth = self.truth(expression.condition, scope)
                if truth.is_exact:
                    then = self.value(expression.then, scope.narrowed(truth.must, truth.must), depth)
                    fails = truth.negated()
                    otherwise = self.value(expression.otherwise, scope.narrowed(fails.may, fails.may), depth)
                    return then.intersect_domain(truth.must).union_add(otherwise.intersect_domain(fails.must))
            case c.Call(function=c.Function(name=name, has_body=False), arguments=(operand,)) if (
                name in _ABSOLUTE
            ):
                inner = self.value(operand, scope, depth)
                return inner.max(inner.neg())
            case c.Call(function=c.Function(returned=returned)) if returned is not None:
                inside = self.inside_call(expression, scope, depth)
                if inside is not None:
                    return self.value(returned, inside, depth + 1)
            case _:
                pass
        raise self.not_affine(expression)

    def inside_call(self, call: c.Call, scope: Scope, depth: int = 0) -> Scope | None:
        """The scope of what a simple function returns; None if it is not called as it should be."""
        function = call.function
        if depth >= _DEEPEST_CALL or len(call.arguments) != len(function.parameters):
            return None
        bound = {
            parameter: self._argument(argument, parameter, scope, depth)
            for parameter, argument in zip(function.parameters, call.arguments, strict=True)
        }
        inside = replace(scope, values={**scope.values, **bound})
        for local in function.locals:
            assert local.initial is not None
            value = self.value(local.initial, inside, depth + 1)
            inside = replace(inside, values={**inside.values, local: value})
        return inside

    def _argument(self, argument: Expression, parameter: Variable, scope: Scope, depth: int) -> isl.PwAff:
        """What a function finds in a parameter: the argument, converted to its type."""
        kind = parameter.type
        if not kind.is_integer or not argument.type.is_integer:
            raise self.not_affine(argument)
        if (kind.kind, kind.bits) == (argument.type.kind, argument.type.bits):
            return self.value(argument, scope, depth)
        return self.value(c.Cast(argument.span, kind, argument, is_implied=True), scope, depth)

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
            return scope.lifted(scope.values[variable])
        changes = variable in self.written or variable in self.iterators
        if not variable.type.is_integer or changes or variable.is_volatile or variable not in self.names:
            raise self.not_affine(expression)
        known = self.initial_value(variable)
        if known is not None:
            return scope.lifted(known)
        name = self.names[variable]
        self.parameters.setdefault(name, variable)
        return self._parameter(name, len(scope.iterators))

    def _parameter(self, name: str, depth: int) -> isl.PwAff:
        """[p] -> { [i] -> [p] }: a parameter in the iterations of so many loops."""
        if (name, depth) not in self._values_of_parameters:
            dims = ", ".join(fresh_names("i", depth, [name]))
            self._values_of_parameters[name, depth] = isl.PwAff(f"[{name}] -> {{ [{dims}] -> [{name}] }}")
        return self._values_of_parameters[name, depth]

    def has_initial_value(self, variable: Variable) -> bool:
        """Whether a variable has the value in the region that it is declared with."""
        return variable in self.initial and variable not in self.written and variable not in self.iterators

    def initial_value(self, variable: Variable) -> isl.PwAff | None:
        """{ [] -> [v] }: what a variable is when the region begins; None if no affine form says that."""
        if variable not in self.initial:
            return None
        try:
            return self.attempt(self.initial[variable], Scope.outside())
        except NotAffine:
            return None

    def _arithmetic(self, expression: c.Binary, left: isl.PwAff, right: isl.PwAff, scope: Scope) -> isl.PwAff:
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
            case "/" | "%":
                return self._by_size(expression, left, right, scope)
            case _:
                raise self.not_affine(expression)

    def _by_size(self, expression: c.Binary, left: isl.PwAff, right: isl.PwAff, scope: Scope) -> isl.PwAff:
        """Division by something that fits into the dividend a few times at most, wherever it is computed."""
        reached = self.within_types(scope).intersect(scope.may)
        pieces: list[isl.PwAff] = []
        for number in range(-_MOST_QUOTIENT, _MOST_QUOTIENT + 1):
            rest = left.sub(right.scale_val(integer(number)))
            quotient = integers.constant(left.get_domain_space(), number)
            where = quotients(left, right, number)
            pieces.append((quotient if expression.operator == "/" else rest).intersect_domain(where))
            reached = reached.subtract(where)
        if not reached.is_empty():
            raise self.not_affine(expression)
        return coalesced(reduce(isl.PwAff.union_add, pieces))

    def _by_constant(self, expression: c.Binary, left: isl.PwAff, number: int) -> isl.PwAff:
        """C division truncates towards zero, and the remainder has the sign of the dividend."""
        space = left.get_domain_space()
        match expression.operator:
            case "<<" if 0 <= number < 31:
                return left.mul(integers.constant(space, 1 << number))
            case ">>" if 0 <= number < 31:
                return left.div(integers.constant(space, 1 << number)).floor()
            case "%" if number != 0:
                return left.tdiv_r(integers.constant(space, abs(number)))
            case "/" if number != 0:
                quotient = left.tdiv_q(integers.constant(space, abs(number)))
                return quotient if number > 0 else quotient.neg()
            case _:
                raise self.not_affine(expression)

    # ------------------------------------------------ conditions

    def truth(self, condition: Expression, scope: Scope) -> Truth:
        """When a condition holds; conditions on data may hold anywhere."""
        match condition:
            case c.Parentheses(inner=inner):
                return self.truth(inner, scope)
            case c.Cast(operand=operand, type=kind) if kind.is_integer and _is_zero_or_one(operand):
                return self.truth(operand, scope)
            case c.Unary(operator="!", operand=operand):
                return self.truth(operand, scope).negated()
            case c.Binary(operator="&&", left=left, right=right):
                first = self.truth(left, scope)
                second = self.truth(right, scope.narrowed(first.may, first.must))
                return Truth(first.must.intersect(second.must), first.may.intersect(second.may))
            case c.Binary(operator="||", left=left, right=right):
                first = self.truth(left, scope)
                fails = first.negated()
                second = self.truth(right, scope.narrowed(fails.may, fails.must))
                return Truth(first.must.union(second.must), first.may.union(second.may))
            case _:
                pass
        everywhere = isl.Set.universe(scope.space)
        parameters, count = dict(self.parameters), len(self.wraps)
        try:
            holds = self._comparison(condition, scope)
            if len(self.wraps) > count:
                holds = coalesced(holds.gist(self.within_types(scope)))
        except NotAffine:
            self.parameters = parameters
            del self.wraps[count:]
            return Truth(isl.Set.empty(scope.space), everywhere)
        return Truth(holds, holds)

    def truth_without_wraps(self, condition: Expression, scope: Scope) -> tuple[Truth, isl.Set]:
        """When a condition holds if nothing wraps around, and { [i] } where something does."""
        self._left_out = []
        try:
            truth = self.truth(condition, scope)
            return truth, reduce(isl.Set.union, self._left_out, isl.Set.empty(scope.space))
        finally:
            self._left_out = None

    def _comparison(self, condition: Expression, scope: Scope) -> isl.Set:
        if isinstance(condition, c.Binary) and condition.operator in _COMPARISONS:
            left, right = self.value(condition.left, scope), self.value(condition.right, scope)
            return in_one_piece(getattr(left, _COMPARISONS[condition.operator])(right))
        return coalesced(self.value(condition, scope).ne_set(integers.constant(scope.space, 0)))

    # ------------------------------------------------ refusals

    def not_affine(self, expression: Expression) -> InputError:
        """What to raise where an expression is not affine."""
        offset = expression.span.start
        what, hint = _explain(expression, self.written | self.iterators)
        return self.text.not_affine(what, offset, hint)


def quotients(left: isl.PwAff, right: isl.PwAff, number: int) -> isl.Set:
    """{ [i] }: where C's left / right is a number, and right is positive."""
    rest = left.sub(right.scale_val(integer(number)))
    positive = right.pos_set()
    if number == 0:
        return positive.intersect(rest.lt_set(right)).intersect(rest.neg().lt_set(right))
    rest = rest if number > 0 else rest.neg()
    return positive.intersect(rest.nonneg_set()).intersect(rest.lt_set(right))


def _is_zero_or_one(expression: Expression) -> bool:
    inner = bare(expression)
    is_test = isinstance(inner, c.Binary) and inner.operator in (*_COMPARISONS, "&&", "||")
    return is_test or (isinstance(inner, c.Unary) and inner.operator == "!")


def _explain(expression: Expression, written: frozenset[Variable]) -> tuple[str, str | None]:
    match expression:
        case c.Reference(variable=variable) if variable in written:
            return (
                f"{variable.name} changes inside the region, so this is not affine",
                "Only loop iterators, unchanging integers and sums of their multiples may stand here.",
            )
        case c.Reference(variable=variable):
            return f"{variable.name} is not an integer variable", None
        case c.Subscript() | c.Member():
            return (
                "this depends on data that the program computes",
                "Loop bounds and subscripts must be affine in iterators and parameters.",
            )
        case c.Binary(operator="*"):
            return (
                "the product of two variables is not affine",
                "If one of them is a fixed size, make it a constant: -- -DNAME=VALUE",
            )
        case c.Binary(operator=operator):
            if operator in ("/", "%", "<<", ">>"):
                return f"operator {operator} is affine only with a constant on its right", None
            return f"operator {operator} is not affine", None
        case c.Call(function=function):
            return f"the value of {function.name}() is not affine", None
        case c.OtherLiteral():
            return "this is not an integer", None
        case c.Opaque(what=what):
            return f"this is not affine: {what}", None
        case _:
            return "this is not affine in iterators and parameters", None
