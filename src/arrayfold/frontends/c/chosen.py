"""Regions of functions without pragmas: the statements of one block that can be read and fold most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText
from arrayfold.c.lexer import CHOSEN_END, CHOSEN_START, Pragma
from arrayfold.c.source import CText
from arrayfold.c.tree import CStatement, FunctionTree, walk
from arrayfold.frontends.c.clang import Unit
from arrayfold.frontends.c.normal.texts import end_of
from arrayfold.program.model import Program

Attempt = Callable[[Sequence[Edit], Sequence[str]], Sequence[Program]]

_MOST_ATTEMPTS = 40
_MOST_LISTED = 12


@dataclass(frozen=True, eq=False)
class RegionCandidate:
    """Statements that can be read as a region.

    edits       the pragmas around them
    first, last  their lines
    """

    function: FunctionTree
    statements: tuple[CStatement, ...]
    edits: tuple[Edit, ...]
    first: int
    last: int
    program: Program

    @property
    def lines(self) -> str:
        """Where they stand, in words."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"

    @property
    def temporaries(self) -> list[str]:
        """The arrays that may fold."""
        return [array.name for array in self.program.arrays if array.name not in self.program.kept]

    @property
    def rank(self) -> tuple[int, int, int]:
        """How good a choice it is: arrays that may fold, loops, statements."""
        nodes = [node for one in self.statements for node in walk(one)]
        loops = sum(isinstance(node, c.For | c.While) for node in nodes)
        return len(self.temporaries), loops, sum(isinstance(node, CStatement) for node in nodes)


