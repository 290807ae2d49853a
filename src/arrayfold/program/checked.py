"""Programs of isl objects or texts, checked: every tuple and array that is named is one that there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

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
from arrayfold.program.model import Access, Array, Parallelism, Program, Statement

Sets: TypeAlias = isl.UnionSet | isl.Set | str
Maps: TypeAlias = isl.UnionMap | isl.Map | str


def access_of(relation: isl.Map | str, *, is_write: bool, is_must: bool) -> Access:
    """An access of the array that the relation { S[i] -> A[x] } names."""
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
    return Access(array, part, is_write, is_must)


def statement_of(
    domain: isl.Set | str,
    writes: Sequence[isl.Map | str],
    reads: Sequence[isl.Map | str],
    may_writes: Sequence[isl.Map | str],
) -> Statement:
    """A statement with the instances { S[i] }, and accesses { S[i] -> A[x] } clipped to them."""
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
    found = [access_of(one, is_write=True, is_must=True) for one in writes]
    found += [access_of(one, is_write=True, is_must=False) for one in may_writes]
    found += [access_of(one, is_write=False, is_must=True) for one in reads]
    for access in found:
        _check_tuple(f"an access of {access.array}", access.relation, isl.dim_type.in_, {name: instances})
    clipped = (
        Access(one.array, coalesced(one.relation.intersect_domain(instances)), one.is_write, one.is_must)
        for one in found
    )
    return Statement(name, instances, tuple(clipped))


def program_of(
    name: str,
    statements: Sequence[Statement],
    *,
    schedule: Maps | None,
    happens_before: Maps | None,
    context: isl.Set | str,
    live_in: Sets,
    live_out: Sets,
    temporaries: Sequence[str] | None,
    parallel: Mapping[int, Parallelism],
    dimensions: Mapping[str, Sequence[str]],
) -> Program:
    """A program whose arrays are those that its statements access; see `Program.of`."""
    if not statements:
        raise InputError("a program needs a statement")
    known = read_isl(isl.Set, SourceText.of(context, "the context")) if isinstance(context, str) else context
    if not known.is_params():
        hint = 'For example "[N] -> { : N >= 3 }".'
        raise InputError(f"the context may mention only parameters: {known}", hint=hint)
    domains = _domains(statements)
    before = None if happens_before is None else union_map(happens_before, "happens_before")
    order = None if schedule is None else union_map(schedule, "the schedule")
    if (before is None) == (order is None):
        raise InputError("the order is either a schedule or a relation happens_before")
    live = {"live_in": union_set(live_in, "live_in"), "live_out": union_set(live_out, "live_out")}
    accesses = [access for statement in statements for access in statement.accesses]
    items = [known, *domains.values(), *(access.relation for access in accesses), *live.values()]
    items += [one for one in (before, order) if one is not None]
    space = parameter_space([])
    for item in items:
        space = space.align_params(item.get_space().params())
    known = known.align_params(space)
    if known.is_empty():
        raise InputError(f"no parameter value satisfies the context {known}")
    statements = [_in_context(one, known, space) for one in statements]
    domains = _domains(statements)
    arrays = _arrays(statements, live, known, dimensions)
    for what in temporaries or ():
        _check_array("temporaries", what, arrays)
    if order is not None:
        order = _checked_schedule(order.align_params(space), domains)
    if before is not None:
        for part in maps_of(before):
            for end in (isl.dim_type.in_, isl.dim_type.out):
                _check_tuple("happens_before", part, end, domains)
        everything = union_of_sets(space, domains.values())
        before = before.align_params(space).intersect_domain(everything).intersect_range(everything)
    depth = max((part.dim(isl.dim_type.out) for part in maps_of(order)), default=0) if order else 0
    for level in parallel:
        if not 0 <= level < depth:
            raise InputError(
                f"the schedule has {depth} dimensions, counted from 0; there is no parallel {level}"
            )
    return Program(
        name=name,
        context=known,
        statements=tuple(statements),
        arrays=tuple(arrays.values()),
        schedule=order,
        parallel=dict(parallel),
        happens_before=before,
        live_in=live["live_in"].align_params(space).intersect_params(known),
        live_out=live["live_out"].align_params(space).intersect_params(known),
        temporaries=None if temporaries is None else tuple(dict.fromkeys(temporaries)),
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
        Access(
            one.array, one.relation.align_params(space).intersect_params(context), one.is_write, one.is_must
        )
        for one in statement.accesses
    )
    domain = coalesced(statement.domain.align_params(space).intersect_params(context))
    return Statement(statement.name, domain, tuple(accesses))


def _arrays(
    statements: Sequence[Statement],
    live: Mapping[str, isl.UnionSet],
    context: isl.Set,
    dimensions: Mapping[str, Sequence[str]],
) -> dict[str, Array]:
    """The arrays that are accessed, with all their cells."""
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
            name = _check_array(key, group.get_tuple_name() or "(unnamed)", cells)
            _check_rank(key, group, cells[name])
            if is_bounded(group):
                cells[name] = cells[name].union(
                    group.align_params(context.get_space()).intersect_params(context)
                )
    for name in dimensions:
        _check_array("dimensions", name, cells)
    arrays: dict[str, Array] = {}
    for name, group in cells.items():
        rank = group.dim(isl.dim_type.set)
        own = dimensions.get(name) or _own_names(name, rank, statements, parameter_names(context))
        names = tuple(own)
        if len(names) != rank or len(set(names)) != rank:
            raise InputError(f"{name} has {rank} dimensions, which need as many different names, not {names}")
        if not is_bounded(group):
            raise InputError(f"the cells of {name} that are accessed are not bounded: {group}")
        arrays[name] = Array(name, names, coalesced(group))
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
        name = _check_tuple("the schedule", part, isl.dim_type.in_, domains)
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


def _check_tuple(what: str, relation: isl.Map, end: isl.dim_type, domains: Mapping[str, isl.Set]) -> str:
    """The statement that a tuple names, of the same rank."""
    name = relation.get_tuple_name(end) or "(unnamed)"
    if name not in domains:
        hint = did_you_mean(name, domains) or f"The statements are: {', '.join(domains)}."
        raise InputError(f"{what} names a statement that there is not: {name!r}", hint=hint)
    rank, own = relation.dim(end), domains[name].dim(isl.dim_type.set)
    if rank != own:
        raise InputError(f"{what} gives {name} {rank} iterators, but its domain has {own}")
    return name


def _check_array(what: str, name: str, arrays: Mapping[str, object]) -> str:
    if name not in arrays:
        hint = did_you_mean(name, arrays) or f"The arrays are: {', '.join(arrays)}."
        raise InputError(f"{what} names an array that is never accessed: {name!r}", hint=hint)
    return name


def _check_rank(what: str, cells: isl.Set, others: isl.Set) -> None:
    rank, own = cells.dim(isl.dim_type.set), others.dim(isl.dim_type.set)
    if rank != own:
        name = cells.get_tuple_name()
        raise InputError(f"{what} gives {name} {rank} subscripts, but elsewhere it has {own}")
