"""Trees of C as text, with variables and elements exchanged on the way, and where statements end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from arrayfold.c import tree as c
from arrayfold.c.edits import NotInText, Rewriter, apply_edits
from arrayfold.c.lexer import closing_bracket, end_of_statement
from arrayfold.c.printer import ExpressionPrinter
from arrayfold.c.source import CText
from arrayfold.c.tree import CStatement, Expression, Node, Variable, walk

Element = Callable[[Variable, Sequence[str]], str | None]


def _no_element(_variable: Variable, _subscripts: Sequence[str]) -> str | None:
    return None


@dataclass(frozen=True, eq=False)
class TreeText:
    """The text of trees: the author's own where it can be kept, printed from the tree otherwise.

    names    variable -> what stands for it
    element  what stands for an element, given the texts of its subscripts, or None
    """

    text: CText
    names: Mapping[Variable, str] = field(default_factory=dict[Variable, str])
    element: Element = _no_element

    def expression(self, node: Expression) -> str:
        """An expression, without parentheses around it."""
        if all(one.span.is_text for one in walk(node)):
            return self._own(node, node.span.start, node.span.end)
        return ExpressionPrinter(self.text, self._printed).text(node)

    def statement(self, node: CStatement) -> str:
        """A statement with its semicolon."""
        try:
            return self._own(node, node.span.start, end_of(self.text, node))
        except NotInText:
            return self._structure(node)

    def _own(self, node: Node, start: int, end: int) -> str:
        rewriter = Rewriter(
            self.text,
            lambda variable: self.names.get(variable),
            lambda one, texts, _: self.element(one, texts),
        )
        rewriter.visit(node)
        return apply_edits(self.text.text, rewriter.found, start, end)

    def _printed(self, variable: Variable, subscripts: Sequence[str], _tree: Expression) -> str:
        changed = self.element(variable, subscripts)
        if changed is not None:
            return changed
        if variable not in self.names:
            return variable.text(subscripts)
        return self.names[variable] + "".join(f"[{one}]" for one in subscripts)

    def _structure(self, node: CStatement) -> str:
        """A statement with something inside a macro that must change."""
        match node:
            case c.Block(statements=statements):
                return f"{{ {' '.join(map(self.statement, statements))} }}"
            case c.Evaluate(expression=expression):
                return f"{self.expression(expression)};"
            case c.If(condition=condition, then=then, otherwise=otherwise):
                last = "" if otherwise is None else f" else {self.statement(otherwise)}"
                return f"if ({self.expression(condition)}) {self.statement(then)}{last}"
            case c.For(start=start, condition=condition, step=step, body=body) if (
                start and condition and step
            ):
                first = self.statement(start) if isinstance(start, c.Declare) else ""
                first = f"{self.expression(start.expression)};" if isinstance(start, c.Evaluate) else first
                head = f"{first} {self.expression(condition)}; {self.expression(step)}"
                return f"for ({head}) {self.statement(body)}"
            case c.While(condition=condition, body=body, is_late=is_late):
                head = f"while ({self.expression(condition)})"
                return f"do {self.statement(body)} {head};" if is_late else f"{head} {self.statement(body)}"
            case c.Declare(variables=(variable,)) if not (variable.is_array or variable.is_pointer):
                name = self.names.get(variable, variable.name)
                value = "" if variable.initial is None else f" = {self.expression(variable.initial)}"
                return f"{variable.written or variable.type.spelling} {name}{value};"
            case _:
                raise NotInText(self.text.file)


def end_of(text: CText, node: CStatement) -> int:
    """Where a statement ends, just after its semicolon or closing brace."""
    match node:
        case c.For(body=inner) | c.Label(statement=inner) | c.Case(statement=inner) | c.Switch(body=inner):
            return end_of(text, inner)
        case c.While(body=inner, is_late=False):
            return end_of(text, inner)
        case c.If(then=then, otherwise=otherwise):
            return end_of(text, then if otherwise is None else otherwise)
        case c.Block() if node.span.is_text:
            return node.span.end
        case _:
            end = end_of_statement(text.plain, node.span.start)
            if end is None:
                raise NotInText(text.file)
            return end


def header_of(text: CText, node: c.If | c.While | c.Switch | c.For) -> tuple[int, int]:
    """Where the text in parentheses behind if, while, switch or for begins and ends."""
    if not node.span.is_text:
        raise NotInText(text.file)
    opening = text.plain.find("(", node.span.start)
    if isinstance(node, c.While) and node.is_late:
        word = text.plain.find("while", end_of(text, node.body))
        opening = text.plain.find("(", word) if word >= 0 else -1
    closing = closing_bracket(text.plain, opening) if opening >= 0 else None
    if closing is None:
        raise NotInText(text.file)
    return opening + 1, closing


def literal(node: Expression, text: str) -> c.OtherLiteral:
    """A text that stands for a node."""
    return c.OtherLiteral(replace(node.span, is_text=False), node.type, text)


def with_node(tree: Any, old: Node, new: Node) -> Any:
    """The tree with one node exchanged for another."""
    if tree is old:
        return new
    if isinstance(tree, tuple):
        return tuple(with_node(one, old, new) for one in tree)  # pyright: ignore[reportUnknownVariableType]
    if not any(one is old for one in (walk(tree) if hasattr(tree, "span") else ())):
        return tree
    changed = {one.name: with_node(getattr(tree, one.name), old, new) for one in fields(tree)}
    return replace(tree, **changed)
