"""Python expressions as C expressions with the same value."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from arrayfold.formula import Formula
from arrayfold.frontends.python_signature import Interface
from arrayfold.frontends.python_text import Code
from arrayfold.frontends.python_types import (
    C_TYPES,
    LARGEST,
    Kind,
    divided,
    fits_float32,
    is_whole,
    joined,
    natural,
    promoted,
)

CONDITIONAL, OR, AND, EQUAL, LESS, SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 7, 8, 10, 11, 12, 13
_HIGHEST_POWER = 16

_OPERATORS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.Pow: ("**", UNARY),
}
_RELATIONS: Mapping[type[ast.cmpop], tuple[str, int]] = {
    ast.Lt: ("<", LESS),
    ast.LtE: ("<=", LESS),
    ast.Gt: (">", LESS),
    ast.GtE: (">=", LESS),
    ast.Eq: ("==", EQUAL),
    ast.NotEq: ("!=", EQUAL),
}
_FUNCTIONS = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "cbrt", "erf", "fabs", "floor", "ceil"),
)
_NUMPY_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "abs": "fabs", "absolute": "fabs"}
_CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "tau": 6.283185307179586, "inf": float("inf")}
_CALLS = "Known are min, max, abs, int, float, and functions such as math.sqrt, math.exp and np.sqrt."


@dataclass(frozen=True)
class Value:
    """A C expression: its type in Python's sense, how tightly it binds, and what is known of its value."""

    code: Code
    kind: Kind
    level: int = ATOM
    number: int | float | None = None
    is_natural: bool = False

    def inside(self, level: int) -> Code:
        """The expression as an operand that must bind at least so tightly."""
        return self.code if self.level >= level else Code.of("(", self.code, ")")


@dataclass
class Scope:
    """What names mean at a place in a kernel.

    defined    names that surely have a value there
    iterators  names of the loops around it -> whether the loop runs over natural numbers only
    variables  scalars of the kernel -> their types
    """

    interface: Interface
    variables: Mapping[str, Kind]
    defined: set[str] = field(default_factory=set[str])
    iterators: dict[str, bool] = field(default_factory=dict[str, bool])
    helpers: set[str] = field(default_factory=set[str])

    def inner(self) -> Scope:
        """A place inside, whose new names end with it."""
        return replace(self, defined=set(self.defined), iterators=dict(self.iterators))


