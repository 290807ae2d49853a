"""Innermost loops without a modulo: what does not change is hoisted, what wraps splits the loop.

Between two wraps an address is a fixed distance from the iterator. So the loop runs in stretches that end
where the next address wraps; inside of a stretch every access is contiguous, and compilers vectorise it.
Addresses that are always a few cells apart move as one group. While a group lies across the end of the
memory, iterations run one by one, each address with its own modulo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal

import islpy as isl

from arrayfold.c.arithmetic import NameText, formula_text, parenthesised, sum_of, wrapped
from arrayfold.c.edits import indented
from arrayfold.codegen.ranges import formula_in_loops
from arrayfold.codegen.rotation import Moving, Rings
from arrayfold.exact.formula import Formula
from arrayfold.mapping.layout import Row

_TURNS = 2
_NEAR = 64
_SHORT = 64
_WORTH_ALIGNING = 256


@dataclass(eq=False)
class _WrappingAddresses:
    """Addresses that wrap while the loop runs, all at fixed distances from one another.

    value    the address that was met first, before its modulo, as a formula
    lowest   how far the lowest address lies below that; its position is what a variable holds
    highest  how far the highest lies above the one met first
    """

    value: Formula
    modulus: Formula
    slope: int
    name: str
    shift: str
    modulus_text: str
    lowest: int = 0
    highest: int = 0

    @property
    def span(self) -> int:
        """How far the highest address lies above the lowest."""
        return self.highest - self.lowest

    @property
    def start(self) -> Formula:
        """The lowest address before its modulo."""
        return self.value + self.lowest

    def in_stretch(self, iterator: str, beyond: int) -> str:
        """The address so far beyond the one met first, where nothing wraps."""
        return sum_of([(self.slope, iterator), (1, self.shift), (beyond - self.lowest, "")])

    def at_seam(self, beyond: int) -> str:
        """The same anywhere, for the iteration that the stretch begins with."""
        if beyond == self.lowest:
            return self.name
        return f"({self.name} + {beyond - self.lowest}) % {self.modulus_text}"

    def distance(self, at: str) -> str:
        """Sets the distance of the lowest address from the iterator for a stretch."""
        return f"const long long {self.shift} = {sum_of([(1, self.name), (-self.slope, at)])};"

    def limit(self, at: str, stop: str) -> list[str]:
        """Ends the stretch where the first of them wraps: at once if they are on both sides of the end."""
        room = sum_of([(1, self.modulus_text), (-1, self.name), (-self.span, "")])
        if self.slope == 1:
            return [f"if ({room} < {stop} - {at}) {stop} = {at} + ({room});"]
        steps = f"{self.name} + 1"
        if self.slope > 1:
            steps = f"({room} - 1) / {self.slope} + 1"
        elif self.slope < -1:
            steps = f"{self.name} / {-self.slope} + 1"
        ends = f"if ({steps} < {stop} - {at}) {stop} = {at} + ({steps});"
        return [ends, f"if ({room} <= 0) {stop} = {at};"] if self.span else [ends]

    def advance(self, at: str, stop: str) -> list[str]:
        """Moves on to the next stretch."""
        name, modulus = self.name, self.modulus_text
        if self.slope == 1:
            return [f"{name} += {stop} - {at};", f"if ({name} == {modulus}) {name} = 0;"]
        if self.slope == -1:
            return [f"{name} -= {stop} - {at};", f"if ({name} < 0) {name} += {modulus};"]
        if self.slope > 0:
            return [f"{name} = ({name} + {self.slope}LL * ({stop} - {at})) % {modulus};"]
        gone = f"({name} - {-self.slope}LL * ({stop} - {at})) % {modulus}"
        return [f"{name} = {gone};", f"if ({name} < 0) {name} += {modulus};"]


@dataclass(frozen=True)
class _Turning:
    """An address with a modulus so small that stretches would be too: it goes round in the loop."""

    name: str
    step: int
    period: int
    start: Formula

    @property
    def turn(self) -> str:
        """Moves it on by one iteration."""
        if self.step == 1:
            return f"if (++{self.name} == {self.period}) {self.name} = 0;"
        return f"if (({self.name} += {self.step}) >= {self.period}) {self.name} -= {self.period};"


Mode = Literal["look", "stretch", "seam"]


@dataclass(eq=False)
class InnerLoop:
    """One innermost loop while its body is written: it collects what must be computed before.

    The body is written several times: to look at its addresses, as it is in a stretch, and at a seam.

    iterator     a name that occurs nowhere else in the file
    parameters   name in the model -> C text
    name         gives names like a given one that occur nowhere else; each loop may have the same ones
    is_positive  whether a formula of parameters is, at all sizes
    is_parallel  iterations run in any order, so that nothing may be handed from one to the next
    is_shared    other threads run at the same time, which may have other cells of the same arrays
    inside       names that are set in the body, so that nothing before the loop can use them
    statements   those in the body, as they come
    """

    iterator: str
    type: str
    parameters: Mapping[str, str]
    name: Callable[[str], str]
    is_positive: Callable[[Formula], bool]
    is_parallel: bool = False
    is_shared: bool = False
    mode: Mode = "look"
    inside: set[str] = field(default_factory=set[str])
    statements: set[str] = field(default_factory=set[str])
    _fixed: dict[str, str] = field(default_factory=dict[str, str])
    _groups: list[_WrappingAddresses] = field(default_factory=list[_WrappingAddresses])
    _turning: dict[tuple[Formula, int], _Turning] = field(default_factory=dict[tuple[Formula, int], _Turning])
    _aligned: tuple[_WrappingAddresses, int, int] | None = None

    @cached_property
    def rings(self) -> Rings:
        """Arrays of a few cells that are variables in the loop."""
        return Rings(self.name)

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
        lanes: int | None = None,
        *,
        may_move: bool,
    ) -> str:
        """A coordinate of an address in the body, given the subscripts as text and as formulas.

        The modulus of the row must be positive at all sizes: it is used even if the access never happens.

        lanes     elements in a cache line, if the array begins with one
        may_move  the subscripts hold nothing but parameters and iterators of the new loops, so that a text
                  without those that change in this loop means the same before it
        """
        text = row.text(subscripts, name)
        value = None if row.wrap == "none" else _value(row, values)
        slope = None if value is None else _slope(value, self.iterator)
        is_short = row.modulus.is_constant and row.modulus.as_number() < _SHORT
        base = f"{array}_{len(self._fixed) + len(self._groups) + len(self._turning)}"
        if value is None or slope is None or (slope and is_short and self.is_parallel):
            return self._set_before(text, base) if may_move and self._divides_alike(text) else text
        modulus = parenthesised(formula_text(row.modulus, name))
        if slope == 0:
            # Where no access happens subscripts may wrap as unsigned numbers, so the formula is what counts.
            inside = self._before(value)
            start = wrapped(inside, modulus) if row.wrap == "any" else f"{parenthesised(inside)} % {modulus}"
            return self._set_before(start, base)
        if is_short:
            period = int(row.modulus.as_number())
            key = (value, period)
            if key not in self._turning:
                self._turning[key] = _Turning(self.name(base), slope % period, period, value)
            return self._turning[key].name
        found = self._near(value, slope, row.modulus)
        if found is None:
            shift = self.name(f"{base}_shift")
            found = _WrappingAddresses(value, row.modulus, slope, self.name(base), shift, modulus), 0
            self._groups.append(found[0])
        group, beyond = found
        if self.mode == "look":
            group.lowest, group.highest = min(group.lowest, beyond), max(group.highest, beyond)
            if self._aligned is None and lanes is not None and slope == 1:
                self._aligned = group, beyond, lanes
        return group.at_seam(beyond) if self.mode == "seam" else group.in_stretch(self.iterator, beyond)

    def variable_of(self, array: str, kind: str, coordinates: Sequence[str]) -> str | None:
        """The variable that stands for an element of an array of a few cells; None if there is none.

        kind  the type of its elements
        """
        turning = {one.name: one for one in self._turning.values()}
        moving = [k for k, one in enumerate(coordinates) if one in turning]
        others = tuple(one for one in coordinates if one not in turning)
        here = turning[coordinates[moving[0]]] if len(moving) == 1 and not self.is_parallel else None
        if self.mode == "look":
            place = None if here is None else Moving(moving[0], here.start, here.step, here.period)
            self.rings.note(array, kind, place, others)
            return None
        return None if here is None else self.rings.variable_of(array, here.start, others)

    def _divides_alike(self, text: str) -> bool:
        """Whether a text of parameters and iterators divides, and is the same in all iterations."""
        names = set(re.findall(r"[A-Za-z_]\w*", text))
        return bool(re.search(r"[%/]", text)) and not names & {self.iterator, *self.inside}

    def _set_before(self, text: str, base: str) -> str:
        """A name for what a text is before the loop."""
        if text not in self._fixed:
            self._fixed[text] = self.name(base)
        return self._fixed[text]

    def _near(self, value: Formula, slope: int, modulus: Formula) -> tuple[_WrappingAddresses, int] | None:
        """The group that an address belongs to, and how far it lies beyond the first of it."""
        found: list[tuple[int, int, _WrappingAddresses]] = []
        for number, group in enumerate(self._groups):
            if group.modulus == modulus and group.slope == slope:
                apart = (value - group.value - modulus * turns for turns in range(-_TURNS, _TURNS + 1))
                found += [(int(d.as_number()), number, group) for d in apart if d.is_constant]
        if not found:
            return None
        distance, _, group = min(found, key=lambda item: (abs(item[0]), item[1]))
        return (group, distance) if abs(distance) <= _NEAR else None

    def _before(self, value: Formula) -> str:
        """A formula as C, at the first iteration of a stretch."""
        at_begin = value.replace_names({self.iterator: Formula.name(self._begin)})
        return formula_text(at_begin, lambda one: self.parameters.get(one, one))

    @property
    def _begin(self) -> str:
        return self.name(f"{self.iterator}_begin")

    @property
    def is_plain(self) -> bool:
        """Whether nothing has to be computed before the loop."""
        return not (self._fixed or self._groups or self._turning)

    @property
    def has_seams(self) -> bool:
        """Whether there are iterations in which addresses of one group lie on both sides of the end."""
        return any(group.span for group in self._groups)

    def lines(
        self,
        start: str,
        end: str,
        body: Sequence[str],
        seam: Sequence[str],
        pragmas: Sequence[str],
        longest: int | None,
    ) -> list[str]:
        """The loop over [start, end) with everything before it, in stretches of a limited length.

        seam  the body for one iteration where addresses of a group lie on both sides of the end
        """
        kind, i, begin = self.type, self.iterator, self._begin
        rings = self.rings.chosen
        text = "\n".join([*body, *seam])
        turning = [one for one in self._turning.values() if re.search(rf"\b{one.name}\b", text)]
        turns = [line for one in rings for line in one.turn()] + [one.turn for one in turning]
        body, seam = [*body, *turns], [*seam, *turns]
        before = [f"const long long {name} = {text};" for text, name in self._fixed.items()]
        starts = [(one.name, one.start, one.period) for one in turning]
        starts += [(one.at, one.moving.start, one.moving.period) for one in rings]
        for name, first, period in starts:
            before += self._reduced(name, first, str(period))
        before += [line for one in rings for line in one.load()]
        last, stop, count = (self.name(f"{i}_{word}") for word in ("end", "stop", "count"))
        after = [line for one in rings for line in one.store(count)]
        if rings:
            before.append(f"const long long {count} = {last} > {begin} ? (long long){last} - {begin} : 0;")
        if not self._groups and longest is None:
            if rings or (pragmas and "?" in end):
                # gcc ignores pragmas of a loop whose condition branches, and in parallel loops it does.
                before.insert(0, f"const {kind} {last} = {end};")
                end = last
            if any(begin in line for line in before):
                before.insert(0, f"const {kind} {begin} = {start};")
                start = begin
            return ["{", *indented([*before, *self._loop(start, end, body, pragmas), *after]), "}"]
        before = [f"{kind} {begin} = {start};", f"const {kind} {last} = {end};", *before]
        before += [line for one in self._groups for line in self._prepare(one)]
        inside = [f"long long {stop} = {last};"]
        if pragmas and self._aligned is not None:
            inside.append(self._align(begin, last, stop))
        if longest is not None:
            inside.append(f"if ({stop} - {begin} > {longest}) {stop} = {begin} + {longest};")
        inside += [line for one in self._groups for line in one.limit(begin, stop)]
        stretch = [one.distance(begin) for one in self._groups] + self._loop(begin, stop, body, pragmas)
        if self.has_seams:
            is_used = any(re.search(rf"\b{i}\b", line) for line in seam)
            single = [f"const {kind} {i} = {begin};"] * is_used + [*seam, f"{stop} = {begin} + 1;"]
            inside += [f"if ({stop} > {begin}) {{", *indented(stretch), "} else {", *indented(single), "}"]
        else:
            inside += stretch
        inside += [line for one in self._groups for line in one.advance(begin, stop)]
        inside += [f"{begin} = ({kind}){stop};"]
        stretches = [f"while ({begin} < {last}) {{", *indented(inside), "}"]
        return ["{", *indented([*before, *stretches, *after]), "}"]

    def _reduced(self, name: str, start: Formula, modulus: str) -> list[str]:
        """Sets a variable to what a formula is before the first stretch, modulo a number."""
        return [
            f"long long {name} = {parenthesised(self._before(start))} % {modulus};",
            f"if ({name} < 0) {name} += {modulus};",
        ]

    def _prepare(self, group: _WrappingAddresses) -> list[str]:
        """Sets the position of a group before the first stretch, from that of another one if that is near."""
        name, modulus = group.name, group.modulus_text
        for other in self._groups[: self._groups.index(group)]:
            if other.modulus != group.modulus or other.slope != group.slope:
                continue
            for turns in range(-_TURNS, _TURNS + 1):
                apart = group.start - other.start - group.modulus * turns
                if apart.names() <= self.parameters.keys() and self._is_in(apart, group.modulus):
                    first = f"{other.name} + {self._before(apart)}"
                    return [f"long long {name} = {first};", f"if ({name} >= {modulus}) {name} -= {modulus};"]
        return self._reduced(name, group.start, modulus)

    def _is_in(self, value: Formula, modulus: Formula) -> bool:
        """Whether 0 <= value <= modulus at all sizes."""
        return self.is_positive(value + 1) and self.is_positive(modulus - value + 1)

    def _align(self, begin: str, last: str, stop: str) -> str:
        """Ends the first of many stretches where writes begin a cache line."""
        assert self._aligned is not None
        group, beyond, lanes = self._aligned
        first = sum_of([(1, group.name), (beyond - group.lowest, "")])
        beside = f"{parenthesised(first)} % {lanes}"
        is_worth = f"{last} - {begin} >= {_WORTH_ALIGNING}"
        return f"if ({is_worth} && {beside}) {stop} = {begin} + {lanes} - {beside};"

    def _loop(self, start: str, end: str, body: Sequence[str], pragmas: Sequence[str]) -> list[str]:
        i = self.iterator
        return [
            *pragmas,
            f"for ({self.type} {i} = {start}; {i} < {end}; {i}++) {{",
            *indented(body),
            "}",
        ]


def _value(row: Row, values: Sequence[Formula | None]) -> Formula | None:
    """The row before its modulo, as a formula of iterators and parameters; None if a rest may be left."""
    total = row.offset
    for coefficient, value in zip(row.coefficients, values, strict=True):
        if value is None:
            return None
        total += coefficient * value
    if row.divisor > 1:
        total *= Fraction(1, row.divisor)
        return total if total.is_whole else None
    return total


def _slope(value: Formula, iterator: str) -> int | None:
    """How a value grows with the iterator, if that is a number."""
    found = value.coefficients([iterator])
    if found is None or not found[0][0].is_constant:
        return None
    return int(found[0][0].as_number())
