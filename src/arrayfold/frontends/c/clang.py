"""A C file -> the trees of `arrayfold.c.tree`, out of what libclang shows of it."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from arrayfold.c import tree as c
from arrayfold.c.calls import facts_of
from arrayfold.c.language import is_cplusplus, is_header
from arrayfold.c.lexer import blank, closing_bracket, end_of_statement
from arrayfold.c.tree import CStatement, CType, Expression, Function, FunctionTree, Span, Variable
from arrayfold.frontends.c import cplusplus, definitions, libclang

_BINARY = (
    *("?", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!="),
    *("&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ","),
)
_UNARY = ["?", "x++", "x--", "++", "--", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__"]
_TOKEN = re.compile(r"\.?\d(?:[eEpP][+-]|[\w.])*|[LuU]?'(?:\\.|[^'\\\n])*'")
# libclang has no name of its own for `__typeof__`.
_NAMED_TYPES = ("ELABORATED", "TYPEDEF", "UNEXPOSED")
_SUFFIXES = {
    "unsigned int": "u",
    "long": "L",
    "unsigned long": "UL",
    "long long": "LL",
    "unsigned long long": "ULL",
}
_STATEMENTS = {"INDIRECT_GOTO_STMT": "goto", "MS_ASM_STMT": "asm", "CASE_STMT": "a range of cases"}
_INT = CType("int", "signed", 32, "int")


@dataclass(frozen=True, eq=False)
class Unit:
    """A C file: its functions with bodies, parts that the preprocessor left out, all macros and functions.

    declared  names of functions, with bodies or without
    unread    functions of C++ that cannot be read: where they are, their names, and why
    names     every identifier of the file after preprocessing, and every one that stands in an included file
    """

    functions: tuple[FunctionTree, ...]
    skipped: tuple[Span, ...]
    macros: frozenset[str]
    declared: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    unread: tuple[tuple[Span, str, str], ...] = ()


def parse_c(file: str, data: bytes, arguments: Sequence[str]) -> Unit:
    """The functions of a C file; an error of the compiler is an InputError at its place."""
    unit = libclang.translation_unit(file, data, arguments)
    libclang.raise_errors(unit, file, data)
    return _Converter(unit, file, data).unit()


# ---------------------------------------------------------------- conversion


class _Converter:
    def __init__(self, unit: Any, file: str, data: bytes) -> None:
        self._unit = unit
        self._file = file
        self._text = data.decode("latin-1")
        self._locations = libclang.Locations()
        self._types: dict[tuple[int, int | None], CType] = {}
        everything = libclang.children_of(unit.cursor)
        macros = [cursor for cursor in everything if libclang.kind_of(cursor) == "MACRO_DEFINITION"]
        self._macros = {cursor.spelling: cursor for cursor in macros}
        self._all = [cursor for cursor in everything if libclang.kind_of(cursor) != "MACRO_DEFINITION"]
        places = ((cursor, cursor.location.file) for cursor in self._all)
        self._own = [cursor for cursor, place in places if place is not None and place.name == file]
        uses = (cursor for cursor in self._own if libclang.kind_of(cursor) == "MACRO_INSTANTIATION")
        self._macro_uses = {cursor.extent.start.offset for cursor in uses}
        self._is_cplusplus = is_cplusplus(file)
        self._specifiers = -1
        self._parameters_of_template: dict[int, dict[str, str]] = {}
        self._variables: dict[Any, Variable] = {}
        self._class: Any = None
        self._objects: dict[Any, Variable] = {}
        self._functions: dict[Any, Function] = {}

    def unit(self) -> Unit:
        templates = definitions.templates(self._own) if self._is_cplusplus else []
        instances = [] if is_header(self._file) else self._instances(templates)
        functions = [
            self._function_tree(cursor)
            for cursor in definitions.functions(self._own)
            if cursor.is_definition()
        ]
        functions += [replace(self._function_tree(cursor), is_instance=True) for cursor in instances]
        macros = frozenset(self._macros)
        declared = frozenset(cursor.spelling for cursor in definitions.functions(self._all))
        names = {name for cursor in self._all for name in libclang.declared_names(cursor)}
        names |= {variable.name for variable in self._variables.values()}
        names |= {function.name for function in self._functions.values()}
        for name in {str(include.include.name) for include in self._unit.get_includes()}:
            names |= libclang.identifiers_in_header(name)
        skipped = libclang.skipped_parts(self._unit, self._file)
        unread = tuple(
            (self._span(cursor), name, why)
            for template in templates
            for cursor, name, why in definitions.refusals(template, is_header=is_header(self._file))
        )
        functions.sort(key=lambda one: one.span.start)
        return Unit(tuple(functions), skipped, macros, declared, macros | names, unread)

    def _instances(self, templates: list[definitions.Template]) -> list[Any]:
        """The only instances of templates; how their variables are spelled is kept."""
        found: list[Any] = []
        for template in templates:
            for made in template.instances.values():
                if len(made) == 1:
                    self._parameters_of_template |= definitions.spelled_types(template, made[0])
                    found.append(made[0])
        return found

    def _function_tree(self, cursor: Any) -> FunctionTree:
        self._class = None if cursor.semantic_parent is None else cursor.semantic_parent.canonical
        body = next(
            child for child in libclang.children_of(cursor) if libclang.kind_of(child) == "COMPOUND_STMT"
        )
        statement = self._statement(body)
        assert isinstance(statement, c.Block)
        return FunctionTree(
            definitions.function_name(cursor),
            self._parameters(cursor),
            statement,
            self._type(cursor.result_type),
            self._span(cursor),
            cursor.storage_class == libclang.cindex.StorageClass.STATIC,
            definitions.class_of(cursor) is not None,
        )

    def _parameters(self, cursor: Any) -> tuple[Variable, ...]:
        return tuple(self._variable(child) for child in cursor.get_arguments())

    # ------------------------------------------------ places

    def _span(self, cursor: Any) -> Span:
        extent = cursor.extent
        file, start = self._locations.of(extent.start)
        _, end = self._locations.of(extent.end)
        if file != self._file:
            return Span(-1, -1, is_text=False)
        return Span(start, max(start, end), start not in self._macro_uses)

    def _token(self, cursor: Any) -> str | None:
        """The text of a number or a character constant that does not come out of a macro."""
        file, offset = self._locations.of(cursor.extent.start)
        match = _TOKEN.match(self._text, offset) if file == self._file else None
        return match.group() if match else None

    def _type(self, kind: Any) -> CType:
        """A type of libclang as ours; most expressions have one of a few types."""
        key = (kind._kind_id, kind.data[0])
        if key not in self._types:
            self._types[key] = libclang.c_type(kind)
        return self._types[key]

    # ------------------------------------------------ declarations

    def _variable(self, cursor: Any) -> Variable:
        key = cursor.canonical.hash
        if key not in self._variables:
            initializer = libclang.initializer_of(cursor)
            parts = [child for child in libclang.children_of(cursor) if libclang.is_expression(child)]
            initial = parts.pop() if parts and initializer is not None else None
            variable = self._variables[key] = self._new_variable(cursor, parts)
            if initial is not None and not (variable.container and cplusplus.is_plain_start(initial)):
                # Only now, because the value may name the variable: `p = malloc(sizeof *p)`.
                object.__setattr__(variable, "initial", self._expression(initial))
        return self._variables[key]

    def _new_variable(self, cursor: Any, parts: list[Any]) -> Variable:
        kind = cplusplus.without_reference(cursor.type)
        found = cplusplus.container(kind)
        if found is not None:
            extents, element, is_pointer = self._extents_of_container(cursor, found)
        else:
            extents, element, is_pointer = self._extents(kind, [self._expression(part) for part in parts])
        specifiers = self._specifiers if self._specifiers >= 0 else self._span(cursor).start
        return Variable(
            cursor.spelling,
            self._type(cursor.type),
            libclang.storage(cursor),
            self._span(cursor),
            element,
            extents,
            is_pointer or (bool(extents) and libclang.kind_of(cursor) == "PARM_DECL"),
            bool(re.search(r"\b(?:__)?restrict(?:__)?\b", cursor.type.spelling)),
            bool(cursor.type.is_volatile_qualified()) or "volatile" in element.spelling,
            None,
            self._locations.of(cursor.location)[1],
            self._written_type(cursor, element, specifiers if found is None else -1),
            container=None if found is None else found.kind,
            is_reference=cplusplus.is_reference(cursor.type),
        )

    def _written_type(self, cursor: Any, element: CType, specifiers: int) -> str | None:
        """The type of elements in words of the text that are macros, or parameters of a template."""
        at = self._locations.of(cursor.location)[1]
        meanings = self._parameters_of_template.get(at, {})
        plain = element.canonical.removeprefix("const ")
        given = next((name for name, meaning in meanings.items() if meaning == plain), None)
        return given or libclang.written_type(self._text, specifiers, self._macros, element)

    def _extents_of_container(
        self, cursor: Any, found: cplusplus.Container
    ) -> tuple[tuple[int | Expression | None, ...], CType, bool]:
        """Extents, element type, and whether it is somewhere else, as `_extents` gives them."""
        is_outside = libclang.kind_of(cursor) == "PARM_DECL"
        initializer = libclang.initializer_of(cursor)
        given = [] if initializer is None else cplusplus.sizes_of(initializer)
        extents: list[int | Expression | None] = []
        inner: cplusplus.Container | None = found
        element = found.element
        while inner is not None:
            element, size = inner.element, given.pop(0) if given else None
            known = None if size is None or is_outside else self._expression(cplusplus.unconverted(size))
            extents.append(inner.count if inner.kind == "array" else known)
            inner = cplusplus.container(element)
        return tuple(extents), self._type(element), is_outside and cplusplus.is_reference(cursor.type)

    def _extents(
        self, kind: Any, written: list[Expression]
    ) -> tuple[tuple[int | Expression | None, ...], CType, bool]:
        """Extents, element type, and whether it is a pointer; libclang shows the last dimension first."""
        extents: list[int | Expression | None] = []
        is_pointer = False
        while True:
            spelled = kind
            kind = kind.get_canonical() if kind.kind.name in _NAMED_TYPES else kind
            name = kind.kind.name
            if name == "POINTER" and kind.get_pointee().get_canonical().kind.name != "FUNCTIONPROTO":
                is_pointer = True
                extents.append(None)
                kind = kind.get_pointee()
            elif name in ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY"):
                size = written.pop() if written and name != "INCOMPLETEARRAY" else None
                extents.append(int(kind.element_count) if name == "CONSTANTARRAY" else size)
                kind = kind.element_type
            else:
                return tuple(extents), self._type(spelled), is_pointer

    def _object(self, kind: Any) -> Variable:
        """The object of a member function, which `this` points to."""
        key = kind.get_declaration().canonical.hash
        if key not in self._objects:
            element = self._type(kind)
            pointer = CType(f"{element.spelling} *", "pointer", 64, f"{element.canonical} *")
            nowhere = Span(-1, -1, is_text=False)
            self._objects[key] = Variable(
                "this", pointer, "parameter", nowhere, element, (None,), is_pointer=True
            )
        return self._objects[key]

    def _field(self, cursor: Any) -> Variable | None:
        """The field of a structure; None if it shares memory with others, or has no name."""
        declared = cursor.referenced
        if declared is None or libclang.kind_of(declared) != "FIELD_DECL" or not declared.spelling:
            return None
        is_shared = libclang.kind_of(declared.semantic_parent) == "UNION_DECL" or declared.is_bitfield()
        return None if is_shared else self._variable(declared)

    def _name_in_text(self, callee: Any | None) -> str | None:
        """How a call names a function of C++, with its namespace and arguments of its template."""
        span = None if callee is None else self._span(callee)
        if span is None or not self._is_cplusplus or not span.is_text:
            return None
        return " ".join(self._text[span.start : span.end].split())

    def _called(self, cursor: Any) -> Function:
        declared = cursor.referenced
        callee = next(iter(libclang.children_of(cursor)), None)
        key = declared.canonical.hash
        if key not in self._functions:
            function = self._functions[key] = Function(
                cplusplus.qualified_name(declared),
                declared=libclang.declared_purity(declared),
                spelling=self._name_in_text(callee),
            )
            # Only now, because the body may call the function itself.
            for name, value in self._facts(declared).items():
                object.__setattr__(function, name, value)
        return self._functions[key]

    def _facts(self, declared: Any) -> dict[str, Any]:
        """What the body of a function shows, if there is one."""
        definition = declared.get_definition()
        if definition is None:
            return {}
        bodies = [
            child for child in libclang.children_of(definition) if libclang.kind_of(child) == "COMPOUND_STMT"
        ]
        body = self._statement(bodies[0]) if bodies else None
        parameters = self._parameters(definition)
        return {"parameters": parameters, **(facts_of(body) if isinstance(body, c.Block) else {})}

    # ------------------------------------------------ statements

    def _statement(self, cursor: Any) -> CStatement:
        span, name = self._span(cursor), libclang.kind_of(cursor)
        parts = libclang.children_of(cursor)
        if libclang.is_expression(cursor):
            return c.Evaluate(span, self._expression(cursor))
        if name == "DECL_STMT":
            # libclang lets all declarators but the first begin after the type.
            self._specifiers = span.start
            declared = [part for part in parts if libclang.kind_of(part) == "VAR_DECL"]
            variables = [self._variable(part) for part in declared]
            self._specifiers = -1
            return c.Declare(span, tuple(variables))
        if name == "COMPOUND_STMT":
            return c.Block(span, tuple(self._statement(part) for part in parts))
        if name == "NULL_STMT":
            return c.Block(span, ())
        if name == "LABEL_STMT" and parts:
            return c.Label(span, cursor.spelling, self._statement(parts[-1]))
        if name == "IF_STMT" and len(parts) >= 2:
            otherwise = self._statement(parts[2]) if len(parts) > 2 else None
            return c.If(span, self._expression(parts[0]), self._statement(parts[1]), otherwise)
        if name == "FOR_STMT":
            return self._for(span, parts)
        if name in ("WHILE_STMT", "DO_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT") and len(parts) <= 2:
            return self._structured(name, span, parts)
        if name in ("BREAK_STMT", "CONTINUE_STMT"):
            return c.Jump(span, "break" if name == "BREAK_STMT" else "continue")
        if name == "UNEXPOSED_STMT" and len(parts) == 1:
            return self._statement(parts[0])
        what = cplusplus.name_of(name) or _STATEMENTS.get(
            name, name.lower().removesuffix("_stmt").replace("_", " ")
        )
        return c.OtherStatement(span, what, tuple(self._either(part) for part in parts))

    def _structured(self, name: str, span: Span, parts: list[Any]) -> CStatement:
        """A loop without an iterator, a switch, or a case of one."""
        if name == "DO_STMT":
            return c.While(span, self._expression(parts[1]), self._statement(parts[0]), is_late=True)
        body = self._statement(parts[-1])
        if name == "DEFAULT_STMT":
            return c.Case(span, None, body)
        value = self._expression(parts[0])
        if name == "WHILE_STMT":
            return c.While(span, value, body, is_late=False)
        return (c.Switch if name == "SWITCH_STMT" else c.Case)(span, value, body)

    def _for(self, span: Span, parts: list[Any]) -> c.For | c.While:
        """A for loop; where parts of it are missing, the text says which, because libclang does not."""
        body = self._statement(parts[-1])
        if len(parts) == 1:
            return c.While(span, c.Number(span, _INT, 1, "1"), body, is_late=False)
        is_there = self._parts_of_header(span) if len(parts) != 4 else [True] * 3
        if is_there.count(True) != len(parts) - 1:
            return c.For(span, None, None, None, body)
        inside = iter(parts[:-1])
        start, condition, step = (next(inside) if one else None for one in is_there)
        first = None if start is None else self._statement(start)
        assert first is None or isinstance(first, c.Declare | c.Evaluate)
        ends = None if condition is None else self._expression(condition)
        return c.For(span, first, ends, None if step is None else self._expression(step), body)

    def _parts_of_header(self, span: Span) -> list[bool]:
        """Which of the three parts between the parentheses of a for loop are there."""
        plain = blank(self._text[span.start : span.end])
        opening = plain.find("(")
        closing = closing_bracket(plain, opening) if opening >= 0 and span.is_text else None
        if closing is None:
            return []
        parts: list[str] = []
        start = opening + 1
        for _ in range(2):
            end = end_of_statement(plain, start)
            if end is None or end > closing:
                return []
            parts.append(plain[start : end - 1])
            start = end
        return [bool(part.strip()) for part in (*parts, plain[start:closing])]

    def _either(self, cursor: Any) -> CStatement | Expression:
        return self._expression(cursor) if libclang.is_expression(cursor) else self._statement(cursor)

    # ------------------------------------------------ expressions

    def _expression(self, cursor: Any) -> Expression:
        """The expression of a cursor; one case for each kind, so that it is longer than other functions."""
        span, name, kind = self._span(cursor), libclang.kind_of(cursor), self._type(cursor.type)
        if name == "CXX_BOOL_LITERAL_EXPR":
            value = libclang.evaluate(cursor)
            return c.Number(span, kind, int(bool(value)), "true" if value else "false")
        if name in ("INTEGER_LITERAL", "CHARACTER_LITERAL"):
            value = libclang.evaluate(cursor)
            text = self._token(cursor)
            if isinstance(value, int):
                # libclang gives 64 bits with a sign.
                value = value % (1 << kind.bits) if kind.kind == "unsigned" else value
                return c.Number(span, kind, value, text or f"{value}{_SUFFIXES.get(kind.spelling, '')}")
        if name == "FLOATING_LITERAL":
            return self._floating(cursor, span, kind)
        if name == "STRING_LITERAL":
            return c.OtherLiteral(span, kind, cursor.spelling)
        if name == "DECL_REF_EXPR":
            return self._reference(cursor, span, kind)
        parts = [child for child in libclang.children_of(cursor) if libclang.is_expression(child)]
        found = cplusplus.subscript(cursor)
        if found is not None:
            return c.Subscript(span, kind, self._expression(found[0]), self._expression(found[1]))
        if name == "CALL_EXPR" and cursor.referenced is not None:
            if libclang.kind_of(cursor.referenced) == "FUNCTION_DECL":
                arguments = tuple(self._expression(argument) for argument in cursor.get_arguments())
                return c.Call(span, kind, self._called(cursor), arguments)
            is_pointer = libclang.kind_of(cursor.referenced) in ("VAR_DECL", "PARM_DECL", "FIELD_DECL")
            name = "call through a pointer" if is_pointer else f"a call of {cursor.spelling}"
        if name == "StmtExpr":
            return self._statement_expression(cursor, span, kind)
        inner = tuple(self._expression(part) for part in parts)
        if name == "UNEXPOSED_EXPR" and len(inner) == 1:
            return c.Cast(span, kind, inner[0], is_implied=True)
        if (name == "CSTYLE_CAST_EXPR" or cplusplus.is_cast(cursor)) and len(inner) >= 1:
            return c.Cast(span, kind, inner[-1], is_implied=False)
        if name == "PAREN_EXPR" and len(inner) == 1:
            return c.Parentheses(span, kind, inner[0])
        if name == "CONDITIONAL_OPERATOR" and len(inner) == 3:
            return c.Conditional(span, kind, *inner)
        if name == "ARRAY_SUBSCRIPT_EXPR" and len(inner) == 2:
            base, index = inner if inner[1].type.is_integer else reversed(inner)
            return c.Subscript(span, kind, base, index)
        if name == "MEMBER_REF_EXPR" and len(inner) == 1:
            is_arrow = inner[0].type.kind == "pointer"
            return c.Member(span, kind, inner[0], cursor.spelling, is_arrow, self._field(cursor))
        if name == "CXX_THIS_EXPR":
            this = self._object(cursor.type.get_pointee())
            return c.Reference(span, this.type, this)
        around = cplusplus.class_of_field(cursor)
        if around is not None and not inner:
            if around.get_declaration().canonical != self._class:
                return c.Opaque(span, kind, f"{cursor.spelling}, a member of another class,")
            here = Span(span.start, span.start, is_text=False)
            this = self._object(around)
            return c.Member(
                span, kind, c.Reference(here, this.type, this), cursor.spelling, True, self._field(cursor)
            )
        if name == "UNARY_OPERATOR" and len(inner) == 1:
            number = libclang.library().clang_getCursorUnaryOperatorKind(cursor)
            operator = _UNARY[min(number, len(_UNARY) - 1)]
            if operator == "__extension__":
                return inner[0]
            return c.Unary(span, kind, operator, inner[0])
        if name in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR") and len(inner) == 2:
            operator = _BINARY[libclang.library().clang_getCursorBinaryOperatorKind(cursor)]
            is_assignment = operator.endswith("=") and operator not in ("<=", ">=", "==", "!=")
            return (c.Assign if is_assignment else c.Binary)(span, kind, operator, *inner)
        value = libclang.evaluate(cursor) if name == "CXX_UNARY_EXPR" else None
        name = {"CXX_UNARY_EXPR": "sizeof", "StmtExpr": "a statement as expression"}.get(name, name)
        what = cplusplus.name_of(name) or name.lower().removesuffix("_expr").replace("_", " ")
        return c.Opaque(span, kind, what, inner, value if isinstance(value, int) else None)

    def _statement_expression(self, cursor: Any, span: Span, kind: CType) -> Expression:
        """`({ T a = x; a + 1; })` with what its variables are set to in their place, if it is so simple."""
        opaque = c.Opaque(span, kind, "a statement as expression")
        blocks = [
            self._statement(part) for part in libclang.children_of(cursor) if not libclang.is_expression(part)
        ]
        statements = blocks[0].statements if blocks and isinstance(blocks[0], c.Block) else ()
        if not statements or not isinstance(last := statements[-1], c.Evaluate):
            return opaque
        values: dict[Variable, Expression] = {}
        for one in statements[:-1]:
            for variable in one.variables if isinstance(one, c.Declare) else ():
                if variable.initial is None or variable.is_array or variable.storage != "local":
                    return opaque
                value = with_values(variable.initial, values)
                values[variable] = c.Cast(value.span, variable.type, value, is_implied=True)
            if not isinstance(one, c.Declare):
                return opaque
        parts = [last.expression, *values.values()]
        changes = any(
            isinstance(node, c.Assign | c.Call) or _is_step(node) for part in parts for node in c.walk(part)
        )
        return opaque if changes else c.Parentheses(span, kind, with_values(last.expression, values))

    def _floating(self, cursor: Any, span: Span, kind: CType) -> Expression:
        text = self._token(cursor)
        if text is None and kind.spelling in ("float", "double"):
            text = f"{libclang.evaluate(cursor)!r}{'f' if kind.spelling == 'float' else ''}"
        return (
            c.OtherLiteral(span, kind, text)
            if text
            else c.Opaque(span, kind, f"a {kind.spelling} in a macro")
        )

    @staticmethod
    def _constant(declared: Any) -> int | None:
        """The value of a whole number that is declared const or constexpr with a value that clang knows."""
        if libclang.kind_of(declared) != "VAR_DECL" or not declared.type.is_const_qualified():
            return None
        initial = libclang.initializer_of(declared)
        value = None if initial is None else libclang.evaluate(initial)
        return value if isinstance(value, int) else None

    def _reference(self, cursor: Any, span: Span, kind: CType) -> Expression:
        declared = cursor.referenced
        if declared is not None and libclang.kind_of(declared) in ("VAR_DECL", "PARM_DECL"):
            value = self._constant(declared) if self._is_cplusplus and kind.is_integer else None
            if value is not None:
                return c.Number(span, kind, value, declared.spelling)
            return c.Reference(span, kind, self._variable(declared))
        if declared is not None and libclang.kind_of(declared) == "ENUM_CONSTANT_DECL":
            return c.Number(span, kind, int(declared.enum_value), declared.spelling)
        if not cursor.spelling:
            return c.Opaque(span, kind, f"{self._text[span.start : span.end]}, a number given to a template,")
        return c.Opaque(span, kind, f"{cursor.spelling} used as a value")


def _is_step(node: c.Node) -> bool:
    return isinstance(node, c.Unary) and node.operator in ("x++", "x--", "++", "--")


def with_values(tree: Any, values: Mapping[Variable, Expression]) -> Any:
    """A tree in which variables are exchanged for expressions; what is new has no text."""
    if isinstance(tree, tuple):
        return tuple(with_values(one, values) for one in tree)
    if isinstance(tree, c.Reference) and tree.variable in values:
        return c.Parentheses(replace(tree.span, is_text=False), tree.type, values[tree.variable])
    if not hasattr(tree, "span") or isinstance(tree, Variable):
        return tree
    old = {one.name: getattr(tree, one.name) for one in fields(tree)}
    new = {name: with_values(value, values) for name, value in old.items()}
    return replace(tree, **new) if any(new[name] is not old[name] for name in old) else tree