class Expressions:
    """Translates the expressions at one place of a kernel."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._interface = scope.interface
        self._text = scope.interface.text

    # ------------------------------------------------ values

    def value(self, node: ast.expr) -> Value:
        """A number."""
        found = self._value(node)
        return replace(found, code=Code.of(found.code, at=node))

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return self._constant(node, value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._sign(self.value(operand), is_minus=isinstance(node.op, ast.USub))
            case ast.BinOp(left=left, op=operator, right=right):
                if type(operator) in _OPERATORS:
                    return self.operation(node, operator, self.value(left), self.value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(
                    node, self.condition(test, CONDITIONAL + 1), self.value(body), self.value(orelse)
                )
            case ast.Subscript():
                length = self._interface.length(node)
                return self._size(self._interface.extent(*length, node)) if length else self.cell(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                path = self._interface.path(node) or ""
                name = path.removeprefix("math.").removeprefix("numpy.")
                if "." in path and name in _CONSTANTS:
                    return number_value(_CONSTANTS[name])
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self._text.error(
                    "a condition is no number here", node, "Choose a number: 1 if ... else 0."
                )
            case _:
                pass
        raise self._refusal(node)

    def _constant(self, node: ast.expr, value: object) -> Value:
        if isinstance(value, bool):
            raise self._text.error(f"{value} is no number here", node, "Write 1 or 0.")
        if isinstance(value, int | float):
            if isinstance(value, int) and abs(value) > LARGEST:
                raise self._text.error("this number does not fit into 64 bits", node)
            return number_value(value)
        raise self._text.error(f"{self._text.source(node)} is no number", node)

    def _name(self, node: ast.expr, name: str) -> Value:
        interface = self._interface
        if name in self._scope.iterators:
            is_natural = self._scope.iterators[name]
            return Value(Code.of(interface.c_names.of(name)), "int", is_natural=is_natural)
        if name in interface.scalars:
            kind: Kind = "int" if interface.scalars[name] == "int" else "float"
            return Value(Code.of(interface.c_names.of(name)), kind)
        if name in interface.arrays:
            raise self._text.error(
                f"{name} is an array; expected one of its elements",
                node,
                "Use every subscript; operations on whole arrays cannot be analysed, write loops.",
            )
        if name in interface.local_names and name not in self._scope.defined:
            raise self._text.error(
                f"{name} may have no value here",
                node,
                "Names of loops end with the loop; give other names a value on every way to this place.",
            )
        if name in interface.named:
            return self._size(interface.named[name])
        if name in self._scope.variables:
            return Value(Code.of(interface.c_names.of(name)), self._scope.variables[name])
        if name in interface.names.constants:
            return number_value(interface.names.constants[name])
        path = interface.path(node) or ""
        if path.startswith(("math.", "numpy.")) and path.split(".")[1] in _CONSTANTS:
            return number_value(_CONSTANTS[path.split(".")[1]])
        raise self._text.error(
            f"nothing is known of {name}",
            node,
            "A kernel sees its arguments, and numbers that its file names once at the top.",
        )

    def _size(self, size: Formula) -> Value:
        if size.is_constant:
            return number_value(int(size.as_number()))
        is_natural = size.is_atom and str(size) in self._interface.sizes
        return Value(Code.of(str(size)), "int", ATOM if size.is_atom else SUM, is_natural=is_natural)

    def _sign(self, operand: Value, *, is_minus: bool) -> Value:
        if not is_minus:
            return operand
        if operand.number is not None:
            return number_value(-operand.number)
        inner = operand.inside(UNARY)
        inner = Code.of("(", inner, ")") if str(inner).startswith("-") else inner
        return Value(Code.of("-", inner), operand.kind, UNARY)

    # ------------------------------------------------ operations

    def operation(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        """`left operator right` for values."""
        symbol, level = _OPERATORS[type(operator)]
        if symbol in ("//", "%"):
            return self._floored(node, symbol, left, right)
        if symbol == "**":
            return self._power(node, left, right)
        kind = divided(left.kind, right.kind) if symbol == "/" else promoted(left.kind, right.kind)
        if isinstance(left.number, int) and isinstance(right.number, int) and symbol != "/":
            return self._whole(
                node,
                {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[symbol](left.number, right.number),
            )
        if natural(left.kind, right.kind) != C_TYPES[kind]:
            left, right = converted(left, kind), converted(right, kind)
        code = Code.of(left.inside(level), f" {symbol} ", right.inside(level + 1))
        is_natural = symbol in ("+", "*") and left.is_natural and right.is_natural
        return Value(code, kind, level, is_natural=is_natural)

    def _whole(self, node: ast.AST, number: int) -> Value:
        if abs(number) > LARGEST:
            raise self._text.error("this number does not fit into 64 bits", node)
        return number_value(number)

    def _floored(self, node: ast.AST, symbol: str, left: Value, right: Value) -> Value:
        if not is_whole(left.kind) or not is_whole(right.kind):
            raise self._text.error(
                f"{symbol} is for whole numbers in a kernel", node, "Write math.floor(a / b) for fractions."
            )
        if right.number == 0:
            raise self._text.error("division by zero", node)
        if isinstance(left.number, int) and isinstance(right.number, int):
            number = left.number // right.number if symbol == "//" else left.number % right.number
            return self._whole(node, number)
        kind = promoted(left.kind, right.kind)
        is_natural = left.is_natural and right.is_natural
        if is_natural and right.number is not None:
            sign = "/" if symbol == "//" else "%"
            code = Code.of(left.inside(PRODUCT), f" {sign} ", right.inside(UNARY))
            return Value(code, kind, PRODUCT, is_natural=True)
        helper = "floor_div" if symbol == "//" else "floor_mod"
        if not isinstance(right.number, int) or right.number < 0:
            helper += "_any"
        self._scope.helpers.add(helper)
        code = Code.of(f"{helper}(", left.code, ", ", right.code, ")")
        is_positive = symbol == "%" and isinstance(right.number, int) and right.number > 0
        whole = Value(code, "int", is_natural=is_positive)
        return replace(converted(whole, kind), kind=kind)

    def _power(self, node: ast.AST, left: Value, right: Value) -> Value:
        exponent = right.number
        if exponent is None:
            raise self._text.error(
                "the exponent of ** must be a number as such", node, "Use math.pow, or a loop."
            )
        if is_whole(left.kind):
            if not isinstance(exponent, int) or not 0 <= exponent <= _HIGHEST_POWER:
                raise self._text.error(
                    f"whole numbers have exponents from 0 to {_HIGHEST_POWER} in a kernel",
                    node,
                    "Write float(x) ** y if a fraction is meant.",
                )
            result = replace(number_value(1), kind=left.kind) if exponent == 0 else left
            for _ in range(exponent - 1):
                result = self.operation(node, ast.Mult(), result, left)
            return result
        name = "powf" if left.kind == "float32" else "pow"
        power = converted(number_value(float(exponent)), left.kind)
        return Value(Code.of(f"{name}(", left.code, ", ", power.code, ")"), left.kind)

    def _choice(self, node: ast.AST, test: Code, then: Value, otherwise: Value) -> Value:
        kind = self._joined(node, then, otherwise)
        then, otherwise = _as_branch(then, kind), _as_branch(otherwise, kind)
        code = Code.of(test, " ? ", then.inside(CONDITIONAL + 1), " : ", otherwise.inside(CONDITIONAL))
        return Value(code, kind, CONDITIONAL, is_natural=then.is_natural and otherwise.is_natural)

    def _joined(self, node: ast.AST, left: Value, right: Value) -> Kind:
        """The type of a value that is one of two."""
        kind = joined(left.kind, right.kind)
        odd = [one for one in (left, right) if kind == "float32" and one.kind == "float"]
        if kind is None or any(one.number is None or not fits_float32(one.number) for one in odd):
            raise self._text.error(
                f"the type of this depends on the data: {left.kind} or {right.kind}",
                node,
                "Convert one of the two, as in np.float32(x) or int(x).",
            )
        return kind

    # ------------------------------------------------ elements

    def cell(self, node: ast.Subscript) -> Value:
        """An element of an array."""
        indices: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            part = list(base.slice.elts) if isinstance(base.slice, ast.Tuple) else [base.slice]
            indices = [*part, *indices]
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self._interface.arrays:
            raise self._text.error(
                f"{self._text.source(base)} is no array", base, "Arrays are arguments, or come from af.empty."
            )
        info = self._interface.arrays[base.id]
        if not info.is_argument and base.id not in self._scope.defined:
            raise self._text.error(f"{base.id} may have no value here", base)
        subscripts = [Code.of("[", self._index(base.id, index).code, "]") for index in indices]
        return Value(Code.of(self._interface.c_names.of(base.id), *subscripts), info.dtype)

    def _index(self, array: str, node: ast.expr) -> Value:
        if isinstance(node, ast.Slice):
            raise self._text.error(
                "a slice stands for several elements, which cannot be analysed",
                node,
                "Write a loop over them.",
            )
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            raise self._text.error(f"{self._text.source(node)} is no index of an element", node)
        index = self.value(node)
        if not is_whole(index.kind):
            raise self._text.error(f"an index is a whole number, but this is a {index.kind}", node)
        if isinstance(index.number, int) and index.number < 0:
            raise self._text.error(
                f"{index.number} counts from the end of {array}",
                node,
                f"Write it with the size: N - {-index.number}, where N is the length of {array} there.",
            )
        return index

    # ------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Value:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self._text.error("a call in a kernel has plain arguments only", node)
        length = self._interface.length(node)
        if length:
            return self._size(self._interface.extent(*length, node))
        is_builtin = isinstance(node.func, ast.Name) and node.func.id not in self._interface.local_names
        name = node.func.id if is_builtin and isinstance(node.func, ast.Name) else ""
        path = self._interface.path(node.func) or ""
        if path in ("arrayfold.empty", "numpy.empty"):
            raise self._text.error(
                "a temporary is made at the top of the kernel, outside of loops and conditions",
                node,
                "Write tmp = af.empty((N, M)) as a statement of its own.",
            )
        arguments = [self.value(argument) for argument in node.args]
        module, _, function = path.partition(".")
        match name, arguments:
            case (("min" | "max"), [_, _, *_]) if not path:
                return self._extreme(node, "<" if name == "min" else ">", arguments)
            case "abs", [one] if not path:
                return self._absolute(one)
            case "int", [one] if not path:
                return (
                    one
                    if one.kind == "int"
                    else Value(Code.of("(long long)", one.inside(UNARY)), "int", UNARY)
                )
            case "float", [one] if not path:
                return self._cast(one, "float")
            case _:
                pass
        if module == "numpy" and function in ("float32", "float64", "int32", "int64") and len(arguments) == 1:
            return self._cast(arguments[0], function)
        if module == "math" and function == "pow" and len(arguments) == 2:
            codes = Code.joined(", ", (self._cast(one, "float").code for one in arguments))
            return Value(Code.of("pow(", codes, ")"), "float")
        function = _NUMPY_NAMES.get(function, function) if module == "numpy" else function
        if module in ("math", "numpy") and function in _FUNCTIONS and len(arguments) == 1:
            return self._function(module, function, arguments[0])
        raise self._text.error(f"{self._text.source(node.func)}() is not known in a kernel", node, _CALLS)

    def _cast(self, operand: Value, kind: Kind) -> Value:
        if operand.number is not None and kind == "float":
            return number_value(float(operand.number))
        if C_TYPES[operand.kind] == C_TYPES[kind] and operand.number is None:
            return replace(operand, kind=kind)
        return Value(Code.of(f"({C_TYPES[kind]})", operand.inside(UNARY)), kind, UNARY)

    def _extreme(self, node: ast.AST, relation: str, values: list[Value]) -> Value:
        """Python keeps the first of equal ones, and compares as it goes."""
        numbers = [value.number for value in values]
        if all(isinstance(number, int) for number in numbers):
            whole = [number for number in numbers if isinstance(number, int)]
            return number_value(min(whole) if relation == "<" else max(whole))
        best = values[0]
        for value in values[1:]:
            kind = self._joined(node, best, value)
            first, second = _as_branch(best, kind), _as_branch(value, kind)
            test = Code.of(second.inside(LESS + 1), f" {relation} ", first.inside(LESS + 1))
            code = Code.of(
                "(", test, " ? ", second.inside(CONDITIONAL + 1), " : ", first.inside(CONDITIONAL), ")"
            )
            either, both = first.is_natural or second.is_natural, first.is_natural and second.is_natural
            best = Value(code, kind, ATOM, is_natural=both if relation == "<" else either)
        return best

    def _absolute(self, operand: Value) -> Value:
        if not is_whole(operand.kind):
            name = "fabsf" if operand.kind == "float32" else "fabs"
            return Value(Code.of(f"{name}(", operand.code, ")"), operand.kind)
        inner = operand.inside(UNARY)
        negative = Code.of("-(", inner, ")")
        code = Code.of("(", operand.inside(LESS + 1), " < 0 ? ", negative, " : ", inner, ")")
        return Value(code, operand.kind, is_natural=True)

    def _function(self, module: str, function: str, operand: Value) -> Value:
        """math computes in 64 bits; numpy in the type of the argument."""
        is_single = module == "numpy" and operand.kind == "float32"
        name = f"{function}f" if is_single else function
        code = Code.of(f"{name}(", operand.code, ")")
        if module == "math" and function in ("floor", "ceil"):
            return Value(Code.of("(long long)", code), "int", UNARY)
        return Value(code, "float32" if is_single else "float" if module == "math" else "float64")

    # ------------------------------------------------ conditions

    def condition(self, node: ast.expr, level: int = 0) -> Code:
        """A condition as C, binding at least so tightly."""
        code, own = self._condition(node)
        code = code if own >= level else Code.of("(", code, ")")
        return Code.of(code, at=node)

    def _condition(self, node: ast.expr) -> tuple[Code, int]:
        match node:
            case ast.BoolOp(op=operator, values=values):
                sign, level = ("&&", AND) if isinstance(operator, ast.And) else ("||", OR)
                parts = [self.condition(value, AND + 1) for value in values]
                return Code.joined(f" {sign} ", parts), level
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Code.of("!", self.condition(operand, ATOM)), UNARY
            case ast.Constant(value=bool() as value):
                return Code.of(str(int(value))), ATOM
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [self.value(side) for side in (left, *others)]
                parts = [
                    self._relation(node, operator, sides[k], sides[k + 1])
                    for k, operator in enumerate(operators)
                ]
                if len(parts) == 1:
                    return parts[0]
                return Code.joined(" && ", (code for code, _ in parts)), AND
            case _:
                value = self.value(node)
                return Code.of(value.inside(EQUAL + 1), " != 0"), EQUAL

    def _relation(self, node: ast.AST, operator: ast.cmpop, left: Value, right: Value) -> tuple[Code, int]:
        if type(operator) not in _RELATIONS:
            raise self._text.error(
                "numbers are compared with <, <=, >, >=, == and != in a kernel",
                node,
                "Write x == 1 or x == 2.",
            )
        symbol, level = _RELATIONS[type(operator)]
        kind = promoted(left.kind, right.kind)
        if not is_whole(kind) and natural(left.kind, right.kind) != C_TYPES[kind]:
            left, right = converted(left, kind), converted(right, kind)
        return Code.of(left.inside(level + 1), f" {symbol} ", right.inside(level + 1)), level

    def _refusal(self, node: ast.expr) -> Exception:
        what, hint = _REFUSED.get(type(node), ("this", "Expected numbers, elements of arrays and operators."))
        return self._text.error(f"{what} cannot stand in a kernel: {self._text.source(node)}", node, hint)


_LOOPS = "Write for loops."
_REFUSED: Mapping[type[ast.expr], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", _LOOPS),
    ast.GeneratorExp: ("a generator", _LOOPS),
    ast.SetComp: ("a set", _LOOPS),
    ast.DictComp: ("a dictionary", _LOOPS),
    ast.List: ("a list", "Use an array: tmp = af.empty(N)."),
    ast.Tuple: ("a tuple", "Use one assignment a value."),
    ast.Dict: ("a dictionary", "Use arguments."),
    ast.Set: ("a set", "Use arrays."),
    ast.Lambda: ("a function", "Write the expression where it is used."),
    ast.NamedExpr: ("an assignment inside an expression", "Make it a statement of its own."),
    ast.Starred: ("a starred expression", "Name every value."),
    ast.Await: ("await", "Kernels run at once."),
    ast.JoinedStr: ("a text", "Kernels compute with numbers."),
}


def number_value(number: float) -> Value:
    """A number as such."""
    kind: Kind = "int" if isinstance(number, int) else "float"
    text = str(number) if isinstance(number, int) else repr(number)
    if isinstance(number, int) and abs(number) > 2**31 - 1:
        text += "LL"
    text = text.replace("inf", "1e999")
    level = UNARY if text.startswith("-") else ATOM
    return Value(Code.of(text), kind, level, number, is_natural=isinstance(number, int) and number >= 0)


def converted(value: Value, kind: Kind) -> Value:
    """The value as another type; nothing changes where C has the same type for both."""
    if C_TYPES[value.kind] == C_TYPES[kind]:
        return value
    if value.number is not None and not is_whole(kind):
        number = float(value.number)
        text = repr(number).replace("inf", "1e999")
        level = UNARY if text.startswith("-") else ATOM
        if kind != "float32":
            return Value(Code.of(text), kind, level, number)
        if fits_float32(number) and abs(number) != float("inf"):
            return Value(Code.of(f"{text}f"), kind, level, number)
    return Value(Code.of(f"({C_TYPES[kind]})", value.inside(UNARY)), kind, UNARY, is_natural=value.is_natural)


def _as_branch(value: Value, kind: Kind) -> Value:
    """The value as one of two: literals of C are made as wide as the numbers that they stand for."""
    if value.kind == kind == "int" and isinstance(value.number, int):
        text = str(value.number) + "LL"
        return replace(value, code=Code.of(text))
    return converted(value, kind) if C_TYPES[value.kind] != C_TYPES[kind] else value
