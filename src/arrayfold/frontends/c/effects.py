"""What an expression reads and writes, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import Choice, CText
from arrayfold.c.tree import Expression, Variable, array_access, bare, named_in, walk
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.choices import choice_of
from arrayfold.frontends.c.on_data import LoopsOnData
from arrayfold.frontends.c.pointers import PointedElement, PointerReader


@dataclass(frozen=True, eq=False)
class Effect:
    """One access: subscripts are None where a whole array, or a part of it, is given to a function, and where
    any element may be meant.

    address  where the element is that the text reaches by a pointer, which has no subscripts
    unknown  the same as it was read, where any element may be meant
    """

    variable: Variable
    subscripts: tuple[Expression, ...] | None
    is_write: bool
    scope: Scope
    offset: int
    is_partial: bool = False
    node: Expression | Variable | None = None
    address: PointedElement | None = None
    unknown: Effect | None = None


class EffectReader:
    """Collects the accesses of expressions.

    choices  what affine conditions decide in the last one
    given    arrays that functions get by pointers into them, and where
    """

    def __init__(
        self,
        text: CText,
        affine: AffineReader,
        is_data: Callable[[Variable], bool],
        pointers: PointerReader,
    ) -> None:
        self._text = text
        self._affine = affine
        self._is_data = is_data
        self.pointers = pointers
        self.given: dict[Variable, int] = {}
        self._found: list[Effect] = []
        self.choices: list[Choice] = []

    def of_statement(self, expression: Expression, scope: Scope) -> list[Effect]:
        """The accesses of an expression statement: a chain of assignments, an increment, or a call."""
        self._found, self.choices = [], []
        self._assignment(expression, scope)
        return self._found

    def of_value(self, expression: Expression, scope: Scope) -> list[Effect]:
        """The accesses of an expression whose value is used."""
        self._found, self.choices = [], []
        self._value(expression, scope)
        return self._found

    def of_pointer(self, expression: Expression, scope: Scope) -> PointedElement | None:
        """Where an expression statement or an initial value lets a pointer point; None if that is not known.

        No data may be looked at for that but variables whose values are known.
        """
        self._found, self.choices = [], []
        try:
            is_set = self.pointers.target(expression) is not None
            read = self.pointers.assigned if is_set else self.pointers.address
            address = read(expression, scope)
            for part in self.pointers.numbers_in(_value_of(expression)):
                self._value(part, scope)
        except NotAffine:
            return None
        known = {*scope.values, *scope.sums}
        return address if all(one.variable in known for one in self._found) else None

    def _assignment(self, expression: Expression, scope: Scope) -> None:
        inner = bare(expression)
        match inner:
            case c.Assign(operator=operator, target=target, value=value):
                self._target(target, scope, is_read=operator != "=")
                self._assignment(value, scope)
            case c.Unary(operator="x++" | "x--" | "++" | "--", operand=operand):
                self._target(operand, scope, is_read=True)
            case c.Cast(operand=operand, type=kind) if kind.spelling == "void":
                self._assignment(operand, scope)
            case _:
                self._value(expression, scope)

    def _target(self, target: Expression, scope: Scope, *, is_read: bool) -> None:
        inner = bare(target)
        is_partial = isinstance(inner, c.Member)
        while isinstance(inner, c.Member) and not inner.is_arrow:
            inner = bare(inner.base)
        self._refuse_pointers(inner, scope)
        if is_read:
            self._access(inner, scope, is_write=False)
        self._access(inner, scope, is_write=True, is_partial=is_partial)

    def _access(
        self, expression: Expression, scope: Scope, *, is_write: bool, is_partial: bool = False
    ) -> None:
        address = self._address(expression, scope)
        if address is not None:
            self._inside_pointer(expression, scope)
            found = Effect(address.array, (), is_write, scope, expression.span.start, is_partial)
            self._found.append(replace(found, node=bare(expression), address=address))
            return
        access = array_access(expression)
        assert access is not None
        variable, subscripts = access
        if subscripts and variable in self.pointers.set_inside:
            raise self._text.error(
                f"where pointer {variable.name} points here is not known",
                expression.span.start,
                "Understood are sums of an array and multiples of iterators and sizes, set in the same loop.",
            )
        if variable.is_pointer and is_write and not subscripts:
            raise self._text.error(
                f"pointer {variable.name} changes inside the region",
                expression.span.start,
                "Pointers that change cannot be analysed; use array subscripts.",
            )
        if len(subscripts) != variable.rank:
            raise self._text.error(
                f"{variable.name} has {variable.rank} dimensions but {len(subscripts)} subscripts here",
                expression.span.start,
                "Pointer arithmetic and parts of arrays cannot be analysed; use every subscript.",
            )
        for subscript in subscripts:
            self._value(subscript, scope)
        if variable in scope.iterators:
            return
        if variable in self._affine.iterators:
            error = self._text.error(
                f"loop iterator {variable.name} is used here outside its loop",
                expression.span.start,
                "Use another variable, or the loop's bound.",
            )
            raise LoopsOnData(error, [variable], [])
        if self._is_data(variable):
            self._found.append(
                Effect(
                    variable, subscripts, is_write, scope, expression.span.start, is_partial, bare(expression)
                )
            )

    def _inside_pointer(self, expression: Expression, scope: Scope) -> None:
        """What an element reads to know where it is."""
        for part in self.pointers.numbers_in(expression):
            self._value(part, scope)
        for node in walk(expression):
            if isinstance(node, c.Reference) and node.variable in scope.pointers:
                self._definition(node, scope)

    def _definition(self, expression: Expression, scope: Scope) -> None:
        """What affine conditions decide in what a variable was set to, if they decide anything there."""
        inner = bare(expression)
        text = scope.definitions.get(inner.variable) if isinstance(inner, c.Reference) else None
        if text is None:
            return
        effects, count = self._found, len(self.choices)
        self._found = []
        if text.type.is_integer:
            self._value(text, scope)
        else:
            self._inside_pointer(text, scope)
        self._found = effects
        if len(self.choices) > count:
            self.choices.insert(count, Choice(inner, scope.may, scope.may, text))

    def _pointer_argument(self, expression: Expression, scope: Scope) -> bool:
        """Take note of a pointer that is given to a function; whether one of this region is in it."""
        if not any(one in scope.pointers for one in named_in(walk(expression))):
            return False
        try:
            address = self.pointers.address(expression, scope)
        except NotAffine:
            address = None
        if address is None:
            return False
        self._inside_pointer(expression, scope)
        for is_write in (False, True):
            self._found.append(Effect(address.array, None, is_write, scope, expression.span.start))
        self.given.setdefault(address.array, expression.span.start)
        return True

    def _address(self, expression: Expression, scope: Scope) -> PointedElement | None:
        """Where an element is that a pointer reaches; None for elements that are named by their array."""
        inner = bare(expression)
        access = array_access(inner)
        if access is not None:
            variable, subscripts = access
            if len(subscripts) != 1 or variable not in scope.pointers:
                return None
        try:
            return self.pointers.element(inner, scope)
        except NotAffine:
            return None

    def _value(self, expression: Expression, scope: Scope) -> None:
        choice = choice_of(expression, scope, self._affine)
        if choice is not None:
            self.choices.append(choice)
        match expression:
            case c.Number() | c.OtherLiteral() | c.Opaque(what="sizeof"):
                return
            case (
                c.Parentheses(inner=inner)
                | c.Cast(operand=inner)
                | c.Member(base=inner, is_arrow=False)
                | c.Unary(operator="+" | "-" | "!" | "~", operand=inner)
            ):
                self._value(inner, scope)
            case c.Reference() | c.Subscript() | c.Unary(operator="*"):
                self._refuse_pointers(expression, scope)
                self._definition(expression, scope)
                self._access(expression, scope, is_write=False)
            case c.Binary(operator="&&" | "||" as operator, left=left, right=right):
                self._value(left, scope)
                truth = self._affine.truth(left, scope)
                reached = truth if operator == "&&" else truth.negated()
                self._value(right, scope.narrowed(reached.may, reached.must))
            case c.Binary(operator=operator, left=left, right=right) if operator != ",":
                self._value(left, scope)
                self._value(right, scope)
            case c.Conditional(condition=condition, then=then, otherwise=otherwise):
                self._value(condition, scope)
                truth = self._affine.truth(condition, scope)
                fails = truth.negated()
                self._value(then, scope.narrowed(truth.may, truth.must))
                self._value(otherwise, scope.narrowed(fails.may, fails.must))
            case c.Opaque(what="init list" | "compound literal", parts=parts):
                for part in parts:
                    self._value(part, scope)
            case c.Call(arguments=arguments):
                for argument in arguments:
                    self._argument(argument, scope)
            case _:
                raise self._refusal(expression)

    def _argument(self, argument: Expression, scope: Scope) -> None:
        """Arrays that are given to a function may be read and written by it anywhere."""
        inner = bare(argument)
        if isinstance(inner, c.Cast):
            inner = bare(inner.operand)
        if inner.type.kind in ("pointer", "array") and self._pointer_argument(inner, scope):
            return
        access = array_access(inner)
        if isinstance(inner, c.Unary) and inner.operator == "&":
            access = array_access(bare(inner.operand))
            inner = inner.operand
        elif access is not None and len(access[1]) == access[0].rank:
            access = None
        if access is None:
            self._value(argument, scope)
            return
        variable, subscripts = access
        for subscript in subscripts:
            self._value(subscript, scope)
        for is_write in (False, True):
            self._found.append(Effect(variable, None, is_write, scope, inner.span.start))

    def _refuse_pointers(self, expression: Expression, scope: Scope) -> None:
        """Only chains of subscripts on a variable are understood, and places of which the array is known."""
        if array_access(expression) is None and self._address(expression, scope) is None:
            inner = bare(expression)
            while isinstance(inner, c.Subscript):
                inner = bare(inner.base)
            raise self._refusal(inner)

    def _refusal(self, expression: Expression) -> Exception:
        offset = expression.span.start
        match expression:
            case c.Unary(operator="*" | "&") | c.Binary(operator="+" | "-"):
                what, hint = "pointer arithmetic cannot be analysed", "Use array subscripts instead."
            case c.Member():
                what = "what this is a part of, or points to, cannot be analysed"
                hint = "Copy the pointer to a variable with restrict, or pass the array as a parameter."
            case c.Unary(operator="__real" | "__imag" | "__extension__" as word) | c.Opaque(what=word):
                what, hint = f"this cannot be analysed: {word}", None
            case c.Assign() | c.Unary() | c.Binary(operator=","):
                what = "an assignment inside an expression cannot be analysed"
                hint = "Make it a statement of its own."
            case _:
                what, hint = "this cannot be analysed", None
        return self._text.error(what, offset, hint)


def _value_of(expression: Expression) -> Expression:
    """What is assigned, or the expression itself if it assigns nothing."""
    inner = bare(expression)
    return inner.value if isinstance(inner, c.Assign) else expression
