"""Regions of functions without pragmas: the statements of one block that can be read and fold most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText
from arrayfold.c.lexer import CHOSEN_END, CHOSEN_START, Pragma
from arrayfold.c.source import CText
from arrayfold.c.tree import CStatement, FunctionTree, Variable, walk
from arrayfold.frontends.c.clang import Unit
from arrayfold.frontends.c.normal.texts import end_of
from arrayfold.frontends.c.overloads import find_function
from arrayfold.program.model import Program

Edits = tuple[Edit, ...]
Attempt = Callable[[Sequence[Edit], Sequence[str]], Sequence[Program]]

_MOST_ATTEMPTS = 40
_MOST_LISTED = 12
_FILLING = ("memcpy", "memset", "memmove")


@dataclass(frozen=True, eq=False)
class RegionCandidate:
    """Statements that can be read as a region.

    edits       the pragmas around them
    first, last  their lines
    """

    function: FunctionTree
    statements: tuple[CStatement, ...]
    edits: Edits
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
        return find_function(self._text, self._unit, name)

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
        core = _trimmed(run, has_loops=_has_loops(function.body))
        if not core or self._attempts_left <= 0:
            return
        found = self._extended(function, run, core)
        if found is not None:
            yield found
            return
        run = core
        try:
            yield self._candidate(function, run, self._pragmas_around(run))
        except NotInText:
            culprit = None
        except InputError as error:
            refusals.append(error)
            culprit = self._culprit(run, error.place)
        else:
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

    def _candidate(self, function: FunctionTree, run: Sequence[CStatement], edits: Edits) -> RegionCandidate:
        """Statements as a region; an InputError where they cannot be read."""
        self._attempts_left -= 1
        (program,) = self._attempt(edits, [function.name])
        lines = self._text.line(run[0].span.start), self._text.line(max(0, edits[-1].start - 1))
        return RegionCandidate(function, tuple(run), edits, *lines, program)

    def _extended(
        self, function: FunctionTree, run: Sequence[CStatement], core: Sequence[CStatement]
    ) -> RegionCandidate | None:
        """Loops with the statements beside them that set or read elements; None if that cannot be read.

        run   all statements beside them
        core  those from the first loop to the last one
        """
        first, last = (next(k for k, one in enumerate(run) if one is end) for end in (core[0], core[-1]))
        arrays = {one for node in core for inner in walk(node) for one in _arrays_in(inner)}
        while first and _sets_elements(run[first - 1], arrays):
            first -= 1
        while last + 1 < len(run) and _uses_elements(run[last + 1], arrays):
            last += 1
        longer = run[first : last + 1]
        result = run[last + 1] if last + 1 < len(run) else None
        with suppress(NotInText, InputError):
            if isinstance(result, c.OtherStatement) and _returns_element(result, arrays):
                return self._candidate(
                    function, [*longer, result], self._with_result(function, longer, result)
                )
        with suppress(NotInText, InputError):
            if len(longer) > len(core):
                return self._candidate(function, longer, self._pragmas_around(longer))
        return None

    def _with_result(
        self, function: FunctionTree, run: Sequence[CStatement], result: c.OtherStatement
    ) -> Edits:
        """The pragmas, with what the function returns computed between them."""
        opening, _ = self._pragmas_around(run)
        start, end = result.span.start, end_of(self._text, result)
        (value,) = result.parts
        if not result.span.is_text or not isinstance(value, c.Expression):
            raise NotInText(self._text.file)
        text = self._text.text
        indent = text[text.rfind("\n", 0, start) + 1 : start]
        name = "result"
        while name in self._text.identifiers:
            name += "_"
        computed = f"const {function.returns.spelling} {name} = {text[value.span.start : value.span.end]};"
        closing = f"{CHOSEN_END}{indent}return {name};"
        return opening, Edit(start, end, f"{computed}\n{closing}")

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


def _arrays_in(node: c.Node) -> Iterator[Variable]:
    """The arrays and pointers that a node names."""
    if isinstance(node, c.Reference) and node.variable.is_array:
        yield node.variable


def _sets_elements(statement: CStatement, arrays: Collection[Variable]) -> bool:
    """Whether a statement in front of loops sets elements, or a pointer to local ones."""
    match statement:
        case c.Evaluate(expression=expression):
            inner = c.bare(expression)
            is_element = isinstance(inner, c.Assign) and not isinstance(c.bare(inner.target), c.Reference)
            return (is_element or _is_filling(inner)) and _names_some(inner, arrays)
        case c.Declare(variables=variables):
            return all(
                one.is_pointer
                and one in arrays
                and one.initial is not None
                and any(base.storage == "local" for node in walk(one.initial) for base in _arrays_in(node))
                for one in variables
            )
        case _:
            return False


def _is_filling(expression: c.Expression) -> bool:
    return isinstance(expression, c.Call) and expression.function.name in _FILLING


def _uses_elements(statement: CStatement, arrays: Collection[Variable]) -> bool:
    """Whether all that a statement behind loops does is to set or to read elements."""
    match statement:
        case c.Evaluate(expression=expression):
            inner = c.bare(expression)
            return (isinstance(inner, c.Assign) or _is_filling(inner)) and _names_some(inner, arrays)
        case c.Declare(variables=variables):
            return all(
                one.initial is not None and not one.is_array and _names_some(one.initial, arrays)
                for one in variables
            )
        case c.If(then=then, otherwise=otherwise):
            return all(_uses_elements(one, arrays) for one in (then, otherwise) if one is not None)
        case c.Block(statements=statements):
            return bool(statements) and all(_uses_elements(one, arrays) for one in statements)
        case _:
            return False


def _names_some(node: c.Node, arrays: Collection[Variable]) -> bool:
    return any(one in arrays for inner in walk(node) for one in _arrays_in(inner))


def _returns_element(statement: c.OtherStatement, arrays: Collection[Variable]) -> bool:
    is_value = statement.what == "return" and len(statement.parts) == 1
    return is_value and _names_some(statement.parts[0], arrays)


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
