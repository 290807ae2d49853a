"""Data as opaque terms: equal terms are one object, so that comparing two programs is comparing objects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from zlib import crc32

_MASK = (1 << 61) - 1
_DEEPEST = 6
_LONGEST = 160
_INFIX = frozenset(["+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|"])


_WIDE_MASK = (1 << 128) - 1
# Comparisons of whole numbers, signed or not, and operations on them that are exact in any order.
_WHOLE = ("i", "u")
_ORDERED: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_IN_ANY_ORDER = {*((op, kind) for op in ("|", "&", "^") for kind in _WHOLE), ("+", "u"), ("*", "u")}
_FAR = 1 << 70
_SPREAD = 1 << 32


class Term:
    """An operation on terms and whole numbers; `key` is the same in every process."""

    __slots__ = ("args", "key", "op", "tag")

    def __init__(self, op: str, tag: str, args: tuple[Any, ...], key: int) -> None:
        self.op = op
        self.tag = tag
        self.args = args
        self.key = key

    def __repr__(self) -> str:
        return readable(self)


class Poison:
    """The value of something that was never set; operations on it give it back."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"({self.reason})"


class Terms:
    """All terms of two executions that are compared, and the whole numbers that stand for some of them."""

    def __init__(self) -> None:
        self._table: dict[tuple[Any, ...], Term] = {}
        self._sums: dict[Term, int] = {}
        self.known: dict[Term, int] = {}

    def make(self, op: str, tag: str, *args: Any) -> Term:
        """The term of an operation; the arguments are terms, whole numbers and texts."""
        if (op, tag[:1]) in _IN_ANY_ORDER:
            return self._sum(op, tag, args)
        parts = (op, tag, *args)
        found = self._table.get(parts)
        if found is None:
            key = crc32(f"{op} {tag}".encode())
            for arg in args:
                part = arg.key if isinstance(arg, Term) else crc32(str(arg).encode())
                key = (key * 1000003 + part) & _MASK
            found = self._table[parts] = Term(op, tag, args, key)
        return found

    def _sum(self, op: str, tag: str, args: tuple[Any, ...]) -> Term:
        """The term of an operation whose operands, and those of operands like it, have no order."""
        total = 0
        for arg in args:
            is_like = isinstance(arg, Term) and (arg.op, arg.tag) == (op, tag)
            total += self._sums[arg] if is_like else _wide_key(arg)
        total &= _WIDE_MASK
        found = self._table.get((op, tag, "in any order", total))
        if found is None:
            found = Term(op, tag, args, total & _MASK)
            self._table[op, tag, "in any order", total] = found
            self._sums[found] = total
        return found


def _wide_key(value: Any) -> int:
    """A number that stands for an operand, which no other one has but by a chance of 2^-61."""
    text = f"term {value.key}" if isinstance(value, Term) else str(value)
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "little")


@dataclass(frozen=True)
class Oracle:
    """What conditions on data decide: it depends on their terms alone.

    Whole numbers are in one order, in which data that is compared with constants is larger or smaller than
    all of them where an answer is asked for always.
    """

    seed: int
    always: bool | None = None

    def decide(self, condition: Term) -> bool:
        """Whether a condition holds."""
        if condition.op in _ORDERED and condition.tag[:1] in _WHOLE:
            left, right = map(self._rank, condition.args)
            return _ORDERED[condition.op](left, right)
        if self.always is not None:
            return self.always
        return self._mixed(condition.key) >> 17 & 1 == 1

    def _rank(self, value: Any) -> int:
        if not isinstance(value, Term):
            return value
        far = 0 if self.always is None else _FAR if self.always else -_FAR
        return far + self._mixed(value.key) % _SPREAD - _SPREAD // 2

    def _mixed(self, key: int) -> int:
        return key * 0x9E3779B1 + self.seed * 0x85EBCA6B


ORACLES = (Oracle(1), Oracle(0, always=True), Oracle(0, always=False), Oracle(2))


def difference(left: Any, right: Any) -> str:
    """How two values differ: the parts that do, and what they are parts of."""
    whole = f"{readable(right)} instead of {readable(left)}"
    inner: tuple[Any, Any] = (left, right)
    while True:
        a, b = inner
        if not isinstance(a, Term) or not isinstance(b, Term) or (a.op, a.tag) != (b.op, b.tag):
            break
        parts = [(x, y) for x, y in zip(a.args, b.args, strict=False) if x is not y and x != y]
        if len(a.args) != len(b.args) or len(parts) == 0 or a.op in ("cell", "constant", "name", "convert"):
            break
        inner = parts[0]
    if inner == (left, right):
        return whole
    return f"{readable(inner[1])} instead of {readable(inner[0])} in {whole}"


def readable(value: Any, depth: int = 0) -> str:
    """A value for people; what is deep inside is left out."""
    text = _text(value, depth)
    return text if depth or len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def _text(value: Any, depth: int) -> str:
    if not isinstance(value, Term):
        return "an address" if isinstance(value, tuple) else str(value)
    if depth > _DEEPEST:
        return "..."
    op, args = value.op, value.args
    if op in ("constant", "string", "name", "cell"):
        return str(args[0]) if op != "cell" else f"{readable(args[0], depth + 1)}[{args[1]}]"
    inner = [readable(arg, depth + 1) for arg in args]
    if op in _INFIX and len(inner) == 2:
        return f"({inner[0]} {op} {inner[1]})"
    if op == "convert":
        return inner[0] if isinstance(args[0], int) else f"({value.tag}){inner[0]}"
    return f"{op}({', '.join(inner)})"
