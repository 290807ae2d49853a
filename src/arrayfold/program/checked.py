"""Programs of isl objects or texts, checked: every tuple and array that is named is one that there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.base.spelling import did_you_mean
from arrayfold.exact.isl import (
    coalesced,
    fresh_names,
    is_bounded,
    maps_of,
    parameter_names,
    parameter_space,
    sets_of,
)
from arrayfold.exact.isl_text import read_isl
from arrayfold.exact.relations import union_of_sets

if TYPE_CHECKING:
    from arrayfold.program.model import Statement

Sets: TypeAlias = isl.UnionSet | isl.Set | str
Maps: TypeAlias = isl.UnionMap | isl.Map | str


def named_access(relation: isl.Map | str) -> tuple[str, isl.Map]:
    """The array that a relation { S[i] -> A[x] } names, and the relation."""
    parts = maps_of(union_map(relation, "the access"))
    if len(parts) != 1:
        found = "nothing" if not parts else "several pairs of tuples"
        raise InputError(f"an access relates one statement to one array, but {relation} relates {found}")
    (part,) = parts
    statement, array = (part.get_tuple_name(end) for end in (isl.dim_type.in_, isl.dim_type.out))
    if not statement or not array:
        missing = "statement" if not statement else "array"
        raise InputError(
            f"the {missing} of an access has no name: {relation}", hint="Write { S[i] -> A[i] }."
        )
    return array, part


def named_domain(domain: isl.Set | str) -> tuple[str, isl.Set]:
    """The statement of a set of instances { S[i] }, and the set."""
    parts = sets_of(union_set(domain, "the domain"))
    if len(parts) != 1 or not parts[0].get_tuple_name():
        hint = "Write { S[i] : 0 <= i < 10 }; each statement has a domain of its own."
        raise InputError(
            f"a domain holds instances of one statement with a name, but it is {domain}", hint=hint
        )
    (instances,) = parts
    name = instances.get_tuple_name()
    assert name is not None
    if not is_bounded(instances):
        raise InputError(f"the domain of {name} is not bounded: {instances}")
    return name, instances


@dataclass(frozen=True, eq=False)
class CheckedParts:
    """The parts of a program, in which all that is named is there, at the sizes of its context.

    arrays          name -> names of dimensions, and cells { A[x] }
    schedule        { S[i] -> [t] }  None if there is happens_before
    happens_before  { S[i] -> T[j] }  None if there is a schedule
    live            what there is before, and what is needed afterwards { A[x] }
    """

    context: isl.Set
    statements: Sequence[Statement]
    arrays: Mapping[str, tuple[tuple[str, ...], isl.Set]]
    schedule: isl.UnionMap | None
    happens_before: isl.UnionMap | None
    live: tuple[isl.UnionSet, isl.UnionSet]


def checked_parts(
    statements: Sequence[Statement],
    order: tuple[Maps | None, Maps | None],
    context: isl.Set | str,
    live: tuple[Sets, Sets],
    dimensions: Mapping[str, Sequence[str]],
) -> CheckedParts:
    """The parts of a program whose arrays are those that its statements access; see `Program.of`.

    order  the schedule, or what happens before what
    live   what there is before, and what is needed afterwards
    """
    if not statements:
        raise InputError("a program needs a statement")
    known = read_isl(isl.Set, SourceText.of(context, "the context")) if isinstance(context, str) else context
    if not known.is_params():
        hint = 'For example "[N] -> { : N >= 3 }".'
        raise InputError(f"the context may mention only parameters: {known}", hint=hint)
    schedule = None if order[0] is None else union_map(order[0], "the schedule")
    before = None if order[1] is None else union_map(order[1], "happens_before")
    if (before is None) == (schedule is None):
        raise InputError("the order is either a schedule or a relation happens_before")
    ends = {key: union_set(one, key) for key, one in zip(("live_in", "live_out"), live, strict=True)}
    accesses = [access for statement in statements for access in statement.accesses]
    items = [known, *_domains(statements).values(), *(one.relation for one in accesses), *ends.values()]
    items += [one for one in (before, schedule) if one is not None]
    space = parameter_space([])
    for item in items:
        space = space.align_params(item.get_space().params())
    known = known.align_params(space)
    if known.is_empty():
        raise InputError(f"no parameter value satisfies the context {known}")
    statements = [_in_context(one, known, space) for one in statements]
    domains = _domains(statements)
    live_in, live_out = (one.align_params(space).intersect_params(known) for one in ends.values())
    return CheckedParts(
        known,
        statements,
        _arrays(statements, ends, known, dimensions),
        None if schedule is None else _checked_schedule(schedule.align_params(space), domains),
        None if before is None else _checked_relation(before.align_params(space), domains),
        (live_in, live_out),
    )


def check_levels(schedule: isl.UnionMap | None, levels: Iterable[int]) -> None:
    """Raise for dimensions that a schedule does not have."""
    parts = [] if schedule is None else maps_of(schedule)
    depth = max((part.dim(isl.dim_type.out) for part in parts), default=0)
    for level in levels:
        if not 0 <= level < depth:
            raise InputError(
                f"the schedule has {depth} dimensions, counted from 0; there is no parallel {level}"
            )


def union_map(item: Maps, what: str) -> isl.UnionMap:
    """A relation, read if it is text."""
    if isinstance(item, str):
        return read_isl(isl.UnionMap, SourceText.of(item, what))
    return item if isinstance(item, isl.UnionMap) else isl.UnionMap.from_map(item)


def union_set(item: Sets, what: str) -> isl.UnionSet:
    """A set, read if it is text."""
    if isinstance(item, str):
        return read_isl(isl.UnionSet, SourceText.of(item, what))
    return item if isinstance(item, isl.UnionSet) else isl.UnionSet.from_set(item)


def _domains(statements: Iterable[Statement]) -> dict[str, isl.Set]:
    found: dict[str, isl.Set] = {}
    for statement in statements:
        if statement.name in found:
            raise InputError(f"there are two statements {statement.name}")
        found[statement.name] = statement.domain
    return found


def _in_context(statement: Statement, context: isl.Set, space: isl.Space) -> Statement:
    accesses = (
        replace(one, relation=one.relation.align_params(space).intersect_params(context))
        for one in statement.accesses
    )
    domain = coalesced(statement.domain.align_params(space).intersect_params(context))
    return replace(statement, domain=domain, accesses=tuple(accesses))


def _arrays(
    statements: Sequence[Statement],
    live: Mapping[str, isl.UnionSet],
    context: isl.Set,
    dimensions: Mapping[str, Sequence[str]],
) -> dict[str, tuple[tuple[str, ...], isl.Set]]:
    """The arrays that are accessed, with names of their dimensions and all their cells."""
    cells: dict[str, isl.Set] = {}
    for statement in statements:
        for access in statement.accesses:
            found = access.relation.range()
            if access.array in cells:
                _check_rank(f"an access of {statement.name}", found, cells[access.array])
                found = found.union(cells[access.array])
            cells[access.array] = found
    for key, groups in live.items():
        for group in sets_of(groups):
            name = check_array(key, group.get_tuple_name() or "(unnamed)", cells)
            _check_rank(key, group, cells[name])
            if is_bounded(group):
                cells[name] = cells[name].union(
                    group.align_params(context.get_space()).intersect_params(context)
                )
    for name in dimensions:
        check_array("dimensions", name, cells)
    arrays: dict[str, tuple[tuple[str, ...], isl.Set]] = {}
    for name, group in cells.items():
        rank = group.dim(isl.dim_type.set)
        own = dimensions.get(name) or _own_names(name, rank, statements, parameter_names(context))
        names = tuple(own)
        if len(names) != rank or len(set(names)) != rank:
            raise InputError(f"{name} has {rank} dimensions, which need as many different names, not {names}")
        if not is_bounded(group):
            raise InputError(f"the cells of {name} that are accessed are not bounded: {group}")
        arrays[name] = names, coalesced(group)
    return arrays


def _own_names(name: str, rank: int, statements: Iterable[Statement], taken: Collection[str]) -> list[str]:
    """The iterators of a statement whose instances access cells of their own numbers, or new names."""
    for statement in statements:
        for access in statement.accesses:
            names = statement.iterators
            if access.array == name and len(names) == rank and not {*names} & {*taken}:
                relation = access.relation
                for end in (isl.dim_type.in_, isl.dim_type.out):
                    relation = relation.set_tuple_name(end, "same")
                if relation.is_subset(isl.Map.identity(relation.get_space())):
                    return names
    return fresh_names("i", rank, taken)


def _checked_schedule(schedule: isl.UnionMap, domains: Mapping[str, isl.Set]) -> isl.UnionMap:
    """The schedule on the domains: one time for every instance, times of one length."""
    lengths: set[int] = set()
    found = isl.UnionMap.empty(schedule.get_space())
    for part in maps_of(schedule):
        name = check_tuple("the schedule", part, isl.dim_type.in_, domains)
        times = part.reset_tuple_id(isl.dim_type.out).intersect_domain(domains[name])
        if not times.is_single_valued():
            raise InputError(f"the schedule gives some instance of {name} more than one time")
        lengths.add(times.dim(isl.dim_type.out))
        found = found.union(times)
    if len(lengths) > 1:
        raise InputError("times differ in length", hint="Pad the shorter ones with zeros.")
    for name, domain in domains.items():
        missing = isl.UnionSet.from_set(domain).subtract(found.domain())
        if not missing.is_empty():
            message = f"the schedule does not say when {name} runs, for example {missing.sample_point()}"
            raise InputError(message)
    return coalesced(found)


def _checked_relation(before: isl.UnionMap, domains: Mapping[str, isl.Set]) -> isl.UnionMap:
    """What happens before what, among the instances that there are."""
    for part in maps_of(before):
        for end in (isl.dim_type.in_, isl.dim_type.out):
            check_tuple("happens_before", part, end, domains)
    everything = union_of_sets(before.get_space(), domains.values())
    return before.intersect_domain(everything).intersect_range(everything)


def check_tuple(what: str, relation: isl.Map, end: isl.dim_type, domains: Mapping[str, isl.Set]) -> str:
    """The statement that a tuple names, of the same rank."""
    name = relation.get_tuple_name(end) or "(unnamed)"
    if name not in domains:
        hint = did_you_mean(name, domains) or f"The statements are: {', '.join(domains)}."
        raise InputError(f"{what} names a statement that there is not: {name!r}", hint=hint)
    rank, own = relation.dim(end), domains[name].dim(isl.dim_type.set)
    if rank != own:
        raise InputError(f"{what} gives {name} {rank} iterators, but its domain has {own}")
    return name


def check_array(what: str, name: str, arrays: Mapping[str, object]) -> str:
    """The name of an array that is accessed."""
    if name not in arrays:
        hint = did_you_mean(name, arrays) or f"The arrays are: {', '.join(arrays)}."
        raise InputError(f"{what} names an array that is never accessed: {name!r}", hint=hint)
    return name


def _check_rank(what: str, cells: isl.Set, others: isl.Set) -> None:
    rank, own = cells.dim(isl.dim_type.set), others.dim(isl.dim_type.set)
    if rank != own:
        name = cells.get_tuple_name()
        raise InputError(f"{what} gives {name} {rank} subscripts, but elsewhere it has {own}")
