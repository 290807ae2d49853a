"""Which vectors let cells share an address, for one schedule, for some, or for all (TVA07 §4.4 to §4.6).

Cell j + v may take the address of cell j if its write does not come before the last read of j. For a schedule
that is a vector of numbers this is affine in v and in the instances, so isl finds the vectors that fail at
some size exactly. It is linear in the schedule, so it holds for all schedules of a polyhedron iff it holds at
the vertices and along the rays of that polyhedron.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.isl import coalesced, fresh_names, without_parameters
from arrayfold.exact.lattice import Vector
from arrayfold.exact.relations import relation
from arrayfold.methods.occupancy_vectors.schedules import Row, ScheduleSpace, affine_text, generators
from arrayfold.methods.occupancy_vectors.single_assignment import Flow, SingleAssignment
from arrayfold.methods.occupancy_vectors.vectors import is_free, shortest_vector

_LONGEST = {1: 200, 2: 24, 3: 9}
_LONGEST_OTHERWISE = 5


@dataclass(frozen=True)
class ScheduleGenerator:
    """A schedule (weight 1, times this number), or a direction in which schedules may go on (weight 0)."""

    weight: int
    theta: Vector


def shortest_valid_vector(
    space: ScheduleSpace, array: str, extremes: Iterable[ScheduleGenerator], *, is_strict: bool
) -> Vector | None:
    """The shortest vector of which no multiple is wrong for one of the schedules at some size.

    By Manhattan length, then the most even one. Cells that are a multiple apart share an address as well.
    """
    form = space.form
    pieces = [*_hits_live_out(form, array)]
    for extreme in extremes:
        pieces += [
            _too_early(space, extreme, flow, writer, is_strict=is_strict)
            for flow in form.flows
            if flow.array == array
            for writer in form.writers[array]
        ]
        pieces += [
            _out_of_order(space, extreme, first, second)
            for first in form.writers[array]
            for second in form.writers[array]
        ]
    pieces = [piece for piece in pieces if not piece.is_empty()]

    def is_valid(vector: Vector) -> bool:
        for k, piece in enumerate(pieces):
            if not is_free(piece, vector):
                # The next vector is likely to fail in the same piece.
                pieces.insert(0, pieces.pop(k))
                return False
        return True

    rank = form.program.array(array).rank
    return shortest_vector(rank, _LONGEST.get(rank, _LONGEST_OTHERWISE), is_valid)


def storage_rows(
    space: ScheduleSpace, array: str, vectors: isl.Set, *, is_strict: bool
) -> list[tuple[Flow, list[Row]]]:
    """What a schedule satisfies so that all of the vectors { [v] } are valid for an array."""
    form = space.form
    found: list[tuple[Flow, list[Row]]] = []
    for flow in form.flows:
        if flow.array != array:
            continue
        rows: list[Row] = []
        # { [v, j, i] } for { [v] }
        allowed = vectors.add_dims(isl.dim_type.set, form.rank(flow.source) + form.rank(flow.sink))
        for writer in form.writers[array]:
            where = _instances(form, flow, writer).intersect(allowed)
            rows += _rows_at(space, flow, writer, where, is_strict=is_strict)
        found.append((flow, sorted(set(rows))))
    return found


# ---------------------------------------------------------------- vectors that fail


def _too_early(
    space: ScheduleSpace, extreme: ScheduleGenerator, flow: Flow, writer: str, *, is_strict: bool
) -> isl.Set:
    """{ [v] }: the cell at j + v is written before the last read of cell j."""
    form = space.form
    where = _instances(form, flow, writer)
    names = _names(form, flow)
    tip = [f"{j} + {v}" for j, v in zip(names.source, names.vector, strict=True)]
    slack = extreme.weight if is_strict else 0
    late = (
        f"{_time(space, extreme.theta, writer, tip)} - ({_time(space, extreme.theta, flow.sink, names.sink)})"
        f" < {slack}"
    )
    return _project(where.intersect(names.set_where(form, late)), len(names.vector))


def _out_of_order(space: ScheduleSpace, extreme: ScheduleGenerator, first: str, second: str) -> isl.Set:
    """{ [v] }: the cell at x + v is not written after cell x."""
    form = space.form
    rank = form.rank(first)
    vector = fresh_names("v", rank, form.parameters)
    cell = fresh_names("j", rank, form.parameters)
    tip = [f"{j} + {v}" for j, v in zip(cell, vector, strict=True)]
    prefix = f"[{', '.join(form.parameters)}] -> "
    everything = [*vector, *cell]
    start = relation(everything, cell, names=("", first), parameters=form.parameters)
    end = relation(everything, tip, names=("", second), parameters=form.parameters)
    where = start.intersect_range(form.domains[first]).domain()
    where = where.intersect(end.intersect_range(form.domains[second]).domain())
    early = (
        f"{_time(space, extreme.theta, second, tip)} - ({_time(space, extreme.theta, first, cell)})"
        f" < {extreme.weight}"
    )
    return _project(where.intersect(isl.Set(f"{prefix}{{ [{', '.join(everything)}] : {early} }}")), rank)


def _hits_live_out(form: SingleAssignment, array: str) -> Iterator[isl.Set]:
    """{ [v] }: a cell that is needed afterwards would be overwritten."""
    needed = form.live_out[array].reset_tuple_id()
    cells = form.cells(array)
    if not needed.is_empty():
        pairs = isl.Map.from_domain_and_range(needed, cells)
        steps = pairs.deltas()
        zero = isl.Set(f"{{ [{', '.join(['0'] * steps.dim(isl.dim_type.set))}] }}")
        yield _project(steps.subtract(zero), steps.dim(isl.dim_type.set))


# ---------------------------------------------------------------- schedules for vectors


def _rows_at(
    space: ScheduleSpace, flow: Flow, writer: str, where: isl.Set, *, is_strict: bool
) -> Iterator[Row]:
    """The constraint at the vertices and rays of the instances and vectors together."""
    rank = space.form.rank(flow.source)
    for weight, params, values in generators(where):
        vector, source, sink = values[:rank], values[rank : 2 * rank], values[2 * rank :]
        tip = [a + b for a, b in zip(source, vector, strict=True)]
        later = space.time(writer, weight, params, tip)
        earlier = space.time(flow.sink, weight, params, sink)
        yield (-weight if is_strict else 0, *(a - b for a, b in zip(later, earlier, strict=True)))


# ---------------------------------------------------------------- spaces


@dataclass(frozen=True)
class _Names:
    vector: tuple[str, ...]
    source: tuple[str, ...]
    sink: tuple[str, ...]

    def set_where(self, form: SingleAssignment, condition: str) -> isl.Set:
        """{ [v, j, i] } with a condition."""
        everything = ", ".join([*self.vector, *self.source, *self.sink])
        return isl.Set(f"[{', '.join(form.parameters)}] -> {{ [{everything}] : {condition} }}")


def _names(form: SingleAssignment, flow: Flow) -> _Names:
    rank, depth = form.rank(flow.source), form.rank(flow.sink)
    return _Names(
        tuple(fresh_names("v", rank, form.parameters)),
        tuple(fresh_names("j", rank, form.parameters)),
        tuple(fresh_names("i", depth, form.parameters)),
    )


def _instances(form: SingleAssignment, flow: Flow, writer: str) -> isl.Set:
    """{ [v, j, i] }: i reads cell j, and cell j + v is written by the writer (the domain Z of TVA07 §4.4)."""
    names = _names(form, flow)
    pairs = flow.pairs.wrap().flatten().insert_dims(isl.dim_type.set, 0, len(names.vector))
    tip = [f"{j} + {v}" for j, v in zip(names.source, names.vector, strict=True)]
    everything = [*names.vector, *names.source, *names.sink]
    onto = relation(everything, tip, names=("", writer), parameters=form.parameters)
    return pairs.intersect(onto.intersect_range(form.domains[writer]).domain())


def _time(space: ScheduleSpace, theta: Sequence[int], statement: str, at: Sequence[str]) -> str:
    """The time of an instance as isl text."""
    iterators, params, constant = space.affine(theta, statement)
    terms = [(value, f"({text})") for value, text in zip(iterators, at, strict=True)]
    terms += list(zip(params, space.form.parameters, strict=True))
    return affine_text(terms, constant)


def _project(where: isl.Set, rank: int) -> isl.Set:
    """{ [v] }: for some size and some instances."""
    vectors = where.project_out(isl.dim_type.set, rank, where.dim(isl.dim_type.set) - rank)
    return coalesced(without_parameters(vectors))
