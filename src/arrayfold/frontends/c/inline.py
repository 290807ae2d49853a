"""Functions that are called in a region: what they return, and what else they use."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.c.source import assigned_variable, changed_operand
from arrayfold.c.tree import (
    Block,
    Call,
    Conditional,
    CStatement,
    Declare,
    Expression,
    Function,
    If,
    Member,
    Opaque,
    OtherStatement,
    Reference,
    Subscript,
    Unary,
    Variable,
    bare,
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


def globals_in(body: Block) -> tuple[Variable, ...]:
    """Variables from outside, no constants, that a body names."""
    return tuple(
        dict.fromkeys(
            node.variable
            for node in walk(body)
            if isinstance(node, Reference)
            and node.variable.storage in ("global", "static")
            and (node.variable.is_pointer or "const" not in node.variable.element.canonical.split())
        )
    )


def changed_in(body: Block) -> tuple[Variable, ...]:
    """Variables from outside, without subscripts, that a body assigns to or takes the address of."""
    assigned = {assigned_variable(node) for node in walk(body)}
    return tuple(variable for variable in globals_in(body) if variable in assigned)


def stored_in(body: Block) -> tuple[Variable, ...]:
    """Variables from outside: a body assigns to their parts or to what they lead to, or takes the address."""
    changed = (changed_operand(node) for node in walk(body))
    holders = {_holder(operand) for operand in changed if operand is not None}
    return tuple(variable for variable in globals_in(body) if variable in holders)


def _holder(expression: Expression) -> Variable | None:
    """The variable of which something is a part, or to which it leads."""
    inner = bare(expression)
    while True:
        match inner:
            case Subscript(base=base) | Member(base=base) | Unary(operator="*", operand=base):
                inner = bare(base)
            case Reference(variable=variable):
                return variable
            case _:
                return None


def calls_in(body: Block) -> tuple[Function, ...]:
    """The functions that a body calls by their names."""
    return tuple(dict.fromkeys(node.function for node in walk(body) if isinstance(node, Call)))


def has_hidden_code(body: Block) -> bool:
    """Whether a body has assembly, or calls what cannot be named."""
    return any(
        (isinstance(node, OtherStatement) and node.what == "asm")
        or (isinstance(node, Opaque) and node.what.startswith("call"))
        for node in walk(body)
    )
