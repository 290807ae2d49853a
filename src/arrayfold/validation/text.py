"""A C text that can be executed: its functions, read when they are first called, and its globals."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arrayfold.frontends.c.definitions import definitions_of
from arrayfold.frontends.c.libclang import cindex, skipped_parts, translation_unit
from arrayfold.validation.calls import Calls
from arrayfold.validation.declarations import Declarations
from arrayfold.validation.expressions import ExpressionCompiler
from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.memory import is_structure
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run
from arrayfold.validation.parallel import Constructs
from arrayfold.validation.pragmas import ALONE, INDEPENDENT, Directive, read_directives
from arrayfold.validation.scope import FunctionScope, VariableSlot, scalar_type
from arrayfold.validation.statements import Statements
from arrayfold.validation.types import (
    ArrayType,
    Floating,
    Frame,
    Integer,
    Pointer,
    Struct,
    ValueType,
    shape_of,
    size_of,
    value_of,
)

_PURE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+arrayfold[ \t]+pure[ \t]*\(([^)\n]*)\)", re.MULTILINE)


class Text:
    """A C file that is executed.

    sized    names of variables that get sizes of the context
    regions  places in the text, in bytes; watch is called with the frame's variables when they are reached
    """

    def __init__(
        self,
        file: str,
        data: bytes,
        arguments: Sequence[str],
        sized: Collection[str],
        regions: Sequence[int] = (),
        watch: Callable[[Callable[[str], Any]], None] | None = None,
    ) -> None:
        self.file = file
        self.machine = Interpreter()
        self._data = data
        self._sized = sized
        self._regions = list(regions)
        self._watch = watch
        self._unit = translation_unit(file, data, arguments)
        self._top = [TextNode(cursor) for cursor in self._unit.cursor.get_children()]
        self._functions: dict[str, TextNode] = {}
        self._code: dict[int, Callable[[list[Any]], Any]] = {}
        self._lasting: dict[int, VariableSlot] = {}
        self._directives: dict[str, list[Directive]] = {}
        pure = {name.strip() for match in _PURE.findall(data.decode("latin-1")) for name in match.split(",")}
        self._calls = Calls(self.machine, self._compiled, pure)

    def error(self) -> Fault | None:
        """The first error that a C compiler finds."""
        for diagnostic in self._unit.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                where = diagnostic.location
                name = str(where.file.name) if where.file is not None else self.file
                return Fault(f"C error: {diagnostic.spelling}", Spot(name, int(where.line)))
        return None

    def function(self, name: str) -> TextNode:
        """A function of the text by its name."""
        if name not in self._functions:
            found = definitions_of(self._unit.cursor, name)
            if len(found) > 1:
                raise Unsupported(f"there are several functions {name}")
            if not found:
                raise Unsupported(f"there is no function {name}")
            self._functions[name] = TextNode(found[0])
        return self._functions[name]

    def run(self, name: str) -> Any:
        """Call a function with arguments of which only the sizes are known: what it returns."""
        node = self.function(name)
        return self._compiled(node)([_GIVEN] * len(list(node.cursor.get_arguments())))

    # ------------------------------------------------ functions

    def _compiled(self, node: TextNode) -> Callable[[list[Any]], Any]:
        found = self._code.get(node.key)
        if found is None:
            found = self._code[node.key] = self._compile(node)
        return found

    def _compile(self, node: TextNode) -> Callable[[list[Any]], Any]:
        body = node.parts[-1]
        directives = self._directives_in(node.file, body.start, body.end)
        scope = FunctionScope(self.machine, _in_memory(body, directives), self._sized, self._macro_words)
        expressions = ExpressionCompiler(scope, self._calls, self._global)
        declarations = Declarations(expressions, lambda one: self._static(one, node.name, declarations))
        result = scalar_type(node.cursor.result_type)
        constructs = Constructs(expressions, directives)
        statements = Statements(declarations, constructs, result, self._probe(scope, node))
        parameters = [self._parameter(TextNode(one), declarations) for one in node.cursor.get_arguments()]
        run = statements.statement(body)

        def call(values: list[Any]) -> Any:
            frame: Frame = [None] * scope.slots
            for parameter, value in zip(parameters, values, strict=True):
                parameter(frame, value)
            run(frame)
            return frame[0]

        return call

    def _parameter(self, node: TextNode, declarations: Declarations) -> Callable[[Frame, Any], None]:
        prologue: list[Run] = []
        declared = declarations.declared_type(node, prologue)
        is_changed = node.is_reference and not node.type.is_const_qualified()
        if is_changed and isinstance(declared, Integer | Floating | Pointer):
            return self._referred(node, declared, declarations)
        declared = _rows_elsewhere(declared)
        kind = Pointer(declared.element) if isinstance(declared, ArrayType) else declared
        variable = declarations.scope.declare(node, kind)
        slot, name, m = variable.slot, node.name, self.machine
        size = size_of(declared) if isinstance(declared, ArrayType) else None

        def bind(f: Frame, value: Any) -> None:
            for step in prologue:
                step(f)
            if value is _GIVEN:
                value = self._given(name, kind, None if size is None else value_of(size, f))
                if isinstance(kind, Pointer):
                    value[0].shape = shape_of(ArrayType(kind.target, 1) if size is None else declared, f)
                    row = size_of(kind.target)
                    value[0].row = max(1, value_of(row, f)) if row is not None else 1
            if variable.is_register:
                f[slot] = value
                return
            own = m.allocate(name, kind.size)
            own.shape = ()
            f[slot] = own.pointer()
            if isinstance(kind, Struct):
                _store_struct(own, value)
            else:
                own.cells[0] = value
                own.unit = kind.size

        return bind

    def _referred(
        self, node: TextNode, kind: Integer | Floating | Pointer, declarations: Declarations
    ) -> Callable[[Frame, Any], None]:
        """A parameter that is another name for a variable of the caller."""
        variable = declarations.scope.remember(node, VariableSlot(node.name, kind, declarations.scope.slot()))
        m, name, slot = self.machine, node.name, variable.slot

        def bind(f: Frame, value: Any) -> None:
            if value is not _GIVEN or name in self._sized:
                raise Unsupported(f"{name}, a reference to a variable", node.spot)
            given = m.given(m.name(name), name, kind.size)
            given.shape = ()
            f[slot] = given.pointer()

        return bind

    def _given(self, name: str, kind: ValueType, size: int | None) -> Any:
        """What a parameter of the function that is examined is called with."""
        m = self.machine
        term = m.name(name)
        if isinstance(kind, Pointer):
            return m.given(term, name, size).pointer()
        if isinstance(kind, Struct):
            return m.given(term, name, kind.size)
        value = m.sized(name, m.terms.make("name", kind.tag, name))
        if isinstance(kind, Integer) and type(value) is int and not kind.low <= value <= kind.high:
            raise Fault(f"{name} cannot be {value}")
        return value

    def _probe(self, scope: FunctionScope, function: TextNode) -> Callable[[TextNode], Run | None]:
        """What runs where a region begins: it looks at the variables there."""
        watch, waiting = self._watch, [at for at in self._regions if function.start <= at < function.end]
        if watch is None or function.file != self.file:
            return lambda _: None
        m = self.machine

        def probe(node: TextNode) -> Run | None:
            if not waiting or node.start < waiting[0]:
                return None
            while waiting and node.start >= waiting[0]:
                waiting.pop(0)
            visible = {name: one for names in scope.by_name for name, one in names.items()}

            def look(f: Frame) -> None:
                def value(name: str) -> Any:
                    one = visible.get(name)
                    return m.sizes.get(name) if one is None or one.lasting is not None else one.get(f)

                watch(value)

            return look

        return probe

    # ------------------------------------------------ globals

    def _global(self, node: TextNode) -> VariableSlot:
        found = self._lasting.get(node.key)
        if found is None:
            scope = FunctionScope(self.machine, (), self._sized, self._macro_words)
            expressions = ExpressionCompiler(scope, self._calls, self._global)
            found = self._static(node, "", Declarations(expressions, self._global))
            self._lasting[node.key] = found
        return found

    def _static(self, node: TextNode, function: str, declarations: Declarations) -> VariableSlot:
        """A variable that outlasts calls: constants have their value, of others nothing is known."""
        if node.is_extern and function:
            return self._global(node)
        definition = node.definition or node
        prologue: list[Run] = []
        kind = declarations.declared_type(definition, prologue)
        size = size_of(kind)
        if prologue or (size is not None and not isinstance(size, int)):
            raise Unsupported(f"{node.name}, whose size is not constant", node.spot)
        m, key = self.machine, node.key
        name = f"{function}.{node.name}" if function and node.is_static else node.name
        initial = definition.initializer if _is_constant(definition) else None
        slot, steps = declarations.scope.slot(), list[Run]()
        if initial is not None:
            steps = declarations.initialised(lambda f: f[slot], kind, initial, node.name)

        def object_(_: Frame) -> Any:
            found = m.lasting.get(key)
            if found is None and initial is not None and isinstance(size, int):
                found = m.lasting[key] = m.allocate(name, size).pointer()
                frame: Frame = [None] * declarations.scope.slots
                frame[slot] = found
                # The value is there before the program begins: no thread writes it.
                watching, m.races, m.lanes = (m.races, m.lanes), None, None
                for step in steps:
                    step(frame)
                m.races, m.lanes = watching
            elif found is None:
                given = m.given(m.name(name), name, size)
                given.shape = shape_of(kind, [])
                found = m.lasting[key] = given.pointer()
            return found

        return VariableSlot(node.name, kind, lasting=object_)

    # ------------------------------------------------ text

    def _directives_in(self, file: str, start: int, end: int) -> list[Directive]:
        if file not in self._directives:
            data = self._data
            if file != self.file:
                try:
                    data = Path(file).read_bytes()
                except OSError:
                    data = b""
            skipped = skipped_parts(self._unit, file)
            self._directives[file] = [
                one
                for one in read_directives(file, data)
                if not any(span.start <= one.start < span.end for span in skipped)
            ]
        return [one for one in self._directives[file] if start <= one.start < end]

    def _macro_words(self, name: str) -> list[str] | None:
        """What a macro without arguments stands for."""
        for node in reversed(self._top):
            if node.kind == "MACRO_DEFINITION" and node.name == name:
                return [word for word, _ in node.tokens()][1:]
        return None


_GIVEN = object()


def _rows_elsewhere(kind: ValueType) -> ValueType:
    """A parameter's type in which rows of which no size is known are pointers."""
    if isinstance(kind, ArrayType) and isinstance(kind.element, ArrayType) and size_of(kind.element) is None:
        inner = _rows_elsewhere(kind.element)
        return replace(kind, element=Pointer(inner.element) if isinstance(inner, ArrayType) else inner)
    return kind


