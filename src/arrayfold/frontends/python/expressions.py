"""Python expressions as C expressions with the same value."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.operations import OPERATORS, Operations
from arrayfold.frontends.python.signature import Interface, subscripts
from arrayfold.frontends.python.slices import SliceLoop, Slices, is_several, part_of_slice, whole
from arrayfold.frontends.python.text import Code
from arrayfold.frontends.python.values import (
    AND,
    ATOM,
    C_TYPES,
    CONDITIONAL,
    DTYPES,
    EQUAL,
    LESS,
    OR,
    SUM,
    UNARY,
    Value,
    converted,
    dtype_called,
    is_unsigned,
    is_whole,
    natural,
    number_value,
    promoted,
)

RELATIONS: Mapping[type[ast.cmpop], tuple[str, int]] = {
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
_NUMPY_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "tau": 6.283185307179586, "inf": float("inf")}
_CALLS = "Known are min, max, abs, int, float, and functions such as math.sqrt, math.exp and np.sqrt."


@dataclass
class KernelScope:
    """What names mean at a place in a kernel.

    variables  scalars of the kernel -> what they are
    helpers    C functions that the kernel needs
    defined    names that surely have a value there
    declared   scalars that C knows there
    iterators  names of the loops around it -> whether the loop runs over natural numbers only
    elements   the loops over the elements of slices, where they may stand
    """

    interface: Interface
    variables: Mapping[str, Value]
    helpers: set[str]
    defined: set[str] = field(default_factory=set[str])
    declared: set[str] = field(default_factory=set[str])
    iterators: dict[str, bool] = field(default_factory=dict[str, bool])
    elements: tuple[SliceLoop, ...] = ()

    def inner(self) -> KernelScope:
        """A place inside, whose new names end with it."""
        return replace(self, defined={*self.defined}, declared={*self.declared}, iterators={**self.iterators})


class ExpressionTranslator:
    """Translates the expressions at one place of a kernel."""

    def __init__(self, scope: KernelScope) -> None:
        self._scope = scope
        self._interface = scope.interface
        self._text = scope.interface.text
        self.operations = Operations(self._text, scope.helpers)

    # ------------------------------------------------ values

    def value(self, node: ast.expr) -> Value:
        """A number."""
        value = self._value(node)
        return replace(value, code=Code.of(value.code, at=node))

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return self._constant(node, value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._sign(self.value(operand), is_minus=isinstance(node.op, ast.USub))
            case ast.BinOp(left=left, op=ast.Pow(), right=right) if self._is_several(left):
                return self._power_of_elements(node, left, right)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                return self.operations.operation(node, operator, self.value(left), self.value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._one_number(test, "if chooses once for all elements; use np.where")
                return self.operations.choice(
                    node, self.condition(test, CONDITIONAL + 1), self.value(body), self.value(orelse)
                )
            case ast.Subscript():
                length = self._interface.length(node)
                return self._size(self._interface.extent(*length, node)) if length else self.cell(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                number = self._imported_constant(node)
                if number is not None:
                    return number
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self._text.error(
                    "a condition is not a number here", node, "Choose a number: 1 if ... else 0."
                )
            case _:
                pass
        raise self._refusal(node)

    def _is_several(self, node: ast.expr) -> bool:
        """Whether an expression stands for an element of a slice or of a whole array."""
        return bool(self._scope.elements) and is_several(node, self._interface.arrays)

    def _one_number(self, node: ast.expr, complaint: str) -> None:
        if self._is_several(node):
            raise self._text.error(f"this has several elements, and {complaint}", node)

    def _power_of_elements(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Value:
        """NumPy squares arrays by a product; other powers it computes in ways of its own."""
        if not (isinstance(right, ast.Constant) and right.value == 2):
            raise self._text.error(
                "slices are squared; other powers cannot stand here",
                node,
                "Write products or np.sqrt, or a loop.",
            )
        value = self.value(left)
        return self.operations.operation(node, ast.Mult(), value, value)

    def _constant(self, node: ast.expr, value: object) -> Value:
        if isinstance(value, bool):
            raise self._text.error(f"{value} is not a number here", node, "Write 1 or 0.")
        if isinstance(value, int | float):
            return self.operations.number(node, value)
        raise self._text.error(f"{self._text.source(node)} is not a number", node)

    def _name(self, node: ast.expr, name: str) -> Value:
        interface = self._interface
        if name in self._scope.iterators:
            is_natural = self._scope.iterators[name]
            return Value(Code.of(interface.c_names.of(name)), "int", is_natural=is_natural)
        if name in interface.scalars:
            return Value(Code.of(interface.c_names.of(name)), interface.scalars[name])
        if name in interface.arrays and self._scope.elements:
            return self._element(name, whole(interface.arrays[name].rank), node)
        if name in interface.arrays:
            raise self._text.error(
                f"{name} is an array; expected one of its elements",
                node,
                "Use every subscript, or assign to a slice, as in out[:] = a * 2.",
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
            return self._scope.variables[name]
        if name in interface.names.constants:
            return number_value(interface.names.constants[name])
        number = self._imported_constant(node)
        if number is not None:
            return number
        raise self._text.error(
            f"unknown name {name}",
            node,
            "A kernel sees its arguments, and numbers that its file names once at the top.",
        )

    def _imported_constant(self, node: ast.expr) -> Value | None:
        """`math.pi` and the like."""
        module, _, name = (self._interface.path(node) or "").partition(".")
        is_known = module in ("math", "numpy") and name in _CONSTANTS
        return number_value(_CONSTANTS[name]) if is_known else None

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
        return self.operations.negated(operand, inner)

    # ------------------------------------------------ elements

    def cell(self, node: ast.Subscript) -> Value:
        """An element of an array."""
        base, indices = subscripts(node)
        if not isinstance(base, ast.Name) or base.id not in self._interface.arrays:
            raise self._text.error(
                f"{self._text.source(base)} is not an array",
                base,
                "Arrays are arguments, or come from af.empty.",
            )
        inner = part_of_slice(node)
        if inner is not None:
            hint = "Put all indices into one pair of brackets."
            raise self._text.error(
                f"{self._text.source(inner)} is a part of an array that is subscripted", inner, hint
            )
        return self._element(base.id, indices, node)

    def _element(self, array: str, indices: Sequence[ast.expr], node: ast.expr) -> Value:
        info = self._interface.arrays[array]
        if not info.is_argument and array not in self._scope.defined:
            raise self._text.error(f"{array} may have no value here", node)
        found: Sequence[Formula | ast.expr] = indices
        if self._scope.elements:
            slices = Slices(self._interface, self._scope.iterators)
            found = slices.element(array, indices, self._scope.elements, node)
        codes = [
            str(index) if isinstance(index, Formula) else self._index(array, index).code for index in found
        ]
        inside = [Code.of("[", code, "]") for code in codes]
        return Value(Code.of(self._interface.c_names.of(array), *inside), info.dtype)

    def _index(self, array: str, node: ast.expr) -> Value:
        if isinstance(node, ast.Slice):
            raise self._text.error(
                "a slice stands for several elements; expected one",
                node,
                "Write a loop over them, or assign to a slice, as in out[:] = a[0:n].",
            )
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            raise self._text.error(f"{self._text.source(node)} is not the index of an element", node)
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
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        name = "" if name in self._interface.local_names else name
        path = self._interface.path(node.func) or ""
        if path in ("arrayfold.empty", "numpy.empty"):
            raise self._text.error(
                "a temporary is made at the top of the kernel, outside of loops and conditions",
                node,
                "Write tmp = af.empty((N, M)) as a statement of its own.",
            )
        module, _, function = path.partition(".")
        if module == "numpy" and function == "where" and len(node.args) == 3:
            test, then, otherwise = node.args
            return self.operations.where(
                node, self.condition(test, CONDITIONAL + 1), self.value(then), self.value(otherwise)
            )
        if module == "math" or (not path and name != "abs"):
            for argument in node.args:
                self._one_number(argument, f"{self._text.source(node.func)}() takes numbers; use NumPy's")
        arguments = [self.value(argument) for argument in node.args]
        return self._built_in(node, name, arguments) if not path else self._imported(node, path, arguments)

    def _built_in(self, node: ast.Call, name: str, arguments: Sequence[Value]) -> Value:
        match name, arguments:
            case (("min" | "max"), [_, _, *_]):
                return self.operations.extreme(node, name, arguments)
            case "abs", [argument]:
                return self.operations.absolute(argument)
            case "int", [argument]:
                cut = Value(Code.of("(long long)", argument.inside(UNARY)), "int", UNARY)
                return argument if argument.kind == "int" else cut
            case "float", [argument]:
                return self.operations.cast(argument, "float")
            case _:
                raise self._unknown(node)

    def _imported(self, node: ast.Call, path: str, arguments: Sequence[Value]) -> Value:
        """A function of math or NumPy."""
        module, _, function = path.partition(".")
        match module, function, arguments:
            case "numpy", word, [argument] if word in DTYPES:
                kind = dtype_called(word)
                assert kind is not None
                return self.operations.cast(argument, kind)
            case "math", "pow", [base, exponent]:
                return self.operations.power(base, exponent)
            case "numpy", ("abs" | "absolute"), [argument]:
                return self.operations.absolute(argument)
            case "numpy", ("minimum" | "maximum") as word, [left, right]:
                return self.operations.elementwise_extreme(node, word, left, right)
            case "numpy", "clip", [value, least, most]:
                above = self.operations.elementwise_extreme(node, "maximum", value, least)
                return self.operations.elementwise_extreme(node, "minimum", above, most)
            case _:
                pass
        function = _NUMPY_NAMES.get(function, function) if module == "numpy" else function
        if module in ("math", "numpy") and function in _FUNCTIONS and len(arguments) == 1:
            return self.operations.function(node, module, function, arguments[0])
        raise self._unknown(node)

    def _unknown(self, node: ast.Call) -> Exception:
        return self._text.error(f"{self._text.source(node.func)}() is not known in a kernel", node, _CALLS)

    # ------------------------------------------------ conditions

    def condition(self, node: ast.expr, level: int = 0) -> Code:
        """A condition as C, binding at least so tightly."""
        if isinstance(node, ast.BoolOp) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            self._one_number(node, "and, or and chains of comparisons are for single numbers")
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
        if type(operator) not in RELATIONS:
            raise self._text.error(
                "numbers are compared with <, <=, >, >=, == and != in a kernel",
                node,
                "Write x == 1 or x == 2.",
            )
        symbol, level = RELATIONS[type(operator)]
        kind = promoted(left.kind, right.kind)
        if not all(map(is_whole, left.kinds | right.kinds)):
            self.operations.agreed(node, promoted, left, right)
        if is_whole(kind):
            is_mixed = is_unsigned(left.kind) != is_unsigned(right.kind)
            if is_mixed and natural(left.kind, right.kind) == "unsigned int":
                left, right = converted(left, "int64"), converted(right, "int64")
        elif natural(left.kind, right.kind) != C_TYPES[kind]:
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
