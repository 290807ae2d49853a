"""Innermost loops without a modulo: what does not change is hoisted, what wraps splits the loop.

Between two wraps an address is a fixed distance from the iterator. So the loop runs in stretches that end
where the next address wraps; inside of a stretch every access is contiguous, and compilers vectorise it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import islpy as isl

from arrayfold.codegen.address import Row
from arrayfold.codegen.formulas import NameText, formula_text, parenthesised, sum_of, wrapped
from arrayfold.codegen.linear_forms import formula_in_loops
from arrayfold.formula import Formula

_INDENT = "  "
_TURNS = 2
_NEAR = 64
_SHORT = 64


@dataclass(frozen=True)
class _Position:
    """An address that wraps while the loop runs.

    name    the variable that holds it at the start of a stretch
    shift   the variable that holds its distance from slope * iterator in a stretch
    start   its first value, or the variable of a position that it is a little beyond
    period  the modulus, if it is so small that stretches would be too: then it goes round in the loop
    """

    name: str
    shift: str
    slope: int
    modulus: str
    start: str
    beyond: int = 0
    period: int | None = None

    @property
    def turn(self) -> str:
        """Moves it on by one iteration."""
        assert self.period is not None
        step = self.slope % self.period
        if step == 1:
            return f"if (++{self.name} == {self.period}) {self.name} = 0;"
        return f"if (({self.name} += {step}) >= {self.period}) {self.name} -= {self.period};"

    def prepare(self) -> list[str]:
        """Sets it before the first stretch."""
        first = sum_of([(1, self.start), (self.beyond, "")]) if self.beyond else self.start
        lines = [f"long long {self.name} = {first};"]
        if self.beyond > 0:
            lines.append(f"while ({self.name} >= {self.modulus}) {self.name} -= {self.modulus};")
        elif self.beyond < 0:
            lines.append(f"while ({self.name} < 0) {self.name} += {self.modulus};")
        else:
            lines.append(f"if ({self.name} < 0) {self.name} += {self.modulus};")
        return lines

    def distance(self, at: str) -> str:
        """Sets its distance from the iterator for a stretch."""
        moved = sum_of([(1, self.name), (-self.slope, at)])
        return f"const long long {self.shift} = {moved};"

    def limit(self, at: str, stop: str) -> str:
        """Ends the stretch where the address wraps."""
        if self.slope == 1:
            steps = f"{self.modulus} - {self.name}"
        elif self.slope == -1:
            steps = f"{self.name} + 1"
        elif self.slope > 0:
            steps = f"({self.modulus} - 1 - {self.name}) / {self.slope} + 1"
        else:
            steps = f"{self.name} / {-self.slope} + 1"
        return f"if ({steps} < {stop} - {at}) {stop} = {at} + ({steps});"

    def advance(self, at: str, stop: str) -> list[str]:
        """Moves on to the next stretch."""
        if self.slope == 1:
            return [f"{self.name} += {stop} - {at};", f"if ({self.name} == {self.modulus}) {self.name} = 0;"]
        if self.slope == -1:
            return [f"{self.name} -= {stop} - {at};", f"if ({self.name} < 0) {self.name} += {self.modulus};"]
        if self.slope > 0:
            return [f"{self.name} = ({self.name} + {self.slope}LL * ({stop} - {at})) % {self.modulus};"]
        gone = f"({self.name} - {-self.slope}LL * ({stop} - {at})) % {self.modulus}"
        return [f"{self.name} = {gone};", f"if ({self.name} < 0) {self.name} += {self.modulus};"]


@dataclass(eq=False)
class InnerLoop:
    """One innermost loop while its body is written: it collects what must be computed before.

    iterator    a name that occurs nowhere else in the file
    parameters  of the model; their texts in C are asked for
    name        gives names like a given one that occur nowhere else; each loop may have the same ones
    is_parallel  iterations run in any order, so that nothing may be handed from one to the next
    inside      names that are set in the body, so that nothing before the loop can use them
    statements  those in the body, as they come
    """

    iterator: str
    type: str
    parameters: Collection[str]
    name: Callable[[str], str]
    is_parallel: bool = False
    inside: set[str] = field(default_factory=set[str])
    statements: set[str] = field(default_factory=set[str])
    _fixed: dict[str, str] = field(default_factory=dict[str, str])
    _positions: dict[tuple[Formula, Formula], _Position] = field(
        default_factory=dict[tuple[Formula, Formula], "_Position"]
    )

    def formula(self, expression: isl.AstExpr) -> Formula | None:
        """An expression of the body, if it is known before the loop but for the iterator."""
        found = formula_in_loops(expression)
        return None if found is None or found.names() & self.inside else found

    def coordinate(
        self,
        row: Row,
        subscripts: Sequence[str],
        values: Sequence[Formula | None],
        array: str,
        name: NameText,
    ) -> str:
        """A coordinate of an address in the body, given the subscripts as text and as formulas.

        The modulus of the row must be positive at all sizes: it is used even if the access never happens.
        """
        text = row.text(subscripts, name)
        value = None if row.wrap == "none" else _value(row, values)
        slope = None if value is None else _slope(value, self.iterator)
        is_short = row.modulus.is_constant and row.modulus.as_number() < _SHORT
        if value is None or slope is None or (slope and is_short and self.is_parallel):
            return text
        # Where no access happens the subscripts may wrap as unsigned numbers, so the formula is what counts.
        before = value.replace_names({self.iterator: Formula.name(self._begin)})
        inside = formula_text(before, lambda one: name(one) if one in self.parameters else one)
        modulus = parenthesised(formula_text(row.modulus, name))
        base = f"{array}_{len(self._fixed) + len(self._positions)}"
        if slope == 0:
            start = wrapped(inside, modulus) if row.wrap == "any" else f"{parenthesised(inside)} % {modulus}"
            if start not in self._fixed:
                self._fixed[start] = self.name(base)
            return self._fixed[start]
        start = f"{parenthesised(inside)} % {modulus}"
        found, beyond = self._near(value, slope, row.modulus) or (None, 0)
        if found is None or beyond:
            origin = start if found is None else found.name
            period = int(row.modulus.as_number()) if is_short else None
            shift = self.name(f"{base}_shift")
            found = _Position(self.name(base), shift, slope, modulus, origin, beyond, period)
            self._positions[value, row.modulus] = found
        if found.period is not None:
            return found.name
        return sum_of([(slope, self.iterator), (1, found.shift)])

    def _near(self, value: Formula, slope: int, modulus: Formula) -> tuple[_Position, int] | None:
        """The position that is nearest to an address, if it is near whatever the sizes, and how near."""
        found: list[tuple[int, int, _Position]] = []
        for number, ((other, same), position) in enumerate(self._positions.items()):
            if same == modulus and position.slope == slope:
                apart = (value - other - modulus * turns for turns in range(-_TURNS, _TURNS + 1))
                found += [(int(d.as_number()), number, position) for d in apart if d.is_constant]
        if not found:
            return None
        distance, _, position = min(found, key=lambda item: (abs(item[0]), item[1]))
        return (position, distance) if abs(distance) <= _NEAR else None

    @property
    def _begin(self) -> str:
        return self.name(f"{self.iterator}_begin")

    @property
    def is_plain(self) -> bool:
        """Whether nothing has to be computed before the loop."""
        return not self._fixed and not self._positions

    def lines(
        self, start: str, end: str, body: Sequence[str], pragmas: Sequence[str], longest: int | None
    ) -> list[str]:
        """The loop over [start, end) with everything before it, in stretches of a limited length."""
        kind, i, begin = self.type, self.iterator, self._begin
        fixed = [f"const long long {name} = {text};" for text, name in self._fixed.items()]
        everything = list(self._positions.values())
        positions = [one for one in everything if one.period is None]
        turning = [one for one in everything if one.period is not None]
        body = [*body, *(one.turn for one in turning)]
        if not positions and longest is None:
            before = [*fixed, *(line for one in turning for line in one.prepare())]
            if any(begin in line for line in before):
                before.insert(0, f"const {kind} {begin} = {start};")
                start = begin
            return ["{", *_indented([*before, *self._loop(start, end, body, pragmas)]), "}"]
        last, stop = self.name(f"{i}_end"), self.name(f"{i}_stop")
        before = [f"{kind} {begin} = {start};", f"const {kind} {last} = {end};", *fixed]
        before += [line for one in everything for line in one.prepare()]
        inside = [f"long long {stop} = {last};"]
        if longest is not None:
            inside.append(f"if ({stop} - {begin} > {longest}) {stop} = {begin} + {longest};")
        inside += [one.limit(begin, stop) for one in positions]
        inside += [one.distance(begin) for one in positions]
        inside += self._loop(begin, stop, body, pragmas)
        inside += [line for one in positions for line in one.advance(begin, stop)]
        inside += [f"{begin} = ({kind}){stop};"]
        return ["{", *_indented([*before, f"while ({begin} < {last}) {{", *_indented(inside), "}"]), "}"]

    def _loop(self, start: str, end: str, body: Sequence[str], pragmas: Sequence[str]) -> list[str]:
        i = self.iterator
        return [
            *pragmas,
            f"for ({self.type} {i} = {start}; {i} < {end}; {i}++) {{",
            *_indented(body),
            "}",
        ]


def _value(row: Row, values: Sequence[Formula | None]) -> Formula | None:
    """The row before its modulo, as a formula of iterators and parameters."""
    total = row.offset
    for coefficient, value in zip(row.coefficients, values, strict=True):
        if value is None:
            return None
        total += coefficient * value
    return total


def _slope(value: Formula, iterator: str) -> int | None:
    """How a value grows with the iterator, if that is a number."""
    found = value.coefficients([iterator])
    if found is None or not found[0][0].is_constant:
        return None
    return int(found[0][0].as_number())


def _indented(lines: Sequence[str]) -> list[str]:
    return [line if line.startswith("#") else _INDENT + line for line in lines]
