"""Formulas of the parameters as nested tuples: what coefficients and moduli of random mappings are made of.

A formula is a number, a name, or (operator, left, right): +, *, floor (of a quotient), / (a quotient that
need not be whole), max, min.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from fuzz.affine import Form, Values

Formula: TypeAlias = Any


def value(formula: Formula, values: Values) -> Fraction:
    """The exact value, whole or not."""
    if isinstance(formula, int):
        return Fraction(formula)
    if isinstance(formula, str):
        return Fraction(values[formula])
    operator, *operands = formula
    left, right = (value(one, values) for one in operands)
    match operator:
        case "+":
            return left + right
        case "*":
            return left * right
        case "/":
            return left / right
        case "floor":
            return Fraction(math.floor(left / right))
        case "max":
            return max(left, right)
        case "min":
            return min(left, right)
    raise ValueError(operator)


def text(formula: Formula) -> str:
    """As `arrayfold check --mapping` takes it."""
    if isinstance(formula, int):
        return str(formula) if formula >= 0 else f"({formula})"
    if isinstance(formula, str):
        return formula
    operator, left, right = formula
    match operator:
        case "+" | "*" | "/":
            return f"({text(left)} {operator} {text(right)})"
        case "floor":
            return f"floor({text(left)}/{text(right)})"
        case _:
            return f"{operator}({text(left)}, {text(right)})"


def of_form(form: Form) -> Formula:
    """The same as a formula."""
    total: Formula = form.constant
    for name, coefficient in form.terms:
        total = ("+", total, name if coefficient == 1 else ("*", coefficient, name))
    return total


def random_formula(choose: random.Random, names: Sequence[str], depth: int = 2) -> Formula:
    """Mostly affine and positive; floors, quotients, extremes and products now and then."""
    if depth == 0 or not names or choose.random() < 0.35:
        if names and choose.random() < 0.5:
            return choose.choice(list(names))
        return choose.choice([1, 1, 2, 2, 3, 4, 5, -1, 0])
    left, right = (random_formula(choose, names, depth - 1) for _ in range(2))
    operator = choose.choice(["+", "+", "+", "*", "*", "floor", "/", "max", "max", "min"])
    if operator in ("floor", "/"):
        return (operator, left, choose.choice([2, 2, 3]))
    return (operator, left, right)


def smaller(formula: Formula) -> Iterator[Formula]:
    """Operands instead of the whole, and smaller ones inside."""
    if isinstance(formula, int):
        if formula not in (0, 1):
            yield 1
            yield formula - formula // abs(formula)
        return
    if isinstance(formula, str):
        yield 1
        return
    operator, left, right = formula
    yield left
    if operator not in ("floor", "/"):
        yield right
        for other in smaller(right):
            yield (operator, left, other)
    for other in smaller(left):
        yield (operator, other, right)
