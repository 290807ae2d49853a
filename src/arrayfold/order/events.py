"""Who happens before whom: events of a program as points of one time space, and the order on them.

An event is the reading or the writing of one instance. Inside an instance all reads come before the
write, so both are put apart by a phase dimension (0 reads, 1 writes) in a common space of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.remembered import remembered
from arrayfold.exact.isl import coalesced, fix_parameters, maps_of
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.exact.relations import Closure, close, close_through, relation, union_of_maps
from arrayfold.order.tiles import before_in_tiles
from arrayfold.program.model import Program

_FOLLOWED_SIZES = 3


@dataclass(frozen=True, eq=False)
class Order:
    """Which events surely come before which, in every execution that has both.

    Without a cycle, and transitive as far as every event happens in every execution; an event that may not
    happen orders nothing but itself.

    read_times   { S[i] -> [t] }    when the instance reads
    write_times  { S[i] -> [t] }    when it writes
    before       { [a] -> [b] }     event a surely comes before event b
    is_total     before is the lexicographic order and every instance has its own time
    is_swept     the lexicographic order of times is one of the possible executions
    is_parallel  for such an order: which dimensions of a time are those of parallel loops and ties
    exclusive    { [a] -> [b] }     no execution has both events, symmetric; None if all events always happen
    critical     { [t] -> L[k] }    one for each lock L: the section in which an event happens; those of one
                                    lock do not overlap
    events       { [t] }            all events, where `before` is a relation as given; None for all times
    """

    read_times: isl.UnionMap
    write_times: isl.UnionMap
    before: isl.Map
    is_total: bool
    is_swept: bool
    notes: tuple[str, ...] = ()
    is_parallel: tuple[bool, ...] = ()
    exclusive: isl.Map | None = None
    events: isl.Set | None = None
    critical: tuple[isl.Map, ...] = ()

    def among(self, events: isl.Set) -> Order:
        """The same order, as far as it concerns these events.

        A relation as given has pieces for all pairs of statements, and its complement many more. The order of
        a schedule is simple and stays as it is.
        """
        critical = tuple(coalesced(one.intersect_domain(events)) for one in self.critical)
        if self.events is None:
            return replace(self, critical=critical) if critical else self
        pairs = isl.Map.from_domain_and_range(events, events)
        exclusive = None if self.exclusive is None else coalesced(self.exclusive.intersect(pairs))
        return replace(
            self,
            before=coalesced(self.before.intersect(pairs)),
            exclusive=exclusive,
            events=events,
            critical=critical,
        )

    def not_after(self) -> isl.Map:
        """{ [a] -> [b] }: some execution has a before b, or they are the same event.

        The complement of the relation R∀ of DIY16 §3.2, turned round.
        """
        everything = isl.Map.universe(self.before.get_space())
        if self.events is not None:
            everything = isl.Map.from_domain_and_range(self.events, self.events)
        together = everything.subtract(self.before.reverse())
        return together if self.exclusive is None else together.subtract(self.exclusive)

    def unordered(self) -> isl.Map:
        """{ [a] -> [b] }: either may come first; an event is unordered with itself."""
        return self.not_after().subtract(self.before)

    def taking_turns(self) -> isl.Map:
        """{ [a] -> [b] }: events in different sections under one lock."""
        return reduce(
            isl.Map.union,
            (one.apply_range(_other_section(one)).apply_range(one.reverse()) for one in self.critical),
            isl.Map.empty(self.before.get_space()),
        )

    def kept_out(self) -> isl.Map:
        """{ [[a] -> [b]] -> [t] }: t is in another section than both a and b, and so not between them."""
        found: list[isl.Map] = []
        for section in self.critical:
            same = isl.Map.identity(section.get_space().range().map_from_set()).wrap()
            both = section.product(section).intersect_range(same).range_factor_domain()
            found.append(both.apply_range(_other_section(section)).apply_range(section.reverse()))
        return reduce(isl.Map.union, found)


@remembered
def order_of(program: Program) -> Order:
    """The order of a program: its schedule with parallel loops or tiles, or its happens-before relation."""
    if program.happens_before is not None:
        order = _happens_before_order(program, program.happens_before)
    else:
        assert program.schedule is not None
        order = _schedule_order(program, program.schedule)
    if program.exclusive is not None:
        order = _with_exclusive(order, program.exclusive)
    return order if program.critical is None or order.is_total else _with_sections(order, program.critical)


def across(left: isl.UnionMap, relation: isl.Map, right: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the relation on times, brought to the instances on both sides."""
    return left.apply_range(isl.UnionMap.from_map(relation)).apply_range(right.reverse())


