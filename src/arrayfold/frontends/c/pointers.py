"""Pointers into arrays: which array, and how far from its first element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import Region, assigned_in, changed_operand, variables_with_address
from arrayfold.c.tree import Expression, FunctionTree, Node, Variable, bare, declared_in, named_in, walk
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.integers import constant
from arrayfold.frontends.c.polynomials import ONE, Polynomial, PolynomialReader, either


@dataclass(frozen=True, eq=False)
class PointedElement:
    """A place in an array; its index is None where that may be any."""

    array: Variable
    index: Polynomial | None

    def moved(self, by: Polynomial) -> PointedElement:
        """The place so many elements further."""
        return PointedElement(self.array, None if self.index is None else self.index + by)


class PointerReader:
    """Finds out where pointers point that are made of arrays, whole numbers and other such pointers.

    understood  mentions of arrays that are part of such a pointer
    set_inside  pointers that the region declares or sets
    """

    def __init__(self, affine: AffineReader, region: Region) -> None:
        self._affine = affine
        self._sums = PolynomialReader(affine)
        self._function = region.function
        self._seen = variables_with_address(region.function)
        nodes = list(region.nodes())
        changed = {*declared_in(nodes), *assigned_in(nodes)}
        self.set_inside = frozenset(one for one in changed if one.is_pointer)
        self.understood: set[Node] = set()

    # ------------------------------------------------ pointers

    def can_follow(self, variable: Variable) -> bool:
        """Whether all that sets a pointer is in sight."""
        is_own = variable.storage in ("local", "parameter") and variable not in self._seen
        return is_own and variable.is_pointer and variable.rank == 1 and not variable.is_volatile

    def before(self, region: Region) -> dict[Variable, PointedElement]:
        """Where pointers point at the beginning of a region that holds all that sets them again.

        Parameters that it sets point to arrays of their own.
        """
        nodes = list(walk(region.function.body))
        changed = set(assigned_in(nodes))
        inside = self.set_inside
        found = {
            one: PointedElement(one, Polynomial()) for one in region.function.parameters if one in inside
        }
        found = {one: address for one, address in found.items() if self.can_follow(one)}
        if not is_repeated(region):
            changed = {one.variable for one in _assignments(nodes) if not region.holds(one.span.start)}
        for variable in declared_in(nodes):
            initial = variable.initial
            is_before = variable.span.start < region.start
            if not is_before or initial is None or variable in changed or not self.can_follow(variable):
                continue
            named = set(named_in(walk(initial)))
            if (
                named & set(assigned_in(nodes))
                or _is_hidden(region.function, named)
                or variable.type.kind == "array"
            ):
                continue
            with suppress(NotAffine):
                scope = Scope.outside()
                address = self.address(initial, Scope((), scope.may, scope.must, pointers=found))
                if address is not None and address.array is not variable:
                    found[variable] = address
        return found

    def address(self, expression: Expression, scope: Scope) -> PointedElement | None:
        """Where a pointer points; None if it is not understood. NotAffine where it is no sum of products."""
        inner = bare(expression)
        match inner:
            case c.Reference(variable=variable):
                return self._of_variable(inner, variable, scope)
            case c.Cast(operand=operand, type=kind) if _pointee(kind) == _pointee(operand.type):
                return self.address(operand, scope)
            case c.Unary(operator="&", operand=operand):
                return self.element(operand, scope)
            case c.Binary(operator="+" | "-" as operator, left=left, right=right):
                if right.type.kind in ("pointer", "array") and operator == "+":
                    left, right = right, left
                if not right.type.is_integer:
                    return None
                start = self.address(left, scope)
                steps = None if start is None else self._sums.read(right, scope)
                if start is None or steps is None:
                    return None
                return start.moved(steps if operator == "+" else -steps)
            case c.Conditional(condition=condition, then=then, otherwise=otherwise):
                truth = self._affine.truth(condition, scope)
                first, second = self.address(then, scope), self.address(otherwise, scope)
                return joined(first, second, truth.must, scope) if truth.is_exact else None
            case _:
                return None

    def element(self, expression: Expression, scope: Scope) -> PointedElement | None:
        """Where an element is that is reached by a pointer: `q[x]`, `*q`, `(p + y*w)[x]`."""
        inner = bare(expression)
        match inner:
            case c.Subscript(base=base, index=index):
                start = self.address(base, scope)
                if start is None:
                    return None
                self.understood.add(inner)
                try:
                    return start.moved(self._sums.read(index, scope))
                except NotAffine:
                    return PointedElement(start.array, None)
            case c.Unary(operator="*", operand=operand):
                return self.address(operand, scope)
            case _:
                return None

    def _of_variable(self, reference: Expression, variable: Variable, scope: Scope) -> PointedElement | None:
        known = scope.pointers.get(variable)
        if known is not None:
            index = None if known.index is None else known.index.mapped(scope.lifted)
            return PointedElement(known.array, index)
        if variable.rank != 1 or variable in self.set_inside:
            return None
        self.understood.add(reference)
        return PointedElement(variable, Polynomial())

    def numbers_in(self, expression: Expression) -> Iterator[Expression]:
        """The expressions inside of a pointer or an element whose values are used."""
        inner = bare(expression)
        match inner:
            case c.Subscript(base=base, index=index):
                yield from self.numbers_in(base)
                yield index
            case c.Unary(operator="&" | "*", operand=part) | c.Cast(operand=part):
                yield from self.numbers_in(part)
            case c.Binary(left=left, right=right):
                for part in (left, right):
                    if part.type.is_integer:
                        yield part
                    else:
                        yield from self.numbers_in(part)
            case c.Conditional(condition=condition, then=then, otherwise=otherwise):
                yield condition
                yield from self.numbers_in(then)
                yield from self.numbers_in(otherwise)
            case _:
                return

    # ------------------------------------------------ assignments

    def target(self, expression: Expression) -> Variable | None:
        """The pointer that an expression statement sets; None if it sets none."""
        match bare(expression):
            case c.Assign(target=target) | c.Unary(operator="x++" | "++" | "x--" | "--", operand=target):
                inner = bare(target)
                is_pointer = isinstance(inner, c.Reference) and inner.variable.type.kind in (
                    "pointer",
                    "array",
                )
                return inner.variable if isinstance(inner, c.Reference) and is_pointer else None
            case _:
                return None

    def assigned(self, expression: Expression, scope: Scope) -> PointedElement | None:
        """Where the pointer points that an expression statement sets; None if that is not understood."""
        variable = self.target(expression)
        if variable is None or not self.can_follow(variable):
            return None
        match bare(expression):
            case c.Assign(operator="=", value=value):
                return self.address(value, scope)
            case c.Assign(operator="+=" | "-=" as operator, value=value):
                steps = self._sums.read(value, scope)
            case c.Unary(operator=operator):
                steps = self._sums.read(c.Number(expression.span, _INT, 1, "1"), scope)
            case _:
                return None
        start = scope.pointers.get(variable)
        if start is None:
            return None
        start = PointedElement(start.array, None if start.index is None else start.index.mapped(scope.lifted))
        return start.moved(steps if "+" in operator else -steps)


def elements_moved(scope: Scope) -> dict[Variable, isl.PwAff]:
    """Pointer -> { [i] -> [v] }: what of the index of the place it points to has no stride."""
    zero = constant(scope.space, 0)
    return {
        pointer: scope.lifted(address.index.terms.get(ONE, zero))
        for pointer, address in scope.pointers.items()
        if address.index is not None
    }


def with_elements_moved(scope: Scope, counted: Mapping[Variable, isl.PwAff], before: Scope) -> Scope:
    """What is known with pointers counted along, and other variables.

    counted  { [i] -> [v] }  values of variables, and what of the index of a pointer has no stride
    before   where the pointers pointed first
    """
    pointers, values = dict(scope.pointers), dict(scope.values)
    for variable, value in counted.items():
        address = before.pointers.get(variable)
        if address is None or address.index is None:
            values[variable] = value
        else:
            pointers[variable] = PointedElement(
                address.array, Polynomial({**address.index.terms, ONE: value})
            )
    return replace(scope, values=values, pointers=pointers)


_INT = c.CType("int", "signed", 32, "int")


def joined(
    first: PointedElement | None, second: PointedElement | None, where: isl.Set, scope: Scope
) -> PointedElement | None:
    """One place in some iterations { [i] }, another one of the same array in all others."""
    if first is None or second is None or first.array is not second.array:
        return None
    if first.index is None or second.index is None:
        return PointedElement(first.array, None)
    return PointedElement(first.array, either(first.index, second.index, where, scope))


def _pointee(kind: c.CType) -> str:
    """What a pointer points to, without qualifiers."""
    words = kind.canonical.replace("*", " * ").split()
    return " ".join(word for word in words if word not in ("const", "restrict", "__restrict", "volatile"))


def _assignments(nodes: Iterable[Node]) -> Iterator[c.Reference]:
    """The mentions of variables that nodes assign to."""
    for node in nodes:
        operand = changed_operand(node)
        inner = None if operand is None else bare(operand)
        if isinstance(inner, c.Reference):
            yield inner


def is_repeated(region: Region) -> bool:
    """Whether a region may run several times in one call of its function."""
    return any(
        (isinstance(node, c.Label) and node.span.start < region.end)
        or (isinstance(node, c.For | c.While) and node.span.start < region.start < node.span.end)
        for node in walk(region.function.body)
    )


def _is_hidden(function: FunctionTree, variables: set[Variable]) -> bool:
    """Whether names of variables mean something else somewhere in a function."""
    declared = {*function.parameters, *declared_in(walk(function.body))}
    return any(one.name == other.name for one in variables for other in declared - {one})
