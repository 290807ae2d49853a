"""OpenMP's depend clauses: which tasks keep their order because they name the same cell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import ArrayfoldError, NotAffine
from arrayfold.c.source import CText
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.relations import relation
from arrayfold.frontends.c.openmp import OrderDirective
from arrayfold.frontends.c.places import Found, Loop
from arrayfold.order.tasks import TaskPath, partings

_NAME = re.compile(r"[A-Za-z_]\w*")


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
    flat = frozenset(_flat_arrays(statements))
    named = [(item, list(_depends(text, item, parameters, ranks, flat))) for item in statements]
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
    flat: Collection[str],
) -> Iterator[tuple[str, isl.UnionMap]]:
    """in, out or inout, and { [v] -> cell[x] } with the turns of the loops around the task.

    An array without subscripts is a cell of its own.
    """
    item, task, names = statement.found, statement.task, statement.names
    around = ", ".join(names[: task.loops])
    known = {*names[: task.loops], *parameters} - text.macros
    in_turns = isl.UnionMap(f"{{ [{around}] -> [{', '.join(_turns(item, names)[: task.loops])}] }}")
    for kind, name, subscripts in _items(task):
        used = {word for part in subscripts for word in _NAME.findall(part)}
        rank = ranks.get(name, len(subscripts))
        is_cell = rank == len(subscripts) or (rank is not None and not subscripts)
        if kind not in ("in", "out", "inout") or not used <= known or not is_cell:
            raise _not_understood(text, task)
        try:
            if name in flat and subscripts:
                cell = f"{name}[{_flat_section(subscripts[0], names, sorted(parameters))}]"
            else:
                cell = f"{name}[{', '.join(map(_section, subscripts))}]"
            relation = isl.UnionMap(f"[{', '.join(parameters)}] -> {{ [{around}] -> {cell} }}")
        except (isl.Error, NotAffine):
            raise _not_understood(text, task) from None
        yield kind, relation.apply_domain(in_turns)


def _items(task: Task) -> Iterator[tuple[str, str, list[str]]]:
    """in, out or inout, name and subscripts of what a task depends on; no kind where that is unknown."""
    for clause in task.directive.depends:
        kind, _, listed = clause.partition(":")
        for item in re.split(r",(?![^\[]*\])", listed):
            match = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\[\]]*\]\s*)*)", item)
            if match is None or re.search(r"[%/?]", match.group(2)):
                yield "", "", []
                continue
            yield kind.strip(), match.group(1), re.findall(r"\[([^\[\]]*)\]", match.group(2))


def _flat_arrays(statements: Sequence[TaskStatement]) -> Iterator[str]:
    """Arrays of which a section begins at a product, as in `t[i * n : n]`."""
    for statement in statements:
        for _, name, subscripts in _items(statement.task):
            parts = subscripts[0].split(":") if len(subscripts) == 1 else ()
            if parts and "*" in parts[0]:
                with suppress(ArrayfoldError):
                    if not read_formula(parts[0]).is_affine:
                        yield name


def _flat_section(subscript: str, iterators: Sequence[str], parameters: Sequence[str]) -> str:
    """First element and length of a section of a flat array, the first as factors of each parameter.

    Sections whose factors are the same are the same. Of others that is not known, and no order follows.

    >>> _flat_section("(i - 1) * n + 2 : n", ["i"], ["m", "n"])
    '2, 0, i - 1, n'
    """
    first, colon, length = (part.strip() for part in subscript.partition(":"))
    factors = dict.fromkeys(["", *parameters], Formula.constant(0))
    try:
        terms = read_formula(first or "0").terms
    except ArrayfoldError as error:
        raise NotAffine(str(error)) from None
    for monomial, number in terms:
        names = [str(atom) for atom, power in monomial for _ in range(power)]
        stride = [one for one in names if one in parameters]
        others = [one for one in names if one in iterators]
        if len(stride) > 1 or len(others) > 1 or len(names) != len(stride) + len(others):
            raise NotAffine(f"{first} is no sum of multiples of iterators")
        part = Formula.name(others[0]) if others else Formula.constant(1)
        factors["".join(stride)] += part * number
    return ", ".join([*map(str, factors.values()), length or ("-1" if colon else "1")])


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
        "of arrays from outside the region, arrays as a whole, and sections such as A[i*n:n].",
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
