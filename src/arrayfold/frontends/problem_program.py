"""The parts of a problem file that state a program -> Program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import islpy as isl

from arrayfold._isl import is_bounded, maps_of, sets_of, tuple_name
from arrayfold.frontends.problem_parts import ProblemParts, counted, did_you_mean
from arrayfold.program import Access, Array, Parallelism, Program, Statement

_ACCESS_KEYS = ("write", "may_write", "read", "may_read")


def build_program(parts: ProblemParts) -> Program:
    """The program, after every name, rank and bound was checked."""
    domains = _domains(parts)
    ranks = _array_ranks(parts, domains)
    statements = tuple(
        Statement(name, domain, _accesses(parts, name, domain)) for name, domain in domains.items()
    )
    touched = isl.UnionSet.empty(parts.context.get_space())
    for statement in statements:
        for access in statement.accesses:
            touched = touched.union(isl.UnionSet.from_set(access.relation.range()))
    live_in = _live_cells(parts, "live_in", ranks, touched)
    live_out = _live_cells(parts, "live_out", ranks, touched)
    cells = touched.union(live_in).union(live_out).coalesce()
    schedule, depth = _schedule(parts, domains)
    return Program(
        name=parts.problem.file,
        context=parts.context,
        statements=statements,
        arrays=tuple(
            Array(name, parts.dimension_names(name, rank), _cells_of(cells, name, rank))
            for name, rank in ranks.items()
        ),
        schedule=schedule,
        parallel=_parallel(parts, depth),
        happens_before=_happens_before(parts, domains) if schedule is None else None,
        live_in=live_in,
        live_out=live_out,
        temporaries=_temporaries(parts, ranks),
    )


def _domains(parts: ProblemParts) -> dict[str, isl.Set]:
    domains: dict[str, isl.Set] = {}
    for everywhere in sets_of(parts.set("domain")):
        domain = everywhere.intersect_params(parts.context)
        name = tuple_name(domain)
        if name is None:
            raise parts.error("instances need a statement name, as in { S[i] : ... }", "domain", None)
        if name in domains:
            message = f"statement {name} has instances with different numbers of iterators"
            raise parts.error(message, "domain", name)
        parts.check_bounded("domain", domain, f"the domain of {name}")
        domains[name] = domain.coalesce()
    if all(domain.is_empty() for domain in domains.values()):
        raise parts.error("the domain is empty: no statement has an instance", "domain", None)
    text = parts.problem.text("domain")
    return dict(sorted(domains.items(), key=lambda item: text.find(rf"\b{item[0]}\s*\[")))


def _array_ranks(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> dict[str, int]:
    """Arrays with their rank, in order of appearance."""
    ranks: dict[str, int] = {}
    appearance: dict[str, tuple[int, int]] = {}
    for number, key in enumerate(_ACCESS_KEYS):
        for relation in maps_of(parts.map(key)):
            name = relation.get_tuple_name(isl.dim_type.in_)
            parts.check_statement(key, name, relation.dim(isl.dim_type.in_), domains)
            array = parts.note_rank(key, relation.range(), ranks)
            appearance.setdefault(array, (number, parts.problem.text(key).find(rf"\b{array}\s*\[")))
    return dict(sorted(ranks.items(), key=lambda item: appearance[item[0]]))


def _accesses(parts: ProblemParts, name: str, domain: isl.Set) -> tuple[Access, ...]:
    found: list[Access] = []
    for key in _ACCESS_KEYS:
        for relation in maps_of(parts.map(key)):
            if relation.get_tuple_name(isl.dim_type.in_) == name:
                array = relation.get_tuple_name(isl.dim_type.out)
                assert array is not None
                clipped = relation.intersect_domain(domain).coalesce()
                parts.check_bounded(key, clipped.range(), f"what {name} accesses of {array}")
                found.append(Access(array, clipped, key.endswith("write"), not key.startswith("may")))
    return tuple(found)


def _live_cells(parts: ProblemParts, key: str, ranks: dict[str, int], touched: isl.UnionSet) -> isl.UnionSet:
    """The cells under `live_in` or `live_out`; where they are unbounded, those that the program touches."""
    cells = parts.set(key)
    for group in sets_of(cells):
        name = group.get_tuple_name()
        if name not in ranks:
            message = f"{key} names an array that is never accessed: {name or '(unnamed)'}"
            raise parts.error(message, key, name, did_you_mean(name or "", ranks))
        parts.note_rank(key, group, ranks)
    bounded = all(is_bounded(group) for group in sets_of(cells))
    return cells if bounded else cells.intersect(touched)


def _cells_of(cells: isl.UnionSet, name: str, rank: int) -> isl.Set:
    for group in sets_of(cells):
        if group.get_tuple_name() == name:
            return group
    space = cells.get_space().set_from_params().add_dims(isl.dim_type.set, rank)
    return isl.Set.empty(space.set_tuple_name(isl.dim_type.set, name))


def _schedule(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> tuple[isl.UnionMap | None, int]:
    """The schedule on the domain, { S[i] -> [t] }, and its number of dimensions."""
    if "schedule" not in parts.maps:
        return None, 0
    schedule = isl.UnionMap.empty(parts.context.get_space())
    depths: dict[str, int] = {}
    for relation in maps_of(parts.map("schedule")):
        name = relation.get_tuple_name(isl.dim_type.in_)
        domain = parts.check_statement("schedule", name, relation.dim(isl.dim_type.in_), domains)
        times = relation.reset_tuple_id(isl.dim_type.out).intersect_domain(domain)
        if not times.is_single_valued():
            message = f"the schedule gives some instance of {name} more than one time"
            raise parts.error(message, "schedule", name)
        if name in depths:
            raise parts.error(f"the times of {name} differ in length", "schedule", name)
        depths[str(name)] = times.dim(isl.dim_type.out)
        schedule = schedule.union(isl.UnionMap.from_map(times))
    depth = max(depths.values(), default=0)
    for name, domain in domains.items():
        missing = isl.UnionSet.from_set(domain).subtract(schedule.domain())
        if not missing.is_empty():
            message = f"the schedule does not say when {name} runs, for example {missing.sample_point()}"
            raise parts.error(message, "schedule", name if name in depths else None)
        if depths.get(name, depth) != depth:
            own = counted(depths[name], "dimension")
            message = f"times differ in length: that of {name} has {own}, others have {depth}"
            raise parts.error(message, "schedule", name, "Pad the shorter ones with zeros.")
    return schedule.coalesce(), depth


def _happens_before(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> isl.UnionMap:
    before = isl.UnionMap.empty(parts.context.get_space())
    for relation in maps_of(parts.map("happens_before")):
        ends = [
            parts.check_statement(
                "happens_before", relation.get_tuple_name(side), relation.dim(side), domains
            )
            for side in (isl.dim_type.in_, isl.dim_type.out)
        ]
        clipped = relation.intersect_domain(ends[0]).intersect_range(ends[1])
        before = before.union(isl.UnionMap.from_map(clipped))
    return before.coalesce()


def _temporaries(parts: ProblemParts, ranks: Mapping[str, int]) -> tuple[str, ...] | None:
    names: Any = parts.problem.values.get("temporary")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in cast("list[Any]", names)):
        raise parts.problem.error('temporary is a list of array names: temporary = ["A"]', "temporary")
    chosen = cast("list[str]", names)
    for name in chosen:
        if name not in ranks:
            message = f"temporary names an array that is never accessed: {name!r}"
            raise parts.problem.error(message, "temporary", did_you_mean(name, ranks))
    return tuple(dict.fromkeys(chosen))


def _parallel(parts: ProblemParts, depth: int) -> dict[int, Parallelism]:
    given: Any = parts.problem.values.get("parallel", {})
    if not isinstance(given, dict):
        raise parts.problem.error('parallel is a table: parallel = { 1 = "doall" }', "parallel")
    meanings: dict[int, Parallelism] = {}
    for key, meaning in cast("dict[str, Any]", given).items():
        if meaning not in ("doall", "forall"):
            message = f'parallel dimension {key} is "doall" or "forall", not {meaning!r}'
            raise parts.problem.error(message, "parallel")
        if "schedule" not in parts.maps:
            raise parts.problem.error("parallel speaks of the schedule, but there is none", "parallel")
        if not (key.isascii() and key.isdigit()) or int(key) >= depth:
            dimensions = counted(depth, "dimension")
            message = f"the schedule has {dimensions}, counted from 0; there is no parallel dimension {key}"
            raise parts.problem.error(message, "parallel")
        meanings[int(key)] = meaning
    first = min((d for d, meaning in meanings.items() if meaning == "forall"), default=depth)
    for inner in range(first, depth):
        if meanings.get(inner) != "forall":
            message = f"forall dimension {first} is not innermost: dimension {inner} inside it is not forall"
            hint = 'Use "doall", or make every inner dimension forall.'
            raise parts.problem.error(message, "parallel", hint)
    return meanings
