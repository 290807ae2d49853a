"""An order that brings producers and consumers together, found by isl's scheduler."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_of, sets_of
from arrayfold.program.model import Program

_FUSING = {"whole_component": 1, "maximize_band_depth": 1, "serialize_sccs": 0, "outer_coincidence": 0}


@dataclass(frozen=True, eq=False)
class _TreePath:
    """The way from the root of a schedule tree to some instances of one statement.

    instances  { S[i] }
    loops      { S[i] -> [t] } each, from the outermost one inwards
    places     positions in sequences: places[k] in front of loops[k], one more after the last one
    """

    instances: isl.UnionSet
    loops: tuple[isl.UnionMap, ...] = ()
    places: tuple[tuple[int, ...], ...] = field(default=((),))

    def among(self, instances: isl.UnionSet) -> _TreePath:
        return _TreePath(instances, self.loops, self.places)

    def inside_loop(self, loop: isl.UnionMap) -> _TreePath:
        return _TreePath(self.instances, (*self.loops, loop), (*self.places, ()))

    def at_place(self, place: int) -> _TreePath:
        return _TreePath(self.instances, self.loops, (*self.places[:-1], (*self.places[-1], place)))


def fused_schedule(program: Program, dependences: isl.UnionMap, flows: isl.UnionMap) -> isl.UnionMap:
    """An order that keeps the dependences and makes the flows short.

    dependences  { S[i] -> T[j] }  S[i] must run first
    flows        { S[i] -> T[j] }  T[j] reads what S[i] writes
    result       { S[i] -> [t] }   every instance has a time of its own, all of one length

    isl minimises the distance of flows in each loop (the algorithm of Pluto) and fuses whole components:
    loops that depend on each other stay together, shifted and skewed where that is needed.
    """
    try:
        tree = _schedule_tree(program, dependences, flows, _FUSING)
    except isl.Error:
        # isl carries each convex piece as a whole and gives up on one that no loop carries; what a single
        # dimension of the order as written carries is never one of these. Nor may it refuse a loop that
        # counts through two short ones.
        pieces = _by_dimension(program, dependences)
        tree = _schedule_tree(program, pieces, flows, {**_FUSING, "treat_coalescing": 0})
    order = {statement.name: number for number, statement in enumerate(program.statements)}
    return _flatten(_paths(tree.get_root(), _TreePath(tree.get_domain()), order))


def _schedule_tree(
    program: Program, dependences: isl.UnionMap, flows: isl.UnionMap, options: Mapping[str, int]
) -> isl.Schedule:
    # Every relation holds the context itself: given apart, isl drops it there and fails to carry some.
    constraints = isl.ScheduleConstraints.on_domain(program.domain().intersect_params(program.context))
    constraints = constraints.set_validity(dependences).set_proximity(flows)
    with _options(options):
        return constraints.compute_schedule()


def _by_dimension(program: Program, dependences: isl.UnionMap) -> isl.UnionMap:
    """The dependences in pieces: one for each dimension in which the program's own times first differ."""
    assert program.schedule is not None
    times = program.schedule
    depth = max(part.dim(isl.dim_type.out) for part in maps_of(times))
    space = times.get_space().params().set_from_params().add_dims(isl.dim_type.set, depth).map_from_set()
    equal = isl.Map.universe(space)
    pieces = isl.UnionMap.empty(times.get_space())
    for d in range(depth):
        differs = isl.UnionMap.from_map(equal.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d))
        carried = times.apply_range(differs).apply_range(times.reverse())
        pieces = pieces.union(coalesced(dependences.intersect(carried)))
        equal = equal.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return pieces.union(dependences.subtract(pieces))


@contextmanager
def _options(values: Mapping[str, int]) -> Generator[None]:
    """Options of isl's scheduler, which live on the process-wide context."""
    context = isl.DEFAULT_CONTEXT
    before = {name: getattr(context, f"get_schedule_{name}")() for name in values}
    try:
        for name, value in values.items():
            getattr(context, f"set_schedule_{name}")(value)
        yield
    finally:
        for name, value in before.items():
            getattr(context, f"set_schedule_{name}")(value)


def _paths(node: isl.ScheduleNode, path: _TreePath, order: Mapping[str, int]) -> list[_TreePath]:
    """All ways down from a node; what isl leaves unordered follows the order of the program."""
    kind = node.get_type()
    if kind == isl.schedule_node_type.leaf:
        parts = [isl.UnionSet.from_set(part) for part in sets_of(path.instances)]
        return [path.among(part).at_place(_first_statement(part, order)) for part in parts]
    if kind == isl.schedule_node_type.band:
        members = node.band_get_partial_schedule()
        for k in range(node.band_n_member()):
            path = path.inside_loop(isl.UnionMap.from_union_pw_aff(members.get_union_pw_aff(k)))
    is_free = kind == isl.schedule_node_type.set
    found: list[_TreePath] = []
    for k in range(node.n_children()):
        child, below = node.child(k), path
        if is_free or kind == isl.schedule_node_type.sequence:
            below = path.among(path.instances.intersect(child.filter_get_filter()))
            below = below.at_place(_first_statement(below.instances, order) if is_free else k)
            child = child.child(0)
        found += _paths(child, below, order)
    return found


def _first_statement(instances: isl.UnionSet, order: Mapping[str, int]) -> int:
    return min((order[part.get_tuple_name()] for part in sets_of(instances)), default=0)


def _flatten(paths: Sequence[_TreePath]) -> isl.UnionMap:
    """{ S[i] -> [place, loop, place, loop, ... place] }, without the places that tell nothing apart."""
    depth = max(len(path.loops) for path in paths)
    ranks = [_ranks(paths, k) for k in range(depth + 1)]
    total: isl.UnionMap | None = None
    for number, path in enumerate(paths):
        columns: list[isl.UnionMap] = []
        for k in range(depth + 1):
            if any(ranks[k]):
                columns.append(_constant(path.instances, ranks[k][number]))
            if k < len(path.loops):
                columns.append(path.loops[k].intersect_domain(path.instances))
            elif k < depth:
                columns.append(_constant(path.instances, 0))
        times = columns[0] if columns else _constant(path.instances, 0)
        for column in columns[1:]:
            times = times.flat_range_product(column)
        total = times if total is None else total.union(times)
    assert total is not None
    return coalesced(total)


def _ranks(paths: Sequence[_TreePath], level: int) -> list[int]:
    """The place of each path in front of its loop of that level, counted from 0 in each common part."""
    places = [path.places[: level + 1] for path in paths]
    found: list[int] = []
    for path in places:
        siblings = {other[level] for other in places if len(other) > level and other[:level] == path[:level]}
        found.append(sorted(siblings).index(path[level]) if len(path) > level else 0)
    return found


def _constant(instances: isl.UnionSet, value: int) -> isl.UnionMap:
    return isl.UnionMap.from_domain_and_range(instances, isl.UnionSet(f"{{ [{value}] }}"))
