"""OpenMP's depend clauses: which tasks keep their order because they name the same cell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.source import CText
from arrayfold.exact.relations import relation
from arrayfold.frontends.c.openmp import OrderDirective
from arrayfold.frontends.c.places import Found, Loop
from arrayfold.order.tasks import TaskPath, partings


@dataclass(frozen=True, eq=False)
class Task:
    """A task around a statement: its pragma, how many loops are around it, and the way down to it."""

    directive: OrderDirective
    loops: int
    path: TaskPath


@dataclass(frozen=True, eq=False)
class TaskStatement:
    """A statement in a task, with the names of its iterators.

    is_awaited  whether the task waits for it, should it be in a task that this task makes
    """

    found: Found
    task: Task
    names: Sequence[str]
    is_awaited: bool


def depend_edges(
    text: CText,
    statements: Sequence[TaskStatement],
    parameters: Collection[str],
    ranks: Mapping[str, int | None],
) -> isl.UnionMap:
    """{ S[i] -> T[j] }: S[i] is in a task that comes first, and both name a cell, one of them as out."""
    named = [(item, list(_depends(text, item, parameters, ranks))) for item in statements]
    total = isl.UnionMap("{ }")
    for first, some in named:
        for second, others in named if first.is_awaited else ():
            for kind, cells in some:
                for other, wanted in others:
                    if not kind == other == "in":
                        same = cells.apply_range(wanted.reverse())
                        total = total.union(_in_order_of_making(first, second, same))
    return total


def _depends(
    text: CText,
    statement: TaskStatement,
    parameters: Collection[str],
    ranks: Mapping[str, int | None],
) -> Iterator[tuple[str, isl.UnionMap]]:
    """in, out or inout, and { [v] -> cell[x] } with the turns of the loops around the task."""
    item, task, names = statement.found, statement.task, statement.names
    around = ", ".join(names[: task.loops])
    known = {*names[: task.loops], *parameters} - text.macros
    in_turns = isl.UnionMap(f"{{ [{around}] -> [{', '.join(_turns(item, names)[: task.loops])}] }}")
    for clause in task.directive.depends:
        kind, _, listed = clause.partition(":")
        for item in re.split(r",(?![^\[]*\])", listed):
            match = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\[\]]*\]\s*)*)", item)
            if kind.strip() not in ("in", "out", "inout") or match is None:
                raise _not_understood(text, task)
            subscripts = re.findall(r"\[([^\[\]]*)\]", match.group(2))
            used = {word for part in subscripts for word in re.findall(r"[A-Za-z_]\w*", part)}
            is_cell = ranks.get(match.group(1), len(subscripts)) == len(subscripts)
            if not used <= known or re.search(r"[%/?]", match.group(2)) or not is_cell:
                raise _not_understood(text, task)
            cell = f"{match.group(1)}[{', '.join(map(_section, subscripts))}]"
            try:
                relation = isl.UnionMap(f"[{', '.join(parameters)}] -> {{ [{around}] -> {cell} }}")
            except isl.Error:
                raise _not_understood(text, task) from None
            yield kind.strip(), relation.apply_domain(in_turns)


def _section(subscript: str) -> str:
    """First element and length of a section of an array; -1 for all from there on.

    Sections that sibling tasks name are the same or have nothing in common.

    >>> _section("i + 1"), _section("0:m"), _section(":"), _section("2:")
    ('i + 1, 1', '0, m', '0, -1', '2, -1')
    """
    first, colon, length = (part.strip() for part in subscript.partition(":"))
    if not colon:
        return f"{first}, 1"
    return f"{first or 0}, {length or -1}"


def _not_understood(text: CText, task: Task) -> Exception:
    return text.error(
        "this depend clause cannot be analysed",
        task.directive.pragma.at,
        "Understood are in, out and inout with cells such as A[i - 1][j], and sections such as A[i][0:n], "
        "of arrays from outside the region.",
    )


def _in_order_of_making(first: TaskStatement, second: TaskStatement, same: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the instances whose tasks name the same cell, made in this order by the same task.

    Only tasks of one maker keep depend clauses, so nothing may run beside anything between the place where
    the ways part and the tasks.
    """
    loops = (first.task.loops, second.task.loops)
    total = isl.UnionMap("{ }")
    space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, *loops)
    for times, *left in partings(first.task.path, second.task.path, space):
        if not any(step.kind == "async" for rest in left for step in rest):
            pairs = same.intersect(times)
            ends = _task_of(first.found, loops[0]), _task_of(second.found, loops[1]).reverse()
            total = total.union(ends[0].apply_range(pairs).apply_range(ends[1]))
    return total


def _task_of(item: Found, loops: int) -> isl.UnionMap:
    """{ S[i] -> [v] }: the task that an instance is in, by the turns of the loops around the task."""
    turns = instances_of(item).reverse()
    extra = turns.dim(isl.dim_type.out) - loops
    return isl.UnionMap.from_map(turns.project_out(isl.dim_type.out, loops, extra))


def instances_of(item: Found) -> isl.Map:
    """{ [v] -> S[i] }: the instances of a statement by the turns of its loops, v = -i where they go down."""
    names = [f"i{k}" for k in range(len(item.source.iterators))]
    order = relation(names, _turns(item, names), names=(item.name, ""))
    return order.intersect_domain(item.may.set_tuple_name(item.name)).reverse()


def _turns(item: Found, names: Sequence[str]) -> list[str]:
    """The turns of the loops around a statement in terms of its iterators."""
    loops = (link for link in item.path if isinstance(link, Loop))
    return [f"-{name}" if loop.sign < 0 else name for loop, name in zip(loops, names, strict=True)]