def sweep(order: Order) -> Order:
    """The sequential execution in lexicographic order of times, one of those that the order allows."""
    assert order.is_swept
    return Order(
        order.read_times, order.write_times, isl.Map.lex_lt(order.before.get_space().domain()), True, True
    )


def fronts(order: Order) -> list[isl.Map]:
    """{ [t] -> [f] }: times to the front that they belong to, from the coarsest notion of a front on.

    A front has equal values of the sequential dimensions before the first parallel one, or of all of them;
    the other entries of f are zero.
    """
    if not any(order.is_parallel):
        return []
    sequential = [d for d, parallel in enumerate(order.is_parallel) if not parallel]
    outer = [d for d in sequential if not any(order.is_parallel[:d])]
    kinds = [outer] if outer == sequential else [outer, sequential]
    return [_zero_but(order.before.get_space(), kept) for kept in kinds]


def steps(program: Program, order: Order) -> isl.Map | None:
    """{ [t] -> [s] }: times to steps, each all reads or all writes of a front; None if steps are not all.

    Under FORALL loops alone the steps come one after the other, as the times of a sequential program do
    (DIY16 §2.2).
    """
    is_forall = bool(program.parallel) and set(program.parallel.values()) == {"forall"}
    if not is_forall or program.tiles or program.schedule is None or order.exclusive is not None:
        return None
    return fronts(order)[0] if program.schedule.is_injective() else None


def _zero_but(space: isl.Space, kept: Sequence[int]) -> isl.Map:
    """{ [t] -> [f] }: f is t in some dimensions and zero in the others."""
    front = isl.Map.universe(space)
    for d in range(space.dim(isl.dim_type.out)):
        if d in kept:
            front = front.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
        else:
            front = front.fix_val(isl.dim_type.out, d, isl.Val(0))
    return front


# ---------------------------------------------------------------- schedules


def _schedule_order(program: Program, schedule: isl.UnionMap) -> Order:
    """Times [outer, ties, phase, front]: `front` holds the forall dimensions, all others are outer.

    Instances with equal times are told apart by dimensions that are parallel like a doall loop
    (or belong to the front, if there is one).
    """
    depth = max((m.dim(isl.dim_type.out) for m in maps_of(schedule)), default=0)
    front = min((d for d, meaning in program.parallel.items() if meaning == "forall"), default=depth)
    has_ties = not schedule.is_injective()
    is_parallel = [d in program.parallel for d in range(depth)]
    times = schedule
    if has_ties:
        times = schedule.flat_range_product(_instance_coordinates(program))
        ties = max(m.dim(isl.dim_type.out) for m in maps_of(times)) - depth
        is_parallel += [True] * ties
        if front == depth:
            front += ties
    mask = [*is_parallel[:front], False, *is_parallel[front:]]
    before = _lexicographic(times.get_space(), mask)
    if has_ties and front < depth:
        before = before.subtract(_ties_of_a_front(before.get_space(), front, depth))
    if program.tiles:
        before = before_in_tiles(before, program.tiles)
    notes = ("some instances have equal times and run in any order",) if has_ties else ()
    return Order(
        read_times=_with_phase(times, front, 0),
        write_times=_with_phase(times, front, 1),
        before=before,
        is_total=not any(mask) and not program.tiles,
        is_swept=True,
        notes=notes,
        is_parallel=tuple(mask),
    )


