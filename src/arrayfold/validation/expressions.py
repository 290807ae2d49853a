"""Expressions as closures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arrayfold.validation import operators
from arrayfold.validation.access import MemoryAccess
from arrayfold.validation.faults import Fault, Unsupported
from arrayfold.validation.memory import NULL
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import COMPARISONS, Run, in_order
from arrayfold.validation.scope import FunctionScope, TypedClosure, VariableSlot, scalar_type
from arrayfold.validation.terms import Term
from arrayfold.validation.types import (
    INT,
    LONG,
    SIZE,
    VOID,
    ArrayType,
    Floating,
    Frame,
    Integer,
    Other,
    Pointer,
    Struct,
    ValueType,
    common_type,
    promoted,
    size_of,
    value_of,
)

if TYPE_CHECKING:
    from arrayfold.validation.calls import Calls


class ExpressionCompiler(MemoryAccess):
    """The expressions of a function."""

    def __init__(
        self, scope: FunctionScope, calls: Calls, lasting: Callable[[TextNode], VariableSlot]
    ) -> None:
        super().__init__(scope, lasting)
        self.calls = calls
        self._kinds: dict[str, Callable[[TextNode], TypedClosure]] = {
            "INTEGER_LITERAL": self._integer,
            "CHARACTER_LITERAL": self._integer,
            "FLOATING_LITERAL": self._floating,
            "STRING_LITERAL": self._string,
            "DECL_REF_EXPR": self._reference,
            "PAREN_EXPR": lambda node: self.value(node.parts[0]),
            "UNEXPOSED_EXPR": self._implied,
            "CSTYLE_CAST_EXPR": self._cast,
            "UNARY_OPERATOR": self._unary,
            "BINARY_OPERATOR": self._binary,
            "COMPOUND_ASSIGNMENT_OPERATOR": self._update,
            "CONDITIONAL_OPERATOR": self._choice,
            "ARRAY_SUBSCRIPT_EXPR": self._loaded,
            "MEMBER_REF_EXPR": self._loaded,
            "COMPOUND_LITERAL_EXPR": self._loaded,
            "CALL_EXPR": lambda node: self.calls.call(self, node),
            "CXX_UNARY_EXPR": self._size,
            "StmtExpr": lambda node: self.statements.block_value(node.parts[0]),
            "CXX_THIS_EXPR": self._this,
            "GNU_NULL_EXPR": lambda _: TypedClosure(lambda _: NULL, Pointer(VOID)),
        }
        self.statements: Any = None

    def value(self, node: TextNode) -> TypedClosure:
        """What an expression gives."""
        make = self._kinds.get(node.kind)
        if make is None:
            raise Unsupported(f"{node.kind.lower().removesuffix('_expr').replace('_', ' ')}", node.spot)
        return make(node)

    def converted(self, node: TextNode, target: ValueType) -> Run:
        """The value of an expression as another type."""
        value = self.value(node)
        return operators.convert(self.m, value.run, value.type, target, node.spot)

    def whole(self, node: TextNode) -> Run:
        """The value of an expression that must be a whole number."""
        run, m, spot = self.value(node).run, self.m, node.spot

        def number(f: Frame) -> int:
            value = run(f)
            return value if type(value) is int else m.whole(value, spot)

        return number

    # ------------------------------------------------ literals and names

    def _integer(self, node: TextNode) -> TypedClosure:
        kind = scalar_type(node.type)
        value = node.constant
        if not isinstance(kind, Integer) or not isinstance(value, int):
            raise Unsupported("this constant", node.spot)
        number = kind.wrapped(value)
        return TypedClosure(lambda _: number, kind)

    def _floating(self, node: TextNode) -> TypedClosure:
        kind, m, number = scalar_type(node.type), self.m, repr(node.constant)
        tag = kind.tag
        return TypedClosure(lambda _: m.terms.make("constant", tag, number), kind)

    def _string(self, node: TextNode) -> TypedClosure:
        text, m = node.name, self.m
        return TypedClosure(lambda _: m.terms.make("string", "", text), Pointer(scalar_type(node.type)))

    def _reference(self, node: TextNode) -> TypedClosure:
        declared = node.referenced
        if declared is not None and declared.kind == "ENUM_CONSTANT_DECL":
            number = int(declared.cursor.enum_value)
            return TypedClosure(lambda _: number, INT)
        if declared is not None and declared.kind == "FUNCTION_DECL":
            m, name = self.m, declared.name
            return TypedClosure(lambda _: m.terms.make("function", "", name), Pointer(Other("function")))
        variable = self.variable(node)
        if variable.is_register:
            slot = variable.slot
            return TypedClosure(lambda f: f[slot], variable.type)
        loaded = self._loaded(node)
        if variable.lasting is not None:
            return TypedClosure(self.sized(variable.name, loaded.run), loaded.type)
        return loaded

    def _loaded(self, node: TextNode) -> TypedClosure:
        run, kind = self.address(node)
        if isinstance(kind, ArrayType):
            return TypedClosure(self.decayed(run, kind, node.spot), Pointer(kind.element))
        loaded = self.load(run, kind, node.spot)
        path = node.path if node.is_place and self.scope.sized else None
        return TypedClosure(loaded if path is None else self._size_in_field(path, loaded, kind), kind)

    def _this(self, node: TextNode) -> TypedClosure:
        run, struct = self.object_of(node.type.get_canonical().get_pointee(), node.spot)
        return TypedClosure(run, Pointer(struct))

    def literal(self, node: TextNode) -> tuple[Run, ValueType]:
        """An object without a name, which is made and gets its values whenever it is reached."""
        made = self.statements.declarations.unnamed(node)
        return made, scalar_type(node.type)

    def _size_in_field(self, path: str, loaded: Run, kind: ValueType) -> Run:
        """The value of a field that may be a size of the context; its type may not have that value."""
        sized = self.sized(path, loaded)
        if sized is loaded or not isinstance(kind, Integer):
            return sized

        def checked(f: Frame) -> Any:
            value = sized(f)
            if type(value) is int and not kind.low <= value <= kind.high:
                raise Fault(f"{path} cannot be {value}")
            return value

        return checked

    # ------------------------------------------------ conversions

    def _implied(self, node: TextNode) -> TypedClosure:
        if len(node.parts) != 1:
            raise Unsupported("this expression", node.spot)
        value = self.value(node.parts[0])
        target = scalar_type(node.type)
        if isinstance(target, Pointer) and not isinstance(value.type, Integer):
            # What a pointer of variable extents points at is known where it is declared.
            return value
        if isinstance(target, ArrayType | Struct) or target.tag == "void":
            return value
        run = operators.convert(self.m, value.run, value.type, target, node.spot)
        return TypedClosure(run, target)

    def _cast(self, node: TextNode) -> TypedClosure:
        *written, inner = node.expressions
        prologue: list[Run] = []
        target = self.scope.read_type(node.type, written, self.whole, prologue, node.spot)
        value = self.value(inner)
        if target.tag == "void":
            return TypedClosure(value.run, VOID)
        run = operators.convert(self.m, value.run, value.type, target, node.spot)
        return TypedClosure(in_order(*prologue, run), target)

    def _size(self, node: TextNode) -> TypedClosure:
        value = node.constant
        if isinstance(value, int) and value > 0:
            return TypedClosure(lambda _: value, SIZE)
        if node.expressions and node.expressions[-1].end == node.end:
            size = size_of(self.type_of(node.expressions[-1]))
        else:
            size = self.scope.size_of_type(node, self.whole)
        if size is None:
            raise Unsupported("the size of this type", node.spot)
        number = size
        return TypedClosure(lambda f: value_of(number, f), SIZE)

    # ------------------------------------------------ operators

    def _unary(self, node: TextNode) -> TypedClosure:
        operator, (operand,) = node.operator, node.expressions
        if operator in ("x++", "x--", "++", "--"):
            return self._step(node, operand, operator)
        if operator == "&":
            run, kind = self.address(operand)
            return TypedClosure(run, Pointer(kind))
        if operator == "*":
            return self._loaded(node)
        if operator == "!":
            value, m, spot = self.value(operand), self.m, node.spot
            return TypedClosure(lambda f: _negated(m, value.run(f), spot), INT)
        if operator == "extension":
            return self.value(operand)
        value = self.value(operand)
        kind = value.type
        if isinstance(kind, Integer):
            kind = promoted(kind)
        if not isinstance(kind, Integer | Floating) or operator not in ("+", "-", "~"):
            raise Unsupported(f"operator {operator}", node.spot)
        run = operators.convert(self.m, value.run, value.type, kind, node.spot)
        if operator == "+":
            return TypedClosure(run, kind)
        return TypedClosure(operators.unary(self.m, operator, kind, run, node.spot), kind)

    def _step(self, node: TextNode, operand: TextNode, operator: str) -> TypedClosure:
        one: TypedClosure = TypedClosure(lambda _: 1, INT)
        is_after, sign = operator.startswith("x"), operator[-1]
        return self.updated(node, operand, lambda old: self.applied(node, sign, old, one), is_after)

    def _update(self, node: TextNode) -> TypedClosure:
        target, amount = node.expressions
        value, sign = self.value(amount), node.operator[:-1]
        return self.updated(node, target, lambda old: self.applied(node, sign, old, value), False)

    def _binary(self, node: TextNode) -> TypedClosure:
        operator, (left, right) = node.operator, node.expressions
        if operator == "=":
            return self.assigned(node, left, right)
        if operator == ",":
            first, second = self.value(left), self.value(right)
            return TypedClosure(lambda f: (first.run(f), second.run(f))[1], second.type)
        if operator in ("&&", "||"):
            decided = self.condition(node)
            return TypedClosure(lambda f: int(decided(f)), INT)
        return self.applied(node, operator, self.value(left), self.value(right))

    def applied(self, node: TextNode, operator: str, left: TypedClosure, right: TypedClosure) -> TypedClosure:
        """A binary operator on two values."""
        m, spot = self.m, node.spot
        if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
            return self._on_pointers(node, operator, left, right)
        if operator in ("<<", ">>") and isinstance(left.type, Integer):
            kind = promoted(left.type)
            run = operators.convert(m, left.run, left.type, kind, spot)
            return TypedClosure(operators.shift(m, operator, kind, run, right.run, spot), kind)
        if not isinstance(left.type, Integer | Floating) or not isinstance(right.type, Integer | Floating):
            raise Unsupported(f"operator {operator} on {left.type.tag} and {right.type.tag}", spot)
        kind = common_type(left.type, right.type)
        first, second = (operators.convert(m, one.run, one.type, kind, spot) for one in (left, right))
        if operator in COMPARISONS:
            return TypedClosure(operators.comparison(m, operator, kind, first, second), INT)
        return TypedClosure(operators.arithmetic(m, operator, kind, first, second, spot), kind)

    def _on_pointers(
        self, node: TextNode, operator: str, left: TypedClosure, right: TypedClosure
    ) -> TypedClosure:
        m, spot = self.m, node.spot
        if operator in COMPARISONS:
            kind = left.type if isinstance(left.type, Pointer) else right.type
            first, second = (operators.convert(m, one.run, one.type, kind, spot) for one in (left, right))
            return TypedClosure(operators.comparison(m, operator, kind, first, second), INT)
        if operator == "+" and isinstance(right.type, Pointer):
            left, right = right, left
        if isinstance(left.type, Pointer) and isinstance(right.type, Pointer) and operator == "-":
            return TypedClosure(self.distance(left, right, spot), LONG)
        if operator not in ("+", "-") or not isinstance(left.type, Pointer):
            raise Unsupported(f"operator {operator} on pointers", spot)
        return TypedClosure(self.moved(left, right.run, -1 if operator == "-" else 1, spot), left.type)

    def _choice(self, node: TextNode) -> TypedClosure:
        condition, left, right = node.expressions
        decided = self.condition(condition)
        first, second = self.value(left), self.value(right)
        kinds = (first.type, second.type)
        if all(isinstance(kind, Integer | Floating) for kind in kinds):
            kind: ValueType = common_type(*kinds)
        else:
            kind = first.type if isinstance(first.type, Pointer | Struct) else second.type
        yes, no = (operators.convert(self.m, one.run, one.type, kind, node.spot) for one in (first, second))
        return TypedClosure(lambda f: yes(f) if decided(f) else no(f), kind)

    # ------------------------------------------------ conditions

    def condition(self, node: TextNode) -> Callable[[Frame], bool]:
        """An expression as true or false."""
        m, spot = self.m, node.spot
        if node.kind == "PAREN_EXPR":
            return self.condition(node.parts[0])
        if node.kind == "BINARY_OPERATOR" and node.operator in ("&&", "||"):
            left, right = (self.condition(part) for part in node.expressions)
            if node.operator == "&&":
                return lambda f: left(f) and right(f)
            return lambda f: left(f) or right(f)
        if node.kind == "UNARY_OPERATOR" and node.operator == "!":
            negated = self.condition(node.expressions[0])
            return lambda f: not negated(f)
        run = self.value(node).run

        def holds(f: Frame) -> bool:
            value = run(f)
            return value != 0 if type(value) is int else m.truth(value, spot)

        return holds


def _negated(m: Any, value: Any, spot: Any) -> Any:
    if type(value) is Term:
        return m.combine("!", "i32", value)
    return value if type(value) not in (int, tuple) else int(not m.truth(value, spot))
