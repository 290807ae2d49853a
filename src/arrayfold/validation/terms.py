"""Data as opaque terms: equal terms are one object, so that comparing two programs is comparing objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from zlib import crc32

_MASK = (1 << 61) - 1
_DEEPEST = 6
_LONGEST = 160
_INFIX = frozenset(["+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|"])


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
        self.known: dict[Term, int] = {}

    def make(self, op: str, tag: str, *args: Any) -> Term:
        """The term of an operation; the arguments are terms, whole numbers and texts."""
        parts = (op, tag, *args)
        found = self._table.get(parts)
        if found is None:
            key = crc32(f"{op} {tag}".encode())
            for arg in args:
                part = arg.key if isinstance(arg, Term) else crc32(str(arg).encode())
                key = (key * 1000003 + part) & _MASK
            found = self._table[parts] = Term(op, tag, args, key)
        return found


# What conditions on data decide: a function of the key of the term alone.
Oracle: TypeAlias = Callable[[int], bool]


def _by_bits(seed: int) -> Oracle:
    return lambda key: bool((key * 0x9E3779B1 + seed * 0x85EBCA6B) >> 17 & 1)


ORACLES: tuple[Oracle, ...] = (_by_bits(1), lambda _: True, lambda _: False, _by_bits(2))


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
