"""Coordinates of cells that follow their values: a cell is where the cell is that is read as it is written.

Where a statement writes `b[j][i]` from `a[i][j]`, both cells get one place, so that b is transposed. The same
goes for reversals and skews, and for statements of one loop body of which one reads an array and another one
writes the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from arrayfold.exact.pieces import affine_function
from arrayfold.program.model import Program, Statement

_MOST_FOLLOWED = 3
_MOST_CHOICES = 3

_LinearPart = tuple[tuple[str, ...], ...]


def value_coordinates(program: Program, coordinates: Mapping[str, isl.Map]) -> list[dict[str, isl.Map]]:
    """A few other coordinates { A[x] -> [c] } of the same arrays, with linear parts that follow values."""
    own = {name: affine_function(one) for name, one in coordinates.items()}
    known = {name: one for name, one in own.items() if one is not None}
    if len(known) < len(own):
        return []
    search = _Search(program, known)
    changed = (
        places
        for places in search.places(search.in_order_of_writes(), {})
        if any(_linear_part(places[name]) != _linear_part(known[name]) for name in known)
    )
    return [
        {
            name: isl.Map.from_multi_aff(places[name]).intersect_domain(coordinates[name].domain())
            for name in known
        }
        for places in itertools.islice(changed, _MOST_CHOICES)
    ]


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for coordinates, array by array.

    own    array -> the coordinates that it has by its subscripts
    times  statement -> { S[i] -> [t] }, and the value of each dimension that has only one
    """

    program: Program
    own: Mapping[str, isl.MultiAff]

    @cached_property
    def times(self) -> Mapping[str, tuple[isl.Map, list[int | None]]]:
        schedule = self.program.schedule
        if schedule is None:
            return {}
        times = {
            one.name: _times(schedule, one) for one in self.program.statements if not one.domain.is_empty()
        }
        return {name: (one, _fixed_times(one)) for name, one in times.items()}

    def in_order_of_writes(self) -> list[str]:
        """The arrays, those that are written first before the others."""
        first: dict[str, int] = {}
        for number, statement in enumerate(self.program.statements):
            for access in statement.accesses:
                if access.is_write:
                    first.setdefault(access.array, number)
        return sorted(self.own, key=lambda name: first.get(name, -1))

    def places(
        self, names: Sequence[str], chosen: Mapping[str, isl.MultiAff]
    ) -> Iterator[dict[str, isl.MultiAff]]:
        """All choices for the arrays from the first of these on."""
        if not names:
            yield dict(chosen)
            return
        name, *rest = names
        found: dict[_LinearPart, isl.MultiAff] = {}
        for one in self._followed(name, chosen):
            found.setdefault(_linear_part(one), one)
        for one in [*found.values()][:_MOST_FOLLOWED] or [self.own[name]]:
            yield from self.places(rest, {**chosen, name: one})

    def _followed(self, name: str, chosen: Mapping[str, isl.MultiAff]) -> Iterator[isl.MultiAff]:
        """Coordinates of an array that are those of the cells that are read where it is written."""
        for writer, reader in self._pairs(name):
            writes = [one.relation for one in writer.accesses if one.is_write and one.array == name]
            reads = [one for one in reader.accesses if not one.is_write and one.array in chosen]
            together = self._together(writer, reader) if reads else None
            if together is None:
                continue
            for write, read in itertools.product(writes, reads):
                back = write.reverse().apply_range(together).apply_range(read.relation)
                step = affine_function(back.intersect_params(self.program.context))
                if step is not None:
                    yield chosen[read.array].pullback_multi_aff(step)

    def _pairs(self, name: str) -> list[tuple[Statement, Statement]]:
        """Statements that write an array, and those that read; the same statement first."""
        every = self.program.statements
        writers = [one for one in every if any(item.is_write and item.array == name for item in one.accesses)]
        return sorted(itertools.product(writers, every), key=lambda pair: pair[0] is not pair[1])

    def _together(self, writer: Statement, reader: Statement) -> isl.Map | None:
        """{ T[j] -> S[i] }: instances in one iteration of the same loops."""
        if writer is reader:
            return isl.Map.identity(writer.domain.get_space().map_from_set())
        if writer.name not in self.times or reader.name not in self.times:
            return None
        (one, *mine), (other, *its) = self.times[writer.name], self.times[reader.name]
        fixed = [*mine, *its]
        if [value is None for value in fixed[0]] != [value is None for value in fixed[1]]:
            return None
        moving = [k for k, value in enumerate(fixed[0]) if value is None]
        if not moving or fixed[0][: moving[-1]] != fixed[1][: moving[-1]]:
            return None
        return _only(one, moving).apply_range(_only(other, moving).reverse())


def _times(schedule: isl.UnionMap, statement: Statement) -> isl.Map:
    """{ S[i] -> [t] }"""
    found = schedule.intersect_domain(isl.UnionSet.from_set(statement.domain))
    return isl.Map.from_union_map(found)


def _only(times: isl.Map, moving: Sequence[int]) -> isl.Map:
    """The times with these dimensions."""
    for k in reversed(range(times.dim(isl.dim_type.out))):
        times = times if k in moving else times.project_out(isl.dim_type.out, k, 1)
    return times


def _fixed_times(times: isl.Map) -> list[int | None]:
    """The value of each dimension that has only one."""
    values = times.range()
    fixed = [values.plain_get_val_if_fixed(isl.dim_type.set, k) for k in range(values.dim(isl.dim_type.set))]
    return [value.to_python() if value.is_int() else None for value in fixed]


def _linear_part(form: isl.MultiAff) -> _LinearPart:
    """The coefficients of the subscripts in each coordinate."""
    return tuple(
        tuple(
            str(form.get_at(k).get_coefficient_val(isl.dim_type.in_, j))
            for j in range(form.dim(isl.dim_type.in_))
        )
        for k in range(form.dim(isl.dim_type.out))
    )
