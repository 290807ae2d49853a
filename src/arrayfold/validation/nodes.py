"""libclang's cursors as a small tree: every question is asked once."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from arrayfold.frontends.c.libclang import evaluate, library
from arrayfold.validation.faults import Spot

BINARY = (
    *("?", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!="),
    *("&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ","),
)
UNARY = ("?", "x++", "x--", "++", "--", "&", "*", "+", "-", "~", "!", "real", "imag", "extension", "?")


# What C++ calls differently.
_PLAIN: dict[str, str] = {
    "CXX_STATIC_CAST_EXPR": "CSTYLE_CAST_EXPR",
    "CXX_FUNCTIONAL_CAST_EXPR": "CSTYLE_CAST_EXPR",
    "CXX_BOOL_LITERAL_EXPR": "INTEGER_LITERAL",
    "CXX_NULL_PTR_LITERAL_EXPR": "GNU_NULL_EXPR",
}
_REFERENCES = ("LVALUEREFERENCE", "RVALUEREFERENCE")


def referred(kind: Any) -> Any:
    """What a reference refers to; any other type as it is."""
    canonical = kind.get_canonical()
    return canonical.get_pointee() if canonical.kind.name in _REFERENCES else kind


def _as_written(node: TextNode) -> TextNode:
    """An index without the conversion to the type of sizes: below zero is outside in any case."""
    while node.kind == "UNEXPOSED_EXPR" and len(node.parts) == 1 and node.type.spelling != "bool":
        node = node.parts[0]
    return node


class TextNode:
    """An expression, a statement or a declaration."""

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor
        self.kind: str = _PLAIN.get(str(cursor.kind.name), str(cursor.kind.name))
        self.is_expression: bool = cursor.kind.is_expression()
        if self.kind == "CALL_EXPR" and cursor.spelling == "operator[]":
            self.kind = "ARRAY_SUBSCRIPT_EXPR"

    @cached_property
    def parts(self) -> list[TextNode]:
        """Its children; of an element of a container, the container and the index as it is written."""
        children = [TextNode(child) for child in self.cursor.get_children()]
        if self.kind == "ARRAY_SUBSCRIPT_EXPR" and len(children) == 3:
            return [children[0], _as_written(children[2])]
        return children

    @cached_property
    def expressions(self) -> list[TextNode]:
        """The children that are expressions."""
        return [part for part in self.parts if part.is_expression]

    @cached_property
    def name(self) -> str:
        """How it is spelt."""
        return str(self.cursor.spelling)

    @cached_property
    def type(self) -> Any:
        """libclang's type of it; of a reference, that of what it refers to."""
        return referred(self.cursor.type)

    @cached_property
    def start(self) -> int:
        """Where its text begins, in bytes; the use, where a macro stands for it."""
        return int(self.cursor.extent.start.offset)

    @cached_property
    def end(self) -> int:
        """Where its text ends."""
        return int(self.cursor.extent.end.offset)

    @cached_property
    def file(self) -> str:
        """The file that it is in."""
        file = self.cursor.location.file
        return str(file.name) if file is not None else ""

    @cached_property
    def spot(self) -> Spot:
        """The line that it is in."""
        return Spot(self.file, int(self.cursor.location.line))

    @cached_property
    def referenced(self) -> TextNode | None:
        """The declaration that it names."""
        found = self.cursor.referenced
        return TextNode(found) if found is not None else None

    @cached_property
    def key(self) -> int:
        """The same number for all mentions of a declaration."""
        return int(self.cursor.canonical.hash)

    @cached_property
    def operator(self) -> str:
        """The operator of a unary or binary expression."""
        if self.kind == "UNARY_OPERATOR":
            return UNARY[min(library().clang_getCursorUnaryOperatorKind(self.cursor), len(UNARY) - 1)]
        return BINARY[library().clang_getCursorBinaryOperatorKind(self.cursor)]

    @cached_property
    def constant(self) -> int | float | None:
        """Its value, if clang knows it."""
        return evaluate(self.cursor)

    @cached_property
    def initializer(self) -> TextNode | None:
        """The value that a declared variable begins with."""
        found = library().clang_Cursor_getVarDeclInitializer(self.cursor)
        return None if found.kind.is_invalid() or not self.expressions else self.expressions[-1]

    @property
    def is_reference(self) -> bool:
        """Whether it is declared as a reference."""
        return self.cursor.type.get_canonical().kind.name in _REFERENCES

    @cached_property
    def definition(self) -> TextNode | None:
        """The definition of a function that is declared."""
        found = self.cursor.get_definition()
        return TextNode(found) if found is not None else None

    @property
    def is_static(self) -> bool:
        """Whether it is declared static."""
        return self.cursor.storage_class.name == "STATIC"

    @property
    def is_extern(self) -> bool:
        """Whether it is declared extern."""
        return self.cursor.storage_class.name == "EXTERN"

    @cached_property
    def path(self) -> str | None:
        """The text of a field by names and constants alone, such as `p->size[2]`; None if it is none."""
        inner = self.bare()
        if inner.kind == "DECL_REF_EXPR":
            return inner.name
        if inner.kind == "CXX_THIS_EXPR":
            return "this"
        if inner.is_of_this:
            return f"this->{inner.name}"
        if inner.kind == "ARRAY_SUBSCRIPT_EXPR" and len(inner.expressions) == 2:
            base, index = inner.expressions[0].path, inner.expressions[1].constant
            return f"{base}[{index}]" if base is not None and isinstance(index, int) else None
        if inner.kind != "MEMBER_REF_EXPR" or len(inner.expressions) != 1:
            return None
        base = inner.expressions[0].bare()
        if base.kind == "UNARY_OPERATOR" and base.operator == "*":
            path = base.expressions[0].path
            return None if path is None else f"{path}->{inner.name}"
        is_arrow = base.type.get_canonical().kind.name == "POINTER"
        return None if base.path is None else f"{base.path}{'->' if is_arrow else '.'}{inner.name}"

    @property
    def is_of_this(self) -> bool:
        """Whether it is a member of the object that a member function is called for, by its name alone."""
        return self.kind == "MEMBER_REF_EXPR" and not self.expressions

    @property
    def is_place(self) -> bool:
        """Whether it is an element, a member, or what a pointer points at."""
        return self.kind in ("ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR") or (
            self.kind == "UNARY_OPERATOR" and self.operator == "*"
        )

    def tokens(self) -> list[tuple[str, int]]:
        """Its text as tokens, each with its place in bytes."""
        return [(str(one.spelling), int(one.extent.start.offset)) for one in self.cursor.get_tokens()]

    def bare(self) -> TextNode:
        """The node without parentheses and implied conversions."""
        node = self
        while node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(node.parts) == 1:
            node = node.parts[0]
        return node

    def walk(self) -> Iterator[TextNode]:
        """The node and everything in it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def substatements(self) -> list[TextNode]:
        """The statements directly in it, in the order of the text."""
        match self.kind:
            case "COMPOUND_STMT":
                return self.parts
            case "FOR_STMT" | "WHILE_STMT" | "SWITCH_STMT":
                return self.parts[-1:]
            case "DO_STMT":
                return self.parts[:1]
            case "IF_STMT":
                return self.parts[1:]
            case "LABEL_STMT" | "DEFAULT_STMT" | "CASE_STMT":
                return self.parts[-1:]
            case _:
                return []
