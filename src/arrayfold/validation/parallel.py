"""OpenMP constructs as closures: executed one after the other in one of several orders, watched for races."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from arrayfold.validation.clauses import PrivateVariables, read_depend
from arrayfold.validation.expressions import ExpressionCompiler
from arrayfold.validation.faults import CONTINUE, Unsupported
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run, in_order
from arrayfold.validation.pragmas import ALONE, INDEPENDENT, Directive
from arrayfold.validation.races import Lanes, Races, RunningTask
from arrayfold.validation.scope import VariableSlot
from arrayfold.validation.types import Frame

if TYPE_CHECKING:
    from arrayfold.validation.statements import Statements

_LOCKED = ("critical", "atomic")


class Constructs:
    """The OpenMP constructs of a function.

    waiting  directives of the function that were not met yet, in the order of the text
    """

    def __init__(self, expressions: ExpressionCompiler, waiting: Sequence[Directive]) -> None:
        self.expressions = expressions
        self.scope = expressions.scope
        self.m = expressions.m
        self._waiting = list(waiting)
        self._private = PrivateVariables(self.scope)
        self.statements: Statements

    def in_front_of(self, node: TextNode) -> list[Directive]:
        """The directives that belong to a statement."""
        return self._met(node.start, are_alone=False)

    def alone_before(self, offset: int) -> list[Run]:
        """What the directives before a place do that belong to no statement."""
        known: dict[str, Run] = {"barrier": self._barrier, "taskwait": self._taskwait}
        met = self._met(offset, are_alone=True)
        return [known[one.name] for one in met if one.name in known and not one.clauses]

    def _met(self, offset: int, *, are_alone: bool) -> list[Directive]:
        found: list[Directive] = []
        while self._waiting and self._waiting[0].end <= offset:
            if (self._waiting[0].name in ALONE) != are_alone:
                break
            found.append(self._waiting.pop(0))
        return found

    def construct(self, directives: Sequence[Directive], node: TextNode) -> Run:
        """A statement with its directives, the outermost first."""
        first, *rest = directives
        name = first.name
        if name in INDEPENDENT:
            return self._independent(first, rest, node)
        if name == "ordered":
            return self._in_turn(self._inner(rest, node))
        if name.split()[0] in _LOCKED:
            name = name.split()[0]
            return self._locked(self._inner(rest, node), " ".join((name, *first.clauses.get(name, ()))))
        if name in ("parallel for", "parallel for simd", "taskloop", "taskloop simd"):
            return self._alone(self._loop(first, node, is_team=False))
        if name in ("for", "for simd"):
            return self._loop(first, node, is_team=True)
        if name in ("sections", "parallel sections"):
            run = self._sections(first, node)
            return self._alone(run) if name.startswith("parallel") else run
        if name == "parallel":
            return self._alone(self._parallel(first, rest, node))
        if name in ("single", "master", "masked"):
            return self._single(first, rest, node)
        if name == "task":
            return self._alone(self._task(first, rest, node), keeps=True)
        if name == "taskgroup":
            return self._alone(self._team(self._inner(rest, node), is_new=False))
        raise Unsupported(f"OpenMP's {name}", first.spot)

    def _independent(self, directive: Directive, rest: Sequence[Directive], node: TextNode) -> Run:
        if rest or node.kind != "FOR_STMT":
            return self._inner(rest, node)
        m, loop = self.m, self._private.around(self.statements.loop(node, self._next_lane), directive)

        def run(f: Frame) -> Any:
            around = m.lanes
            m.lanes = Lanes(around)
            signal = loop(f)
            m.lanes = around
            return signal

        return run

    def _next_lane(self, _: Frame) -> None:
        if self.m.lanes is not None:
            self.m.lanes.iteration += 1

    def _inner(self, rest: Sequence[Directive], node: TextNode) -> Run:
        return self.construct(rest, node) if rest else self.statements.plain(node)

    # ------------------------------------------------ one thread, or a team

    def _alone(self, run: Run, *, keeps: bool = False) -> Run:
        """Begin to watch for races, and stop where nothing runs at the same time any more."""
        m = self.m

        def watched(f: Frame) -> Any:
            if m.races is not None:
                return run(f)
            races = m.races = Races()
            signal = run(f)
            if not keeps or not races.loose:
                m.races = None
            return signal

        return watched

    def _parallel(self, directive: Directive, rest: Sequence[Directive], node: TextNode) -> Run:
        self._private.teams.append(directive.start)
        inner = self._inner(rest, node)
        self._private.teams.pop()
        return self._team(self._private.around(inner, directive), is_new=True)

    def _team(self, body: Run, *, is_new: bool) -> Run:
        """Run a body and wait for all its tasks; the threads of a new team share what was there before."""
        m = self.m

        def run(f: Frame) -> Any:
            races = m.team
            outer, loose = races.shared, races.loose
            races.shared, races.loose = m.objects if is_new else outer, 0
            races.begin(races.mask)
            signal = body(f)
            races.wait()
            races.shared, races.loose = outer, loose
            return signal

        return run

    def _barrier(self, _: Frame) -> None:
        if self.m.races is not None:
            self.m.races.wait()

    def _taskwait(self, _: Frame) -> None:
        races = self.m.races
        if races is not None:
            races.begin(races.mask | races.tasks[-1].children)

    def _locked(self, body: Run, lock: str) -> Run:
        m = self.m

        def run(f: Frame) -> Any:
            races = m.races
            if races is None:
                return body(f)
            before, races.locks = races.locks, races.locks | {lock}
            signal = body(f)
            races.locks = before
            return signal

        return run

    def _in_turn(self, body: Run) -> Run:
        """A block that iterations of a loop run one after the other, which they do here as well."""
        m = self.m

        def run(f: Frame) -> Any:
            races = m.races
            if races is None:
                return body(f)
            races.begin(races.mask | races.turns)
            signal = body(f)
            races.turns |= races.mask
            races.begin(races.mask)
            return signal

        return run

    # ------------------------------------------------ pieces of work

    def _pieces(self, pieces: Sequence[Callable[[], Any]], *, waits: bool, after: int = 0) -> int:
        """Run pieces at the same time, one after the other: the segments in them.

        after  segments that run before, besides those that did already
        """
        races = self.m.team
        before, shared = races.mask, races.shared
        races.shared = None
        done = 0
        for piece in pieces:
            races.begin(before | after)
            piece()
            done |= races.mask
        races.shared = shared
        races.begin(before)
        races.loose |= done
        if waits:
            races.wait()
        return done

    def _sections(self, directive: Directive, node: TextNode) -> Run:
        sections: list[Run] = []
        for part in node.parts:
            found = self.in_front_of(part)
            rest = [one for one in found if one.name != "section"]
            run = self._inner(rest, part)
            if not sections or any(one.name == "section" for one in found):
                sections.append(run)
            else:
                sections[-1] = in_order(sections[-1], run)
        sections = [self._private.around(section, directive) for section in sections]
        waits = "nowait" not in directive.clauses

        def run_all(f: Frame) -> None:
            order = sections[::-1] if self.m.backwards % 2 else sections
            self._pieces([partial(section, f) for section in order], waits=waits)

        return run_all

    def _single(self, directive: Directive, rest: Sequence[Directive], node: TextNode) -> Run:
        body = self._private.around(self._inner(rest, node), directive)
        waits = directive.name == "single" and "nowait" not in directive.clauses

        def run(f: Frame) -> None:
            if self.m.races is None:
                body(f)
            else:
                self._pieces([partial(body, f)], waits=waits)

        return run

    def _task(self, directive: Directive, rest: Sequence[Directive], node: TextNode) -> Run:
        own = self._private.copied_by_task(node)
        body = self._private.around(self._inner(rest, node), directive, own)
        depends = read_depend(directive, self.expressions)
        m = self.m

        def run(f: Frame) -> None:
            races = m.team
            creator = races.tasks[-1]
            places = [(kind, address(f)) for kind, address in depends]
            after = 0
            for kind, place in places:
                after |= creator.written.get(place, 0)
                if kind != "in":
                    after |= creator.read.get(place, 0)
            races.tasks.append(RunningTask())
            done = self._pieces([partial(body, f)], waits=False, after=after)
            races.tasks.pop()
            for kind, place in places:
                if kind == "in":
                    creator.read[place] = creator.read.get(place, 0) | done
                else:
                    creator.written[place] = done
                    creator.read.pop(place, None)
            creator.children |= done

        return run

    # ------------------------------------------------ loops

    def _loop(self, directive: Directive, node: TextNode, *, is_team: bool) -> Run:
        depth = _number(directive, "collapse")
        heads: list[tuple[Run, Run, Run, VariableSlot]] = []
        self.scope.by_name.append({})
        body = node
        for _ in range(depth):
            start, condition, step, body = self.statements.header(_only(body))
            if start is None or condition is None or step is None:
                raise Unsupported("this parallel loop", directive.spot)
            begin = self.statements.plain(start)
            variable = self._loop_variable(start)
            holds = self.expressions.condition(condition)
            heads.append((begin, holds, self.expressions.value(step).run, variable))
        run = self.statements.statement(body)
        self.scope.by_name.pop()
        loop_variables = [variable for *_, variable in heads]
        private = self._private.of(directive, (), loop_variables)
        keep_last = self._private.last(directive, loop_variables)
        waits = not is_team or "nowait" not in directive.clauses
        is_ordered = "reduction" in directive.clauses or "ordered" in directive.clauses
        m = self.m

        def piece(values: tuple[Any, ...], f: Frame, *, is_last: bool) -> Callable[[], Any]:
            def one() -> None:
                undo = private(f)
                for variable, value in zip(loop_variables, values, strict=True):
                    variable.put(f, value)
                m.spend(4)
                signal = run(f)
                if is_last:
                    keep_last(f, undo)
                else:
                    undo()
                if signal not in (None, CONTINUE):
                    raise Unsupported("a jump out of a parallel loop", directive.spot)

            return one

        def loop(f: Frame) -> None:
            undo = private(f)
            races, m.races = m.races, None
            iterations = self._iterations(heads, f)
            m.races = races
            undo()
            pieces = [piece(values, f, is_last=values is iterations[-1]) for values in iterations]
            if not is_ordered:
                _reorder(pieces, m.backwards)
            if races is None:
                for one in pieces:
                    one()
            else:
                turns, races.turns = races.turns, 0
                self._pieces(pieces, waits=waits)
                races.turns = turns

        return loop

    def _iterations(
        self, heads: Sequence[tuple[Run, Run, Run, VariableSlot]], f: Frame
    ) -> list[tuple[Any, ...]]:
        """The values of the variables of nested loops."""
        if not heads:
            return [()]
        (begin, holds, advance, variable), *rest = heads
        found: list[tuple[Any, ...]] = []
        begin(f)
        while holds(f):
            self.m.spend(4)
            value = variable.get(f)
            found += [(value, *inner) for inner in self._iterations(rest, f)]
            variable.put(f, value)
            advance(f)
        return found

    def _loop_variable(self, start: TextNode) -> VariableSlot:
        if start.kind == "DECL_STMT":
            return self.scope.variables[start.parts[0].key]
        target = start.expressions[0].bare() if start.expressions else start
        if target.kind != "DECL_REF_EXPR":
            raise Unsupported("a parallel loop without a variable", start.spot)
        return self.expressions.variable(target)


def _only(node: TextNode) -> TextNode:
    while node.kind == "COMPOUND_STMT" and len(node.parts) == 1:
        node = node.parts[0]
    if node.kind != "FOR_STMT":
        raise Unsupported("a parallel loop that is not a for loop", node.spot)
    return node


def _number(directive: Directive, clause: str) -> int:
    (text,) = directive.clauses.get(clause, ("1",))
    if not text.strip().isdigit():
        raise Unsupported(f"{clause}({text})", directive.spot)
    return int(text)


def _reorder(pieces: list[Any], order: int) -> None:
    """Forward, backward, or odd ones first."""
    if order % 3 == 1:
        pieces.reverse()
    elif order % 3 == 2:
        pieces[:] = pieces[1::2] + pieces[::2]
