"""Formulas as C expressions that neither overflow nor divide wrongly."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Monomial, Remainder

NameText = Callable[[str], str]


def sum_of(terms: list[tuple[int, str]]) -> str:
    """A sum as text, a positive term first; texts must be factors, "" stands for the number itself.

    >>> sum_of([(-1, "t"), (2, "i"), (1, "")])
    '2LL * i + 1 - t'
    """
    text = ""
    for value, factor in sorted(terms, key=lambda term: term[0] < 0):
        if value:
            sign = " - " if value < 0 else " + "
            text += (sign if text else sign.strip(" +")) + _scaled(abs(value), factor)
    return text or "0"


def _scaled(value: int, factor: str) -> str:
    if not factor:
        return str(value)
    return factor if value == 1 else f"{value}LL * {factor}"


def formula_text(formula: Formula, name: NameText) -> str:
    """The formula as C; it is whole and so is the result. Sums and products are taken in 64 bits.

    >>> formula_text(Formula.name("N") ** 2 + 1, str), formula_text(Formula.name("N") - 1, str)
    ('(long long)N * N + 1', 'N - 1LL')
    >>> formula_text(Formula.name("N") - Formula.name("M") + 1, str), formula_text(-Formula.name("N"), str)
    ('(long long)N + 1 - M', '-(long long)N')
    >>> formula_text(Formula.floor(Formula.name("N") + 1, 2), str)
    '((N + 1LL) >= 0 ? (N + 1LL) / 2 : -((1 - (N + 1LL)) / 2))'
    """
    denominator = math.lcm(*(coefficient.denominator for _, coefficient in formula.terms))
    terms = [_term(monomial, coefficient * denominator, name) for monomial, coefficient in formula.terms]
    text = _wide_sum(terms)
    return text if denominator == 1 else f"({text}) / {denominator}"


def _wide_sum(terms: list[tuple[int, str]]) -> str:
    """A sum as text, of which no part is taken in fewer than 64 bits: its first operand is that wide."""
    parts = sorted((term for term in terms if term[0]), key=lambda term: term[0] < 0)
    if not parts:
        return sum_of(parts)
    (value, factor), *others = parts
    if not others:
        is_narrow = value == -1 and not factor.startswith("(long long)")
        return sum_of([(value, f"(long long){factor}")] if is_narrow and factor else parts)
    if not factor:
        return sum_of([(1, f"{value}LL") if value > 0 else (-1, f"{-value}LL"), *others])
    if abs(value) > 1 or factor.startswith("(long long)"):
        return sum_of(parts)
    if len(parts) == 2 and not others[0][1]:
        return f"{sum_of(parts)}LL"
    return sum_of([(value, f"(long long){factor}"), *others])


def _term(monomial: Monomial, coefficient: Fraction, name: NameText) -> tuple[int, str]:
    factors = [_atom(atom, name) for atom, power in monomial for _ in range(power)]
    if len(factors) > 1:
        factors[0] = factors[0] if factors[0].startswith("(long long)") else f"(long long){factors[0]}"
    return int(coefficient), " * ".join(factors)


def _atom(atom: Atom, name: NameText) -> str:
    match atom:
        case str():
            return name(atom)
        case Floor(argument, divisor):
            inner = parenthesised(formula_text(argument, name))
            # A plain name may be the least number of its type.
            first = f"{divisor - 1}" if is_wide(inner) else f"{divisor - 1}LL"
            return f"({inner} >= 0 ? {inner} / {divisor} : -(({first} - {inner}) / {divisor}))"
        case Extreme(kind, arguments):
            first, *rest = (formula_text(argument, name) for argument in arguments)
            return choose(kind, first, rest)
        case Remainder(argument, modulus):
            return wrapped(formula_text(argument, name), formula_text(modulus, name))


def choose(kind: str, first: str, rest: list[str]) -> str:
    """The larger or the smaller of several C expressions, as one factor."""
    relation = ">" if kind == "max" else "<"
    for other in rest:
        left, right = parenthesised(first), parenthesised(other)
        first = f"({left} {relation} {right} ? {left} : {right})"
    return first


def wrapped(value: str, modulus: str) -> str:
    """`value mod modulus`, never negative, whatever the sign of the value."""
    inner = parenthesised(modulus)
    return f"(({parenthesised(value)} % {inner} + {inner}) % {inner})"


def is_wide(text: str) -> bool:
    """Whether a part of a text says that it has 64 bits.

    >>> is_wide("N - 1LL"), is_wide("(long long)N * N"), is_wide("LL - 1")
    (True, True, False)
    """
    return bool(re.search(r"\dLL\b|\blong long\b", text))


def parenthesised(text: str) -> str:
    """The text as an operand of anything.

    >>> parenthesised("N"), parenthesised("N + 1"), parenthesised("(N + 1)"), parenthesised("(a) + (b)")
    ('N', '(N + 1)', '(N + 1)', '((a) + (b))')
    """
    if text.replace("_", "").isalnum():
        return text
    if text.startswith("(") and text.endswith(")"):
        depth = 0
        for position, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return text if position == len(text) - 1 else f"({text})"
    return f"({text})"


def without_outer(text: str) -> str:
    """The text without parentheses around all of it.

    >>> without_outer("(a + b)"), without_outer("(a) + (b)")
    ('a + b', '(a) + (b)')
    """
    inner = text[1:-1]
    return inner if text == parenthesised(text) == f"({inner})" else text


def subscripted(name: str, rows: Iterable[str]) -> str:
    """An element as C: the name of an array with its subscripts.

    >>> subscripted("A", ["(i + 1)", "(i) - (j)"]), subscripted("A", ["(f(i), j)"]), subscripted("x", [])
    ('A[i + 1][(i) - (j)]', 'A[(f(i), j)]', 'x')
    """
    return name + "".join(f"[{row if ',' in row else without_outer(row)}]" for row in rows)
