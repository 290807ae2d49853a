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

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import maps_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.order.tasks import Occurrence, TaskPath, TaskStep

_TOKEN = re.compile(r"\s*(?:(?:#|//)[^\n]*(?:\n|$)\s*)*([A-Za-z_]\w*|[{};:\[\]]|$|.)")


@dataclass(frozen=True, eq=False)
class _Loop:
    """Iterations one after the other, in the order of a variable; the condition is isl text."""

    variable: str
    condition: str
    at: int


@dataclass(frozen=True, eq=False)
class _Run:
    """One instance, `S[i - 1]`; the indices are isl text."""

    indices: str
    at: int
    path: TaskPath
    loops: tuple[_Loop, ...]


class _Reader:
    """Reads tasks; collects their instances and loops in the order of the text."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.position = 0
        self.nodes = itertools.count()
        self.found: list[_Run | tuple[_Loop, ...]] = []

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

    def tasks(self, end: str, path: TaskPath = (), loops: tuple[_Loop, ...] = ()) -> None:
        """Tasks up to a closing brace, or to the end of the text."""
        node, places = next(self.nodes), itertools.count()
        while (token := self.peek()[0]) != end:
            if token == "":
                raise self.text.error("a block is not closed: '}' is missing", self.peek()[1])
            if token == ";":
                self.take()
            else:
                self.task((*path, TaskStep(node, "at", next(places))), loops)

    def task(self, path: TaskPath, loops: tuple[_Loop, ...]) -> None:
        token, start = self.peek()
        match token:
            case "{":
                self.take()
                self.tasks("}", path, loops)
                self.take("}", "after the block")
            case "async" | "finish":
                self.take()
                self.task((*path, TaskStep(next(self.nodes), token)), loops)
            case "for":
                self.loop(path, loops)
            case _ if re.fullmatch(r"[A-Za-z_]\w*", token):
                self.take()
                self.take("[", f"after {token}")
                self.found.append(_Run(self.until("]", f"the indices of {token}"), start, path, loops))
            case _:
                found = repr(token) if token else "the end"
                hint = "A task is S[i], { ... }, async ..., finish ... or for i : 0 <= i < N { ... }."
                raise self.text.error(f"expected a task, found {found}", start, hint)

    def loop(self, path: TaskPath, loops: tuple[_Loop, ...]) -> None:
        self.take("for")
        variable, start = self.peek()
        if not re.fullmatch(r"[A-Za-z_]\w*", variable):
            raise self.text.error("expected the variable of the loop after 'for'", start)
        self.take()
        self.take(":", "after the variable, as in for i : 0 <= i < N { ... }")
        _, at = self.peek()
        condition = self.until("{", f"the bounds of {variable}")
        self.position -= 1
        inside = (*loops, _Loop(variable, condition.strip(), at))
        self.found.append(inside)
        self.task((*path, TaskStep(next(self.nodes), "loop", len(loops))), inside)

    def until(self, end: str, what: str) -> str:
        start = self.position
        found = self.text.value.find(end, start)
        if found < 0:
            raise self.text.error(f"{what} do not end: {end!r} is missing", start)
        self.position = found + 1
        return self.text.value[start:found]


# ---------------------------------------------------------------- where instances run


def find_occurrences(text: SourceText, parameters: Sequence[str]) -> list[Occurrence]:
    """The places in the tree of tasks where instances run, in the order of the text."""
    reader = _Reader(text)
    reader.tasks("")
    found: list[Occurrence] = []
    for item in reader.found:
        if isinstance(item, _Run):
            found.append(Occurrence(item.path, _instances(text, item, parameters)))
            continue
        *others, loop = item
        if loop.variable in (*(other.variable for other in others), *parameters):
            raise text.error(f"{loop.variable} is the name of something else here", loop.at)
    return found


def _instances(text: SourceText, run: _Run, parameters: Sequence[str]) -> isl.Map:
    """{ [v] -> S[i] }: the instances of one occurrence."""
    variables = [loop.variable for loop in run.loops]
    _check_names(text, run, (*variables, *parameters))
    prefix = f"[{', '.join(parameters)}] -> {{ "
    end = text.value.index("]", run.at) + 1
    found = _read(text, f"{prefix}[{', '.join(variables)}] -> ", run.at, end)
    for number, loop in enumerate(run.loops, 1):
        head = f"{prefix}[{', '.join(variables[:number])}] -> [{', '.join(variables[number:])}] : "
        inside = _read(text, head, loop.at, loop.at + len(loop.condition))
        found = found.intersect_domain(inside.wrap().flatten())
    return found


def _check_names(text: SourceText, run: _Run, known: Sequence[str]) -> None:
    """Raise at a name that means nothing here; isl would take it for any value."""
    start = text.value.index("[", run.at) + 1
    for match in re.finditer(r"[A-Za-z_]\w*", run.indices):
        if match.group() not in (*known, "mod", "floor"):
            raise text.error(f"unknown name {match.group()!r}", start + match.start())


def _read(text: SourceText, head: str, start: int, end: int) -> isl.Map:
    """isl text with a part of the file inside, so that complaints point there."""
    value = f"{head}{text.value[start:end]} }}"
    offsets = [text.offsets[start]] * len(head) + [*text.offsets[start:end]] + [text.offsets[end]] * 3
    (found,) = maps_of(read_isl(isl.UnionMap, SourceText(value, text.file, text.file_text, offsets))) or [
        None
    ]
    if found is None:
        raise text.error("there is no instance here for any size", start)
    return found
