"""Items of depend clauses: expressions in pragmas, which libclang does not read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from arrayfold.validation.access import Accesses
from arrayfold.validation.faults import Spot, Unsupported
from arrayfold.validation.memory import Object
from arrayfold.validation.operators import COMPARISONS, Run
from arrayfold.validation.pragmas import Directive
from arrayfold.validation.scope import Variable
from arrayfold.validation.types import Array, CType, Frame, Pointer, size_of, value_of

_TOKEN = re.compile(r"\s*(\d+[uUlL]*|[A-Za-z_]\w*|<=|>=|==|!=|[-+*/%()\[\]:?<>&])")
_TYPES = frozenset(["long", "int", "unsigned", "short", "char", "size_t"])
_Place: TypeAlias = Callable[[Frame], tuple[Object | None, int]]
_LEVELS = (("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


def read_depend(directive: Directive, accesses: Accesses) -> list[tuple[str, _Place]]:
    """The items of the depend clauses of a task: how it depends on each, and where its first byte is."""
    return [
        (kind.strip(), _Item(item, accesses, directive.spot).address())
        for text in directive.clauses.get("depend", ())
        for kind, _, items in [text.partition(":")]
        for item in _split(items)
    ]


class _Item:
    def __init__(self, text: str, accesses: Accesses, spot: Spot) -> None:
        self._accesses = accesses
        self._spot = spot
        self._words: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise Unsupported(f"depend({text.strip()})", spot)
            self._words.append(match.group(1))
            position = match.end()
        self._at = 0

    def address(self) -> _Place:
        """Where a variable, or the first element of a section of an array, is."""
        variable = self._variable(self._next())
        kind: CType = variable.type
        steps: list[tuple[Run, CType]] = []
        is_pointer = isinstance(kind, Pointer)
        while self._peek() == "[":
            self._next()
            index: Run = self._choice() if self._peek() != ":" else _zero
            if self._peek() == ":":
                self._next()
                if self._peek() != "]":
                    self._choice()
            self._expect("]")
            if not isinstance(kind, Array | Pointer):
                raise Unsupported("this depend clause", self._spot)
            kind = kind.element if isinstance(kind, Array) else kind.target
            steps.append((index, kind))
        if self._peek():
            raise Unsupported("this depend clause", self._spot)
        base = self._base(variable, is_pointer=is_pointer and bool(steps))

        def find(f: Frame) -> tuple[Object | None, int]:
            obj, offset, *_ = base(f)
            for index, element in steps:
                size = size_of(element)
                assert size is not None
                offset += index(f) * value_of(size, f)
            return obj, offset

        return find

    def _base(self, variable: Variable, *, is_pointer: bool) -> Run:
        if variable.lasting is not None:
            lasting = variable.lasting
            return lambda _: lasting()
        slot = variable.slot
        if variable.is_register and not is_pointer:
            raise Unsupported("this depend clause", self._spot)
        if is_pointer and not variable.is_register:
            return self._accesses.load(lambda f: f[slot], variable.type, self._spot)
        return lambda f: f[slot]

    def _variable(self, name: str) -> Variable:
        found = self._accesses.scope.named(name)
        if found is None:
            raise Unsupported(f"{name} in a depend clause", self._spot)
        return found

    # ------------------------------------------------ whole numbers

    def _choice(self) -> Run:
        condition = self._level(0)
        if self._peek() != "?":
            return condition
        self._next()
        first = self._choice()
        self._expect(":")
        second = self._choice()
        return lambda f: first(f) if condition(f) else second(f)

    def _level(self, level: int) -> Run:
        if level == len(_LEVELS):
            return self._factor()
        left = self._level(level + 1)
        while self._peek() in _LEVELS[level]:
            left = _applied(self._next(), left, self._level(level + 1))
        return left

    def _factor(self) -> Run:
        word = self._next()
        if word == "-":
            inner = self._factor()
            return lambda f: -inner(f)
        if word == "(":
            if self._peek() in _TYPES:
                while self._peek() in _TYPES:
                    self._next()
                self._expect(")")
                return self._factor()
            inner = self._choice()
            self._expect(")")
            return inner
        if word[:1].isdigit():
            number = int(word.rstrip("uUlL"))
            return lambda _: number
        return self._number(self._variable(word))

    def _number(self, variable: Variable) -> Run:
        m, spot, slot = self._accesses.m, self._spot, variable.slot
        if variable.is_register:
            return lambda f: m.whole(f[slot], spot)
        base = self._base(variable, is_pointer=False)
        # What a pragma reads is not an access of the program.
        load = self._accesses.load(base, variable.type, spot)

        def number(f: Frame) -> int:
            races, m.races = m.races, None
            value = m.whole(load(f), spot)
            m.races = races
            return value

        return number

    # ------------------------------------------------ words

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _next(self) -> str:
        word = self._peek()
        self._at += 1
        return word

    def _expect(self, word: str) -> None:
        if self._next() != word:
            raise Unsupported("this depend clause", self._spot)


def _zero(_: Frame) -> int:
    return 0


def _applied(operator: str, left: Run, right: Run) -> Run:
    def run(f: Frame) -> Any:
        a, b = left(f), right(f)
        if operator in COMPARISONS:
            return int(COMPARISONS[operator](a, b))
        if operator in ("/", "%"):
            size = abs(a) // abs(b) if b else 0
            quotient = size if (a < 0) == (b < 0) else -size
            return quotient if operator == "/" else a - b * quotient
        return a + b if operator == "+" else a - b if operator == "-" else a * b

    return run


def _split(text: str) -> list[str]:
    """Items between commas that are not in brackets."""
    items, depth, start = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    return [item for item in (*items, text[start:]) if item.strip()]
