"""Operations on numbers of Python as operations of C with the same value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from arrayfold.base.errors import InputError
from arrayfold.frontends.python.text import Code, PythonText
from arrayfold.frontends.python.values import (
    C_TYPES,
    CONDITIONAL,
    LARGEST,
    PRODUCT,
    SUM,
    UNARY,
    NumberKind,
    Value,
    as_branch,
    converted,
    divided,
    fits,
    is_narrow,
    is_unsigned,
    is_whole,
    joined,
    natural,
    number_value,
    promoted,
)

_HIGHEST_POWER = 16
OPERATORS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.Pow: ("**", UNARY),
}


@dataclass(frozen=True)
class Operations:
    """Operations in a kernel.

    helpers  functions that the C file must have for them
    """

    text: PythonText
    helpers: set[str]

    def agreed(
        self, node: ast.AST, rule: Callable[[NumberKind, NumberKind], NumberKind], left: Value, right: Value
    ) -> tuple[NumberKind, frozenset[NumberKind]]:
        """The type of a result and others that it may have; an error if C would compute them differently.

        rule  the type of the result, given those of the operands
        """
        kind = rule(left.kind, right.kind)
        results: list[NumberKind] = [rule(one, other) for one in left.kinds for other in right.kinds]
        others = frozenset[NumberKind](results) - frozenset[NumberKind]([kind])
        for other in others:
            is_exact = is_whole(other) and C_TYPES[kind] == "double"
            if C_TYPES[other] != C_TYPES[kind] and not is_exact:
                raise self._depends(node, other, kind)
        return kind, others

    def _depends(self, node: ast.AST, one: NumberKind, other: NumberKind) -> InputError:
        return self.text.error(
            f"the type of this depends on the data: {one} or {other}",
            node,
            "Convert what it comes from, as in np.float32(0), np.float64(x) or int(x).",
        )

    def operation(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        """`left operator right` for values."""
        symbol, level = OPERATORS[type(operator)]
        if symbol in ("//", "%"):
            return self._floored(node, symbol, left, right)
        if symbol == "**":
            return self._power(node, left, right)
        kind, others = self.agreed(node, divided if symbol == "/" else promoted, left, right)
        if isinstance(left.number, int) and isinstance(right.number, int) and symbol != "/":
            compute = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[symbol]
            return self.number(node, compute(left.number, right.number))
        self._check_literals(node, kind, left, right)
        if natural(left.kind, right.kind) != C_TYPES[kind] and not is_narrow(kind):
            left, right = converted(left, kind), converted(right, kind)
        code = Code.of(left.inside(level), f" {symbol} ", right.inside(level + 1))
        is_natural = symbol in ("+", "*") and left.is_natural and right.is_natural
        return _wrapped(Value(code, kind, level, is_natural=is_natural, others=others))

    def _check_literals(self, node: ast.AST, kind: NumberKind, *operands: Value) -> None:
        """NumPy converts integers of Python to the type of the elements that they meet, if they fit."""
        for operand in operands:
            if is_whole(kind) and isinstance(operand.number, int) and not fits(operand.number, kind):
                raise self.text.error(
                    f"{operand.number} does not fit into {kind}", node, "Convert the other one: np.int64(x)."
                )

    def number(self, node: ast.AST, number: float) -> Value:
        """A number that is known."""
        if isinstance(number, int) and abs(number) > LARGEST:
            raise self.text.error("this number does not fit into 64 bits", node)
        return number_value(number)

    def _floored(self, node: ast.AST, symbol: str, left: Value, right: Value) -> Value:
        if not is_whole(left.kind) or not is_whole(right.kind):
            raise self.text.error(
                f"{symbol} is for whole numbers in a kernel", node, "Write math.floor(a / b) for fractions."
            )
        if right.number == 0:
            raise self.text.error("division by zero", node)
        if isinstance(left.number, int) and isinstance(right.number, int):
            number = left.number // right.number if symbol == "//" else left.number % right.number
            return self.number(node, number)
        kind, others = self.agreed(node, promoted, left, right)
        self._check_literals(node, kind, left, right)
        is_natural = left.is_natural and right.is_natural
        if is_natural and right.number is not None:
            sign = "/" if symbol == "//" else "%"
            code = Code.of(left.inside(PRODUCT), f" {sign} ", right.inside(UNARY))
            return Value(code, kind, PRODUCT, is_natural=True, others=others)
        helper = "floor_div" if symbol == "//" else "floor_mod"
        if not isinstance(right.number, int) or right.number < 0:
            helper += "_any"
        self.helpers.add(helper)
        code = Code.of(f"{helper}(", left.code, ", ", right.code, ")")
        is_positive = symbol == "%" and isinstance(right.number, int) and right.number > 0
        whole = Value(code, "int", is_natural=is_positive)
        return replace(converted(whole, kind), kind=kind, others=others)

    def _power(self, node: ast.AST, left: Value, right: Value) -> Value:
        exponent = right.number
        if exponent is None:
            raise self.text.error("the exponent of ** must be a constant", node, "Use math.pow, or a loop.")
        if is_whole(left.kind):
            if not isinstance(exponent, int) or not 0 <= exponent <= _HIGHEST_POWER:
                raise self.text.error(
                    f"whole numbers have exponents from 0 to {_HIGHEST_POWER} in a kernel",
                    node,
                    "Write float(x) ** y if a fraction is meant.",
                )
            one = replace(number_value(1), kind=left.kind, others=left.others)
            result = one if exponent == 0 else left
            for _ in range(exponent - 1):
                result = self.operation(node, ast.Mult(), result, left)
            return result
        self.helpers.add("math.h")
        name = "powf" if left.kind == "float32" else "pow"
        _, others = self.agreed(node, promoted, left, right)
        power = converted(number_value(float(exponent)), left.kind)
        return Value(Code.of(f"{name}(", left.code, ", ", power.code, ")"), left.kind, others=others)

    def choice(self, node: ast.AST, test: Code, then: Value, otherwise: Value) -> Value:
        """`then if test else otherwise`."""
        kind, others = self.joined(node, then, otherwise)
        then, otherwise = as_branch(then, kind), as_branch(otherwise, kind)
        code = Code.of(test, " ? ", then.inside(CONDITIONAL + 1), " : ", otherwise.inside(CONDITIONAL))
        is_natural = then.is_natural and otherwise.is_natural
        return Value(code, kind, CONDITIONAL, is_natural=is_natural, others=others)

    def joined(self, node: ast.AST, left: Value, right: Value) -> tuple[NumberKind, frozenset[NumberKind]]:
        """The type of a value that is one of two, and others that it may have."""
        kind = joined(left.kind, right.kind)
        if kind is None or not (left.is_exactly(kind) and right.is_exactly(kind)):
            raise self._depends(node, left.kind, right.kind)
        return kind, (left.kinds | right.kinds) - {kind}

    def negated(self, operand: Value, inner: Code) -> Value:
        """`-operand`; `inner` is its code as an operand."""
        return _wrapped(Value(Code.of("-", inner), operand.kind, UNARY, others=operand.others))

    def cast(self, operand: Value, kind: NumberKind) -> Value:
        """A conversion that the kernel asks for."""
        if operand.number is not None and kind == "float":
            return number_value(float(operand.number))
        if C_TYPES[operand.kind] == C_TYPES[kind] and operand.number is None:
            return replace(operand, kind=kind, others=frozenset())
        return Value(Code.of(f"({C_TYPES[kind]})", operand.inside(UNARY)), kind, UNARY)

    def extreme(self, node: ast.AST, word: str, values: Sequence[Value]) -> Value:
        """`min(...)` or `max(...)`; Python keeps the first of equal ones, and compares as it goes."""
        numbers = [value.number for value in values]
        if all(isinstance(number, int) for number in numbers):
            whole = [number for number in numbers if isinstance(number, int)]
            return number_value(min(whole) if word == "min" else max(whole))
        best = values[0]
        for value in values[1:]:
            kind, others = self.joined(node, best, value)
            code = Code.of(self._helper(word, kind), "(", best.code, ", ", value.code, ")")
            either, both = best.is_natural or value.is_natural, best.is_natural and value.is_natural
            best = Value(code, kind, is_natural=both if word == "min" else either, others=others)
        return best

    def elementwise_extreme(self, node: ast.AST, word: str, left: Value, right: Value) -> Value:
        """`np.minimum` or `np.maximum`, which return what is not a number where either argument is none."""
        kind, others = self.agreed(node, promoted, left, right)
        left, right = converted(left, kind), converted(right, kind)
        code = Code.of(self._helper(word, kind), "(", left.code, ", ", right.code, ")")
        return Value(code, kind, is_natural=left.is_natural and right.is_natural, others=others)

    def where(self, node: ast.AST, test: Code, then: Value, otherwise: Value) -> Value:
        """`np.where(test, then, otherwise)`: elements of the type that holds both."""
        kind, others = self.agreed(node, promoted, then, otherwise)
        then, otherwise = as_branch(then, kind), as_branch(otherwise, kind)
        code = Code.of(test, " ? ", then.inside(CONDITIONAL + 1), " : ", otherwise.inside(CONDITIONAL))
        return Value(code, kind, CONDITIONAL, others=others)

    def absolute(self, operand: Value) -> Value:
        """`abs(operand)`."""
        if is_unsigned(operand.kind):
            return operand
        if is_whole(operand.kind):
            code = Code.of(self._helper("abs", operand.kind), "(", operand.code, ")")
            return Value(code, operand.kind, is_natural=True, others=operand.others)
        self.helpers.add("math.h")
        name = "fabsf" if operand.kind == "float32" else "fabs"
        return Value(Code.of(f"{name}(", operand.code, ")"), operand.kind, others=operand.others)

    def _helper(self, word: str, kind: NumberKind) -> str:
        """The C function for one of Python, for numbers of one type."""
        strong = {"int": "int64", "float": "float64"}.get(kind, kind)
        name = f"{word}_{strong}"
        self.helpers.add(name)
        return name

    def power(self, base: Value, exponent: Value) -> Value:
        """`math.pow(base, exponent)`."""
        self.helpers.add("math.h")
        codes = Code.joined(", ", (self.cast(one, "float").code for one in (base, exponent)))
        return Value(Code.of("pow(", codes, ")"), "float")

    def function(self, node: ast.AST, module: str, function: str, operand: Value) -> Value:
        """math computes in 64 bits; numpy in the type of the argument."""
        if module == "numpy" and len({kind == "float32" for kind in operand.kinds}) > 1:
            raise self._depends(node, *sorted(operand.kinds)[:2])
        self.helpers.add("math.h")
        is_single = module == "numpy" and operand.kind == "float32"
        name = f"{function}f" if is_single else function
        code = Code.of(f"{name}(", operand.code, ")")
        if module == "math" and function in ("floor", "ceil"):
            return Value(Code.of("(long long)", code), "int", UNARY)
        return Value(code, "float32" if is_single else "float" if module == "math" else "float64")


def _wrapped(value: Value) -> Value:
    """The result of an operation that C computes as int, in its own type."""
    if not is_narrow(value.kind):
        return value
    code = Code.of(f"({C_TYPES[value.kind]})", value.inside(UNARY))
    return replace(value, code=code, level=UNARY, is_natural=is_unsigned(value.kind))
