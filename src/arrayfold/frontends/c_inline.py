"""Functions that are called in a region: what they return, and what else they use."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.c.tree import (
    Block,
    Call,
    Conditional,
    CStatement,
    Declare,
    Expression,
    If,
    OtherStatement,
    Reference,
    Variable,
    walk,
)


def simple_body(
    statements: Sequence[CStatement],
) -> tuple[tuple[Variable, ...], Expression] | None:
    """Variables and the returned expression of a body that only declares, tests and returns."""
    variables: list[Variable] = []
    for position, statement in enumerate(statements):
        match statement:
            case Declare(variables=declared) if all(item.initial is not None for item in declared):
                variables += declared
            case If(condition=condition, then=then, otherwise=None):
                first, rest = simple_body([then]), simple_body(statements[position + 1 :])
                if first and rest and not first[0] and not rest[0]:
                    both = Conditional(statement.span, first[1].type, condition, first[1], rest[1])
                    return tuple(variables), both
                return None
            case If(condition=condition, then=then, otherwise=otherwise) if otherwise is not None:
                first, rest = simple_body([then]), simple_body([otherwise])
                if first and rest and not first[0] and not rest[0]:
                    both = Conditional(statement.span, first[1].type, condition, first[1], rest[1])
                    return tuple(variables), both
                return None
            case Block(statements=inner) if len(statements) == 1:
                return simple_body(inner)
            case OtherStatement(what="return", parts=(value,)) if isinstance(value, Expression):
                return tuple(variables), value
            case _:
                return None
    return None


def globals_in(body: Block) -> tuple[str, ...]:
    """Names of variables from outside that a body, or what it calls, may change or depend on."""
    names: list[str] = []
    for node in walk(body):
        if isinstance(node, Reference) and node.variable.storage in ("global", "static"):
            if "const" not in node.variable.element.spelling.split():
                names.append(node.variable.name)
        elif isinstance(node, Call):
            names += node.function.globals
    return tuple(dict.fromkeys(names))
