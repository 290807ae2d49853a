"""Calls: functions with a body are executed, the others are remembered with their arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from arrayfold.validation import operators
from arrayfold.validation.copies import BYTES, Bytes
from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.known_functions import KNOWN, PURE
from arrayfold.validation.memory import Address, is_address
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run
from arrayfold.validation.scope import TypedClosure, scalar_type
from arrayfold.validation.types import (
    DOUBLE,
    Floating,
    Frame,
    Integer,
    Other,
    Pointer,
    ValueType,
    promoted,
)

if TYPE_CHECKING:
    from arrayfold.validation.expressions import ExpressionCompiler

_DEEPEST = 60


class Calls:
    """The calls of a text.

    code  the definition of a function -> what a call of it does, given the arguments
    pure  names of functions that the user says only compute
    """

    def __init__(
        self,
        machine: Interpreter,
        code: Callable[[TextNode], Callable[[list[Any]], Any]],
        pure: Collection[str],
    ) -> None:
        self.m = machine
        self._code = code
        self._pure = pure

    def call(self, expressions: ExpressionCompiler, node: TextNode) -> TypedClosure:
        """A call as a closure."""
        declared = node.referenced
        result = scalar_type(node.type)
        arguments = [TextNode(cursor) for cursor in node.cursor.get_arguments()]
        if declared is None or declared.kind != "FUNCTION_DECL":
            runs = [expressions.value(one).run for one in arguments]
            return TypedClosure(self._unseen(f"*{node.name}", runs, result, [], node.spot), result)
        runs, kinds = self._arguments(expressions, declared, arguments)
        run: Run
        if declared.definition is not None:
            run = self._seen(declared.definition, runs, node.spot)
        elif declared.name in BYTES and len(runs) == 3:
            work, function = Bytes(self.m, kinds, expressions.scope.place(), node.spot), BYTES[declared.name]
            run = lambda f: function(work, [one(f) for one in runs])  # noqa: E731
        elif declared.name in KNOWN:
            run = self._known(declared.name, runs, result, node.spot)
        elif declared.name in PURE or declared.name in self._pure or _is_declared_pure(declared):
            name, tag, m = declared.name, result.tag, self.m
            run = lambda f: m.combine(name, tag, *[one(f) for one in runs])  # noqa: E731
        else:
            constant = [_is_constant(one) for one in declared.cursor.type.argument_types()] if runs else []
            run = self._unseen(declared.name, runs, result, constant, node.spot)
        return TypedClosure(run, result)

    def _arguments(
        self, expressions: ExpressionCompiler, declared: TextNode, arguments: list[TextNode]
    ) -> tuple[list[Run], list[ValueType]]:
        """The arguments as the function gets them, and the types that they have where they are written."""
        is_known = declared.cursor.type.kind.name == "FUNCTIONPROTO"
        kinds = [scalar_type(kind) for kind in declared.cursor.type.argument_types()] if is_known else []
        runs: list[Run] = []
        written: list[ValueType] = []
        for k, argument in enumerate(arguments):
            value = expressions.value(argument)
            written.append(_type_before_casts(expressions, argument))
            kind = kinds[k] if k < len(kinds) else _default_type(value.type)
            runs.append(operators.convert(self.m, value.run, value.type, kind, argument.spot))
        return runs, written

    def _seen(self, definition: TextNode, runs: list[Run], spot: Spot) -> Run:
        m = self.m

        def run(f: Frame) -> Any:
            # The body is read at the first call, so that functions may call themselves.
            code = self._code(definition)
            values = [one(f) for one in runs]
            if m.depth > _DEEPEST:
                raise Unsupported(f"{definition.name} calls itself very often", spot)
            m.depth += 1
            m.spend(4)
            result = code(values)
            m.depth -= 1
            return result

        return run

    def _known(self, name: str, runs: list[Run], result: ValueType, spot: Spot) -> Run:
        known, m = KNOWN[name], self.m
        return lambda f: known(m, [one(f) for one in runs], result, spot)

    def _unseen(self, name: str, runs: list[Run], result: ValueType, constant: list[bool], spot: Spot) -> Run:
        """A call whose order and arguments matter; it may change what its pointers point at."""
        m = self.m

        def run(f: Frame) -> Any:
            values = [one(f) for one in runs]
            call = m.called((name, *(self._seen_argument(value, spot) for value in values)), spot)
            for k, value in enumerate(values):
                is_constant = k < len(constant) and constant[k]
                if is_address(value) and value[0] is not None and not is_constant:
                    self._change(value, m.terms.make("argument", "", call, k), spot)
            if isinstance(result, Integer | Floating | Pointer):
                return m.unknown("result", f"what {name} returns", result, call)
            return 0

        return run

    def _seen_argument(self, value: Any, spot: Spot) -> Any:
        """An argument as the function sees it: pointers with all that they lead to."""
        if not is_address(value) or value[0] is None:
            return self.m.as_term(value)
        obj, offset, *_ = value
        assert obj is not None
        if obj.gone:
            raise Fault(obj.gone, spot)
        cells = tuple((at - offset, self.m.as_term(cell)) for at, cell in sorted(obj.cells.items()))
        return ("memory", obj.name if obj.initial else "", cells)

    def _change(self, pointer: Address, name: Any, spot: Spot) -> None:
        """After a call that may write through a pointer, every cell is another one."""
        obj, offset, *_ = pointer
        assert obj is not None
        if self.m.races is not None:
            raise Unsupported("a pointer is given to a function in parallel code", spot)
        obj.cells.clear()
        obj.widths.clear()
        obj.fills.clear()
        obj.initial = lambda at, kind: self.m.unknown("cell", obj.name, kind, name, at - offset)


def _type_before_casts(expressions: ExpressionCompiler, node: TextNode) -> ValueType:
    """The type of an argument; of a pointer that is made one to void, what it was before."""
    inner = node.bare()
    kind = expressions.value(inner).type
    is_void = isinstance(kind, Pointer) and isinstance(kind.target, Other)
    if is_void and inner.kind == "CSTYLE_CAST_EXPR":
        return _type_before_casts(expressions, inner.expressions[-1])
    return kind


def _default_type(kind: ValueType) -> ValueType:
    """The type in which an argument is passed that no parameter says the type of."""
    if isinstance(kind, Integer):
        return promoted(kind)
    return DOUBLE if isinstance(kind, Floating) and kind.tag == "float" else kind


def _is_constant(kind: Any) -> bool:
    kind = kind.get_canonical()
    return kind.kind.name == "POINTER" and bool(kind.get_pointee().is_const_qualified())


def _is_declared_pure(declared: TextNode) -> bool:
    return any(part.kind in ("PURE_ATTR", "CONST_ATTR") for part in declared.parts)
