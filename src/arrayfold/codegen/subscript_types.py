"""Iterators of which statements use nothing but their place in subscripts, so that any wide type does.

A conversion to the type that an iterator had, in the middle of a subscript, keeps compilers from seeing how
the address moves: loads and stores of one cell after the other become ones of single cells.
"""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.c.source import Copy, StatementSource
from arrayfold.c.tree import (
    Binary,
    Cast,
    Expression,
    Node,
    Number,
    Parentheses,
    Reference,
    Subscript,
    Unary,
    Variable,
    walk,
)

_INT_BITS = 32
_LINEAR = {Binary: ("+", "-", "*"), Unary: ("-", "+")}


def is_only_in_subscripts(statement: StatementSource, iterator: Variable) -> bool:
    """Whether a statement and its conditions use an iterator in linear signed subscripts only.

    Signed arithmetic that overflows has no meaning, so in a wider type it has the same value.
    """
    everywhere = sum(_uses(part, iterator) for part in _parts(statement))
    return everywhere == sum(
        _uses(node.index, iterator)
        for part in _parts(statement)
        for node in walk(part)
        if isinstance(node, Subscript) and all(map(_is_linear, walk(node.index)))
    )


def _parts(statement: StatementSource) -> Iterator[Node]:
    node = statement.node.initial if isinstance(statement.node, Variable) else statement.node
    if node is not None and not isinstance(node, Copy):
        yield node
    for guard in statement.guards:
        yield guard.condition


def _uses(node: Node, iterator: Variable) -> int:
    return sum(isinstance(one, Reference) and one.variable is iterator for one in walk(node))


def _is_linear(node: Node) -> bool:
    """Whether a node of a subscript adds and multiplies signed numbers that an int holds, or wider ones."""
    if not isinstance(node, Expression) or node.type.kind != "signed" or node.type.bits < _INT_BITS:
        return False
    if isinstance(node, Cast):
        return node.is_implied
    if isinstance(node, Binary | Unary):
        return node.operator in _LINEAR[type(node)]
    return isinstance(node, Number | Reference | Parentheses)