class RegionChooser:
    """Finds regions in functions of a file.

    attempt  reads regions of some functions with pragmas added; an InputError where it cannot
    """

    def __init__(self, text: CText, unit: Unit, pragmas: Sequence[Pragma], attempt: Attempt) -> None:
        self._text = text
        self._unit = unit
        self._pragmas = pragmas
        self._attempt = attempt
        self._attempts_left = _MOST_ATTEMPTS

    def edits_for(self, names: Sequence[str]) -> list[Edit]:
        """The pragmas around the best region of each function; an InputError where there is none."""
        edits: list[Edit] = []
        for name in names:
            self._attempts_left = _MOST_ATTEMPTS
            best, refusal = self._best(self.function(name))
            if best is None:
                function = self.function(name)
                raise refusal or self._text.error(
                    f"there is nothing to read in {name}",
                    function.span.start,
                    "A region has some statements.",
                )
            edits += best.edits
        return edits

    def function(self, name: str) -> FunctionTree:
        """The function with a name."""
        found = next((one for one in self._unit.functions if one.name == name), None)
        if found is None:
            known = ", ".join(one.name for one in self._unit.functions) or "none"
            raise InputError(f"{self._text.file} has no function {name} with a body; it has: {known}")
        return found

    def listing(self) -> str | None:
        """The regions that could be taken, one a line with the command for it; None if there are none."""
        lines: list[str] = []
        for function in self._unit.functions:
            if any(isinstance(node, c.For | c.While) for node in walk(function.body)):
                best, _ = self._best(function)
                if best is not None:
                    names = ", ".join(best.temporaries) or "none"
                    lines.append(
                        f"{function.name}, {best.lines}, temporary arrays: {names}\n"
                        f"      arrayfold fold {self._text.file} --function {function.name}"
                    )
            if len(lines) >= _MOST_LISTED or self._attempts_left <= 0:
                break
        return "\n    ".join(lines) if lines else None

    # ------------------------------------------------ candidates

    def _best(self, function: FunctionTree) -> tuple[RegionCandidate | None, InputError | None]:
        """The best region of a function, and why its whole body is none, if it is not."""
        refusals: list[InputError] = []
        found = list(self._in_block(function, function.body, refusals))
        best = max(found, key=lambda one: one.rank, default=None)
        return best, refusals[0] if refusals else None

    def _in_block(
        self, function: FunctionTree, block: c.Block, refusals: list[InputError]
    ) -> Iterator[RegionCandidate]:
        yield from self._in_run(function, block.statements, refusals)

    def _in_run(
        self, function: FunctionTree, run: Sequence[CStatement], refusals: list[InputError]
    ) -> Iterator[RegionCandidate]:
        """The regions among consecutive statements, and inside of them where they cannot be read."""
        run = _trimmed(run, has_loops=_has_loops(function.body))
        if not run or self._attempts_left <= 0:
            return
        try:
            edits = self._pragmas_around(run)
            self._attempts_left -= 1
            (program,) = self._attempt(edits, [function.name])
        except NotInText:
            culprit = None
        except InputError as error:
            refusals.append(error)
            culprit = self._culprit(run, error.place)
        else:
            lines = self._text.line(run[0].span.start), self._text.line(max(0, edits[1].start - 1))
            yield RegionCandidate(function, tuple(run), edits, *lines, program)
            return
        if culprit is None and len(run) > 1:
            for one in run:
                yield from self._in_run(function, [one], refusals)
            return
        number = culprit or 0
        yield from self._in_run(function, run[:number], refusals)
        for inner in _inner_blocks(run[number]):
            yield from self._in_block(function, inner, refusals)
        yield from self._in_run(function, run[number + 1 :], refusals)

    def _culprit(self, run: Sequence[CStatement], place: SourcePosition | None) -> int | None:
        """Which statement holds the place of a refusal."""
        if place is None:
            return None
        for number, one in enumerate(run):
            start, end = (self._text.place(offset) for offset in (one.span.start, one.span.end))
            if (start.line, start.column) <= (place.line, place.column) <= (end.line, end.column):
                return number
        return None

    # ------------------------------------------------ text

    def _pragmas_around(self, run: Sequence[CStatement]) -> tuple[Edit, Edit]:
        """A pragma before statements and one behind them, on lines of their own."""
        if not all(one.span.is_text for one in run):
            raise NotInText(self._text.file)
        text, plain = self._text.text, self._text.plain
        start, end = run[0].span.start, end_of(self._text, run[-1])
        for pragma in sorted(self._pragmas, key=lambda one: -one.start):
            if pragma.end <= start and not plain[pragma.end : start].strip():
                start = pragma.start
        line = text.rfind("\n", 0, start) + 1
        opening = Edit(line, line, CHOSEN_START)
        if plain[line:start].strip():
            opening = Edit(start, start, f"\n{CHOSEN_START}")
        next_line = text.find("\n", end) + 1
        if next_line > 0 and not plain[end : next_line - 1].strip():
            return opening, Edit(next_line, next_line, CHOSEN_END)
        return opening, Edit(end, end, f"\n{CHOSEN_END}")


def _has_loops(node: CStatement) -> bool:
    return any(isinstance(inner, c.For | c.While) for inner in walk(node))


def _trimmed(run: Sequence[CStatement], *, has_loops: bool) -> Sequence[CStatement]:
    """The statements from the first loop to the last one; without loops, all that do something."""

    def counts(one: CStatement) -> bool:
        return _has_loops(one) if has_loops else not isinstance(one, c.Declare | c.OtherStatement)

    numbers = [number for number, one in enumerate(run) if counts(one)]
    return run[numbers[0] : numbers[-1] + 1] if numbers else []


def _inner_blocks(statement: CStatement) -> Iterator[c.Block]:
    """The outermost braces inside of a statement that cannot be read as a whole."""
    match statement:
        case c.Block():
            yield statement
        case c.For(body=body) | c.While(body=body) | c.Label(statement=body):
            yield from _inner_blocks(body)
        case c.If(then=then, otherwise=otherwise):
            yield from _inner_blocks(then)
            if otherwise is not None:
                yield from _inner_blocks(otherwise)
        case _:
            return