def _ties_of_a_front(space: isl.Space, phase: int, depth: int) -> isl.Map:
    """{ [a] -> [b] }: different instances of a forall front with equal times, which run in any order."""
    equal_times = isl.Map.universe(space)
    same_instance = isl.Map.universe(space)
    for d in range(space.dim(isl.dim_type.in_)):
        if d != phase:
            same_instance = same_instance.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
            if d <= depth:
                equal_times = equal_times.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return equal_times.subtract(same_instance)


def _instance_coordinates(program: Program) -> isl.UnionMap:
    """{ S[i] -> [s, i, 0 ...] }: every instance apart, all statements with the same length."""
    depth = max((statement.domain.dim(isl.dim_type.set) for statement in program.statements), default=0)
    found: list[isl.Map] = []
    for number, statement in enumerate(program.statements):
        rank = statement.domain.dim(isl.dim_type.set)
        iterators = [f"i{k}" for k in range(rank)]
        image = [str(number), *iterators, *["0"] * (depth - rank)]
        found.append(
            relation(iterators, image, names=(statement.name, "")).intersect_domain(statement.domain)
        )
    return union_of_maps(program.context.get_space(), found)


def _with_phase(times: isl.UnionMap, position: int, phase: int) -> isl.UnionMap:
    """The times with one more dimension, fixed to the phase."""
    wider = (part.insert_dims(isl.dim_type.out, position, 1) for part in maps_of(times))
    fixed = (part.fix_val(isl.dim_type.out, position, isl.Val(phase)) for part in wider)
    return union_of_maps(times.get_space(), fixed)


def _lexicographic(parameters: isl.Space, is_parallel: Sequence[bool]) -> isl.Map:
    """{ [a] -> [b] }: at the first dimension where they differ a is smaller, and it is no parallel one."""
    depth = len(is_parallel)
    space = parameters.params().set_from_params().add_dims(isl.dim_type.set, depth)
    if not any(is_parallel):
        return isl.Map.lex_lt(space)
    before = isl.Map.empty(space.map_from_set())
    equal = isl.Map.universe(space.map_from_set())
    for d in range(depth):
        if not is_parallel[d]:
            before = before.union(equal.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d))
        equal = equal.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return coalesced(before)


# ---------------------------------------------------------------- happens-before relations


def _happens_before_order(program: Program, given: isl.UnionMap) -> Order:
    """Times [s, i, phase] that only tell instances apart, or [t, phase] if there is a schedule as well.

    The relation alone orders instances; the schedule names one of the executions. It is closed through the
    instances that run in every execution. Instances that come before each other both ways round never run
    together (DIY16 §3.2, the last of its four cases).
    """
    if program.exclusive is not None:
        # Of instances that never run together anything may be said.
        given = given.subtract(program.exclusive).subtract(program.exclusive.reverse())
    optional = program.may_not_run()
    sure = program.domain().subtract(optional)
    closure = close(given.intersect_domain(sure).intersect_range(sure))
    _check_cycles(program, closure, given.intersect_domain(sure).intersect_range(sure))
    never = isl.UnionMap.empty(given.get_space())
    if not optional.is_empty():
        closure = close_through(given, sure)
        both_ways = coalesced(closure.relation.intersect(closure.relation.reverse()))
        never = both_ways.subtract(program.domain().identity())
        closure = replace(closure, relation=closure.relation.subtract(both_ways))
    idle = never.intersect_domain(sure).range()
    coordinates = _instance_coordinates(program)
    if program.schedule is not None:
        is_one = program.schedule.is_injective()
        coordinates = program.schedule if is_one else program.schedule.flat_range_product(coordinates)
    phase = max((m.dim(isl.dim_type.out) for m in maps_of(coordinates)), default=0)
    space = coordinates.get_space().params().set_from_params().add_dims(isl.dim_type.set, phase)
    on_times = closure.relation.apply_domain(coordinates).apply_range(coordinates)
    on_times = on_times.extract_map(space.map_from_set())
    across = on_times.add_dims(isl.dim_type.in_, 1).add_dims(isl.dim_type.out, 1)
    inside = (
        isl.Map.identity(space.map_from_set()).add_dims(isl.dim_type.in_, 1).add_dims(isl.dim_type.out, 1)
    )
    inside = inside.order_lt(isl.dim_type.in_, phase, isl.dim_type.out, phase)
    before = coalesced(across.union(inside))
    notes: tuple[str, ...] = ()
    if not closure.is_exact:
        notes = ("happens_before has no exact closure; only a part of it is used",)
    if not idle.is_empty():
        text = f"{idle.sample_point()} comes before and after what always runs, so it never does"
        notes = (*notes, f"{text}; it is taken to run all the same")
    read_times, write_times = (_with_phase(coordinates, phase, k) for k in (0, 1))
    events = read_times.union(write_times).range().extract_set(before.get_space().domain())
    order = Order(
        read_times=read_times,
        write_times=write_times,
        before=before,
        is_total=False,
        is_swept=program.schedule is not None and on_times.is_subset(isl.Map.lex_lt(space)),
        notes=notes,
        events=events,
    )
    return order if never.is_empty() else _with_exclusive(order, never)


