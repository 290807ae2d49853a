"""Several steps of a time loop in one sweep over the rows.

In a loop over time whose body consists of loops over rows, the rows of later steps follow those of earlier
ones at a distance: [t / steps, row + skew * t + shift, t, stage, ...] with the least shifts and the least
skew that keep all dependences between neighbouring steps. The rows of all these steps stay in the cache.
Where the loops of the body have no rows inside, strips of their iterations take the place of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_by_domain
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.nests import Nest, Pairs, Placed, Times, spread
from arrayfold.program.model import Program

_LARGEST_SKEW = 8


@dataclass(frozen=True, eq=False)
class Sweep:
    """A time loop whose steps can follow each other.

    loop    the dimension of the time loop
    rows    the nests of its body, and when their rows run; those without a loop over rows have rate 0
    skew    how many rows a step is behind the one before
    strips  whether strips of innermost loops take the place of rows
    """

    nest: Nest
    loop: int
    rows: Sequence[tuple[Nest, Placed]]
    skew: int
    strips: bool

    def entries(self, times: Times, steps: int, strip: int) -> dict[str, list[str]]:
        """statement -> the dimensions of its new times, in those of the old ones."""
        found: dict[str, list[str]] = {}
        for stage, (nest, row) in enumerate(self.rows):
            wave = f"{row.rate}*t{row.loop} + {row.shift} + {self.skew}*t{self.loop}"
            where = f"floor(({wave})/{strip})" if self.strips else wave
            first = self.loop + 1 if self.strips or not row.rate else row.loop + 1
            inner = [f"t{d}" for d in range(first, times.depth)]
            head = [f"floor(t{self.loop}/{steps})", where, f"t{self.loop}", str(stage)]
            found |= {name: [*head, *inner] for name in nest.statements}
        return found


def find_sweeps(times: Times, dependences: isl.UnionMap) -> Iterator[Sweep]:
    """The outermost loops of a program whose iterations can run as sweeps."""
    pairs = Pairs.of(times, dependences)
    for nest in times.nests(list(times.parts)) if times.parts else []:
        sweep = _sweep(times, pairs, nest)
        if sweep is not None:
            yield sweep


def _sweep(times: Times, pairs: Pairs, nest: Nest) -> Sweep | None:
    if nest.loop is None:
        return None
    inner = times.nests(nest.statements, nest.loop + 1)
    if all(one.loop is None for one in inner):
        return None
    strips = not any(one.loop is not None and times.has_rows(one) for one in inner)
    placed = [
        Placed(nest.loop, 0) if one.loop is None else Placed(one.loop, int(strips or times.has_rows(one)))
        for one in inner
    ]
    names = set(nest.statements)
    mine = Pairs({ends: part for ends, part in pairs.parts.items() if names.issuperset(ends)})
    shifts = _shifts(inner, placed, _steps_apart(mine, nest.loop, 0))
    if shifts is None:
        return None
    placed = [Placed(one.loop, one.rate, shift) for one, shift in zip(placed, shifts, strict=True)]
    skew = _skew(inner, placed, _steps_apart(mine, nest.loop, 1))
    if skew is None or not 0 < skew <= _LARGEST_SKEW:
        return None
    return Sweep(nest, nest.loop, tuple(zip(inner, placed, strict=True)), skew, strips)


def _steps_apart(pairs: Pairs, loop: int, steps: int) -> Pairs:
    """The pairs of which the second one runs so many steps later."""
    found: dict[tuple[str, str], isl.Map] = {}
    for ends, part in pairs.parts.items():
        depth = part.dim(isl.dim_type.in_)
        s, t = ([f"{letter}{d}" for d in range(depth)] for letter in "st")
        left = part.intersect(relation(s, t, f"s{loop} + {steps} = t{loop}").align_params(part.get_space()))
        if not left.is_empty():
            found[ends] = left
    return Pairs(found)


def _shifts(nests: Sequence[Nest], placed: Sequence[Placed], pairs: Pairs) -> list[int] | None:
    """The least shifts with which each nest runs behind those of its step that it needs."""
    shifts: list[int] = []
    between = pairs.between(nests)
    for b in range(len(nests)):
        shift = 0
        for a in range(b):
            if (a, b) not in between:
                continue
            _, high = spread(between[a, b], placed[a], placed[b])
            if high is None:
                return None
            shift = max(shift, shifts[a] + high)
        shifts.append(shift)
    return shifts


def _skew(nests: Sequence[Nest], placed: Sequence[Placed], pairs: Pairs) -> int | None:
    """The least skew with which a step runs behind the one before; None if there is none."""
    skew = 0
    nest_of = {name: k for k, nest in enumerate(nests) for name in nest.statements}
    for (first, then), part in pairs.parts.items():
        a, b = placed[nest_of[first]], placed[nest_of[then]]
        _, high = spread([part], a, b)
        if high is None:
            return None
        skew = max(skew, high + a.shift - b.shift)
    return skew


def sweep_schedule(
    program: Program, times: Times, sweeps: Sequence[Sweep], steps: int, strip: int
) -> isl.UnionMap:
    """{ S[i] -> [t] }: the order as it is, except for sweeps of so many steps; all times of one length."""
    swept = {sweep.nest: sweep for sweep in sweeps}
    entries: dict[str, list[str]] = {}
    for place, nest in enumerate(times.nests(list(times.parts))):
        if nest in swept:
            found = swept[nest].entries(times, steps, strip)
        else:
            found = {name: [f"t{d}" for d in range(times.depth)] for name in nest.statements}
        entries |= {name: [str(place), *given] for name, given in found.items()}
    depth = max(map(len, entries.values()))
    names = [f"t{d}" for d in range(times.depth)]
    parts = [
        times.parts[name].apply_range(relation(names, [*given, *["0"] * (depth - len(given))]))
        for name, given in entries.items()
    ]
    return _without_constants(coalesced(union_of_maps(program.context.get_space(), parts)))


def _without_constants(schedule: isl.UnionMap) -> isl.UnionMap:
    """The times without dimensions that are the same for all statements and iterations."""
    parts = list(maps_by_domain(schedule).values())
    depth = parts[0].dim(isl.dim_type.out)
    values = [{str(part.plain_get_val_if_fixed(isl.dim_type.out, d)) for part in parts} for d in range(depth)]
    kept = [d for d in range(depth) if values[d] == {"NaN"} or len(values[d]) > 1] or [0]
    names = [f"t{d}" for d in range(depth)]
    shorter = isl.UnionMap.from_map(relation(names, [names[d] for d in kept]))
    return schedule.apply_range(shorter)
