"""OpenMP beyond parallel loops: parallel regions, sections and tasks as a tree of async and finish.

| OpenMP | tasks |
| --- | --- |
| `parallel`, `taskgroup` | `finish` |
| `for`, `sections`, `single` in a parallel region | `async`, up to the next barrier that is a `finish` |
| iterations of `for` and `taskloop`, each `section`, `task` | `async` |
| `taskwait` | a `wait` around what comes before it in its block: tasks inside of these tasks may go on |
| `depend` | edges between tasks that name the same cells, one of them as out |
| `ordered` | edges between the blocks of the iterations of a loop |

What every thread of a team would run by itself is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import islpy as isl

from arrayfold.c.source import Copy, CText, Region
from arrayfold.c.tree import Block, CStatement, For, If, Label
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.depend import Task, TaskStatement, depend_edges, instances_of
from arrayfold.frontends.c.openmp import TEAM, OrderDirective, only_statement
from arrayfold.frontends.c.ordered import OrderedBlock, ordered_edges
from arrayfold.frontends.c.places import Found, Position
from arrayfold.order.tasks import Occurrence, TaskStep, happens_before, is_waited_for

_WITHOUT_BARRIER = ("master", "masked")
_FINISHED = (
    *("parallel", "parallel for", "parallel for simd", "parallel sections", "sections"),
    *("taskgroup", "taskloop", "simd"),
)
_SHARED_LOOPS = ("parallel for", "parallel for simd", "for", "for simd", "simd", "taskloop")


def order_of_tasks(
    text: CText,
    region: Region,
    directives: Sequence[OrderDirective],
    found: Sequence[Found],
    names: Mapping[str, Sequence[str]],
    parameters: Collection[str],
    ranks: Mapping[str, int | None],
) -> isl.UnionMap:
    """{ S[i] -> T[j] }: which statements of a region surely run before which.

    names  statement -> names of its iterators
    ranks  variables of the function -> their numbers of subscripts, None if they are the region's own
    """
    tree = _Tree(text, region, directives)
    ways = [tree.way(item) for item in found]
    space = isl.Set(f"[{', '.join(parameters)}] -> {{ : }}").get_space()
    occurrences = [
        Occurrence(tuple(way.steps), instances_of(item).align_params(space))
        for item, way in zip(found, ways, strict=True)
    ]
    total = happens_before(occurrences, space)
    tasks = [
        TaskStatement(item, task, names[item.name], is_waited_for(way.steps[len(task.path) + 1 :]))
        for item, way in zip(found, ways, strict=True)
        for task in way.tasks
    ]
    edges = depend_edges(text, tasks, parameters, ranks)
    edges = edges.union(
        ordered_edges(
            [
                (item, way.ordered, tuple(way.steps))
                for item, way in zip(found, ways, strict=True)
                if way.ordered is not None
            ]
        )
    )
    return coalesced(total.union(edges.align_params(space)))


class _Tree:
    """What OpenMP says at the nodes of a region, and a number for each of them."""

    def __init__(self, text: CText, region: Region, directives: Sequence[OrderDirective]) -> None:
        self.text = text
        self.region = region
        self.directives = directives
        self.alone = [directive for directive in directives if directive.statement is None]
        self.at_node: dict[CStatement, list[OrderDirective]] = {}
        self._numbers: dict[tuple[int | str, ...], int] = {}
        for directive in directives:
            if directive.statement is not None:
                self.at_node.setdefault(directive.statement, []).append(directive)

    def way(self, item: Found) -> _Walker:
        """The way from the region down to a statement, and the tasks that it is in."""
        walker = _Walker(self, item)
        walker.down_sequence(self.region.statements, self.region.end, (id(self.region),), is_team=False)
        for task in walker.tasks:
            # Up to the task, and into it.
            if not is_waited_for(walker.steps[: len(task.path) + 1]):
                raise self.text.error(
                    "nothing in the region waits for this task",
                    task.directive.pragma.at,
                    "Add a taskwait, a taskgroup, or a parallel construct around it.",
                )
        return walker

    def number(self, *key: int | str) -> int:
        """A number for a node, or for a part of it."""
        return self._numbers.setdefault(key, len(self._numbers))

    def waits(self, start: int, end: int, name: str) -> bool:
        """Whether a barrier or taskwait stands between two statements, or after one, of the same sequence."""
        return any(
            directive.name == name
            and start <= directive.pragma.at < end
            and not re.search("[{}]", self.text.plain[start : directive.pragma.start])
            for directive in self.alone
        )

    def ends_with_barrier(self, statement: CStatement) -> bool:
        """Whether the threads of a team surely meet after a statement; a loop may run no iteration."""
        for directive in self.at_node.get(statement, ()):
            if directive.name in TEAM:
                return directive.name not in _WITHOUT_BARRIER and "nowait" not in directive.clauses
        return False

    def sequence_in(self, statement: CStatement) -> tuple[CStatement, ...]:
        """The statements in braces that nothing is said of, or the statement itself."""
        if isinstance(statement, Block) and statement not in self.at_node:
            return statement.statements
        return (statement,)

    def is_settled(self, statements: Sequence[CStatement], end: int, *, is_pending: bool = False) -> bool:
        """Whether nothing that a team started in a sequence, which ends there, still runs after it."""
        ends = [*(statement.span.start for statement in statements[1:]), end]
        for statement, after in zip(statements, ends, strict=True):
            if any(directive.name in TEAM for directive in self.at_node.get(statement, ())):
                is_pending = not self.ends_with_barrier(statement)
            elif isinstance(statement, For):
                body = self.sequence_in(statement.body)
                if not self.is_settled(body, statement.body.span.end):
                    return False
            elif isinstance(statement, Block):
                inside = self.is_settled(statement.statements, statement.span.end, is_pending=is_pending)
                is_pending = not inside
            else:
                is_pending = True
            if self.waits(statement.span.end, after, "barrier"):
                is_pending = False
        return not is_pending


class _Walker:
    """Goes down to one statement, step by step.

    A team is the threads of a parallel region, where nothing shares the work out yet.
    """

    def __init__(self, tree: _Tree, item: Found) -> None:
        self.tree = tree
        self.text = tree.text
        self.item = item
        node = item.source.node
        assert not isinstance(node, Copy)
        self.offset = node.span.start
        self.loops = 0
        self.steps: list[TaskStep] = []
        self.tasks: list[Task] = []
        self.ordered: OrderedBlock | None = None
        self._ordered_loop: tuple[For, int, int] | None = None

    def step(
        self, kind: Literal["at", "loop", "async", "finish", "wait"], place: int, *key: int | str
    ) -> None:
        self.steps.append(TaskStep(self.tree.number(*key), kind, place))

    # ------------------------------------------------ sequences

    def down_sequence(
        self,
        statements: Sequence[CStatement],
        end: int,
        key: tuple[int | str, ...],
        *,
        is_team: bool,
        is_closed: bool = False,
    ) -> None:
        """Into the statement of a sequence, which ends there, that holds what is looked for.

        A closed one ends with a barrier of the team.
        Parts of the sequence end where something is waited for; a part that ends so is a finish.
        """
        index = self._holding(statements)
        ends = [*(statement.span.start for statement in statements[1:]), end]
        waits = [self._waits_after(*pair, is_team) for pair in zip(statements, ends, strict=True)]
        part = sum(waits[:index])
        self.step("at", part, *key, "part")
        if is_closed or any(waits[index:]):
            self.step("finish" if is_team else "wait", 0, *key, "finish", part)
        self.step("at", index, *key, "statement", part)
        self.down(statements[index], is_team=is_team)

    def _holding(self, statements: Sequence[CStatement]) -> int:
        for index, statement in enumerate(statements):
            if statement.span.start <= self.offset < max(statement.span.end, statement.span.start + 1):
                return index
        raise AssertionError("every statement of the model stands in the region")

    def _waits_after(self, statement: CStatement, end: int, is_team: bool) -> bool:
        if is_team and self.tree.ends_with_barrier(statement):
            return True
        return self.tree.waits(statement.span.end, end, "barrier" if is_team else "taskwait")

    # ------------------------------------------------ statements

    def down(self, statement: CStatement, *, is_team: bool) -> None:
        """Through one statement, first through what OpenMP says of it."""
        is_shared_loop = is_closed = False
        for position, directive in enumerate(self.tree.at_node.get(statement, ())):
            key = (id(statement), "pragma", position)
            if directive.name == "ordered":
                self._begin_ordered(directive)
                continue
            if directive.name in TEAM and not is_team:
                raise self.text.error(
                    f"omp {directive.name} belongs to no parallel construct of the region",
                    directive.pragma.at,
                )
            if directive.name not in TEAM and is_team:
                raise self.text.error(
                    f"every thread of the team runs this omp {directive.name}",
                    directive.pragma.at,
                    "Put it into omp for, sections, single or master.",
                )
            if directive.name in TEAM:
                self.step("async", 0, *key, "async")
            if directive.name in _FINISHED:
                self.step("finish", 0, *key)
            if directive.name == "task":
                self.tasks.append(Task(directive, self.loops, tuple(self.steps)))
                self.step("async", 0, *key)
            is_team = is_closed = directive.name == "parallel"
            is_shared_loop |= directive.name in _SHARED_LOOPS
            self._ordered_loop = None
            if isinstance(statement, For) and "ordered" in directive.clauses:
                self._ordered_loop = statement, self.loops, self._collapse(statement)
            if directive.name in ("sections", "parallel sections"):
                self._sections(statement)
                return
        if is_team:
            self._refuse_replicated(statement)
        match statement:
            case Block(statements=statements):
                self.down_sequence(
                    statements, statement.span.end, (id(statement),), is_team=is_team, is_closed=is_closed
                )
            case Label(statement=inner):
                self.down(inner, is_team=is_team)
            case For():
                self._loop(statement, self._collapse(statement) if is_shared_loop else 0, is_team)
            case If():
                self._if(statement)
            case _:
                last = self.item.path[-1]
                self.step("at", last.number if isinstance(last, Position) else 0, id(statement), "leaf")

    def _refuse_replicated(self, statement: CStatement) -> None:
        """What no construct shares out is run by every thread of the team."""
        if isinstance(statement, Block | Label):
            return
        if not isinstance(statement, For):
            raise self.text.error(
                "every thread of the team runs this statement",
                statement.span.start,
                "Put it into omp for, sections, single or master.",
            )
        if not self.tree.is_settled(self.tree.sequence_in(statement.body), statement.body.span.end):
            raise self.text.error(
                "no barrier keeps the iterations of this loop in a parallel region apart",
                statement.span.start,
                "End its body with a loop without nowait, or with #pragma omp barrier.",
            )

    def _loop(self, loop: For, shared: int, is_team: bool) -> None:
        """Through a loop, and the loops that are collapsed with it if its iterations are shared out."""
        inner: CStatement = loop
        for number in range(max(shared, 1)):
            assert isinstance(inner, For)
            self.step("loop", self.loops, id(inner), "loop")
            self.loops += 1
            if shared:
                self.step("async", 0, id(inner), "iteration")
            inner = only_statement(inner.body) if number + 1 < shared else inner.body
        is_team = is_team and not shared
        self.down_sequence(
            self.tree.sequence_in(inner),
            inner.span.end,
            (id(inner), "body"),
            is_team=is_team,
            is_closed=is_team,
        )

    def _collapse(self, loop: For) -> int:
        given = (d.clauses.get("collapse") for d in self.tree.at_node.get(loop, ()))
        return next((int(number) for number in given if number), 1)

    def _if(self, node: If) -> None:
        parts = [node.then, *([] if node.otherwise is None else [node.otherwise])]
        for place, part in enumerate(parts, 1):
            if part.span.start <= self.offset < part.span.end:
                self.step("at", place, id(node), "if")
                self.down(part, is_team=False)
                return
        self.step("at", 0, id(node), "if")

    def _sections(self, statement: CStatement) -> None:
        """Into one of the sections of a block; what stands before the first pragma is one as well."""
        if not isinstance(statement, Block):
            raise self.text.error("sections need a block", statement.span.start)
        inside = statement.statements
        starts = [
            index
            for index, inner in enumerate(inside)
            if index == 0 or any(d.name == "section" for d in self.tree.at_node.get(inner, ()))
        ]
        index = self._holding(inside)
        start = max(number for number in starts if number <= index)
        end = min((number for number in starts if number > start), default=len(inside))
        self.step("at", start, id(statement), "section")
        self.step("async", 0, id(statement), "async", start)
        after = inside[end].span.start if end < len(inside) else statement.span.end
        self.down_sequence(inside[start:end], after, (id(statement), "section", start), is_team=False)

    def _begin_ordered(self, directive: OrderDirective) -> None:
        """Into a block that iterations of the loop around run one after the other."""
        if self._ordered_loop is None or self.ordered is not None:
            raise self.text.error(
                "this omp ordered belongs to no loop of the region with an ordered clause",
                directive.pragma.at,
                "Write #pragma omp parallel for ordered before the loop.",
            )
        loop, first, count = self._ordered_loop
        others = [one for one in self.tree.directives if one.name == "ordered" and one is not directive]
        inside = [one for one in others if loop.span.start <= one.pragma.at < loop.span.end]
        if self.loops != first + count or inside:
            raise self.text.error(
                "an iteration may come to omp ordered more than once, which OpenMP does not allow",
                (inside[0] if inside else directive).pragma.at,
                "Put all of it into one block, outside of inner loops.",
            )
        self.ordered = OrderedBlock(loop, first, count, len(self.steps))
