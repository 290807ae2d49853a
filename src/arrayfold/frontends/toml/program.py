"""The parts of a problem file that state a program -> Program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import islpy as isl

from arrayfold.base.spelling import did_you_mean
from arrayfold.exact.isl import coalesced, is_bounded, maps_of, parameter_names, sets_of, tuple_name
from arrayfold.exact.relations import union_of_sets
from arrayfold.frontends.toml.parts import ProblemParts, counted
from arrayfold.frontends.toml.task_language import find_occurrences
from arrayfold.order.tasks import Occurrence, happens_before, textual_schedule
from arrayfold.order.tiles import ANY_SIZE
from arrayfold.program.model import Access, Array, Parallelism, Program, Statement

_ACCESS_KEYS = ("write", "may_write", "read", "may_read")


def build_program(parts: ProblemParts) -> Program:
    """The program, after every name, rank and bound was checked."""
    domains = _domains(parts)
    ranks = _array_ranks(parts, domains)
    optional = _optional(parts, domains)
    statements = tuple(
        Statement(name, domain, _accesses(parts, name, domain, optional)) for name, domain in domains.items()
    )
    ranges = (access.relation.range() for statement in statements for access in statement.accesses)
    touched = union_of_sets(parts.context.get_space(), ranges)
    live_in = _live_cells(parts, "live_in", ranks, touched)
    live_out = _live_cells(parts, "live_out", ranks, touched)
    cells = coalesced(touched.union(live_in).union(live_out))
    schedule, before = _order(parts, domains)
    depth = max((part.dim(isl.dim_type.out) for part in maps_of(schedule)), default=0) if schedule else 0
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
        happens_before=before,
        live_in=live_in,
        live_out=live_out,
        temporaries=_temporaries(parts, ranks),
        exclusive=_relation(parts, "exclusive", domains) if "exclusive" in parts.maps else None,
        critical=_critical(parts, domains),
        optional=optional,
        tiles=_tiles(parts, depth),
    )


def _order(
    parts: ProblemParts, domains: Mapping[str, isl.Set]
) -> tuple[isl.UnionMap | None, isl.UnionMap | None]:
    """The schedule and the happens-before relation, one of them or both."""
    if "tasks" in parts.problem.values:
        schedule, before = _tasks(parts, domains)
        if "happens_before" not in parts.maps:
            return schedule, before
        before = coalesced(before.union(_relation(parts, "happens_before", domains)))
        violated = before.subtract(schedule.lex_lt_union_map(schedule))
        return None if not violated.is_empty() else schedule, before
    if "happens_before" not in parts.maps:
        return _schedule(parts, "schedule", domains), None
    before = _relation(parts, "happens_before", domains)
    if "execution" not in parts.maps:
        return None, before
    execution = _schedule(parts, "execution", domains)
    violated = before.subtract(execution.lex_lt_union_map(execution))
    if not violated.is_empty():
        first, second = violated.domain().sample_point(), violated.range().sample_point()
        message = f"the execution breaks happens_before, for example between {first} and {second}"
        raise parts.error(message, "execution", None)
    return execution, before


def _tasks(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The tasks as written, { S[i] -> [t] }, and what surely runs before what, { S[i] -> T[j] }."""
    text = parts.problem.text("tasks")
    space = parts.context.get_space()
    occurrences: list[Occurrence] = []
    for found in find_occurrences(text, parameter_names(parts.context)):
        name, rank = found.instances.get_tuple_name(isl.dim_type.out), found.instances.dim(isl.dim_type.out)
        domain = parts.check_statement("tasks", name, rank, domains)
        clipped = found.instances.align_params(space).intersect_range(domain)
        if not clipped.reverse().is_single_valued():
            raise parts.error(f"some instance of {name} would run twice", "tasks", name)
        occurrences.append(Occurrence(found.path, clipped))
    schedule = textual_schedule(occurrences, space)
    for name, domain in domains.items():
        instances = isl.UnionSet.from_set(domain)
        missing = instances.subtract(schedule.domain())
        if not missing.is_empty():
            message = f"no task runs {name}, for example {missing.sample_point()}"
            raise parts.error(message, "tasks", name if text.find(rf"\b{name}\s*\[") else None)
        if not schedule.intersect_domain(instances).is_single_valued():
            raise parts.error(f"some instance of {name} would run twice", "tasks", name)
    return schedule, happens_before(occurrences, space)


def _tiles(parts: ProblemParts, depth: int) -> tuple[str, ...]:
    given: Any = parts.problem.values.get("tiles", [])
    items = cast("list[Any]", given) if isinstance(given, list) else [None]
    if not all(isinstance(size, int | str) for size in items):
        raise parts.problem.error('tiles is a list of sizes: tiles = ["T", 32, "any"]', "tiles")
    sizes = tuple(map(str, items))
    if sizes and ("schedule" not in parts.maps or "parallel" in parts.problem.values):
        raise parts.problem.error("tiles cut a schedule without parallel dimensions", "tiles")
    if len(sizes) > depth:
        found = counted(depth, "dimension")
        raise parts.problem.error(f"there are {len(sizes)} tile sizes, but the schedule has {found}", "tiles")
    for size in sizes:
        if size != ANY_SIZE:
            _check_tile_size(parts, size)
    return sizes


