"""Values of type index as affine expressions of iterators and parameters, in isl's notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IndexType, IntegerAttr
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from arrayfold.exact.isl import fresh_name
from arrayfold.frontends.mlir.module import MemRef, Value, memref_type, name_of

Index: TypeAlias = int | str | None
"""A number, an affine expression as isl reads it, or None for what is not affine."""

_LOGIC = ("and", "or", "not", "exists", "implies", "true", "false")
_WORDS = (*_LOGIC, "mod", "floor", "ceil", "floord", "ceild", "min", "max", "infty", "NaN", "rat")


@dataclass(frozen=True, eq=False)
class Parameter:
    """Where a parameter is found: a value of the function, or a size of one of its arguments."""

    value: Value
    dimension: int | None = None


class _Remainder(str):
    """A remainder with the sign of its dividend, or that and the divisor, as text."""

    __slots__ = ("dividend", "divisor")
    dividend: str
    divisor: int


def _with_parts(text: str, dividend: str, divisor: int) -> _Remainder:
    found = _Remainder(text)
    found.dividend, found.divisor = dividend, divisor
    return found


def plain_name(value: Value, default: str) -> str:
    """The name of a value as an identifier of isl."""
    name = re.sub(r"\W", "_", value.name_hint or default, flags=re.ASCII)
    return f"v{name}" if name[:1].isdigit() else f"{name}_" if name in _WORDS else name


def add(left: Index, right: Index, sign: str = "+") -> Index:
    """The sum, or the difference."""
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left + right if sign == "+" else left - right
    if right == 0:
        return left
    if isinstance(left, _Remainder) and right == left.divisor and sign == "+":
        return _with_parts(f"({left} + {right})", left.dividend, left.divisor)
    return f"({left} {sign} ({right}))" if isinstance(right, int) else f"({left} {sign} {right})"


def multiply(left: Index, right: Index) -> Index:
    """The product, if one of the two is a number."""
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if 1 in (left, right):
        return right if left == 1 else left
    if isinstance(right, int):
        left, right = right, left
    return f"({left}*({right}))" if isinstance(left, int) else None


def _divided(kind: AffineBinaryOpKind, left: Index, right: Index) -> Index:
    """Quotients and remainders by positive numbers."""
    if left is None or not isinstance(right, int) or right <= 0:
        return None
    if isinstance(left, int):
        match kind:
            case AffineBinaryOpKind.Mod:
                return left % right
            case AffineBinaryOpKind.FloorDiv:
                return left // right
            case _:
                return -(-left // right)
    match kind:
        case AffineBinaryOpKind.Mod:
            return f"(({left}) mod {right})"
        case AffineBinaryOpKind.FloorDiv:
            return f"floor(({left})/{right})"
        case _:
            return f"(-floor((-({left}))/{right}))"


def evaluate(expression: AffineExpr, dims: Sequence[Index], symbols: Sequence[Index]) -> Index:
    """An expression of MLIR with its dimensions and symbols replaced."""
    match expression:
        case AffineConstantExpr(value=value):
            return value
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineSymExpr(position=position):
            return symbols[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = evaluate(lhs, dims, symbols), evaluate(rhs, dims, symbols)
            match kind:
                case AffineBinaryOpKind.Add:
                    return add(left, right)
                case AffineBinaryOpKind.Mul:
                    return multiply(left, right)
                case _:
                    return _divided(kind, left, right)
        case _:
            return None


@dataclass(eq=False)
class Indices:
    """What is known of the values of type index in a function, as its operations are visited in order.

    sizes       parameters that are to have these values
    parameters  those that were found, each with its place
    """

    sizes: Mapping[str, int]
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    extents: dict[Value, tuple[Index, ...]] = field(default_factory=dict["Value", "tuple[Index, ...]"])
    _values: dict[Value, Index] = field(default_factory=dict["Value", "Index"])
    _names: set[str] = field(default_factory=set[str])

    def of(self, value: Value) -> Index:
        """The expression of a value."""
        return self._values.get(value)

    def all_of(self, values: Sequence[Value]) -> list[Index]:
        """The expressions of values."""
        return [self.of(value) for value in values]

    def iterator(self, value: Value, default: str, around: Sequence[str]) -> str:
        """The name of a loop's iterator, which it is called from now on."""
        taken = {*self.parameters, *around}
        name = fresh_name(plain_name(value, default), taken)
        self._names.add(name)
        self._values[value] = name
        return name

    def parameter(self, value: Value, default: str) -> Index:
        """A value that is the same in all of the function."""
        found = self._parameter(Parameter(value), plain_name(value, default))
        self._values[value] = found
        return found

    def _parameter(self, parameter: Parameter, wanted: str) -> Index:
        name = fresh_name(wanted, {*self.parameters, *self._names})
        self.parameters[name] = parameter
        return self.sizes.get(name, name)

    def argument(self, value: Value, number: int) -> None:
        """An argument of the function: a parameter, or a memref with sizes."""
        if isinstance(value.type, IndexType):
            self.parameter(value, f"n{number}")
        elif (kind := memref_type(value)) is not None:
            self.extents[value] = self._sizes_of_argument(value, kind, plain_name(value, f"arg{number}"))

    def _sizes_of_argument(self, value: Value, kind: MemRef, name: str) -> tuple[Index, ...]:
        return tuple(
            self._parameter(Parameter(value, k), f"{name}_{k}") if size == DYNAMIC_INDEX else size
            for k, size in enumerate(kind.get_shape())
        )

    def map(self, of: AffineMap, operands: Sequence[Value]) -> list[Index]:
        """The results of a map at these operands."""
        values = self.all_of(operands)
        dims, symbols = values[: of.num_dims], values[of.num_dims :]
        return [evaluate(one, dims, symbols) for one in of.results]

    def visit(self, operation: Operation, *, is_outermost: bool) -> None:
        """Learn the results of an operation; what is not understood outside of loops is a parameter."""
        self._learn(operation)
        for result in operation.results:
            if isinstance(result.type, IndexType) and is_outermost and self.of(result) is None:
                is_cast = isinstance(operation, arith.IndexCastOp)
                self.parameter(result, plain_name(operation.operands[0], "n") if is_cast else "n")

    def _learn(self, operation: Operation) -> None:
        match operation:
            case arith.ConstantOp():
                if isinstance(operation.value, IntegerAttr):
                    self._values[operation.result] = operation.value.value.data
            case arith.IndexCastOp():
                self._values[operation.result] = self.of(operation.input)
            case _ if operation.name in _ARITHMETIC:
                (result,), (left, right) = operation.results, operation.operands
                if isinstance(result.type, IndexType):
                    self._values[result] = _ARITHMETIC[operation.name](self.of(left), self.of(right))
            case affine.ApplyOp():
                (self._values[operation.result],) = self.map(operation.map.data, operation.mapOperands)
            case memref.AllocOp() | memref.AllocaOp():
                shape = operation.memref.type.get_shape()
                dynamic = iter(operation.dynamic_sizes)
                self.extents[operation.memref] = tuple(
                    self.of(next(dynamic)) if size == DYNAMIC_INDEX else size for size in shape
                )
            case memref.DimOp():
                which, extents = self.of(operation.index), self.extents.get(operation.source, ())
                if isinstance(which, int) and 0 <= which < len(extents):
                    self._values[operation.result] = extents[which]
            case _ if name_of(operation) in ("affine.min", "affine.max"):
                of = operation.properties.get("map", operation.attributes.get("map"))
                if isinstance(of, AffineMapAttr) and len(operation.results) == 1:
                    found = self.map(of.data, operation.operands)
                    self._values[operation.results[0]] = extreme(name_of(operation)[-3:], found)
            case _:
                pass


