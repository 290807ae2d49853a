"""Diagonals of a loop nest in which each iteration needs its neighbours, as tables of dynamic programming do.

The iterations of loops a and b that lie on one diagonal, skew * a + b, need nothing of each other, so that
they become an innermost loop without a chain. What is written at the border of the table moves to the
diagonals, too, just before its first reader, so that a table has few of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.isl import coalesced, image, linear_form
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.nests import Nest, Pairs, Times
from arrayfold.program.model import Program

_SKEWS = (1, 2)
_BEFORE, _ON_DIAGONALS, _AFTER = range(3)


@dataclass(frozen=True, eq=False)
class Diagonals:
    """A nest whose iterations run diagonal by diagonal.

    core    the statements of the innermost loop
    outer   the dimension of the loop around it, and `inner` its own
    skew    how much further a diagonal begins in the next iteration of the outer loop
    border  other statement -> dimension, rate and shift: it runs on the diagonal rate * t + shift
    """

    core: frozenset[str]
    outer: int
    inner: int
    skew: int
    border: Mapping[str, tuple[int, int, int]]


def find_diagonals(
    times: Times, at_sizes: Times, dependences: isl.UnionMap, flows: isl.UnionMap
) -> Iterator[tuple[int, Diagonals]]:
    """Nests that can run so, each with its position among the outermost ones.

    at_sizes     the same times at some sizes
    dependences  { S[i] -> T[j] }  S[i] must run first, at these sizes
    flows        { S[i] -> T[j] }  T[j] reads what S[i] writes, at these sizes
    """
    if not times.parts:
        return
    pairs, shared = Pairs.of(at_sizes, dependences), Pairs.of(at_sizes, flows)
    for position, nest in enumerate(times.nests(list(times.parts))):
        found = None if nest.loop is None else _in_nest(times, at_sizes, nest, pairs, shared)
        if found is not None:
            yield position, found


def diagonal_schedule(program: Program, times: Times, position: int, diagonals: Diagonals) -> isl.UnionMap:
    """{ S[i] -> [t] }: an outermost nest diagonal by diagonal, and the others as they are."""
    entries: dict[str, list[str]] = {}
    all_of_a_time = [f"t{d}" for d in range(times.depth)]
    for place, nest in enumerate(times.nests(list(times.parts))):
        for number, name in enumerate(nest.statements):
            if name in diagonals.core:
                outer, inner = diagonals.outer, diagonals.inner
                wave = f"{diagonals.skew}*t{outer} + t{inner}"
                rest = [f"t{d}" for d in range(inner + 1, times.depth)]
                entries[name] = [str(_ON_DIAGONALS), wave, "1", f"t{outer}", *rest]
            elif name in diagonals.border:
                d, rate, shift = diagonals.border[name]
                wave = f"{rate}*t{d} + {shift}"
                entries[name] = [str(_ON_DIAGONALS), wave, "0", str(place), str(number)]
            else:
                side = _BEFORE if place < position else _AFTER
                entries[name] = [str(side), *all_of_a_time]
    depth = max(map(len, entries.values()))
    parts = [
        times.parts[name].apply_range(relation(all_of_a_time, [*given, *["0"] * (depth - len(given))]))
        for name, given in entries.items()
    ]
    return coalesced(union_of_maps(program.context.get_space(), parts))


def _in_nest(times: Times, at_sizes: Times, nest: Nest, pairs: Pairs, shared: Pairs) -> Diagonals | None:
    """How an outermost nest runs diagonal by diagonal; None if it cannot, or need not."""
    assert nest.loop is not None
    inner = [one for one in times.nests(nest.statements, nest.loop + 1) if one.loop is not None]
    if len(inner) != 1:
        return None
    (rows,) = inner
    assert rows.loop is not None
    if any(one.loop is not None for one in times.nests(rows.statements, rows.loop + 1)):
        return None
    core = frozenset(rows.statements)
    moves = [one for one in _moves(pairs, core, nest.loop, rows.loop) if not one.is_empty()]
    if all(one.is_disjoint(isl.Set("{ [0, b] }")) for one in moves):
        # The innermost loop is no chain.
        return None
    skew = next((k for k in _SKEWS if all(_least(one, k) >= 1 for one in moves)), None)
    if skew is None:
        return None
    found = Diagonals(core, nest.loop, rows.loop, skew, {})
    border: dict[str, tuple[int, int, int]] = {}
    for name in at_sizes.parts:
        if name not in core:
            placed = _at_border(at_sizes, name, found, shared)
            if placed is not None:
                border[name] = placed
            elif name in nest.statements:
                return None
    return Diagonals(core, nest.loop, rows.loop, skew, border)


def _moves(pairs: Pairs, core: frozenset[str], outer: int, inner: int) -> Iterator[isl.Set]:
    """How far apart iterations of the core are that depend on each other, { [a, b] } in its two loops."""
    for (first, then), part in pairs.parts.items():
        if first in core and then in core:
            names = [f"t{d}" for d in range(part.dim(isl.dim_type.in_))]
            apart = part.deltas().apply(relation(names, [names[outer], names[inner]]))
            yield apart.subtract(isl.Set("{ [0, 0] }"))


def _least(distances: isl.Set, skew: int) -> int:
    """How many diagonals are between two iterations at least."""
    found = image(distances, linear_form(distances.get_space(), [skew, 1])).dim_min_val(0)
    return found.to_python() if found.is_int() else -1


def _at_border(times: Times, name: str, core: Diagonals, shared: Pairs) -> tuple[int, int, int] | None:
    """The dimension, rate and shift with which a statement runs just before the diagonals that read it."""
    read = [part for (first, then), part in shared.parts.items() if first == name and then in core.core]
    loops = [
        d
        for d in range(times.depth)
        if not times.parts[name].range().dim_min_val(d).eq(times.parts[name].range().dim_max_val(d))
    ]
    if not read or len(loops) > 1 or any(then == name and first in core.core for first, then in shared.parts):
        return None
    best: tuple[int, int, int, int] | None = None
    for rate in dict.fromkeys((core.skew, 1)) if loops else (0,):
        d = loops[0] if loops else 0
        ends = _ahead(read, core, d, rate)
        if ends is not None and (best is None or ends[1] - ends[0] < best[0]):
            best = ends[1] - ends[0], d, rate, ends[0] - 1
    return None if best is None else best[1:]


def _ahead(read: Sequence[isl.Map], core: Diagonals, d: int, rate: int) -> tuple[int, int] | None:
    """How many diagonals after rate * t the readers of a statement run at least and at most."""
    ends: list[tuple[int, int]] = []
    for part in read:
        depth = part.dim(isl.dim_type.in_)
        points = part.wrap().flatten()
        coefficients = [0] * (2 * depth)
        coefficients[d] -= rate
        coefficients[depth + core.outer] += core.skew
        coefficients[depth + core.inner] += 1
        found = image(points, linear_form(points.get_space(), coefficients))
        low, high = found.dim_min_val(0), found.dim_max_val(0)
        if not (low.is_int() and high.is_int()):
            return None
        ends.append((low.to_python(), high.to_python()))
    return min(low for low, _ in ends), max(high for _, high in ends)
