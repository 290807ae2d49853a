"""Loop nests of a schedule, as a tree that is walked from the outermost loops inwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from arrayfold.exact.isl import coalesced, image, linear_form, maps_by_domain, maps_of
from arrayfold.exact.relations import relation
from arrayfold.program.model import Program

_SHORT = 8


def values_of(times: isl.Map, d: int) -> isl.Set:
    """{ [t] }: the values of a dimension of the times of a statement, { S[i] -> [t] }."""
    values = times.range()
    depth = values.dim(isl.dim_type.set)
    return values.project_out(isl.dim_type.set, d + 1, depth - d - 1).project_out(isl.dim_type.set, 0, d)


def varies(times: isl.Map, d: int) -> bool:
    """Whether a dimension takes several values for the same parameters."""
    return _several(values_of(times, d))


def constant(times: isl.Map, d: int) -> int | None:
    """The only value of a dimension, None if there are several or it depends on parameters."""
    return _only(values_of(times, d))


def _several(values: isl.Set) -> bool:
    pairs = isl.Map.from_domain_and_range(values, values)
    return not pairs.is_subset(isl.Map.identity(pairs.get_space()))


def _only(values: isl.Set) -> int | None:
    least, most = values.dim_min_val(0), values.dim_max_val(0)
    return least.to_python() if least.is_int() and least.eq(most) else None


@dataclass(frozen=True)
class Nest:
    """Statements that share their loops down to a dimension of the schedule.

    loop  the dimension of the loop around all of them; None if there is no loop any more
    """

    statements: tuple[str, ...]
    loop: int | None


@dataclass(frozen=True)
class Placed:
    """A loop in a new order: its iterations run at `rate * t + shift`."""

    loop: int
    rate: int = 1
    shift: int = 0


@dataclass(frozen=True, eq=False)
class Times:
    """The times of a program's statements, { S[i] -> [t] }, and questions about their dimensions."""

    parts: Mapping[str, isl.Map]

    @staticmethod
    def of(program: Program) -> Times:
        """The times of the program's own order."""
        assert program.schedule is not None
        schedule = program.schedule.intersect_params(program.context)
        return Times({name: part for name, part in maps_by_domain(schedule).items() if not part.is_empty()})

    @cached_property
    def depth(self) -> int:
        """How many dimensions a time has."""
        return max((part.dim(isl.dim_type.out) for part in self.parts.values()), default=0)

    def values(self, name: str, d: int) -> isl.Set:
        """{ [t] }: the values of a dimension for a statement."""
        key = name, d
        if key not in self._values:
            self._values[key] = values_of(self.parts[name], d)
        return self._values[key]

    @cached_property
    def _values(self) -> dict[tuple[str, int], isl.Set]:
        return {}

    def varies(self, name: str, d: int) -> bool:
        """Whether a dimension takes several values for the same parameters."""
        return _several(self.values(name, d))

    def constant(self, name: str, d: int) -> int | None:
        """The only value of a dimension, None if there are several or it depends on parameters."""
        return _only(self.values(name, d))

    def trip_count(self, name: str, d: int) -> int | None:
        """How many values a dimension has at most; None where that depends on parameters."""
        values = self.values(name, d)
        least, most = values.dim_min_val(0), values.dim_max_val(0)
        return most.to_python() - least.to_python() + 1 if least.is_int() and most.is_int() else None

    def has_rows(self, nest: Nest) -> bool:
        """Whether some statement has a loop of more than a few iterations inside of the nest's own."""
        assert nest.loop is not None
        return any(
            self.varies(name, d) and not self.is_short(name, d)
            for name in nest.statements
            for d in range(nest.loop + 1, self.depth)
        )

    def is_short(self, name: str, d: int) -> bool:
        """Whether a loop has only a few iterations, whatever the parameters are."""
        count = self.trip_count(name, d)
        return count is not None and count <= _SHORT

    def nests(self, names: Sequence[str], d: int = 0) -> list[Nest]:
        """The nests of statements with the dimensions before `d` in common, in the order they run."""
        while d < self.depth:
            if any(self.varies(name, d) for name in names):
                return [Nest(tuple(names), d)]
            groups = self._grouped(names, d)
            if groups is None:
                return [Nest(tuple(names), d)]
            if len(groups) > 1:
                return [nest for group in groups for nest in self.nests(group, d + 1)]
            d += 1
        return [Nest(tuple(names), None)]

    def _grouped(self, names: Sequence[str], d: int) -> list[list[str]] | None:
        """Statements by their constant time in a dimension, None if some constant has parameters."""
        groups: dict[int, list[str]] = {}
        for name in names:
            value = self.constant(name, d)
            if value is None:
                return None
            groups.setdefault(value, []).append(name)
        return [groups[value] for value in sorted(groups)]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Times of instances that depend on each other.

    parts  (S, T) -> { [s] -> [t] }  S at time s comes first
    """

    parts: Mapping[tuple[str, str], isl.Map]

    @staticmethod
    def of(times: Times, dependences: isl.UnionMap) -> Pairs:
        """The times of { S[i] -> T[j] }."""
        found: dict[tuple[str, str], isl.Map] = {}
        for part in maps_of(dependences):
            first = str(part.get_tuple_name(isl.dim_type.in_))
            then = str(part.get_tuple_name(isl.dim_type.out))
            if first in times.parts and then in times.parts:
                pairs = part.apply_domain(times.parts[first]).apply_range(times.parts[then])
                if not pairs.is_empty():
                    found[first, then] = coalesced(pairs)
        return Pairs(found)

    def between(self, nests: Sequence[Nest]) -> dict[tuple[int, int], list[isl.Map]]:
        """The times of pairs from one nest to a later one, by their numbers, the first later ones first."""
        nest_of = {name: k for k, nest in enumerate(nests) for name in nest.statements}
        found: dict[tuple[int, int], list[isl.Map]] = {}
        for (first, then), times in self.parts.items():
            a, b = nest_of.get(first), nest_of.get(then)
            if a is not None and b is not None and a < b:
                found.setdefault((a, b), []).append(times)
        return {pair: found[pair] for pair in sorted(found, key=lambda pair: (pair[1], pair[0]))}

    def at_equal_times(self, placed: Mapping[str, Placed]) -> Pairs:
        """The pairs of these statements that run in the same iteration of their loops in the new order."""
        found: dict[tuple[str, str], isl.Map] = {}
        for (first, then), pairs in self.parts.items():
            if first in placed and then in placed:
                a, b = placed[first], placed[then]
                depth = pairs.dim(isl.dim_type.in_)
                s, t = ([f"{letter}{d}" for d in range(depth)] for letter in "st")
                where = f"{a.rate}*s{a.loop} + {a.shift} = {b.rate}*t{b.loop} + {b.shift}"
                left = pairs.intersect(relation(s, t, where).align_params(pairs.get_space()))
                if not left.is_empty():
                    found[first, then] = left
        return Pairs(found)


def spread(pairs: Sequence[isl.Map], first: Placed, then: Placed) -> tuple[int | None, int | None]:
    """The least and the largest value of `first - then` over pairs of times; None where there is no bound."""
    least: list[int | None] = []
    most: list[int | None] = []
    for part in pairs:
        depth = part.dim(isl.dim_type.in_)
        points = part.wrap().flatten()
        coefficients = [0] * (2 * depth)
        coefficients[first.loop] += first.rate
        coefficients[depth + then.loop] -= then.rate
        found = image(points, linear_form(points.get_space(), coefficients))
        low, high = found.dim_min_val(0), found.dim_max_val(0)
        least.append(low.to_python() if low.is_int() else None)
        most.append(high.to_python() if high.is_int() else None)
    lows = [value for value in least if value is not None]
    highs = [value for value in most if value is not None]
    return (
        min(lows) if lows and len(lows) == len(least) else None,
        max(highs) if highs and len(highs) == len(most) else None,
    )
