"""Expressions of pymbolic, of which kernels of loopy are made: what they access; with other subscripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any, cast

import islpy as isl
import numpy as np

from arrayfold.base.errors import InputError
from arrayfold.base.optional import optional_module
from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Remainder


@dataclass(frozen=True, eq=False)
class Use:
    """A use of a variable in an expression.

    subscript  None where the variable is used as a whole
    where      { [i] }: the iterations that use it, or more
    text       as in the kernel
    """

    name: str
    subscript: tuple[Any, ...] | None
    where: isl.Set
    text: str


def uses(expression: Any, where: isl.Set) -> Iterator[Use]:
    """The variables in an expression that is evaluated in some iterations { [i] }.

    What only one branch of a condition reads is read where that holds, if it is affine.
    """
    match type(expression).__name__, expression:
        case "Subscript", _ if _is_variable(expression.aggregate):
            indices: tuple[Any, ...] = expression.index_tuple
            yield Use(expression.aggregate.name, indices, where, str(expression))
            yield from uses(indices, where)
        case "Variable" | "TaggedVariable", _:
            yield Use(expression.name, None, where, str(expression))
        case "If", _:
            then, otherwise = _branches(expression.condition, where)
            yield from uses(expression.condition, where)
            yield from uses(expression.then, then)
            yield from uses(expression.else_, otherwise)
        case _:
            for child in children(expression):
                yield from uses(child, where)


def children(expression: Any) -> tuple[Any, ...]:
    """The parts of an expression."""
    if isinstance(expression, tuple):
        return cast("tuple[Any, ...]", expression)
    if dataclasses.is_dataclass(expression):
        return tuple(getattr(expression, field.name) for field in dataclasses.fields(expression))
    if expression is None or isinstance(expression, str | Number | np.generic | type):
        return ()
    raise InputError(f"an expression of kind {type(expression).__name__} is not understood: {expression}")


def with_subscripts(
    expression: Any, changed: Mapping[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]]
) -> Any:
    """The expression in which arrays have other subscripts, which are made of those that they have."""
    if isinstance(expression, tuple):
        return tuple(with_subscripts(one, changed) for one in cast("tuple[Any, ...]", expression))
    if not dataclasses.is_dataclass(expression) or isinstance(expression, type):
        return expression
    parts: dict[str, Any] = {
        field.name: with_subscripts(getattr(expression, field.name), changed)
        for field in dataclasses.fields(expression)
        if field.init
    }
    is_subscript = type(expression).__name__ == "Subscript" and _is_variable(parts["aggregate"])
    if is_subscript and parts["aggregate"].name in changed:
        index = parts["index"]
        indices = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        parts["index"] = changed[parts["aggregate"].name](indices)
    if all(parts[name] is getattr(expression, name) for name in parts):
        return expression
    return dataclasses.replace(cast("Any", expression), **parts)


def expression_of(formula: Formula, names: Mapping[str, Any]) -> Any:
    """A formula as an expression.

    names  expressions to take for names of it; others are variables
    """
    primitives: Any = optional_module("pymbolic.primitives", "loopy")
    if formula.denominator > 1:
        raise InputError(f"{formula} has a fraction")
    terms = [
        primitives.flattened_product(
            [
                int(coefficient),
                *(_atom(atom, names, primitives) for atom, power in monomial for _ in range(power)),
            ]
        )
        for monomial, coefficient in formula.terms
    ]
    return primitives.flattened_sum(terms)


def _atom(atom: Atom, names: Mapping[str, Any], primitives: Any) -> Any:
    match atom:
        case str():
            return names.get(atom, primitives.Variable(atom))
        case Floor(argument, divisor):
            return primitives.FloorDiv(expression_of(argument, names), divisor)
        case Remainder(argument, modulus):
            return primitives.Remainder(expression_of(argument, names), expression_of(modulus, names))
        case Extreme():
            raise InputError(f"loopy takes no {atom.kind} in subscripts, as in {atom}")


def _is_variable(expression: Any) -> bool:
    return type(expression).__name__ in ("Variable", "TaggedVariable")


def _branches(condition: Any, where: isl.Set) -> tuple[isl.Set, isl.Set]:
    """Where a condition may hold, and where it may not."""
    holds = condition_set(condition, where)
    return (where, where) if holds is None else (where.intersect(holds), where.subtract(holds))


def condition_set(condition: Any, where: isl.Set) -> isl.Set | None:
    """{ [i] }: where a condition holds; None if it is not affine."""
    symbolic: Any = optional_module("loopy.symbolic", "loopy")
    try:
        return symbolic.condition_to_set(where.get_space(), condition)
    except (TypeError, ValueError, NotImplementedError, isl.Error):
        return None
