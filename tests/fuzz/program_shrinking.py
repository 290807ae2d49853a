"""Smaller programs: without statements, accesses, conditions, parameters or dimensions; smaller numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fuzz.affine import Condition, Context, Form
from fuzz.programs import Access, Arrow, Live, ProgramCase, Some, Statement, Task

Item = TypeVar("Item")


def smaller_programs(case: ProgramCase) -> Iterator[ProgramCase]:
    """The boldest steps first."""
    for name in [s.name for s in case.statements] if len(case.statements) > 1 else []:
        yield _without_statement(case, name)
    for field in ("exclusive", "optional", "live_in", "live_out", "relation", "parallel", "tiles"):
        items = getattr(case, field)
        for other in without_one(items):
            yield replace(case, **{field: other})
    for name in case.context.parameters:
        for number in (1, 2, 3):
            yield fixed(case, name, number)
    for array in case.arrays if len(case.arrays) > 1 else []:
        yield _without_array(case, array)
    for k, statement in enumerate(case.statements):
        for other in _smaller_statements(statement):
            yield replace(case, statements=_put(case.statements, k, other))
    for name, rank in case.arrays.items():
        for d in range(rank if rank > 1 else 0):
            yield _without_index(case, name, d)
    if case.order == "schedule":
        for d in range(len(case.statements[0].times) if len(case.statements[0].times) > 1 else 0):
            if not case.parallel and not case.tiles:
                shorter = [replace(s, times=(*s.times[:d], *s.times[d + 1 :])) for s in case.statements]
                yield replace(case, statements=tuple(shorter))
    if case.tasks is not None:
        for tree in _smaller_tasks(case.tasks):
            yield replace(case, tasks=tree)
    for field in ("relation", "exclusive", "optional", "live_in", "live_out"):
        items = getattr(case, field)
        for k, item in enumerate(items):
            for other in without_one(item.conditions):
                yield replace(case, **{field: _put(items, k, replace(item, conditions=other))})
    for k, condition in enumerate(case.context.conditions):
        for other in condition.smaller():
            context = replace(case.context, conditions=_put(case.context.conditions, k, other))
            yield replace(case, context=context)
    for other in without_one(case.context.conditions):
        yield replace(case, context=replace(case.context, conditions=other))
    if case.method != "identity":
        for method in ("identity", "successive-modulo"):
            if method != case.method:
                yield replace(case, method=method)
    if case.sizes and case.method not in ("static", "exhaustive"):
        yield replace(case, sizes={})
    if case.power_of_two or case.by_command:
        yield replace(case, power_of_two=False, by_command=False)


def without_one(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    for k in range(len(items)):
        yield (*items[:k], *items[k + 1 :])


def _put(items: Sequence[Item], k: int, item: Item) -> tuple[Item, ...]:
    return (*items[:k], item, *items[k + 1 :])


# ---------------------------------------------------------------- statements and arrays


def _without_statement(case: ProgramCase, name: str) -> ProgramCase:
    def apart(arrows: Sequence[Arrow]) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in arrows if name not in (arrow.source, arrow.target))

    def pruned(task: Task) -> Task:
        inside = tuple(pruned(one) for one in task.inside if one.name != name or one.kind != "run")
        return replace(task, inside=inside)

    left = tuple(statement for statement in case.statements if statement.name != name)
    case = replace(case, statements=left, relation=apart(case.relation), exclusive=apart(case.exclusive))
    case = replace(case, optional=tuple(some for some in case.optional if some.statement != name))
    return _consistent(case if case.tasks is None else replace(case, tasks=pruned(case.tasks)))


def _without_array(case: ProgramCase, array: str) -> ProgramCase:
    statements = tuple(
        replace(s, accesses=tuple(a for a in s.accesses if a.array != array)) for s in case.statements
    )
    return _consistent(replace(case, statements=statements))


def _consistent(case: ProgramCase) -> ProgramCase:
    """Names of arrays only where they are still accessed."""
    used = case.arrays
    temporary = None if case.temporary is None else tuple(n for n in case.temporary if n in used)
    live_in, live_out = (
        tuple(one for one in cells if one.array in used) for cells in (case.live_in, case.live_out)
    )
    return replace(case, temporary=temporary, live_in=live_in, live_out=live_out)


def _smaller_statements(statement: Statement) -> Iterator[Statement]:
    for accesses in without_one(statement.accesses):
        yield replace(statement, accesses=accesses)
    for guards in without_one(statement.guards):
        yield replace(statement, guards=guards)
    for k, access in enumerate(statement.accesses):
        for other in _smaller_accesses(access):
            yield replace(statement, accesses=_put(statement.accesses, k, other))
    for k, (low, high) in enumerate(statement.ranges):
        if (low, high) != (Form(0), Form(0)):
            yield replace(statement, ranges=_put(statement.ranges, k, (Form(0), Form(0))))
        ends = [(other, high) for other in low.smaller()] + [(low, other) for other in high.smaller()]
        for other in ends:
            yield replace(statement, ranges=_put(statement.ranges, k, other))
    for k, time in enumerate(statement.times):
        for other in time.smaller():
            yield replace(statement, times=_put(statement.times, k, other))
    for k, guard in enumerate(statement.guards):
        for other in guard.smaller():
            yield replace(statement, guards=_put(statement.guards, k, other))


def _smaller_accesses(access: Access) -> Iterator[Access]:
    for guards in without_one(access.guards):
        yield replace(access, guards=guards)
    for k, span in enumerate(access.spans):
        if span:
            yield replace(access, spans=_put(access.spans, k, span - 1))
    if access.key.startswith("may_"):
        yield replace(access, key=access.key.removeprefix("may_"))
    for k, form in enumerate(access.index):
        for other in form.smaller():
            yield replace(access, index=_put(access.index, k, other))


def _without_index(case: ProgramCase, array: str, d: int) -> ProgramCase:
    """The program in which an array has one dimension less."""
    names = {f"x{k}": f"x{k - 1}" for k in range(d + 1, case.arrays[array])}

    def access(one: Access) -> Access:
        if one.array != array:
            return one
        return replace(one, index=_cut(one.index, d), spans=_cut(one.spans, d))

    def live(one: Live) -> Live:
        if one.array != array:
            return one
        kept = tuple(c.renamed(names) for c in one.conditions if f"x{d}" not in c.names())
        return replace(one, rank=one.rank - 1, conditions=kept, box=_cut(one.box, d) if one.box else ())

    statements = tuple(replace(s, accesses=tuple(map(access, s.accesses))) for s in case.statements)
    live_in, live_out = (tuple(map(live, cells)) for cells in (case.live_in, case.live_out))
    return replace(case, statements=statements, live_in=live_in, live_out=live_out)


def _cut(items: Sequence[Item], k: int) -> tuple[Item, ...]:
    return (*items[:k], *items[k + 1 :])


def _smaller_tasks(task: Task) -> Iterator[Task]:
    """Marks and blocks taken away one by one."""
    for k, inner in enumerate(task.inside):
        if inner.kind in ("async", "finish", "block"):
            yield replace(task, inside=(*task.inside[:k], *inner.inside, *task.inside[k + 1 :]))
        for other in _smaller_tasks(inner):
            yield replace(task, inside=_put(task.inside, k, other))


# ---------------------------------------------------------------- parameters


def fixed(case: ProgramCase, name: str, number: int) -> ProgramCase:
    """The case with a number in the place of a parameter."""
    context = Context(
        tuple(other for other in case.context.parameters if other != name),
        tuple(c for c in _fix(case.context.conditions, name, number) if c.names()),
    )
    changed = {
        field: _fix(getattr(case, field), name, number)
        for field in ("statements", "relation", "tasks", "exclusive", "optional", "live_in", "live_out")
    }
    sizes = {other: value for other, value in case.sizes.items() if other != name}
    tiles = tuple(number if size == name else size for size in case.tiles)
    return replace(case, context=context, sizes=sizes, tiles=tiles, **changed)


def _fix(item: Any, name: str, number: int) -> Any:
    match item:
        case Form():
            return item.without({name}) + number * dict(item.terms).get(name, 0)
        case Condition() | Access() | Statement() | Arrow() | Some() | Live() | Task():
            return replace(item, **{key: _fix(value, name, number) for key, value in vars(item).items()})
        case tuple():
            return tuple(_fix(one, name, number) for one in item)
    return item
