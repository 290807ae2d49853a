"""Declarations as closures: variables, their initial values, types with a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from arrayfold.validation.addresses import shifted
from arrayfold.validation.expressions import ExpressionCompiler
from arrayfold.validation.faults import Unsupported
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run, in_order
from arrayfold.validation.scope import VariableSlot, held_by, scalar_type
from arrayfold.validation.terms import Poison
from arrayfold.validation.types import (
    ArrayType,
    Frame,
    Integer,
    Struct,
    ValueType,
    leaves,
    shape_of,
    size_of,
    value_of,
)


class Declarations:
    """The declarations of a function."""

    def __init__(self, expressions: ExpressionCompiler, lasting: Callable[[TextNode], VariableSlot]) -> None:
        self.expressions = expressions
        self.scope = expressions.scope
        self.m = expressions.m
        self._lasting = lasting

    def declaration(self, node: TextNode) -> Run | None:
        """What a declaration does when it is reached."""
        if node.kind == "TYPEDEF_DECL":
            prologue: list[Run] = []
            kind = self._type(node, node.cursor.underlying_typedef_type, node.expressions, prologue)
            self.scope.typedefs[node.key] = kind
            return in_order(*prologue) if prologue else None
        if node.kind != "VAR_DECL":
            return None
        if node.is_static or node.is_extern:
            self.scope.remember(node, self._lasting(node))
            return None
        return self._local(node)

    def _local(self, node: TextNode) -> Run:
        if node.is_reference:
            raise Unsupported(f"{node.name}, a reference", node.spot)
        if held_by(node.type) is not None:
            return self._container(node)
        prologue: list[Run] = []
        kind = self.declared_type(node, prologue)
        variable = self.scope.declare(node, kind)
        slot, initial, name, m = variable.slot, node.initializer, node.name, self.m
        if variable.is_register:
            if initial is None:
                unset = Poison(f"{name} was never set")

                def forget(f: Frame) -> None:
                    f[slot] = unset

                return in_order(*prologue, forget)
            run = self.expressions.sized(name, self.expressions.converted(initial, kind))

            def begin(f: Frame) -> None:
                f[slot] = run(f)

            return in_order(*prologue, begin)
        size = size_of(kind)
        if size is None:
            raise Unsupported(f"{name} of unknown size", node.spot)

        def make(f: Frame) -> None:
            own = m.allocate(name, value_of(size, f))
            own.shape = shape_of(kind, f)
            f[slot] = own.pointer()

        steps: list[Run] = [*prologue, make]
        if initial is not None:
            steps += self.initialised(lambda f: f[slot], kind, initial, name)
        return in_order(*steps)

    def _container(self, node: TextNode) -> Run:
        """A container of C++: its elements are zero, or copies of one value."""
        made = node.initializer
        if made is None or made.kind == "INIT_LIST_EXPR":
            counts, value = list[TextNode](), None
            if made is not None and made.parts:
                raise Unsupported("a container that begins with a list", node.spot)
        else:
            counts, value = _made_with(made)
        prologue: list[Run] = []
        kind = self._held(node.type, counts, prologue, node)
        variable = self.scope.declare(node, kind)
        slot, name, m, size = variable.slot, node.name, self.m, size_of(kind)
        assert size is not None
        is_set = made is not None and (made.kind == "INIT_LIST_EXPR" or "array" not in _words(node.type))
        element: ValueType = kind
        while isinstance(element, ArrayType):
            element = element.element
        start = None if value is None else self.expressions.converted(value, element)

        def make(f: Frame) -> None:
            own = m.allocate(name, value_of(size, f))
            own.shape = shape_of(kind, f)
            f[slot] = own.pointer()
            if start is not None:
                first = start(f)
                own.initial = lambda _at, _kind: first
            elif is_set:
                own.fills.append((0, value_of(size, f)))

        return in_order(*prologue, make)

    def _held(self, kind: Any, counts: list[TextNode], prologue: list[Run], node: TextNode) -> ValueType:
        """The type of a container as that of an array, of as many dimensions as there are containers."""
        held = held_by(kind)
        if held is None:
            return scalar_type(kind)
        element, number = held
        count: int | Run | None = number
        if number is None:
            if not counts:
                raise Unsupported(f"{node.name}, of which the text does not say how large it is", node.spot)
            count = self.scope.once(self.expressions.whole(counts[0]), prologue)
        found = ArrayType(
            self._held(element, counts[1:] if number is None else counts, prologue, node), count
        )
        size = size_of(found)
        return replace(found, bytes=self.scope.once(size, prologue)) if callable(size) else found

    def declared_type(self, node: TextNode, prologue: list[Run]) -> ValueType:
        """The type of a variable or a parameter."""
        written = list(node.expressions)
        if node.initializer is not None and written:
            written.pop()
        return self._type(node, node.type, written, prologue)

    def _type(self, node: TextNode, kind: Any, written: list[TextNode], prologue: list[Run]) -> ValueType:
        return self.scope.read_type(kind, list(written), self.expressions.whole, prologue, node.spot)

    def unnamed(self, node: TextNode) -> Run:
        """The address of the object that a compound literal makes."""
        kind, slot, m = scalar_type(node.type), self.scope.slot(), self.m
        size = size_of(kind)
        if not isinstance(size, int) or node.parts[-1].kind != "INIT_LIST_EXPR":
            raise Unsupported("this compound literal", node.spot)
        number = size

        def make(f: Frame) -> Any:
            own = m.allocate("a compound literal", number)
            own.shape = shape_of(kind, f)
            f[slot] = own.pointer()

        steps = in_order(make, *self.initialised(lambda f: f[slot], kind, node.parts[-1], ""))

        def address(f: Frame) -> Any:
            steps(f)
            return f[slot]

        return address

    # ------------------------------------------------ initial values

    def initialised(self, address: Run, kind: ValueType, initial: TextNode, name: str) -> list[Run]:
        """The steps that give an object in memory its initial value."""
        if initial.kind != "INIT_LIST_EXPR":
            if isinstance(kind, ArrayType):
                raise Unsupported("an array that begins with a text", initial.spot)
            run = self.expressions.sized(name, self.expressions.converted(initial, kind))
            return [self.expressions.store(address, kind, run, initial.spot)]
        size = size_of(kind)
        assert size is not None

        def clear(f: Frame) -> None:
            obj, offset, *_ = address(f)
            obj.fills.append((offset, offset + value_of(size, f)))

        steps: list[Run] = [clear]
        self._fill(address, kind, initial, 0, steps)
        return steps

    def _fill(self, address: Run, kind: ValueType, initial: TextNode, offset: int, steps: list[Run]) -> None:
        if not isinstance(kind, ArrayType | Struct):
            for part in initial.expressions[:1]:
                self._put(address, kind, part, offset, steps)
            return
        places = _places(kind, offset)
        k = 0
        waiting: list[tuple[int, ValueType]] = []
        for part in initial.parts:
            inner = part
            if part.kind == "UNEXPOSED_EXPR" and len(part.parts) > 1:
                k, inner = self._designated(kind, part), part.parts[-1]
                waiting = []
            if waiting:
                at, leaf = waiting.pop(0)
                self._put(address, leaf, inner, at, steps)
                continue
            at, member = places(k)
            k += 1
            if inner.kind == "INIT_LIST_EXPR":
                self._fill(address, member, inner, at, steps)
            elif isinstance(member, ArrayType) or (
                isinstance(member, Struct) and inner.type.get_canonical().kind.name != "RECORD"
            ):
                waiting = leaves(member, at)
                at, leaf = waiting.pop(0)
                self._put(address, leaf, inner, at, steps)
            else:
                self._put(address, member, inner, at, steps)

    def _designated(self, kind: ValueType, part: TextNode) -> int:
        where = part.parts[0]
        if len(part.parts) == 2 and isinstance(kind, Struct) and where.kind == "MEMBER_REF":
            return list(kind.members).index(where.name)
        if len(part.parts) == 2 and isinstance(kind, ArrayType) and isinstance(where.constant, int):
            return where.constant
        raise Unsupported("this designator", part.spot)

    def _put(self, address: Run, kind: ValueType, node: TextNode, offset: int, steps: list[Run]) -> None:
        run, there = self.expressions.converted(node, kind), shifted(address, offset, node.spot)
        steps.append(self.expressions.store(there, kind, run, node.spot))


def _made_with(node: TextNode) -> tuple[list[TextNode], TextNode | None]:
    """How many elements a container gets, outermost first, and what they are if not zero."""
    while node.kind in ("UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR") and len(node.expressions) == 1:
        node = node.expressions[0]
    given = [TextNode(cursor) for cursor in node.cursor.get_arguments()] if node.kind == "CALL_EXPR" else []
    if node.kind == "CXX_NEW_EXPR" and len(node.expressions) == 1:
        return node.expressions, None
    if node.name == "array" and not given:
        return [], None
    if given and held_by(given[0].type) is not None:
        return _made_with(given[0])
    if node.name == "unique_ptr" and len(given) == 1:
        return _made_with(given[0])
    is_size = bool(given) and isinstance(scalar_type(given[0].bare().type), Integer)
    if node.name not in ("vector", "make_unique") or not is_size or len(given) > 2:
        raise Unsupported("a container that is made in this way", node.spot)
    if len(given) == 1:
        return given, None
    if held_by(given[1].type) is None:
        return given[:1], given[1]
    counts, value = _made_with(given[1])
    return [given[0], *counts], value


def _words(kind: Any) -> str:
    return str(kind.get_canonical().get_declaration().spelling)


def _places(kind: ArrayType | Struct, offset: int) -> Callable[[int], tuple[int, ValueType]]:
    """Offset and type of the k-th element or member."""
    if isinstance(kind, Struct):
        members = list(kind.members.values())
        return lambda k: (offset + members[k][0], members[k][1])
    size = size_of(kind.element)
    if not isinstance(size, int):
        raise Unsupported("a list of initial values for an array of variable extents")
    return lambda k: (offset + k * size, kind.element)