def _check_tile_size(parts: ProblemParts, size: str) -> None:
    names = ", ".join(parameter_names(parts.context))
    hint = 'A size is a positive number, a parameter, or "any".'
    try:
        too_small = isl.Set(f"[{names}] -> {{ : ({size}) < 1 }}")
    except isl.Error:
        raise parts.problem.error(f"{size!r} is not a tile size", "tiles", hint) from None
    if not parts.context.intersect(too_small).is_empty():
        raise parts.problem.error(f"the size {size} of a tile is not always positive", "tiles", hint)


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
        domains[name] = coalesced(domain)
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


def _optional(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> isl.UnionSet | None:
    """The instances that need not run, { S[i] }."""
    if "optional" not in parts.sets:
        return None
    total = isl.UnionSet.empty(parts.context.get_space())
    for group in sets_of(parts.set("optional")):
        domain = parts.check_statement("optional", tuple_name(group), group.dim(isl.dim_type.set), domains)
        total = total.union(group.intersect(domain))
    return coalesced(total)


def _critical(parts: ProblemParts, domains: Mapping[str, isl.Set]) -> isl.UnionMap | None:
    """The sections of instances under locks, { S[i] -> L[k] }; one instance has one section of a lock."""
    if "critical" not in parts.maps:
        return None
    total = isl.UnionMap.empty(parts.context.get_space())
    for relation in maps_of(parts.map("critical")):
        name, rank = relation.get_tuple_name(isl.dim_type.in_), relation.dim(isl.dim_type.in_)
        inside = relation.intersect_domain(parts.check_statement("critical", name, rank, domains))
        if not relation.has_tuple_name(isl.dim_type.out):
            raise parts.error(
                "a critical section has no lock; it is written as in S[i] -> lock[i]", "critical", name
            )
        if not inside.is_single_valued():
            raise parts.error(f"some instance of {name} is in two sections under one lock", "critical", name)
        total = total.union(isl.UnionMap.from_map(inside))
    return coalesced(total)


def _accesses(
    parts: ProblemParts, name: str, domain: isl.Set, optional: isl.UnionSet | None
) -> tuple[Access, ...]:
    """What a statement reads and writes; an instance that need not run surely writes nothing."""
    found: list[Access] = []
    unsure = domain.subtract(domain) if optional is None else optional.extract_set(domain.get_space())
    for key in _ACCESS_KEYS:
        for relation in maps_of(parts.map(key)):
            if relation.get_tuple_name(isl.dim_type.in_) == name:
                array = relation.get_tuple_name(isl.dim_type.out)
                assert array is not None
                clipped = coalesced(relation.intersect_domain(domain))
                parts.check_bounded(key, clipped.range(), f"what {name} accesses of {array}")
                if key == "write" and not (maybe := clipped.intersect_domain(unsure)).is_empty():
                    found.append(Access(array, coalesced(maybe), is_write=True, is_must=False))
                    clipped = coalesced(clipped.subtract_domain(unsure))
                    if clipped.is_empty():
                        continue
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
    space = cells.get_space().set_from_params().add_dims(isl.dim_type.set, rank)
    return cells.extract_set(space.set_tuple_name(isl.dim_type.set, name))


def _schedule(parts: ProblemParts, key: str, domains: Mapping[str, isl.Set]) -> isl.UnionMap:
    """The schedule on the domain, { S[i] -> [t] }."""
    schedule = isl.UnionMap.empty(parts.context.get_space())
    depths: dict[str, int] = {}
    for relation in maps_of(parts.map(key)):
        name = relation.get_tuple_name(isl.dim_type.in_)
        domain = parts.check_statement(key, name, relation.dim(isl.dim_type.in_), domains)
        times = relation.reset_tuple_id(isl.dim_type.out).intersect_domain(domain)
        if not times.is_single_valued():
            message = f"the {key} gives some instance of {name} more than one time"
            raise parts.error(message, key, name)
        if name in depths:
            raise parts.error(f"the times of {name} differ in length", key, name)
        depths[str(name)] = times.dim(isl.dim_type.out)
        schedule = schedule.union(isl.UnionMap.from_map(times))
    depth = max(depths.values(), default=0)
    for name, domain in domains.items():
        missing = isl.UnionSet.from_set(domain).subtract(schedule.domain())
        if not missing.is_empty():
            message = f"the {key} does not say when {name} runs, for example {missing.sample_point()}"
            raise parts.error(message, key, name if name in depths else None)
        if depths.get(name, depth) != depth:
            own = counted(depths[name], "dimension")
            message = f"times differ in length: that of {name} has {own}, others have {depth}"
            raise parts.error(message, key, name, "Pad the shorter ones with zeros.")
    return coalesced(schedule)


def _relation(parts: ProblemParts, key: str, domains: Mapping[str, isl.Set]) -> isl.UnionMap:
    """A relation on the instances, { S[i] -> T[j] }."""
    total = isl.UnionMap.empty(parts.context.get_space())
    for relation in maps_of(parts.map(key)):
        ends = [
            parts.check_statement(key, relation.get_tuple_name(side), relation.dim(side), domains)
            for side in (isl.dim_type.in_, isl.dim_type.out)
        ]
        inside = relation.intersect_domain(ends[0]).intersect_range(ends[1])
        total = total.union(isl.UnionMap.from_map(inside))
    return coalesced(total)


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
            raise parts.problem.error("parallel refers to the schedule, but there is none", "parallel")
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