def _remainder(left: Index, right: Index) -> Index:
    """The remainder with the sign of the dividend; of such a one plus the divisor, it is never negative."""
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        return left % right if left >= 0 else -(-left % right)
    if not isinstance(left, str) or not isinstance(right, int) or right <= 0:
        return None
    if isinstance(left, _Remainder) and left.divisor == right and left.endswith(f"+ {right})"):
        return f"(({left.dividend}) mod {right})"
    # isl reads no choice inside of a choice.
    if "?" in left:
        return None
    text = f"(({left}) >= 0 ? (({left}) mod {right}) : (-((-({left})) mod {right})))"
    return _with_parts(text, left, right)


def extreme(kind: str, values: Sequence[Index]) -> Index:
    """The least or the greatest of some values."""
    if None in values or not values:
        return None
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        return max(numbers) if kind == "max" else min(numbers)
    return values[0] if len(values) == 1 else f"{kind}({', '.join(map(str, values))})"


_ARITHMETIC: dict[str, Callable[[Index, Index], Index]] = {
    "arith.addi": add,
    "arith.subi": lambda left, right: add(left, right, "-"),
    "arith.muli": multiply,
    "arith.remsi": _remainder,
    "arith.floordivsi": lambda left, right: _divided(AffineBinaryOpKind.FloorDiv, left, right),
    "arith.ceildivsi": lambda left, right: _divided(AffineBinaryOpKind.CeilDiv, left, right),
    "arith.maxsi": lambda left, right: extreme("max", [left, right]),
    "arith.minsi": lambda left, right: extreme("min", [left, right]),
}
