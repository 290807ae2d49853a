"""Problem files: TOML whose values are isl notation -> Program or ConflictProblem, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import islpy as isl

from arrayfold.base.spelling import did_you_mean
from arrayfold.exact.isl import coalesced, maps_of, nonzero, origin, parameter_names, parameter_space, sets_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.toml.parts import ProblemParts, ProblemText
from arrayfold.frontends.toml.program import build_program
from arrayfold.program.guards import refuse_uncertain_loops
from arrayfold.program.model import Array, ConflictProblem, Problem, Program

_SETS = ("domain", "optional", "live_in", "live_out", "array", "differences")
_MAPS = (
    "write",
    "may_write",
    "read",
    "may_read",
    "schedule",
    "execution",
    "happens_before",
    "exclusive",
    "critical",
    "conflicts",
)
_KNOWN = ("context", *_SETS, *_MAPS, "temporary", "parallel", "tasks", "tiles")
_ORDERS = ("schedule", "tasks", "happens_before")
_OF_CONFLICTS = ("context", "conflicts", "differences", "array")


def read_problem(file: str, text: str) -> Problem:
    """The problem that a problem file states; every complaint points into the text."""
    return _build(ProblemText.read(file, text))


def read_json_problem(file: str, text: str) -> Problem:
    """The problem that `model --json` prints; complaints point at keys."""
    return _build(ProblemText.read_json(file, text))


def _build(problem: ProblemText) -> Problem:
    _check_keys(problem)
    parts = _read_parts(problem)
    return build_program(parts) if "domain" in parts.sets else _conflict_problem(parts)


def _check_keys(problem: ProblemText) -> None:
    for key in problem.values:
        if key not in _KNOWN:
            hint = did_you_mean(key, _KNOWN) or f"Known keys: {', '.join(_KNOWN)}."
            raise problem.error(f"unknown key {key!r}", key, hint)
    given = [key for key in ("conflicts", "differences") if key in problem.values]
    if len(given) == 2:
        raise problem.error("give either conflicts or differences, not both", "differences")
    if given:
        for key in problem.values:
            if key not in _OF_CONFLICTS:
                raise problem.error(
                    f"{key!r} belongs to a program, but this file gives {given[0]} instead", key
                )
    elif "domain" not in problem.values:
        hint = "A program needs domain, write and schedule; without a program give conflicts or differences."
        raise problem.error("there is neither a domain nor conflicts nor differences", None, hint)
    elif not any(key in problem.values for key in _ORDERS):
        hint = 'For example: schedule = "{ S[i, j] -> [i, j] }".'
        raise problem.error("the order is missing: give a schedule, tasks or happens_before", None, hint)
    if "schedule" in problem.values and "happens_before" in problem.values:
        hint = "An order that the relation allows can be given as execution."
        raise problem.error("give either a schedule or happens_before, not both", "happens_before", hint)
    if "schedule" in problem.values and "tasks" in problem.values:
        raise problem.error("give either a schedule or tasks, not both", "tasks")
    if "execution" in problem.values and "happens_before" not in problem.values:
        hint = "Without happens_before the order is a schedule."
        raise problem.error("execution belongs to happens_before", "execution", hint)
    if "execution" in problem.values and "tasks" in problem.values:
        raise problem.error("tasks are an execution themselves", "execution")


def _read_parts(problem: ProblemText) -> ProblemParts:
    sets = {key: read_isl(isl.UnionSet, problem.text(key)) for key in _SETS if key in problem.values}
    maps = {key: read_isl(isl.UnionMap, problem.text(key)) for key in _MAPS if key in problem.values}
    context = isl.Set("{ : }")
    if "context" in problem.values:
        context = read_isl(isl.Set, problem.text("context"))
        if not context.is_params():
            hint = "For example [N] -> { : N >= 3 }."
            raise problem.text("context").error("the context may mention only parameters", 0, hint)
    space = parameter_space([])
    for item in (context, *sets.values(), *maps.values()):
        space = space.align_params(item.get_space().params())
    context = context.align_params(space)
    if context.is_empty():
        raise problem.text("context").error("no parameter value satisfies the context")
    aligned = {key: item.align_params(space) for key, item in sets.items()}
    in_context = {key: item.intersect_params(context) for key, item in aligned.items() if key != "domain"}
    # A statement may have no instance in the context, and a union forgets sets that become empty.
    kept = {"domain": aligned["domain"]} if "domain" in aligned else {}
    return ProblemParts(
        problem,
        context,
        {**kept, **in_context},
        {key: item.align_params(space).intersect_params(context) for key, item in maps.items()},
    )


# ---------------------------------------------------------------- conflicts without a program


def _conflict_problem(parts: ProblemParts) -> ConflictProblem:
    """The conflicts as given, made symmetric and free of the zero difference."""
    ranks: dict[str, int] = {}
    pairs, mentioned = _pairs(parts, ranks)
    differences = _differences(parts, ranks)
    declared = _declared_cells(parts, ranks)
    if not ranks:
        key = "conflicts" if "conflicts" in parts.maps else "differences"
        hint = "Where nothing conflicts, name the array: array = ..."
        raise parts.error(f"{key} is empty and no array is declared", key, None, hint)
    for name, cells in declared.items():
        if "conflicts" in parts.maps:
            pairs.setdefault(name, isl.Map.empty(cells.get_space().map_from_set()))
        else:
            differences.setdefault(name, isl.Set.empty(cells.get_space()))
    arrays: list[Array] = []
    assumed: set[str] = set()
    for name, rank in ranks.items():
        cells = declared.get(name)
        if cells is None and name in mentioned:
            cells = mentioned[name]
        elif cells is None:
            cells = _box_of(differences[name])
            assumed.add(name)
        elif name in pairs and not pairs[name].domain().is_subset(cells):
            outside = pairs[name].domain().subtract(cells).sample_point()
            raise parts.error(f"conflicts mention a cell outside the array: {outside}", "conflicts", name)
        arrays.append(Array(name, parts.dimension_names(name, rank), coalesced(cells)))
    return ConflictProblem(
        parts.problem.file, parts.context, tuple(arrays), pairs, differences, frozenset(assumed)
    )


def _pairs(parts: ProblemParts, ranks: dict[str, int]) -> tuple[dict[str, isl.Map], dict[str, isl.Set]]:
    """The conflicts, symmetric and irreflexive, and the cells that they mention."""
    found: dict[str, isl.Map] = {}
    mentioned: dict[str, isl.Set] = {}
    for relation in maps_of(parts.map("conflicts")):
        names = [parts.note_rank("conflicts", side, ranks) for side in (relation.domain(), relation.range())]
        if names[0] != names[1]:
            message = f"conflicts relate cells of one array, not {names[0]} and {names[1]}"
            raise parts.error(message, "conflicts", names[0])
        symmetric = coalesced(relation.union(relation.reverse()))
        parts.check_bounded("conflicts", symmetric.domain(), f"the set of conflicting cells of {names[0]}")
        mentioned[names[0]] = symmetric.domain()
        found[names[0]] = coalesced(symmetric.subtract(isl.Map.identity(relation.get_space())))
    return found, mentioned


def _differences(parts: ProblemParts, ranks: dict[str, int]) -> dict[str, isl.Set]:
    found: dict[str, isl.Set] = {}
    for deltas in sets_of(parts.set("differences")):
        name = parts.note_rank("differences", deltas, ranks)
        parts.check_bounded("differences", deltas, f"the set of differences of {name}")
        found[name] = coalesced(deltas.union(deltas.neg()).intersect(nonzero(deltas.get_space())))
    return found


def _declared_cells(parts: ProblemParts, ranks: dict[str, int]) -> dict[str, isl.Set]:
    declared: dict[str, isl.Set] = {}
    known = tuple(ranks)
    for cells in sets_of(parts.set("array")):
        name = parts.note_rank("array", cells, ranks)
        if known and name not in known:
            message = f"array declares {name}, of which no conflict is given"
            raise parts.error(message, "array", name, did_you_mean(name, known))
        parts.check_bounded("array", cells, f"the array {name}")
        declared[name] = cells
    for name in known:
        # isl forgets sets that are empty.
        if name not in declared and "array" in parts.sets and parts.mentions("array", name):
            space = isl.Set(f"{{ {name}[{', '.join(f'x{k}' for k in range(ranks[name]))}] }}").get_space()
            declared[name] = isl.Set.empty(space).align_params(parts.context.get_space())
    return declared


def _box_of(differences: isl.Set) -> isl.Set:
    """The smallest box at the origin in which such differences occur; a cell where there are none."""
    space = differences.get_space()
    differences = differences.union(origin(space))
    box = isl.Set.universe(space)
    for k in range(differences.dim(isl.dim_type.set)):
        up_to = isl.Map.universe(space.map_from_set()).order_ge(isl.dim_type.in_, k, isl.dim_type.out, k)
        box = box.intersect(differences.apply(up_to)).lower_bound_val(isl.dim_type.set, k, isl.Val(0))
    return box


# ---------------------------------------------------------------- writing


def write_problem(problem: Problem) -> str:
    """A problem file that reads back as an equal problem."""
    lines = _program_lines(problem) if isinstance(problem, Program) else _conflict_lines(problem)
    width = max(len(key) for key, _ in lines)
    return "".join(f"{key:<{width}} = {value}\n" for key, value in lines)


def _program_lines(program: Program) -> list[tuple[str, str]]:
    refuse_uncertain_loops(program, "a problem file cannot say it")
    known = program.context
    domains = {statement.name: statement.domain for statement in program.statements}
    lines = [("context", f'"{known}"'), ("domain", _quote(known, domains.values()))]
    for key, writes in (("write", True), ("read", False)):
        for prefix, must in (("", True), ("may_", False)):
            relations = [
                access.relation.gist_domain(statement.domain)
                for statement in program.statements
                for access in statement.accesses
                if (access.is_write, access.is_must) == (writes, must) and not access.relation.is_empty()
            ]
            if relations:
                lines.append((prefix + key, _quote(known, relations)))
    order = "schedule" if program.happens_before is None else "execution"
    for key, relation in (
        (order, program.schedule),
        ("happens_before", program.happens_before),
        ("exclusive", program.exclusive),
        ("critical", program.critical),
    ):
        if relation is not None:
            lines.append((key, f'"{relation.gist_domain(program.domain())}"'))
    if program.optional is not None and not program.optional.is_empty():
        lines.append(("optional", f'"{program.optional.gist(program.domain())}"'))
    if program.tiles:
        sizes = ", ".join(f'"{size}"' for size in program.tiles)
        lines.append(("tiles", f"[{sizes}]"))
    if program.parallel:
        meanings = ", ".join(f'{dimension} = "{meaning}"' for dimension, meaning in program.parallel.items())
        lines.append(("parallel", f"{{ {meanings} }}"))
    if program.temporaries is not None:
        names = ", ".join(f'"{name}"' for name in program.temporaries)
        lines.append(("temporary", f"[{names}]"))
    for key, cells in (("live_in", program.live_in), ("live_out", program.live_out)):
        if not cells.is_empty():
            lines.append((key, f'"{cells.gist_params(known)}"'))
    return lines


def _conflict_lines(problem: ConflictProblem) -> list[tuple[str, str]]:
    known = problem.context
    lines = [("context", f'"{known}"'), ("array", _quote(known, (array.cells for array in problem.arrays)))]
    if problem.pairs:
        return [*lines, ("conflicts", _quote(known, problem.pairs.values()))]
    return [*lines, ("differences", _quote(known, problem.differences.values()))]


_Relation = TypeVar("_Relation", isl.Set, isl.Map)


def _quote(context: isl.Set, items: Iterable[_Relation]) -> str:
    """One union of sets or relations, in the given order, which isl's own unions do not keep."""
    prefix = f"[{', '.join(parameter_names(context))}] -> " if parameter_names(context) else ""
    inside = [_inside(coalesced(item.gist_params(context))) for item in items]
    return f'"{prefix}{{ {"; ".join(inside)} }}"'


def _inside(item: isl.Set | isl.Map) -> str:
    if item.is_empty():
        space = str(item.get_space())
        return f"{space[space.index('{') + 1 : space.rindex('}')].strip()} : false"
    text = str(item)
    return text[text.index("{") + 1 : text.rindex("}")].strip()
