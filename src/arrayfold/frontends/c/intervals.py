"""What values an expression can have by its type and its operators alone, such as `img[i] >> 3`."""

from __future__ import annotations

from arrayfold.c import tree as c
from arrayfold.c.tree import Expression, bare
from arrayfold.frontends.c.integers import is_narrow, limits

Interval = tuple[int, int]


def interval_of(expression: Expression) -> Interval | None:
    """The least and the largest value that an expression may have; None if that may be any.

    Nothing is said of what might overflow: parts that are no narrow type and no number have no interval.
    """
    inner = bare(expression)
    if inner.type.is_integer and is_narrow(inner.type) and not isinstance(inner, c.Number):
        return limits(inner.type)
    match inner:
        case c.Number(value=value):
            return value, value
        case c.Binary(operator="&", left=left, right=right):
            ends = [found for found in (interval_of(left), interval_of(right)) if found and found[0] >= 0]
            return (0, min(high for _, high in ends)) if ends else None
        case c.Binary(operator="+" | "-" | "*" | ">>" | "/" | "%" as operator, left=left, right=right):
            return _combined(operator, interval_of(left), interval_of(right))
        case c.Conditional(then=then, otherwise=otherwise):
            first, second = interval_of(then), interval_of(otherwise)
            return (min(first[0], second[0]), max(first[1], second[1])) if first and second else None
        case _:
            return None


def _combined(operator: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    if operator in (">>", "/", "%"):
        low, high = right
        if low != high or low <= 0 or left[0] < 0:
            return None
        if operator == "%":
            return 0, min(left[1], low - 1)
        return (left[0] >> low, left[1] >> low) if operator == ">>" else (left[0] // low, left[1] // low)
    if operator == "+":
        return left[0] + right[0], left[1] + right[1]
    if operator == "-":
        return left[0] - right[1], left[1] - right[0]
    products = [one * other for one in left for other in right]
    return min(products), max(products)
