"""A program at one size: its instances, and who surely comes first, listed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from fuzz.affine import Values, all_hold
from fuzz.executions import Concrete, Instance
from fuzz.programs import Arrow, Live, Place, ProgramCase, Task
from support.interleavings import loops


def instances_of(case: ProgramCase, params: Values, most: int) -> list[Instance] | None:
    """All instances; None if there are more than so many, or if they access far more cells."""
    found: list[Instance] = []
    accesses = 0
    for statement in case.statements:
        for values in statement.iterations(params):
            if len(found) == most:
                return None
            kinds: dict[str, list[Place]] = {"read": [], "write": [], "may_read": [], "may_write": []}
            for access in statement.accesses:
                kinds[access.key] += [(access.array, cell) for cell in access.cells(values)]
            sure = {(True, p) for p in kinds["write"]} | {(False, p) for p in kinds["read"]}
            may = {(True, p) for p in kinds["may_write"]} | {(False, p) for p in kinds["may_read"]}
            reads = tuple(dict.fromkeys(kinds["read"] + kinds["may_read"]))
            writes = tuple(dict.fromkeys(kinds["write"] + kinds["may_write"]))
            accesses += len(reads) + len(writes)
            place = (statement.name, statement.point(values))
            found.append(Instance(place, values, reads, writes, frozenset(may - sure)))
    return found if accesses <= 6 * most else None


def concrete(case: ProgramCase, params: Values, most: int) -> Concrete | None:
    """The program at a size, if it is small there."""
    instances = instances_of(case, params, most)
    if instances is None:
        return None
    number = {instance.place: k for k, instance in enumerate(instances)}
    tilings: list[tuple[int, ...]] = []
    closes = False
    if case.order == "schedule":
        times = [tuple(t.at(i.values) for t in case.statement(i.place[0]).times) for i in instances]
        if case.tiles:
            tilings = list(
                _tilings(times, [s if isinstance(s, int) else params.get(s, 0) for s in case.tiles])
            )
        direct = _by_schedule(times, dict(case.parallel))
    else:
        closes = bool(case.relation)
        pairs = list(_pairs(case.relation, instances, params))
        if case.tasks is not None:
            pairs += [(a, b) for b, a in _before_in_tasks(case.tasks, number, params)]
        direct = _by_pairs(pairs, len(instances))
    exclusive = [0] * len(instances)
    unsure = sum(1 << k for k, one in enumerate(instances) if _is_optional(case, one))
    may_not_run = unsure
    for a, b in _pairs(case.exclusive, instances, params):
        may_not_run |= 1 << a | 1 << b
        if a != b:
            exclusive[a] |= 1 << b
            exclusive[b] |= 1 << a
    touched = {place for i in instances for place in (*i.reads, *i.writes)}
    live_in, live_out = (_live(cells, touched, params) for cells in (case.live_in, case.live_out))
    return Concrete(
        tuple(instances),
        direct,
        closes,
        tuple(tilings),
        tuple(exclusive),
        may_not_run,
        unsure,
        live_in,
        live_out,
    )


def _is_optional(case: ProgramCase, one: Instance) -> bool:
    return any(s.statement == one.place[0] and all_hold(s.conditions, one.values) for s in case.optional)


def _live(groups: Sequence[Live], touched: set[Place], params: Values) -> frozenset[Place]:
    """The cells of boxes; those that the program touches, if one of the groups has no bounds."""
    if all(one.box for one in groups if one.rank):
        return frozenset((one.array, cell) for one in groups for cell in one.cells(params))
    return frozenset(p for p in touched if any(one.array == p[0] and one.has(p[1], params) for one in groups))


def _pairs(
    arrows: Sequence[Arrow], instances: Sequence[Instance], params: Values
) -> Iterator[tuple[int, int]]:
    for arrow in arrows:
        for a, first in enumerate(instances):
            if first.place[0] == arrow.source:
                for b, second in enumerate(instances):
                    if second.place[0] == arrow.target and arrow.has(first.place[1], second.place[1], params):
                        yield a, b


def _by_pairs(pairs: Sequence[tuple[int, int]], count: int) -> tuple[int, ...]:
    before = [0] * (2 * count)
    for k in range(count):
        before[2 * k + 1] |= 1 << 2 * k
    for a, b in pairs:
        for event in (2 * b, 2 * b + 1):
            before[event] |= 3 << 2 * a
    return tuple(before)


def _by_schedule(times: Sequence[tuple[int, ...]], parallel: Mapping[int, str]) -> tuple[int, ...]:
    meanings = [parallel.get(d, "sequential") for d in range(len(times[0]) if times else 0)]
    before = loops(times, meanings)
    events = [(k, is_write) for k in range(len(times)) for is_write in (False, True)]
    return tuple(sum(1 << n for n, a in enumerate(events) if before(a, b)) for b in events)


def _tilings(times: Sequence[tuple[int, ...]], sizes: Sequence[int | str]) -> Iterator[tuple[int, ...]]:
    """The total order of every way to cut the first dimensions into tiles of such sizes (0 for any size)."""
    cuts: list[list[tuple[int, int]]] = []
    for d, size in enumerate(sizes):
        wide = max((t[d] for t in times), default=0) - min((t[d] for t in times), default=0) + 1
        lengths = [int(size)] if size else range(1, wide + 1)
        cuts.append([(length, start) for length in lengths for start in range(length)])
    for cut in itertools.product(*cuts):
        tiled = [(*((t[d] + start) // length for d, (length, start) in enumerate(cut)), *t) for t in times]
        yield _by_schedule(tiled, {})


def _before_in_tasks(tree: Task, number: Mapping[Place, int], params: Values) -> Iterator[tuple[int, int]]:
    """Pairs (later, earlier), by running the tasks: what is complete when an instance starts is before it."""
    found: list[tuple[int, int]] = []

    def run(task: Task, complete: frozenset[int], values: Values) -> tuple[frozenset[int], frozenset[int]]:
        """What is complete afterwards, and all that was started."""
        started: frozenset[int] = frozenset()
        if task.kind == "run":
            place = (task.name, tuple(form.at(values) for form in task.forms))
            if place not in number:
                return complete, started
            found.extend((number[place], earlier) for earlier in complete)
            own = frozenset([number[place]])
            return complete | own, own
        turns: list[Values] = [values]
        if task.kind == "loop":
            low, high = (form.at(values) for form in task.forms)
            turns = [{**values, task.name: v} for v in range(low, high + 1)]
        known = complete
        for turn in turns:
            for inner in task.inside:
                known, some = run(inner, known, turn)
                started |= some
        if task.kind == "async":
            return complete, started
        return (known | started if task.kind == "finish" else known), started

    run(tree, frozenset(), params)
    return iter(found)
