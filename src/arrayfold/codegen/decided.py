"""The text of a statement where it runs: affine conditions inside of it that come out alike are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import islpy as isl

from arrayfold.c.source import Choice, StatementSource
from arrayfold.c.tree import Assign, Cast, Evaluate, Expression, Reference, Span, Variable, bare

_NOWHERE = Span(-1, -1, is_text=False)


def decided(source: StatementSource, where: isl.Set) -> StatementSource:
    """The text of a statement for some of its instances { S[i] }."""
    if not source.choices or not isinstance(source.node, Evaluate | Variable):
        return source
    return _simplified(source, _outcomes(where, source.choices))


def _outcomes(where: isl.Set, choices: Sequence[Choice]) -> dict[Expression, Expression]:
    """Expression that a condition decides -> what it is, where that is the same in all instances { S[i] }.

    What a variable was set to may stand at several places of one text, each for other instances.
    """
    found: dict[Expression, Expression | None] = {}
    for choice in choices:
        here = where.intersect(choice.among)
        if here.is_empty():
            continue
        outcome = None
        if here.is_subset(choice.where):
            outcome = choice.then
        elif here.is_disjoint(choice.where):
            outcome = choice.otherwise
        found[choice.node] = outcome if found.get(choice.node, outcome) is outcome else None
    return {node: value for node, value in found.items() if value is not None}


def _simplified(source: StatementSource, chosen: Mapping[Expression, Expression]) -> StatementSource:
    """The text of a statement in which these expressions are what was chosen for them."""
    if not chosen:
        return source
    simpler = _Simpler(chosen)
    node = source.node
    if isinstance(node, Variable):
        assert node.initial is not None
        target = Reference(_NOWHERE, node.type, node)
        simpler.made[node] = target
        node = Evaluate(_NOWHERE, Assign(_NOWHERE, node.type, "=", target, node.initial))
    assert isinstance(node, Evaluate)
    node = Evaluate(_NOWHERE, simpler.of(node.expression))
    cells = {simpler.made.get(old, old): relation for old, relation in source.cells.items()}
    return replace(source, node=node, cells={**source.cells, **cells})


class _Simpler:
    """Expressions with others in them; parts without one stay the same objects.

    made  old node -> new one
    """

    def __init__(self, chosen: Mapping[Expression, Expression]) -> None:
        self._chosen = chosen
        self.made: dict[Expression | Variable, Expression] = {}

    def of(self, node: Expression) -> Expression:
        """The expression with what was chosen in it."""
        if node in self._chosen:
            value = self.of(self._chosen[node])
            inner = bare(value)
            is_same = (inner.type.kind, inner.type.bits) == (node.type.kind, node.type.bits)
            return inner if is_same else Cast(_NOWHERE, node.type, inner, is_implied=False)
        changes: dict[str, Any] = {}
        for field in fields(node):
            value = getattr(node, field.name)
            new = self._of_field(value)
            if new is not value:
                changes[field.name] = new
        if not changes:
            return node
        self.made[node] = replace(node, span=_NOWHERE, **changes)
        return self.made[node]

    def _of_field(self, value: object) -> object:
        if isinstance(value, Expression):
            return self.of(value)
        if not isinstance(value, tuple):
            return value
        parts = cast("tuple[object, ...]", value)
        new = tuple(map(self._of_field, parts))
        return parts if all(a is b for a, b in zip(new, parts, strict=True)) else new
