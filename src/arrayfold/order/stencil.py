"""Time steps and places of the instances of a stencil, and how far its dependences reach per step.

Loops over time steps around loops over space are what tiles of other shapes than boxes are for. A time step
may have several stages, statements of its borders have fewer loops than its interior, and arrays may be used
in place. All of that gets a place in one space of steps and positions, in which the dependences are short.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.exact.isl import image, linear_form, without_parameters
from arrayfold.exact.relations import relation
from arrayfold.order.nests import Nest, Pairs, Times
from arrayfold.program.model import Program

_SLOPES = range(-8, 9)
_MOST_TURNS = 2
_WIDEST = 64


@dataclass(frozen=True, eq=False)
class Stencil:
    """A loop over time steps and what is inside of it.

    loop   its dimension of the schedule
    steps  statement -> { S[i] -> [step, x, ...] }
    moves  { [step, x, ...] }: differences between the ends of dependences, for all sizes
    """

    loop: int
    steps: Mapping[str, isl.Map]
    moves: isl.Set

    def reach(self) -> int | None:
        """How far dependences go forth along the first axis in each step at most.

        None if some go that way in no time, or farther than a few places per step.
        """
        return next((slope for slope in _SLOPES if self._keep((slope, -1))), None)

    def skew(self, before: Sequence[Sequence[int]], *, is_nonnegative: bool) -> tuple[int, ...] | None:
        """The next axis skewed by the step, and by axes before it where it must be: no dependence goes back.

        before  factors of the step and the axes of the lines before
        result  factors of the step and the axes up to this one, whose own factor is 1; None if there are none
        """
        for turns in itertools.product(range(_MOST_TURNS + 1), repeat=len(before)):
            for slope in _SLOPES:
                if is_nonnegative and slope < 0:
                    continue
                sums = [
                    sum(n * line[k] for n, line in zip(turns, before, strict=True) if k < len(line))
                    for k in range(len(before) + 1)
                ]
                line = (slope + sums[0], *sums[1:], 1)
                if self._keep(line):
                    return line
        return None

    def _keep(self, line: Sequence[int]) -> bool:
        """Whether no dependence goes back along a line."""
        names = [f"d{k}" for k in range(self.moves.dim(isl.dim_type.set))]
        form = " + ".join(f"{factor}*{name}" for factor, name in zip(line, names, strict=False))
        return self.moves.is_disjoint(isl.Set(f"{{ [{', '.join(names)}] : {form} < 0 }}"))


def find_stencils(program: Program, dependences: isl.UnionMap, rank: int) -> list[Stencil]:
    """The loops over time steps of a program, with `rank` coordinates of space.

    dependences  { S[i] -> T[j] }  S[i] must run first

    A loop over steps carries dependences and has at least that many loops inside.
    """
    known = Times.of(program)
    pairs = Pairs.of(known, dependences)
    found: list[Stencil] = []
    for nest in known.nests(tuple(known.parts)):
        if nest.loop is None:
            continue
        loops = {
            name: [d for d in range(nest.loop + 1, known.depth) if known.varies(name, d)]
            for name in nest.statements
        }
        inside = Pairs({ends: one for ends, one in pairs.parts.items() if {*ends} <= {*nest.statements}})
        is_carried = any(
            not one.order_lt(isl.dim_type.in_, nest.loop, isl.dim_type.out, nest.loop).is_empty()
            for one in inside.parts.values()
        )
        if is_carried and max(map(len, loops.values())) >= rank:
            found.append(_stencil(known, nest, inside, loops, rank))
    return found


def _stencil(
    times: Times, nest: Nest, pairs: Pairs, loops: Mapping[str, Sequence[int]], rank: int
) -> Stencil:
    assert nest.loop is not None
    places = _Alignment(times, pairs, loops).places(rank)
    stages = _stages(nest, pairs, places)
    count = max(stages.values()) + 1
    inner = [f"t{d}" for d in range(times.depth)]
    at = {
        name: relation(inner, [f"{count}*t{nest.loop} + {stages[name]}"]).flat_range_product(place)
        for name, place in places.items()
    }
    moves = [
        without_parameters(one.apply_domain(at[first]).apply_range(at[then]).deltas())
        for (first, then), one in pairs.parts.items()
    ]
    steps = {name: times.parts[name].apply_range(at[name]) for name in nest.statements}
    return Stencil(nest.loop, steps, reduce(isl.Set.union, moves))


def _stages(nest: Nest, pairs: Pairs, places: Mapping[str, isl.Map]) -> dict[str, int]:
    """statement -> its number in a time step: later than those from which it takes values of other places."""
    assert nest.loop is not None
    later: dict[tuple[str, str], int] = {}
    for (first, then), one in pairs.parts.items():
        same = one.equate(isl.dim_type.in_, nest.loop, isl.dim_type.out, nest.loop)
        if first != then and not same.is_empty():
            moves = same.apply_domain(places[first]).apply_range(places[then])
            is_still = moves.is_subset(isl.Map.identity(moves.get_space()))
            later[first, then] = 0 if is_still else 1
    found = dict.fromkeys(nest.statements, 0)
    for _ in nest.statements:
        for (first, then), least in later.items():
            found[then] = max(found[then], found[first] + least)
    # Statements that take values from each other in one iteration of their loops have no stages.
    is_settled = all(found[then] >= found[first] + least for (first, then), least in later.items())
    return found if is_settled else dict.fromkeys(nest.statements, 0)


@dataclass(frozen=True, eq=False)
class _Alignment:
    """Where statements lie beside each other in space, { [t] -> [x, ...] } for each of them.

    The statement with most loops has its own; others follow those that they depend on.
    """

    times: Times
    pairs: Pairs
    loops: Mapping[str, Sequence[int]]

    def places(self, rank: int) -> dict[str, isl.Map]:
        """statement -> { [t] -> [x, ...] }."""
        main = max(self.loops, key=lambda name: len(self.loops[name]))
        axes = [self._axis(main, d) for d in self.loops[main][:rank]]
        return {
            name: reduce(isl.Map.flat_range_product, (axis[name] for axis in axes)) for name in self.loops
        }

    def _axis(self, main: str, loop: int) -> dict[str, isl.Map]:
        """statement -> { [t] -> [x] }."""
        found = {main: self._loop(loop)}
        left = [name for name in self.loops if name != main]
        while left:
            chosen = {name: self._along(name, loop, found) for name in left}
            known = {name: place for name, place in chosen.items() if place is not None}
            # What nothing is known of depends on nothing that has a place; it keeps its own loop.
            found |= known or {name: self._loop(loop) for name in left}
            left = [name for name in left if name not in found]
        return found

    def _loop(self, dimension: int, shift: int = 0) -> isl.Map:
        """{ [t] -> [x] }: the iteration of a loop."""
        return relation([f"t{d}" for d in range(self.times.depth)], [f"t{dimension} + {shift}"])

    def _along(self, name: str, loop: int, known: Mapping[str, isl.Map]) -> isl.Map | None:
        """Where a statement lies if it is as near as can be to those whose places are known."""
        found = [
            one.apply_range(known[other])
            for other in known
            for one in (self.pairs.parts.get((name, other)), _reversed(self.pairs.parts.get((other, name))))
            if one is not None
        ]
        if not found:
            return None
        near = reduce(isl.Map.union, found)
        own = sorted(self.loops[name], key=lambda d: d != loop)
        placed = [*(self._beside(near, d) for d in own), self._at_one_place(near)]
        fitting = [one for one in placed if one is not None]
        return min(fitting, key=lambda one: one[0])[1] if fitting else None

    def _beside(self, near: isl.Map, loop: int) -> tuple[int, isl.Map] | None:
        """How much distances to what is near vary from iterations of a loop, and the place in the middle."""
        both = near.flat_range_product(self._loop(loop)).range()
        distances = image(both, linear_form(both.get_space(), (1, -1)))
        least, most = distances.dim_min_val(0), distances.dim_max_val(0)
        if not (least.is_int() and most.is_int()):
            return None
        width = most.to_python() - least.to_python()
        middle = (most.to_python() + least.to_python()) // 2
        return (width, self._loop(loop, middle)) if width <= _WIDEST else None

    def _at_one_place(self, near: isl.Map) -> tuple[int, isl.Map] | None:
        """The same where all instances are at one place, which may depend on the parameters."""
        places = near.range()
        least, most = places.dim_min(0), places.dim_max(0)
        width = most.sub(least).max_val()
        if not width.is_int() or width.to_python() > _WIDEST or least.n_piece() != 1:
            return None
        shifted = isl.Set.from_pw_aff(least.add_constant_val(isl.Val(width.to_python() // 2)))
        # At sizes at which nothing is near, one place for all such statements keeps them beside each other.
        nowhere = isl.Set("{ [0] }").intersect_params(shifted.params().complement())
        middle = shifted.union(nowhere)
        times = isl.Set.universe(near.domain().get_space())
        place = isl.Map.from_domain_and_range(times, middle)
        return width.to_python(), place


def _reversed(pairs: isl.Map | None) -> isl.Map | None:
    return None if pairs is None else pairs.reverse()
