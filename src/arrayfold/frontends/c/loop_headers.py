"""The header of a for loop: its iterator, its step, and why a condition is no bound."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.source import CText, assigned_variable, loop_variable
from arrayfold.c.tree import Expression, Variable, bare, walk
from arrayfold.frontends.c.affine import AffineReader, Scope


class RefusedHeader(Exception):
    """A loop is not one over an iterator, for a reason that the error says."""

    def __init__(self, error: InputError) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def refused_headers() -> Generator[None]:
    """Errors in here say that a loop is not one over an iterator."""
    try:
        yield
    except InputError as error:
        raise RefusedHeader(error) from None


def refuse_changed_iterator(text: CText, loop: c.For, variable: Variable) -> None:
    """Raise where the body of a loop changes its iterator."""
    for node in walk(loop.body):
        if assigned_variable(node) is variable or (
            isinstance(node, c.For) and loop_variable(node) is variable
        ):
            raise text.error(
                f"loop iterator {variable.name} changes inside its loop",
                node.span.start,
                "Use another variable.",
            )


def step_of(text: CText, affine: AffineReader, loop: c.For, variable: Variable) -> int:
    """What a loop adds to its iterator."""
    assert loop.step is not None
    node = bare(loop.step)
    amount: Expression | None = None
    number, sign = 0, 1
    match node:
        case c.Unary(operator="x++" | "++" | "x--" | "--" as operator):
            number = 1 if "+" in operator else -1
        case c.Assign(operator="+=" | "-=" as operator, value=value):
            amount, sign = value, 1 if operator == "+=" else -1
        case c.Assign(operator="=", value=value):
            amount, sign = _added(bare(value), variable)
        case _:
            pass
    if amount is not None:
        number = affine.constant(amount) or 0
        if abs(number) >= 1 << (variable.type.bits - 1):
            # `i += -1` adds a very large number to an unsigned i, which is the same.
            number -= (1 << variable.type.bits) * (1 if number > 0 else -1)
        number *= sign
    if not number:
        raise text.not_affine(
            "the step of this loop is not a constant",
            loop.step.span.start,
            "Write i++, i--, i += 2 or the like.",
        )
    if assigned_variable(node) is not variable:
        raise text.error(f"the step does not change {variable.name}", loop.step.span.start)
    return number


def _added(value: Expression, variable: Variable) -> tuple[Expression | None, int]:
    """`i + c`, `c + i` or `i - c`: c and its sign."""
    if isinstance(value, c.Binary) and value.operator in ("+", "-"):
        left, right = bare(value.left), bare(value.right)
        if getattr(left, "variable", None) is variable:
            return right, 1 if value.operator == "+" else -1
        if getattr(right, "variable", None) is variable and value.operator == "+":
            return left, 1
    return None, 1


def refuse_bound(text: CText, affine: AffineReader, condition: Expression, scope: Scope) -> NoReturn:
    """Raise the error that says what in a loop condition is not affine."""
    match condition:
        case c.Binary(operator="&&" | "||", left=left, right=right):
            parts = [left, right]
        case _ if bare(condition) is not condition:
            parts = [bare(condition)]
        case c.Unary(operator="!", operand=operand):
            parts = [operand]
        case c.Binary(left=left, right=right):
            affine.value(bare(left), scope)
            affine.value(bare(right), scope)
            parts = []
        case _:
            affine.value(condition, scope)
            parts = []
    for part in parts:
        if not affine.truth(part, scope).is_exact:
            refuse_bound(text, affine, part, scope)
    raise text.not_affine("this loop condition is not affine", condition.span.start)
