"""Sets of parameter values in words: `N >= 3`, `even N`, `N = 3 or N >= 6`."""

from __future__ import annotations

import re

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.exact.parameter_values import few_parameter_points

_FEW = 3

_CONGRUENCE = re.compile(r"\((?:(-?\d+) \+ )?(\w+)\) mod (\d+) = (\d+)")
_NO_MULTIPLE = re.compile(r"(\d+)\*floor\(\((\w+)\)/\1\) < \2\b")
_BOTH_ENDS = re.compile(r"(-?\d+) (<|<=) (\w+) (<|<=) (-?\d+)")
_ONE_END = re.compile(r"(\w+) (<|>) (-?\d+)")


def in_words(where: isl.Set, context: isl.Set) -> str:
    """The parameter values of a set { : } in a context, as conditions; nothing if these are all of it.

    >>> in_words(isl.Set("[N] -> { : N > 2 }"), isl.Set("[N] -> { : N >= 1 }"))
    'N >= 3'
    >>> in_words(isl.Set("[N] -> { : N mod 2 = 0 }"), isl.Set("[N] -> { : N >= 1 }"))
    'even N'
    >>> in_words(isl.Set("[N] -> { : N > 2 or N = 1 }"), isl.Set("[N] -> { : N >= 1 }"))
    'all sizes but N = 2'
    """
    where, context = where.params(), context.params()
    if context.is_subset(where):
        return ""
    if context.is_disjoint(where):
        return "no size"
    values = _points(context.intersect(where))
    if values:
        return " or ".join(values)
    words = _sentence(str(coalesced(coalesced(context.intersect(where)).gist(context))))
    others = _points(context.subtract(where))
    return f"all sizes but {' and '.join(others)}" if others and " or " in words else words


def _points(where: isl.Set) -> list[str]:
    """The values of a set that has few, in their order."""
    values = sorted(few_parameter_points(where, _FEW), key=lambda one: tuple(one.values()))
    return [", ".join(f"{name} = {value}" for name, value in one.items()) for one in values]


def _sentence(text: str) -> str:
    """The condition inside of isl's text, with comparisons as people write them."""
    inside = text[text.index("{") + 1 : text.rindex("}")].strip().removeprefix(":").strip()
    words = _BOTH_ENDS.sub(_closed, inside)
    words = _ONE_END.sub(_closed_at_one_end, words)
    words = _NO_MULTIPLE.sub(r"\2 mod \1 > 0", words)
    words = _CONGRUENCE.sub(_congruence, words)
    # "even N and N >= 6" is one noun with its property.
    return re.sub(r"\b(even|odd) (\w+) and \2 (>=|<=)", r"\1 \2 \3", words)


def _closed(match: re.Match[str]) -> str:
    low, lower, name, upper, high = match.groups()
    return f"{int(low) + (lower == '<')} <= {name} <= {int(high) - (upper == '<')}"


def _closed_at_one_end(match: re.Match[str]) -> str:
    name, relation, value = match.groups()
    return f"{name} <= {int(value) - 1}" if relation == "<" else f"{name} >= {int(value) + 1}"


def _congruence(match: re.Match[str]) -> str:
    shift, name, modulus, rest = match.groups()
    divisor = int(modulus)
    residue = (int(rest) - int(shift or 0)) % divisor
    if divisor == _EVEN:
        return f"{'odd' if residue else 'even'} {name}"
    return f"{name} mod {divisor} = {residue}"


_EVEN = 2
