"""Stores for schedules and schedules for stores (TVA07 §4.6): what `arrayfold occupancy` answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, InputError, MethodNotApplicable
from arrayfold.conflicts.liveness import Liveness, analyse
from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import sets_of
from arrayfold.exact.lattice import Vector
from arrayfold.judge.verify import Counterexample, Proof, Verdict, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.occupancy_vectors.failing import ScheduleGenerator, shortest_valid_vector, storage_rows
from arrayfold.methods.occupancy_vectors.schedules import (
    Row,
    ScheduleSpace,
    best_schedule,
    causality_rows,
    schedule_set,
)
from arrayfold.methods.occupancy_vectors.single_assignment import SingleAssignment, single_assignment
from arrayfold.methods.occupancy_vectors.vectors import mapping_along, shortest_occupancy_vector
from arrayfold.passes.all_orders import for_all_schedules
from arrayfold.program.model import Program

NO_VECTOR = "no vector of moderate length is valid: lifetimes may grow with the sizes"
_NO_SCHEDULE = "there is no one-dimensional affine schedule"
_NO_AFFINE_VECTOR = "no vector of moderate length is valid for all one-dimensional affine schedules"


@dataclass(frozen=True, eq=False)
class OccupiedArray:
    """The vectors of one array; `why` says what is missing, by name.

    given      shortest for the schedule of the result, or for the best legal one if that is missing
    affine     shortest for all legal one-dimensional affine schedules (AOV)
    universal  shortest for all legal schedules (UOV)
    mapping    the store of the affine vector, if there is one, and what the judge says of it
    """

    name: str
    given: Vector | None
    affine: Vector | None
    universal: Vector | None
    why: Mapping[str, str]
    mapping: ModularMapping | None
    verdict: Verdict | None

    @property
    def is_proved(self) -> bool:
        """Whether the judge agrees, for the schedule of the result; there is nothing to prove of no array."""
        return isinstance(self.verdict, Proof) or self.is_dropped

    @property
    def is_dropped(self) -> bool:
        """Whether nobody reads the array, so that it need not exist."""
        return self.affine is not None and not any(self.affine)


@dataclass(frozen=True, eq=False)
class OccupancyResult:
    """The vectors of all arrays, and a schedule.

    schedule     statement -> its time, an affine expression; empty if there is none
    coefficients statement -> what its time multiplies iterators and parameters with, and its constant
    constraints  { [theta] }  all schedules, for the vectors that were given
    names        what the entries of theta are
    """

    program: Program
    arrays: tuple[OccupiedArray, ...]
    schedule: Mapping[str, str]
    coefficients: Mapping[str, Vector]
    why: str
    constraints: isl.BasicSet | None
    names: tuple[str, ...]


def find_occupancy(
    program: Program,
    *,
    schedule: Mapping[str, Sequence[int]] | None = None,
    vectors: Mapping[str, isl.Set] | None = None,
    is_strict: bool = False,
    budget: Budget | float | None = None,
) -> OccupancyResult:
    """Occupancy vectors of the temporaries of a program in single-assignment form.

    schedule   coefficients of each statement's time: iterators, parameters, constant
    vectors    array -> { [v] }  the schedule must be valid for all of them
    is_strict  a value must be read before the step in which it is overwritten
    """
    limit = as_budget(budget)

    def find(_: object) -> OccupancyResult:
        with limit.limit("occupancy vectors"):
            return _find(program, schedule, vectors or {}, is_strict)

    return answer_in_time(find, limit, "the search for occupancy vectors", known=program)


def vectors_of_schedule(
    program: Program, schedule: Mapping[str, Sequence[int]], *, is_strict: bool, budget: Budget
) -> dict[str, Vector | None]:
    """Only the shortest vectors for one schedule; zero if nobody reads the array, None if there is none."""
    with budget.limit("occupancy vectors"):
        space = _space_of(program)
        form = space.form
        chosen = [ScheduleGenerator(1, _checked_schedule(space, schedule))]
        return {
            name: (0,) * program.array(name).rank
            if _is_never_read(form, name)
            else shortest_valid_vector(space, name, chosen, is_strict=is_strict)
            for name in form.arrays
        }


def _legal_rows(space: ScheduleSpace) -> list[Row]:
    """What legal schedules satisfy."""
    flows = (*space.form.flows, *space.form.others)
    return [row for flow in flows for row in causality_rows(space, flow)]


def _is_never_read(form: SingleAssignment, name: str) -> bool:
    return not any(flow.array == name for flow in form.flows) and form.live_out[name].is_empty()


def _find(
    program: Program,
    given: Mapping[str, Sequence[int]] | None,
    vectors: Mapping[str, isl.Set],
    is_strict: bool,
) -> OccupancyResult:
    space = _space_of(program)
    form = space.form
    legal = _legal_rows(space)
    for name in vectors:
        if name not in form.arrays:
            known = f"the temporaries are {', '.join(form.arrays)}" if form.arrays else "there is none"
            raise InputError(f"--vector {name}: {name} is not a temporary array; {known}")
    extra = [
        row
        for name, allowed in vectors.items()
        for _, rows in storage_rows(space, name, allowed, is_strict=is_strict)
        for row in rows
    ]
    polyhedron = schedule_set(space, [*legal, *extra])
    why = ""
    if given is not None:
        chosen: Vector | None = _checked_schedule(space, given)
    else:
        chosen = None if polyhedron.is_empty() else best_schedule(space, [*legal, *extra])
        why = "" if chosen is not None else _why_no_schedule(space, vectors, is_strict)
    extremes = _extremes(schedule_set(space, legal))
    any_legal = chosen if chosen is not None or not extremes else best_schedule(space, legal)
    arrays = tuple(_array(space, name, any_legal, extremes, is_strict) for name in form.arrays)
    names = _iterator_names(program)
    times = {} if chosen is None else {name: space.text(chosen, name, names[name]) for name in form.domains}
    entries = {} if chosen is None else {name: space.entries(chosen, name) for name in form.domains}
    return OccupancyResult(program, arrays, times, entries, why, polyhedron, _entry_names(form, names))


def _space_of(program: Program) -> ScheduleSpace:
    liveness = analyse(program)
    _refuse_live_in(liveness)
    return ScheduleSpace(single_assignment(program, liveness.temporaries))


def _refuse_live_in(liveness: Liveness) -> None:
    for cells in sets_of(liveness.live_in):
        if cells.get_tuple_name() in liveness.temporaries:
            raise MethodNotApplicable(
                f"{cells.get_tuple_name()} holds values from before the program, for example at "
                f"{cells.sample_point()}, which occupancy vectors do not know"
            )


def _checked_schedule(space: ScheduleSpace, given: Mapping[str, Sequence[int]]) -> Vector:
    chosen = tuple(entry for name in space.form.domains for entry in given[name])
    for flow in (*space.form.flows, *space.form.others):
        for row in causality_rows(space, flow):
            if row[0] + sum(a * b for a, b in zip(row[1:], chosen, strict=True)) < 0:
                raise InputError(f"the schedule is not legal: it runs too early what {flow}")
    return chosen


def _array(
    space: ScheduleSpace,
    name: str,
    chosen: Vector | None,
    extremes: Sequence[ScheduleGenerator],
    is_strict: bool,
) -> OccupiedArray:
    form = space.form
    rank = form.program.array(name).rank
    if _is_never_read(form, name):
        zero = (0,) * rank
        return OccupiedArray(name, zero, zero, zero, {"array": "nobody reads it: drop it"}, None, None)
    why: dict[str, str] = {}
    given: Vector | None = None
    if chosen is None:
        why["given_schedule"] = _NO_SCHEDULE
        why["affine"] = why["given_schedule"]
    else:
        given = shortest_valid_vector(space, name, [ScheduleGenerator(1, chosen)], is_strict=is_strict)
        if given is None:
            why["given_schedule"] = NO_VECTOR
    affine: Vector | None = None
    if chosen is not None:
        affine = shortest_valid_vector(space, name, extremes, is_strict=is_strict)
        if affine is None:
            why["affine"] = _NO_AFFINE_VECTOR
    universal = _universal(form, name, chosen, space, why)
    mapping = (
        None if affine is None else mapping_along(form.program.array(name), form.program.context, affine)
    )
    verdict = None if mapping is None or chosen is None else _judged(space, name, chosen, mapping, is_strict)
    if isinstance(verdict, Counterexample):
        why["affine"] = f"the judge refutes {affine}: {verdict}"
        affine = mapping = verdict = None
    return OccupiedArray(name, given, affine, universal, why, mapping, verdict)


def _universal(
    form: SingleAssignment, name: str, chosen: Vector | None, space: ScheduleSpace, why: dict[str, str]
) -> Vector | None:
    """The shortest vector that is valid for every order that keeps the dependences."""
    try:
        conflicts = analyse(for_all_schedules(form.program)).conflicts(name, with_moments=False)
    except ArrayfoldError as error:
        why["universal"] = str(error)
        return None
    vector = shortest_occupancy_vector(conflicts)
    if vector is None:
        why["universal"] = "no vector of moderate length is valid for all schedules"
        return None
    if chosen is not None:
        iterators, _, _ = space.affine(chosen, form.writers[name][0])
        if sum(a * v for a, v in zip(iterators, vector, strict=True)) < 0:
            return tuple(-entry for entry in vector)
    return vector


def _judged(
    space: ScheduleSpace, name: str, chosen: Vector, mapping: ModularMapping, is_strict: bool
) -> Verdict:
    """What the judge says of a store, for the program run by a one-dimensional schedule."""
    liveness = analyse(scheduled(space, chosen, is_strict=is_strict))
    return verify(liveness.conflicts(name, with_moments=False), mapping)


def scheduled(space: ScheduleSpace, chosen: Vector, *, is_strict: bool) -> Program:
    """The program in the order of a one-dimensional schedule; each step is a front.

    In a front all reads come before all writes; a strict one runs in any order.
    """
    form = space.form
    names = _iterator_names(form.program)
    depth = max(map(form.rank, form.domains), default=0)
    pieces: list[str] = []
    for number, statement in enumerate(form.domains):
        inner = [*names[statement], *["0"] * (depth - form.rank(statement))]
        times = [space.text(chosen, statement, names[statement]), str(number), *inner]
        pieces.append(f"{statement}[{', '.join(names[statement])}] -> [{', '.join(times)}]")
    schedule = isl.UnionMap(f"[{', '.join(form.parameters)}] -> {{ {'; '.join(pieces)} }}")
    schedule = schedule.intersect_domain(form.program.domain())
    meaning = "doall" if is_strict else "forall"
    ordered = form.program.in_order(schedule, dict.fromkeys(range(1, depth + 2), meaning))
    return replace(ordered, happens_before=None, tiles=())


def _extremes(legal: isl.BasicSet) -> list[ScheduleGenerator]:
    """The vertices and rays of the legal schedules."""
    if legal.is_empty():
        return []
    return [ScheduleGenerator(form[0], form[1:]) for form in nonnegative_forms(legal)]


def _why_no_schedule(space: ScheduleSpace, vectors: Mapping[str, isl.Set], is_strict: bool) -> str:
    """Dependences, and vectors, that no schedule satisfies together, and none of them can be spared."""
    demands: list[tuple[str, list[Row]]] = [
        (str(flow), causality_rows(space, flow)) for flow in (*space.form.flows, *space.form.others)
    ]
    for name, allowed in vectors.items():
        for flow, rows in storage_rows(space, name, allowed, is_strict=is_strict):
            demands.append((f"the vector of {name} where {flow}", rows))
    kept = list(demands)
    for demand in demands:
        rest = [other for other in kept if other is not demand]
        if schedule_set(space, [row for _, rows in rest for row in rows]).is_empty():
            kept = rest
    return "no one-dimensional affine schedule satisfies together: " + "; ".join(
        dict.fromkeys(text for text, _ in kept)
    )


def _iterator_names(program: Program) -> dict[str, list[str]]:
    return {statement.name: statement.iterators for statement in program.statements}


def _entry_names(form: SingleAssignment, names: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What the entries of a schedule are, such as S.i, S.N and S.1."""
    return tuple(
        f"{statement}.{name}"
        for statement in form.domains
        for name in (*names[statement], *form.parameters, "1")
    )
