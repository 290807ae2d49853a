"""Programs as plain data: printed as problem files, instances listed without isl."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fuzz.affine import Condition, Context, Form, Values, all_hold, between, conjunction
from support.reference import Cell

Place: TypeAlias = tuple[str, Cell]  # a statement and its iteration, or an array and a cell


@dataclass(frozen=True)
class Access:
    """Cells that an instance reads or writes: those from `index` to `index + spans`, where guards hold.

    key  write, may_write, read or may_read
    """

    key: str
    array: str
    index: tuple[Form, ...]
    spans: tuple[int, ...]
    guards: tuple[Condition, ...] = ()

    def cells(self, values: Values) -> list[Cell]:
        if not all_hold(self.guards, values):
            return []
        starts = (form.at(values) for form in self.index)
        sides = (range(a, a + span + 1) for a, span in zip(starts, self.spans, strict=True))
        return list(itertools.product(*sides))

    def text(self, instance: str) -> str:
        image: list[str] = []
        conditions: list[object] = []
        for k, (form, span) in enumerate(zip(self.index, self.spans, strict=True)):
            image.append(str(form) if span == 0 else f"x{k}")
            if span:
                conditions += between(form, Form.name(f"x{k}"), form + span)
        conditions += self.guards
        where = f" : {conjunction(conditions)}" if conditions else ""
        return f"{instance} -> {self.array}[{', '.join(image)}]{where}"


@dataclass(frozen=True)
class Statement:
    """Iterators i0, i1 ... between forms of the earlier ones, both ends included."""

    name: str
    ranges: tuple[tuple[Form, Form], ...]
    guards: tuple[Condition, ...]
    accesses: tuple[Access, ...]
    times: tuple[Form, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.ranges)

    @property
    def instance(self) -> str:
        return f"{self.name}[{', '.join(f'i{k}' for k in range(self.rank))}]"

    @property
    def conditions(self) -> list[Condition]:
        sides = (between(low, Form.name(f"i{k}"), high) for k, (low, high) in enumerate(self.ranges))
        return [*itertools.chain(*sides), *self.guards]

    def iterations(self, params: Values) -> Iterator[dict[str, int]]:
        found = [dict(params)]
        for k, (low, high) in enumerate(self.ranges):
            found = [{**v, f"i{k}": i} for v in found for i in range(low.at(v), high.at(v) + 1)]
        return (values for values in found if all_hold(self.guards, values))

    def point(self, values: Values) -> Cell:
        return tuple(values[f"i{k}"] for k in range(self.rank))


@dataclass(frozen=True)
class Arrow:
    """Pairs of instances: source[i0 ...] -> target[j0 ...] where the conditions hold."""

    source: str
    target: str
    ranks: tuple[int, int]
    conditions: tuple[Condition, ...] = ()

    def has(self, a: Cell, b: Cell, params: Values) -> bool:
        values = dict(params) | {f"i{k}": v for k, v in enumerate(a)} | {f"j{k}": v for k, v in enumerate(b)}
        return all_hold(self.conditions, values)

    def __str__(self) -> str:
        ends = [
            f"{name}[{', '.join(f'{letter}{k}' for k in range(rank))}]"
            for name, letter, rank in zip((self.source, self.target), "ij", self.ranks, strict=True)
        ]
        where = f" : {conjunction(self.conditions)}" if self.conditions else ""
        return f"{ends[0]} -> {ends[1]}{where}"


@dataclass(frozen=True)
class Some:
    """Instances of a statement where conditions hold."""

    statement: str
    rank: int
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return _where(f"{self.statement}[{', '.join(f'i{k}' for k in range(self.rank))}]", self.conditions)


@dataclass(frozen=True)
class Task:
    """A node of a tree of tasks: run, block, loop, async or finish.

    run    `name[forms]` of the loop variables
    loop   variable between two forms
    """

    kind: str
    inside: tuple[Task, ...] = ()
    name: str = ""
    forms: tuple[Form, ...] = ()

    def __str__(self) -> str:
        body = " ".join(map(str, self.inside))
        match self.kind:
            case "run":
                return f"{self.name}[{', '.join(map(str, self.forms))}];"
            case "block":
                return f"{{ {body} }}"
            case "loop":
                low, high = self.forms
                return f"for {self.name} : {low} <= {self.name} <= {high} {{ {body} }}"
        return f"{self.kind} {{ {body} }}"


@dataclass(frozen=True)
class Live:
    """Cells x0, x1 ... of an array where conditions hold; without a box, those that the program touches."""

    array: str
    rank: int
    conditions: tuple[Condition, ...] = ()
    box: tuple[tuple[Form, Form], ...] = ()

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        sides = (between(low, Form.name(f"x{k}"), high) for k, (low, high) in enumerate(self.box))
        return (*itertools.chain(*sides), *self.conditions)

    def has(self, cell: Cell, params: Values) -> bool:
        return all_hold(self.all_conditions, {**params, **{f"x{k}": v for k, v in enumerate(cell)}})

    def cells(self, params: Values) -> list[Cell]:
        """Those of the box."""
        sides = (range(low.at(params), high.at(params) + 1) for low, high in self.box)
        return [cell for cell in itertools.product(*sides) if self.has(cell, params)]

    def __str__(self) -> str:
        where = f" : {conjunction(self.all_conditions)}" if self.all_conditions else ""
        return f"{self.array}[{', '.join(f'x{k}' for k in range(self.rank))}]{where}"


@dataclass(frozen=True)
class ProgramCase:
    """A program, and what is asked of the tool.

    order      schedule, relation or tasks
    parallel   dimension of the schedule -> doall or forall
    tiles      sizes along the first dimensions of the schedule: numbers, parameters or `any`
    relation   happens_before, alone or beside tasks
    temporary  None leaves the choice to the tool
    method     a method, or auto
    sizes      --param, for all parameters or none
    with_bound whether lower bounds are asked for, which take most of the time
    by_command whether the command is run as well
    """

    context: Context
    statements: tuple[Statement, ...]
    order: str = "schedule"
    parallel: tuple[tuple[int, str], ...] = ()
    tiles: tuple[int | str, ...] = ()
    relation: tuple[Arrow, ...] = ()
    tasks: Task | None = None
    exclusive: tuple[Arrow, ...] = ()
    optional: tuple[Some, ...] = ()
    live_in: tuple[Live, ...] = ()
    live_out: tuple[Live, ...] = ()
    temporary: tuple[str, ...] | None = None
    method: str = "auto"
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    power_of_two: bool = False
    with_bound: bool = True
    by_command: bool = False

    @property
    def arrays(self) -> dict[str, int]:
        """The arrays and their ranks."""
        return {a.array: len(a.index) for s in self.statements for a in s.accesses}

    def statement(self, name: str) -> Statement:
        return next(s for s in self.statements if s.name == name)

    def text(self) -> str:
        lines: list[str] = []

        def say(key: str, items: Sequence[object]) -> None:
            if items:
                lines.append(f'{key} = "{self.context.prefix}{{ {"; ".join(map(str, items))} }}"')

        if self.context.conditions:
            lines.append(f'context = "{self.context.text()}"')
        say("domain", [_where(s.instance, s.conditions) for s in self.statements])
        for key in ("write", "may_write", "read", "may_read"):
            say(key, [a.text(s.instance) for s in self.statements for a in s.accesses if a.key == key])
        if self.order == "schedule":
            say("schedule", [f"{s.instance} -> [{', '.join(map(str, s.times))}]" for s in self.statements])
        if self.order == "tasks":
            lines.append(f'tasks = """\n{self.tasks}\n"""')
        if self.order == "relation" and not self.relation:
            lines.append('happens_before = "{ }"')
        say("happens_before", self.relation)
        say("exclusive", self.exclusive)
        say("optional", self.optional)
        say("live_in", self.live_in)
        say("live_out", self.live_out)
        if self.parallel:
            lines.append(
                f"parallel = {{ {', '.join(f'{d} = {chr(34)}{m}{chr(34)}' for d, m in self.parallel)} }}"
            )
        if self.tiles:
            sizes = (str(size) if isinstance(size, int) else f'"{size}"' for size in self.tiles)
            lines.append(f"tiles = [{', '.join(sizes)}]")
        if self.temporary is not None:
            names = ", ".join(f'"{name}"' for name in self.temporary)
            lines.append(f"temporary = [{names}]")
        return "\n".join(lines)

    def options(self) -> list[str]:
        """Those of `arrayfold fold`."""
        sizes = [word for name, value in self.sizes.items() for word in ("--param", f"{name}={value}")]
        return ["--method", self.method, *sizes, *["--power-of-two"] * self.power_of_two]


def _where(head: str, conditions: Sequence[Condition]) -> str:
    return f"{head} : {conjunction(conditions)}" if conditions else head
