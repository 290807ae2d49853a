"""The parts of a problem file that state conflicts without a program -> ConflictProblem."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_of, nonzero, origin, sets_of
from arrayfold.frontends.toml.parts import ProblemParts, did_you_mean
from arrayfold.program.model import Array, ConflictProblem


def build_conflict_problem(parts: ProblemParts) -> ConflictProblem:
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
