"""Random nests of loops, jumps and switches, run with random outcomes of their conditions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest

from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.program.model import Program

SEEDS = 60


@dataclass(frozen=True)
class Touch:
    """A write or a read of a cell, in this iteration of the outer loop or in the one before."""

    cell: int
    back: int
    is_write: bool


@dataclass(frozen=True)
class Jump:
    """A break or a continue."""

    what: str


@dataclass(frozen=True)
class Branch:
    """An `if` with what runs if it holds and if it does not; on the iterator if there is no condition."""

    condition: str
    then: Body
    otherwise: Body


@dataclass(frozen=True)
class Repeat:
    """A while loop, a do loop, one that ends nowhere, or a loop of two iterations."""

    kind: str
    condition: str
    body: Body


@dataclass(frozen=True)
class Choice:
    """A switch with cases that end in a break, and with a default that may be empty."""

    condition: str
    cases: tuple[Body, ...]
    default: Body | None


Item: TypeAlias = Touch | Jump | Branch | Repeat | Choice
Body: TypeAlias = tuple[Item, ...]
# What is decided anew each time, what an iteration always decides alike, and what the iterator decides.
CONDITIONS = ("more()", "more()", "c[i]", "d[i]", "i > 1")
IN_FOR = ("j > 0", "j < 1")


@dataclass
class Drawing:
    """Draws programs."""

    choose: random.Random

    def body(self, depth: int, loops: int, breakable: int, conditions: tuple[str, ...] = CONDITIONS) -> Body:
        found: list[Item] = []
        for _ in range(self.choose.randint(1, 3)):
            kind = self.choose.random()
            condition = self.choose.choice(conditions)
            if depth < 3 and kind < 0.25:
                then = self.body(depth + 1, loops, breakable, conditions)
                if breakable and self.choose.random() < 0.6:
                    then = (*then[:1], Jump(self.choose.choice(("break", "continue"))))
                otherwise = (
                    self.body(depth + 1, loops, breakable, conditions) if self.choose.random() < 0.4 else ()
                )
                found.append(Branch(condition, then, otherwise))
            elif depth < 3 and kind < 0.45 and loops < 2:
                what = self.choose.choice(("while", "do", "for", "once", "ever"))
                inside = (*conditions, *IN_FOR) if what == "for" else conditions
                inner = self.body(depth + 1, loops + 1, 1, inside)
                if what == "ever":
                    inner = (*inner, Branch("more()", (), (Jump("break"),)))
                found.append(Repeat(what, "more()" if what in ("while", "do") else condition, inner))
            elif depth < 3 and kind < 0.55:
                cases = tuple(
                    self.body(depth + 1, loops, 1, conditions) for _ in range(self.choose.randint(1, 2))
                )
                default = self.body(depth + 1, loops, 1, conditions) if self.choose.random() < 0.6 else None
                found.append(Choice(self.choose.choice(CONDITIONS[2:4]), cases, default))
            else:
                is_write = self.choose.random() < 0.75
                found.append(Touch(self.choose.randrange(2), int(self.choose.random() < 0.25), is_write))
        return tuple(found)


def text_of(body: Body) -> str:
    return " ".join(map(_text, body))


def _text(item: Item) -> str:
    match item:
        case Touch(cell=cell, back=back, is_write=is_write):
            place = f"t[{cell}][i + {1 - back}]"
            return f"{place} = next();" if is_write else f"use({place});"
        case Jump(what=what):
            return f"{what};"
        case Branch():
            otherwise = f" else {{ {text_of(item.otherwise)} }}" if item.otherwise else ""
            return f"if ({item.condition}) {{ {text_of(item.then)} }}{otherwise}"
        case Repeat(kind=kind, condition=condition):
            inside = f"{{ {text_of(item.body)} }}"
            heads = {
                "while": f"while ({condition}) ",
                "for": "for (int j = 0; j < 2; j++) ",
                "ever": "for (;;) ",
            }
            if kind in heads:
                return heads[kind] + inside
            return f"do {inside} while ({condition if kind == 'do' else 0});"
        case Choice():
            parts = [f"case {k}: {text_of(one)} break;" for k, one in enumerate(item.cases)]
            parts += [f"default: {text_of(item.default)}"] if item.default is not None else []
            return f"switch ({item.condition}) {{ {' '.join(parts)} }}"


class Endless(Exception):
    """A run that is too long."""


@dataclass
class Execution:
    """One run, with cells where they were and at their addresses."""

    choose: random.Random
    address: Mapping[tuple[int, int], object]
    i: int = 0
    j: int = 0
    steps: int = 0
    decided: dict[tuple[str, int], int] = field(default_factory=dict)
    cells: dict[tuple[int, int], int] = field(default_factory=dict)
    memory: dict[object, int] = field(default_factory=dict)
    unset: bool = False
    wrong: bool = False

    def decide(self, condition: str) -> int:
        if condition == "more()":
            return self.choose.randrange(2)
        if condition == "i > 1":
            return int(self.i > 1)
        if condition in IN_FOR:
            return int((self.j > 0) == (condition == "j > 0"))
        return self.decided.setdefault((condition, self.i), self.choose.randrange(3))

    def run(self, body: Body) -> str | None:
        for item in body:
            self.steps += 1
            if self.steps > 300:
                raise Endless
            jump = self.one(item)
            if jump is not None:
                return jump
        return None

    def one(self, item: Item) -> str | None:
        match item:
            case Touch(cell=cell, back=back, is_write=is_write):
                self.touch((cell, self.i + 1 - back), is_write=is_write)
                return None
            case Jump(what=what):
                return what
            case Branch():
                return self.run(item.then if self.decide(item.condition) else item.otherwise)
            case Repeat():
                around = self.j
                self.repeat(item)
                self.j = around
                return None
            case Choice(cases=cases, default=default):
                number = self.decide(item.condition)
                jump = self.run(cases[number] if number < len(cases) else default or ())
                return None if jump == "break" else jump

    def repeat(self, item: Repeat) -> None:
        kind, turns = item.kind, 0
        while True:
            if kind == "for":
                self.j = turns
            if (kind == "while" and not self.decide(item.condition)) or (kind == "for" and turns == 2):
                return
            turns += 1
            if self.run(item.body) == "break" or kind == "once":
                return
            if kind == "do" and not self.decide(item.condition):
                return

    def touch(self, cell: tuple[int, int], *, is_write: bool) -> None:
        place = self.address[cell]
        if is_write:
            self.cells[cell] = self.memory[place] = self.steps
        elif cell not in self.cells:
            self.unset = True
        elif self.memory.get(place) != self.cells[cell]:
            self.wrong = True


def executions(body: Body, address: Mapping[tuple[int, int], object], seed: int) -> Iterator[Execution]:
    """Runs with random outcomes that come to an end."""
    for number in range(150):
        one = Execution(random.Random(1000 * seed + number), address)
        with suppress(Endless):
            for one.i in range(4):
                if one.run(body) == "break":
                    break
        yield one


RANDOM = (
    "int more(void); double next(void); void use(double);\n"
    "void f(int n, const int c[restrict n], const int d[restrict n])\n{{\n    double t[2][n + 1];\n"
    "#pragma scop\n    for (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
)


def read_text(text: str, tmp_path: Path) -> Program:
    file = tmp_path / "flow.c"
    file.write_text(text)
    program = read(file)
    assert isinstance(program, Program)
    return program


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    """Whatever the conditions say, a folded array gives back what was written, and was written before."""
    body = Drawing(random.Random(seed)).body(0, 0, 1)
    first = (Touch(0, 0, is_write=True), Touch(1, 1, is_write=True))[: seed % 3]
    body = (*first, *body, Touch(0, 0, is_write=False))
    program = read_text(RANDOM.format(body=text_of(body)), tmp_path)
    analysis = Analysis.of(program)
    cells = [(k, i) for k in range(2) for i in range(5)]
    if "t" in analysis.foldable():
        folded = fold(program)["t"].mapping
        address = {cell: folded.address(cell, {"n": 4}) for cell in cells}
        assert not any(one.unset or one.wrong for one in executions(body, address, seed))
    elif text_of(body).count("(") < 8:
        identity = {cell: cell for cell in cells}
        assert any(one.unset for one in executions(body, identity, seed))