def _check_cycles(program: Program, closure: Closure, given: isl.UnionMap) -> None:
    """Raise where instances that surely run come before themselves."""
    cycle = closure.superset.intersect(program.domain().identity())
    if not closure.is_exact and not cycle.is_empty():
        cycle = _cycle_at_small_sizes(program, given)
    if not cycle.is_empty():
        raise InputError(f"happens_before has a cycle through {cycle.domain().sample_point()}")


def _cycle_at_small_sizes(program: Program, relation: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> S[i] }: instances that come before themselves at one of the smallest sizes.

    isl's closure is too large where it is not exact, so what it shows need not be a cycle; the relation
    itself is followed at a few sizes instead.
    """
    identity = program.domain().identity()
    sizes = relation.params()
    for _ in range(_FOLLOWED_SIZES):
        if sizes.is_empty():
            break
        here = fix_parameters(smallest_parameters(sizes))
        cycle = _follow(relation.intersect_params(here)).intersect(identity)
        if not cycle.is_empty():
            return cycle
        sizes = sizes.subtract(here)
    return isl.UnionMap.empty(relation.get_space())


def _follow(step: isl.UnionMap) -> isl.UnionMap:
    """The transitive closure of a finite relation."""
    reached = step
    while not (further := coalesced(reached.union(reached.apply_range(step)))).is_subset(reached):
        reached = further
    return reached


# ---------------------------------------------------------------- conditionals


def _with_exclusive(order: Order, exclusive: isl.UnionMap) -> Order:
    """The order in which some instances never run in the same execution.

    exclusive  { S[i] -> T[j] }  need not be symmetric
    """
    events = order.read_times.union(order.write_times)
    both = exclusive.union(exclusive.reverse())
    both = both.subtract(both.domain().identity())
    on_times = both.apply_domain(events).apply_range(events).extract_map(order.before.get_space())
    if order.exclusive is not None:
        on_times = on_times.union(order.exclusive)
    note = "some instances never run together; reads are taken to find a value all the same"
    notes = order.notes if note in order.notes else (*order.notes, note)
    return replace(order, is_total=False, is_swept=False, notes=notes, exclusive=coalesced(on_times))


# ---------------------------------------------------------------- critical sections


def _with_sections(order: Order, critical: isl.UnionMap) -> Order:
    """The order in which sections of one lock take turns (DIY16 §3.2, footnote 4).

    critical  { S[i] -> L[k] }
    """
    events = order.read_times.union(order.write_times)
    return replace(order, critical=tuple(maps_of(critical.apply_domain(events))))


def _other_section(section: isl.Map) -> isl.Map:
    """{ L[k] -> L[l] : k != l }."""
    space = section.get_space().range().map_from_set()
    return isl.Map.universe(space).subtract(isl.Map.identity(space))
