"""OpenMP's clauses: variables of which each thread or task has its own, and what tasks depend on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from arrayfold.validation.access import MemoryAccess
from arrayfold.validation.faults import Spot, Unsupported
from arrayfold.validation.memory import is_address
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import COMPARISONS, Run, arithmetic, comparison
from arrayfold.validation.pragmas import Directive
from arrayfold.validation.races import CellPlace
from arrayfold.validation.scope import FunctionScope, VariableSlot
from arrayfold.validation.terms import Poison
from arrayfold.validation.types import (
    LONG,
    ArrayType,
    Frame,
    Pointer,
    Struct,
    ValueType,
    shape_of,
    size_of,
    value_of,
)

_TOKEN = re.compile(r"\s*(\d+[uUlL]*|[A-Za-z_]\w*|<=|>=|==|!=|[-+*/%()\[\]:?<>&])")
_TYPES = frozenset(["long", "int", "unsigned", "short", "char", "size_t"])
_LEVELS = (("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
_FindPlace: TypeAlias = Callable[[Frame], CellPlace]


class PrivateVariables:
    """The variables of a function that clauses make private: private, firstprivate, linear and reduction.

    teams  where the parallel constructs begin that are around what is read
    """

    def __init__(self, scope: FunctionScope) -> None:
        self.scope = scope
        self.m = scope.machine
        self.teams: list[int] = []

    def around(self, body: Run, directive: Directive, copied: Sequence[VariableSlot] = ()) -> Run:
        """A body that runs with variables of its own."""
        private = self.of(directive, copied)

        if "lastprivate" in directive.clauses:
            raise Unsupported(f"OpenMP's lastprivate of {directive.name}", directive.spot)

        def run(f: Frame) -> Any:
            undo = private(f)
            signal = body(f)
            undo()
            return signal

        return run

    def of(
        self, directive: Directive, copied: Sequence[VariableSlot] = (), further: Sequence[VariableSlot] = ()
    ) -> Callable[[Frame], Callable[[], None]]:
        """What gives a thread its own variables, and gives back what takes them away again."""
        fresh, kept, reduced = (
            [self._named(name, directive) for name in directive.names(*clauses)]
            for clauses in (("private", "lastprivate"), ("firstprivate", "linear"), ("reduction",))
        )
        fresh = [one for one in fresh if one not in kept]
        m = self.m
        plan = [(one, False) for one in (*fresh, *further)] + [(one, True) for one in (*kept, *copied)]

        def enter(f: Frame) -> Callable[[], None]:
            # Variables of a reduction are shared, in one order of the iterations, and do not race.
            if m.races is not None:
                m.races.ignored |= {f[one.slot][0] for one in reduced if is_address(f[one.slot])}
            saved: list[tuple[int, Any]] = []
            for variable, keeps in plan:
                old = f[variable.slot]
                saved.append((variable.slot, old))
                if variable.is_register:
                    f[variable.slot] = old if keeps else Poison(f"{variable.name} was never set")
                    continue
                size = size_of(variable.type)
                assert size is not None
                own = m.allocate(variable.name, value_of(size, f))
                own.shape = shape_of(variable.type, f)
                if keeps and is_address(old) and old[0] is not None:
                    own.cells, own.widths, own.unit = dict(old[0].cells), dict(old[0].widths), old[0].unit
                    own.initial, own.fills = old[0].initial, list(old[0].fills)
                f[variable.slot] = own.pointer()

            def leave() -> None:
                for slot, old in reversed(saved):
                    f[slot] = old

            return leave

        return enter

    def last(
        self, directive: Directive, loop_variables: Sequence[VariableSlot]
    ) -> Callable[[Frame, Callable[[], None]], None]:
        """What takes own variables away behind the last iteration, and keeps the values of lastprivate."""
        kept = [self._named(name, directive) for name in directive.names("lastprivate")]
        if any(one in loop_variables or isinstance(one.type, ArrayType | Struct) for one in kept):
            raise Unsupported(
                "OpenMP's lastprivate of an array or of the loop's own variable", directive.spot
            )

        def leave(f: Frame, undo: Callable[[], None]) -> None:
            values = [one.get(f) for one in kept]
            undo()
            for one, value in zip(kept, values, strict=True):
                if value is not None:
                    one.put(f, value)
                    if not one.is_register:
                        f[one.slot][0].unit = size_of(one.type)

        return leave

    def _named(self, name: str, directive: Directive) -> VariableSlot:
        found = self.scope.named(name)
        if found is None or found.lasting is not None:
            raise Unsupported(f"{name} in this pragma", directive.spot)
        return found

    def copied_by_task(self, node: TextNode) -> list[VariableSlot]:
        """Variables that are private to the thread that makes a task: the task has copies."""
        if not self.teams:
            return []
        named = (inner.referenced for inner in node.walk() if inner.kind == "DECL_REF_EXPR")
        inside = (self.scope.variables.get(one.key) for one in named if one and one.start > self.teams[-1])
        plain = (one for one in inside if one is not None and not isinstance(one.type, ArrayType | Struct))
        return list({one.slot: one for one in plain if one.slot >= 0}.values())


def read_depend(directive: Directive, accesses: MemoryAccess) -> list[tuple[str, _FindPlace]]:
    """The items of the depend clauses of a task: how it depends on each, and where its first byte is."""
    return [
        (kind.strip(), _Item(item, accesses, directive.spot).address())
        for text in directive.clauses.get("depend", ())
        for kind, _, items in [text.partition(":")]
        for item in _split(items)
    ]


class _Item:
    """An item of a depend clause: an expression in a pragma, which libclang does not read."""

    def __init__(self, text: str, accesses: MemoryAccess, spot: Spot) -> None:
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

    def address(self) -> _FindPlace:
        """Where a variable, or the first element of a section of an array, is."""
        variable = self._variable(self._next())
        kind: ValueType = variable.type
        steps: list[tuple[Run, ValueType]] = []
        is_pointer = isinstance(kind, Pointer)
        while self._take("["):
            index: Run = self._choice() if self._peek() != ":" else lambda _: 0
            if self._take(":") and self._peek() != "]":
                self._choice()
            self._expect("]")
            if not isinstance(kind, ArrayType | Pointer):
                raise self._unknown()
            kind = kind.element if isinstance(kind, ArrayType) else kind.target
            steps.append((index, kind))
        if self._peek():
            raise self._unknown()
        base = self._base(variable, is_pointer=is_pointer and bool(steps))

        def find(f: Frame) -> CellPlace:
            obj, offset, *_ = base(f)
            for index, element in steps:
                size = size_of(element)
                assert size is not None
                offset += index(f) * value_of(size, f)
            return obj, offset

        return find

    def _base(self, variable: VariableSlot, *, is_pointer: bool) -> Run:
        if variable.is_register and not is_pointer:
            raise self._unknown()
        if is_pointer and not variable.is_register and variable.lasting is None:
            return self._accesses.load(variable.address, variable.type, self._spot)
        return variable.address

    def _variable(self, name: str) -> VariableSlot:
        found = self._accesses.scope.named(name)
        if found is None:
            raise Unsupported(f"{name} in a depend clause", self._spot)
        return found

    # ------------------------------------------------ whole numbers

    def _choice(self) -> Run:
        condition = self._level(0)
        if not self._take("?"):
            return condition
        first = self._choice()
        self._expect(":")
        second = self._choice()
        return lambda f: first(f) if condition(f) else second(f)

    def _level(self, level: int) -> Run:
        if level == len(_LEVELS):
            return self._factor()
        left, m = self._level(level + 1), self._accesses.m
        while self._peek() in _LEVELS[level]:
            operator, right = self._next(), self._level(level + 1)
            if operator in COMPARISONS:
                left = comparison(m, operator, LONG, left, right)
            else:
                left = arithmetic(m, operator, LONG, left, right, self._spot)
        return left

    def _factor(self) -> Run:
        word = self._next()
        if word == "-":
            inner = self._factor()
            return lambda f: -inner(f)
        if word == "(" and self._peek() in _TYPES:
            while self._peek() in _TYPES:
                self._next()
            self._expect(")")
            return self._factor()
        if word == "(":
            inner = self._choice()
            self._expect(")")
            return inner
        if word[:1].isdigit():
            number = int(word.rstrip("uUlL"))
            return lambda _: number
        return self._number(self._variable(word))

    def _number(self, variable: VariableSlot) -> Run:
        m, spot, slot = self._accesses.m, self._spot, variable.slot
        if variable.is_register:
            return lambda f: m.whole(f[slot], spot)
        # What a pragma reads is not an access of the program.
        load = self._accesses.load(variable.address, variable.type, spot)

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

    def _take(self, word: str) -> bool:
        """Whether this is the next word; then it is read."""
        is_next = self._peek() == word
        self._at += is_next
        return is_next

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._unknown()

    def _unknown(self) -> Unsupported:
        return Unsupported("this depend clause", self._spot)


def _split(text: str) -> list[str]:
    """Items between commas that are not in brackets."""
    items, depth, start = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    return [item for item in (*items, text[start:]) if item.strip()]
