"""The `tasks` of a problem file: async and finish around instances -> which instances happen before which.

    for i : 0 <= i <= N {
      finish {
        async C[i];
        async { S[i - 1]; L[i + 1]; }
      }
    }

Statements of a block, and iterations of a loop, follow each other; `async` lets its body run beside what
follows, `finish` waits for all that was started inside. Instances outside of the domain are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import maps_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.order.tasks import Occurrence, Path, Step

_TOKEN = re.compile(r"\s*(?:(?:#|//)[^\n]*(?:\n|$)\s*)*([A-Za-z_]\w*|[{};:\[\]]|$|.)")


@dataclass(frozen=True, eq=False)
class Run:
    """One instance, `S[i - 1]`; the indices are isl text."""

    name: str
    indices: str
    at: int


@dataclass(frozen=True, eq=False)
class Block:
    """Tasks one after the other."""

    tasks: tuple[Task, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    """Iterations one after the other, in the order of a variable; the condition is isl text."""

    variable: str
    condition: str
    at: int
    body: Task


@dataclass(frozen=True, eq=False)
class Mark:
    """A body that runs beside what follows, or one that is waited for."""

    kind: Literal["async", "finish"]
    body: Task


Task: TypeAlias = Run | Block | Loop | Mark


def parse_tasks(text: SourceText) -> Task:
    """The tree of tasks."""
    return Block(tuple(_Reader(text).tasks("")))


class _Reader:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.position = 0

    def peek(self) -> tuple[str, int]:
        """The next token, empty at the end, and where it starts."""
        match = _TOKEN.match(self.text.value, self.position)
        assert match is not None
        return match.group(1), match.start(1)

    def take(self, expected: str | None = None, where: str = "") -> str:
        """The next token, which must be the expected one."""
        token, start = self.peek()
        if expected is not None and token != expected:
            found = repr(token) if token else "the end"
            raise self.text.error(f"expected {expected!r} {where}, found {found}", start)
        self.position = start + len(token)
        return token

    def tasks(self, end: str) -> Iterator[Task]:
        """Tasks up to a closing brace, or to the end of the text."""
        while True:
            token, start = self.peek()
            if token == end:
                return
            if token == "":
                raise self.text.error("a block is not closed: '}' is missing", start)
            if token == ";":
                self.take()
                continue
            yield self.task()

    def task(self) -> Task:
        token, start = self.peek()
        if token == "{":
            self.take()
            inside = tuple(self.tasks("}"))
            self.take("}", "after the block")
            return Block(inside)
        if token == "async":
            self.take()
            return Mark("async", self.task())
        if token == "finish":
            self.take()
            return Mark("finish", self.task())
        if token == "for":
            return self.loop()
        if not re.fullmatch(r"[A-Za-z_]\w*", token):
            found = repr(token) if token else "the end"
            hint = "A task is S[i], { ... }, async ..., finish ... or for i : 0 <= i < N { ... }."
            raise self.text.error(f"expected a task, found {found}", start, hint)
        self.take()
        self.take("[", f"after {token}")
        return Run(token, self.until("]", f"the indices of {token}"), start)

    def loop(self) -> Loop:
        self.take("for")
        variable, start = self.peek()
        if not re.fullmatch(r"[A-Za-z_]\w*", variable):
            raise self.text.error("expected the variable of the loop after 'for'", start)
        self.take()
        self.take(":", "after the variable, as in for i : 0 <= i < N { ... }")
        _, at = self.peek()
        condition = self.until("{", f"the bounds of {variable}")
        self.position -= 1
        return Loop(variable, condition.strip(), at, self.task())

    def until(self, end: str, what: str) -> str:
        start = self.position
        found = self.text.value.find(end, start)
        if found < 0:
            raise self.text.error(f"{what} do not end: {end!r} is missing", start)
        self.position = found + 1
        return self.text.value[start:found]


# ---------------------------------------------------------------- where instances run


def find_occurrences(tree: Task, text: SourceText, parameters: Sequence[str]) -> list[Occurrence]:
    """The places in the tree where instances run, in the order of the text."""
    return list(_Occurrences(text, parameters).below(tree, (), (), ()))


class _Occurrences:
    def __init__(self, text: SourceText, parameters: Sequence[str]) -> None:
        self.text = text
        self.prefix = f"[{', '.join(parameters)}] -> "
        self.parameters = parameters
        self.count = 0

    def below(
        self, task: Task, path: Path, variables: tuple[str, ...], bounds: tuple[Loop, ...]
    ) -> Iterator[Occurrence]:
        node = self.count
        self.count += 1
        match task:
            case Run():
                yield Occurrence(path, self._instances(task, variables, bounds))
            case Block():
                for place, inner in enumerate(task.tasks):
                    yield from self.below(inner, (*path, Step(node, "at", place)), variables, bounds)
            case Loop():
                if task.variable in (*variables, *self.parameters):
                    raise self.text.error(f"{task.variable} is the name of something else here", task.at)
                step = Step(node, "loop", len(variables))
                inside = (*variables, task.variable)
                yield from self.below(task.body, (*path, step), inside, (*bounds, task))
            case Mark():
                yield from self.below(task.body, (*path, Step(node, task.kind)), variables, bounds)

    def _instances(self, run: Run, variables: tuple[str, ...], bounds: tuple[Loop, ...]) -> isl.Map:
        """{ [v] -> S[i] }: the instances of one occurrence."""
        self._check_names(run, (*variables, *self.parameters))
        given = f"[{', '.join(variables)}]"
        head = f"{self.prefix}{{ {given} -> "
        end = self.text.value.index("]", run.at) + 1
        found = self._read(head, run.at, end, " }")
        for number, loop in enumerate(bounds):
            known = f"[{', '.join(variables[: number + 1])}]"
            rest = variables[number + 1 :]
            head = f"{self.prefix}{{ {known} -> [{', '.join(rest)}] : "
            inside = self._read(head, loop.at, loop.at + len(loop.condition), " }")
            found = found.intersect_domain(_flat(inside))
        return found

    def _check_names(self, run: Run, known: Sequence[str]) -> None:
        """Raise at a name that means nothing here; isl would take it for any value."""
        start = self.text.value.index("[", run.at) + 1
        for match in re.finditer(r"[A-Za-z_]\w*", run.indices):
            if match.group() not in (*known, "mod", "floor"):
                raise self.text.error(f"unknown name {match.group()!r}", start + match.start())

    def _read(self, head: str, start: int, end: int, tail: str) -> isl.Map:
        """isl text with a part of the file inside, so that complaints point there."""
        value = head + self.text.value[start:end] + tail
        offsets = [
            *[self.text.offsets[start]] * len(head),
            *self.text.offsets[start:end],
            *[self.text.offsets[end]] * (len(tail) + 1),
        ]
        text = SourceText(value, self.text.file, self.text.file_text, offsets)
        (found,) = maps_of(read_isl(isl.UnionMap, text)) or [None]
        if found is None:
            raise self.text.error("there is no instance here for any size", start)
        return found


def _flat(relation: isl.Map) -> isl.Set:
    """{ [v, w] } for { [v] -> [w] }."""
    return relation.wrap().flatten()