def _store_struct(own: Any, given: Any) -> None:
    """A structure that is passed by value: a copy of what is given."""
    if is_structure(given):
        for at, value in given:
            own.cells[at] = value
        own.unit = 0
    else:
        own.initial = given.initial


def _is_constant(node: TextNode) -> bool:
    kind = node.type.get_canonical()
    while kind.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY") and not kind.is_const_qualified():
        kind = kind.element_type
    return bool(kind.is_const_qualified())


def _in_memory(body: TextNode, directives: Sequence[Directive]) -> set[int]:
    """Declarations whose variables need an address: it is taken, or threads may share them."""
    found: set[int] = set()
    spans = _construct_spans(body, directives)
    for node in body.walk():
        if node.kind == "UNARY_OPERATOR" and node.operator == "&":
            inner = node.expressions[0].bare()
            if inner.kind == "DECL_REF_EXPR" and inner.referenced is not None:
                found.add(inner.referenced.key)
        elif spans and node.kind == "DECL_REF_EXPR" and node.referenced is not None:
            declared = node.referenced.start
            if any(low <= node.start < high and not low <= declared < high for low, high in spans):
                found.add(node.referenced.key)
    return found


def _construct_spans(body: TextNode, directives: Iterable[Directive]) -> list[tuple[int, int]]:
    """From each directive to the end of its statement."""
    spans: list[tuple[int, int]] = []
    waiting = [one for one in directives if one.name not in ALONE and one.name not in INDEPENDENT]

    def visit(node: TextNode) -> None:
        while waiting and waiting[0].end <= node.start:
            spans.append((waiting.pop(0).start, node.end))
        for part in node.substatements():
            visit(part)

    if waiting:
        visit(body)
    return spans
