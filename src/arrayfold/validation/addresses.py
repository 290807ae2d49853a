"""Where variables, elements and members are, and the arithmetic of pointers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.memory import is_address
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run
from arrayfold.validation.scope import FunctionScope, TypedClosure, VariableSlot, scalar_type
from arrayfold.validation.types import (
    ArrayType,
    Frame,
    Other,
    Pointer,
    Struct,
    ValueType,
    size_of,
    value_of,
)


class Addresses:
    """Where the expressions of a function find what they name.

    lasting  the declaration of a variable that is not the function's own -> that variable
    """

    def __init__(self, scope: FunctionScope, lasting: Callable[[TextNode], VariableSlot]) -> None:
        self.scope = scope
        self.m = scope.machine
        self._lasting = lasting

    def value(self, node: TextNode) -> TypedClosure:
        """What an expression gives."""
        raise NotImplementedError

    def whole(self, node: TextNode) -> Run:
        """The value of an expression that must be a whole number."""
        raise NotImplementedError

    def literal(self, node: TextNode) -> tuple[Run, ValueType]:
        """Where a compound literal is, and its type."""
        raise NotImplementedError

    def variable(self, node: TextNode) -> VariableSlot:
        """The variable that a name means."""
        declared = node.referenced
        if declared is None or declared.kind not in ("VAR_DECL", "PARM_DECL"):
            raise Unsupported(f"{node.name} used as a value", node.spot)
        found = self.scope.variables.get(declared.key)
        if found is None:
            found = self.scope.variables[declared.key] = self._lasting(declared)
        return found

    def type_of(self, node: TextNode) -> ValueType:
        """The type of an expression, arrays as they are."""
        if node.kind == "PAREN_EXPR":
            return self.type_of(node.parts[0])
        if node.kind == "DECL_REF_EXPR":
            return self.variable(node).type
        return self.address(node)[1] if node.is_place else self.value(node).type

    # ------------------------------------------------ addresses

    def address(self, node: TextNode) -> tuple[Run, ValueType]:
        """Where something is, and its type."""
        match node.kind:
            case "PAREN_EXPR" | "UNEXPOSED_EXPR" if len(node.parts) == 1:
                return self.address(node.parts[0])
            case "DECL_REF_EXPR":
                return self._of_variable(node)
            case "ARRAY_SUBSCRIPT_EXPR":
                return self._of_element(node)
            case "MEMBER_REF_EXPR":
                return self._of_member(node)
            case "UNARY_OPERATOR" if node.operator == "*":
                value = self.value(node.expressions[0])
                if not isinstance(value.type, Pointer):
                    raise Unsupported("what is dereferenced is not a pointer", node.spot)
                return value.run, value.type.target
            case "COMPOUND_LITERAL_EXPR":
                return self.literal(node)
            case _:
                raise Unsupported("the address of this expression", node.spot)

    def _of_variable(self, node: TextNode) -> tuple[Run, ValueType]:
        variable = self.variable(node)
        if variable.is_register:
            raise Unsupported(f"the address of {variable.name}", node.spot)
        return variable.address, variable.type

    def _of_element(self, node: TextNode) -> tuple[Run, ValueType]:
        first, second = node.expressions
        if scalar_type(first.type).tag not in ("pointer", "array"):
            first, second = second, first
        index, m, spot = self.value(second).run, self.m, node.spot
        base = self.value(first)
        if not isinstance(base.type, Pointer):
            raise Unsupported("a subscript of what is not an array", spot)
        pointer, kind = base.run, base.type.target
        size = self._element_size(kind, spot)
        width, measured = (size, None) if isinstance(size, int) else (0, size)

        def address(f: Frame) -> Any:
            start = pointer(f)
            if start.__class__ is not tuple:
                refuse(start, spot)
            obj, offset, low, high = start
            at = index(f)
            if type(at) is not int:
                at = m.whole(at, spot)
            return (obj, offset + at * (width if measured is None else measured(f)), low, high)

        return address, kind

    @staticmethod
    def _element_size(kind: ValueType, spot: Spot) -> int | Run:
        size = size_of(kind)
        if size is None:
            raise Unsupported("an element of unknown size", spot)
        return size

    def _of_member(self, node: TextNode) -> tuple[Run, ValueType]:
        spot = node.spot
        base = None if node.is_of_this else node.expressions[0]
        kind = None if base is None else self.type_of(base)
        if base is None:
            if node.referenced is None or node.referenced.kind != "FIELD_DECL":
                raise Unsupported(f"member {node.name}", spot)
            run, struct = self.object_of(node.referenced.cursor.semantic_parent.type, spot)
        elif isinstance(kind, Pointer):
            run, struct = self.value(base).run, kind.target
            if not isinstance(struct, Struct):
                struct = scalar_type(base.type.get_canonical().get_pointee())
        else:
            run, struct = self.address(base)
        name = node.name
        if not name and node.referenced is not None:
            name = f"#{node.referenced.key}"
        if not isinstance(struct, Struct) or name not in struct.members:
            raise Unsupported(f"member {node.name}", spot)
        at, member = struct.members[name]
        if isinstance(member, Other):
            raise Unsupported(f"member {node.name}, a {member.tag}", spot)
        return shifted(run, at, spot), member

    def object_of(self, kind: Any, spot: Spot) -> tuple[Run, Struct]:
        """The object that a member function is called for, of which nothing is known but its type."""
        struct, m = scalar_type(kind), self.m
        if not isinstance(struct, Struct):
            raise Unsupported("an object of this type", spot)

        def address(_: Frame) -> Any:
            given = m.given(m.name("this"), "this", struct.size)
            given.shape = ()
            return given.pointer()

        return address, struct

    def decayed(self, run: Run, kind: ArrayType, spot: Spot) -> Run:
        """An array as a pointer to its first element."""
        size, m = size_of(kind), self.m
        if size is None:
            return run

        def pointer(f: Frame) -> Any:
            obj, offset, low, high = run(f)
            end = offset + value_of(size, f)
            if offset < low or end > high:
                m.outside((obj, offset, low, high), end - offset, spot)
            return (obj, offset, offset, end)

        return pointer

    # ------------------------------------------------ pointers

    def moved(self, pointer: TypedClosure, amount: Run, sign: int, spot: Spot) -> Run:
        """A pointer plus or minus a number of elements; it stays inside of its array, or right behind it."""
        assert isinstance(pointer.type, Pointer)
        size, run, m = self._element_size(pointer.type.target, spot), pointer.run, self.m

        def address(f: Frame) -> Any:
            obj, offset, low, high = _followed(run(f), spot)
            steps = amount(f)
            if type(steps) is not int:
                steps = m.whole(steps, spot)
            offset += sign * steps * value_of(size, f)
            if not low <= offset <= high:
                raise Fault(f"a pointer leaves {obj.name if obj else 'nothing'}", spot)
            if obj is not None and obj.is_open:
                obj.reach(offset)
            return (obj, offset, low, high)

        return address

    def distance(self, left: TypedClosure, right: TypedClosure, spot: Spot) -> Run:
        """The difference of two pointers, in elements."""
        assert isinstance(left.type, Pointer)
        size = self._element_size(left.type.target, spot)

        def difference(f: Frame) -> int:
            first, second = _followed(left.run(f), spot), _followed(right.run(f), spot)
            if first[0] is not second[0]:
                raise Fault("the difference of pointers into different arrays", spot)
            return (first[1] - second[1]) // value_of(size, f)

        return difference


def shifted(run: Run, by: int, spot: Spot) -> Run:
    """An address that is so many bytes further."""

    def address(f: Frame) -> Any:
        start = run(f)
        if start.__class__ is not tuple:
            refuse(start, spot)
        obj, offset, low, high = start
        return (obj, offset + by, low, high)

    return address


def _followed(value: Any, spot: Spot) -> Any:
    """A pointer that is about to be used."""
    if not is_address(value):
        refuse(value, spot)
    return value


def refuse(value: Any, spot: Spot) -> NoReturn:
    """Raise for what is dereferenced and is not an address."""
    if hasattr(value, "reason"):
        raise Fault(f"a pointer without a value is dereferenced: {value.reason}", spot)
    raise Unsupported("a pointer that comes out of data", spot)
