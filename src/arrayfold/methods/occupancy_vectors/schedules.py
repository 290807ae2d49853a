"""All legal one-dimensional affine schedules of a program, as a polyhedron (TVA07 §3.2, §4.3).

A schedule is one vector: for each statement the coefficients of its iterators, of the parameters, and a
constant. That a consumer runs at least one step after its producer is linear in it for fixed instances; a
form that is affine in the instances holds for all of them iff it holds at the vertices and along the rays
of the dependence, parameters included (the vertex method; rays because parameters are unbounded).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import polyhedron, smallest_point
from arrayfold.exact.lattice import Vector
from arrayfold.methods.occupancy_vectors.single_assignment import Flow, SingleAssignment

Row = Vector  # entry 0 is the constant; row . (1, theta) >= 0
_MOST_COEFFICIENT = 64


@dataclass(frozen=True, eq=False)
class ScheduleSpace:
    """Where the coefficients of each statement stand in the vector of a schedule."""

    form: SingleAssignment

    @property
    def size(self) -> int:
        """How many coefficients a schedule has."""
        return sum(self.width(name) for name in self.form.domains)

    def width(self, statement: str) -> int:
        """Coefficients of one statement."""
        return self.form.rank(statement) + len(self.form.parameters) + 1

    def start(self, statement: str) -> int:
        """Where those of a statement begin."""
        names = list(self.form.domains)
        return sum(self.width(name) for name in names[: names.index(statement)])

    def time(self, statement: str, weight: int, params: Sequence[int], iteration: Sequence[int]) -> list[int]:
        """The time of an instance as a form of the schedule; weight 0 is for directions."""
        row = [0] * self.size
        start = self.start(statement)
        row[start : start + self.width(statement)] = [*iteration, *params, weight]
        return row

    def entries(self, schedule: Sequence[int], statement: str) -> Vector:
        """Those of one statement: iterators, parameters, constant."""
        start = self.start(statement)
        return tuple(schedule[start : start + self.width(statement)])

    def affine(self, schedule: Sequence[int], statement: str) -> tuple[Vector, Vector, int]:
        """Coefficients of the iterators and parameters, and the constant, of one statement."""
        rank = self.form.rank(statement)
        entries = self.entries(schedule, statement)
        return entries[:rank], entries[rank:-1], entries[-1]

    def text(self, schedule: Sequence[int], statement: str, names: Sequence[str]) -> str:
        """The time of a statement as an affine expression."""
        iterators, params, constant = self.affine(schedule, statement)
        terms = [*zip(iterators, names, strict=True), *zip(params, self.form.parameters, strict=True)]
        return affine_text(terms, constant)


def affine_text(terms: Iterable[tuple[int, str]], constant: int) -> str:
    """A sum of multiples of names.

    >>> affine_text([(2, "i"), (-1, "j"), (0, "N")], 3)
    '2*i - j + 3'
    """
    text = ""
    for value, name in [*terms, (constant, "")]:
        if value:
            size = str(abs(value)) if not name else name if abs(value) == 1 else f"{abs(value)}*{name}"
            sign = " - " if value < 0 else " + "
            text += (sign if text else sign.strip(" +")) + size
    return text or "0"


def generators(cells: isl.Set) -> list[tuple[int, Vector, Vector]]:
    """(weight, parameters, point) at the vertices (weight > 0) and rays (0) of the pieces of a set."""
    first = 1 + cells.dim(isl.dim_type.param)
    forms = (form for piece in cells.get_basic_sets() for form in nonnegative_forms(piece))
    return [(form[0], form[1:first], form[first:]) for form in forms]


def causality_rows(space: ScheduleSpace, flow: Flow) -> list[Row]:
    """What a legal schedule satisfies for one dependence: the reader runs at least one step later."""
    rows: list[Row] = []
    rank = space.form.rank(flow.source)
    for weight, params, pair in generators(flow.pairs.wrap().flatten()):
        later = space.time(flow.sink, weight, params, pair[rank:])
        earlier = space.time(flow.source, weight, params, pair[:rank])
        rows.append((-weight, *(a - b for a, b in zip(later, earlier, strict=True))))
    return sorted(set(rows))


def schedule_set(space: ScheduleSpace, rows: Iterable[Row]) -> isl.BasicSet:
    """{ [theta] }: the schedules that satisfy all rows."""
    return polyhedron([(0,) * (1 + space.size), *sorted(set(rows))])


def best_schedule(space: ScheduleSpace, rows: Iterable[Row]) -> Vector | None:
    """The schedule with the shortest latency, then the smallest coefficients; None if there is none.

    Times are counted from zero, the latency is a form of the parameters; in the end all times are moved by a
    common form so that constants are small.
    """
    program = _LatencyProgram(space)
    program.require_legal(rows)
    program.require_times()
    best = program.solve()
    return None if best is None else _moved(space, best)


def _moved(space: ScheduleSpace, schedule: Vector) -> Vector:
    """The schedule with a form of the parameters added to all times: the smallest of each kind becomes 0."""
    moved = list(schedule)
    for back in range(1, len(space.form.parameters) + 2):
        places = [space.start(name) + space.width(name) - back for name in space.form.domains]
        least = min(schedule[place] for place in places)
        for place in places:
            moved[place] -= least
    return tuple(moved)


class _LatencyProgram:
    """An integer program whose lexicographic minimum is the best schedule.

    variables  growth of the latency in all parameters together, in each of them, its constant,
               the sum of the sizes of coefficients, the schedule, these sizes
    """

    def __init__(self, space: ScheduleSpace) -> None:
        self.space = space
        count = len(space.form.parameters)
        self.latency = [*range(1, count + 2)]
        self.sum = count + 2
        self.theta = [*range(count + 3, count + 3 + space.size)]
        self.sizes = [k + space.size for k in self.theta]
        self.total = count + 3 + 2 * space.size
        self.equations: list[list[int]] = []
        self.inequalities: list[list[int]] = []
        self.add(0, {0: -1, **dict.fromkeys(self.latency[:-1], 1)}, is_equal=True)
        self.add(0, {self.sum: -1, **dict.fromkeys(self.sizes, 1)}, is_equal=True)
        for k in self.latency[:-1]:
            self.add(0, {k: 1})
        for entry, size in zip(self.theta, self.sizes, strict=True):
            self.add(0, {size: 1, entry: 1})
            self.add(0, {size: 1, entry: -1})
            self.add(_MOST_COEFFICIENT, {size: -1})

    def add(self, constant: int, entries: dict[int, int], *, is_equal: bool = False) -> None:
        """Require constant + sum of entries >= 0, or = 0."""
        line = [constant, *(entries.get(k, 0) for k in range(self.total))]
        (self.equations if is_equal else self.inequalities).append(line)

    def require_legal(self, rows: Iterable[Row]) -> None:
        for row in sorted(set(rows)):
            self.add(row[0], dict(zip(self.theta, row[1:], strict=True)))

    def require_times(self) -> None:
        """No time is negative, and none is beyond the latency."""
        count = len(self.space.form.parameters)
        for name, domain in self.space.form.domains.items():
            forms = {form for piece in domain.get_basic_sets() for form in nonnegative_forms(piece)}
            for weight, *values in sorted(forms):
                params = [*values[:count], weight]
                entries = self.space.time(name, weight, values[:count], values[count:])
                time = dict(zip(self.theta, entries, strict=True))
                self.add(0, time)
                late = {k: -entry for k, entry in time.items()}
                self.add(0, {**late, **dict(zip(self.latency, params, strict=True))})

    def solve(self) -> Vector | None:
        """The minimum of one variable after the other; isl's lexmin of all at once takes far longer."""
        schedules = polyhedron(self.inequalities, self.equations)
        if schedules.is_empty():
            return None
        point = smallest_point(isl.Set.from_basic_set(schedules))
        return tuple(point[k] for k in self.theta)
