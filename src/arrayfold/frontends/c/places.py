"""Places in the text of a region: which iterations reach them, and under which conditions on data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import islpy as isl

from arrayfold.c import tree as c
from arrayfold.c.source import Guard, StatementSource
from arrayfold.c.tree import Span, Variable
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.affine import Scope
from arrayfold.frontends.c.effects import Effect
from arrayfold.frontends.c.loops import later_iterations


@dataclass(frozen=True)
class Position:
    """The place of a statement in a sequence."""

    number: int


@dataclass(frozen=True)
class Loop:
    """A loop on the way to a statement: which iterator, up or down, in order or in parallel."""

    dimension: int
    sign: int
    is_parallel: bool


LoopPath: TypeAlias = tuple[Position | Loop, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """A statement as it was found in the region.

    may, must  { [i] }  the iterations in which it may, or surely does, run
    """

    name: str
    source: StatementSource
    may: isl.Set
    must: isl.Set
    path: LoopPath
    effects: tuple[Effect, ...]


@dataclass(frozen=True, eq=False)
class Place:
    """A place in the text: which iterations reach it, under which conditions on data, and the way to it.

    It is reached in an iteration that may reach it if all conditions come out as they must.

    unsure  something that decides as well, if what it decides is no conjunction of conditions
    """

    scope: Scope
    path: LoopPath = ()
    guards: tuple[Guard, ...] = ()
    unsure: Span | None = None

    @property
    def is_dead(self) -> bool:
        """Whether nothing ever gets here."""
        return self.scope.may.is_empty()

    def at(self, number: int) -> LoopPath:
        """The way to the statement with a number."""
        return (*self.path, Position(number))

    def in_scope(self, scope: Scope) -> Place:
        """The same place, with more known of the iterations."""
        return replace(self, scope=scope)

    def under(self, guard: Guard) -> Place:
        """The same place under one more condition."""
        return replace(self, guards=(*self.guards, guard))

    def dead(self) -> Place:
        """The same place, which nothing reaches."""
        return self.in_scope(self.scope.narrowed(*2 * (isl.Set.empty(self.scope.space),)))


@dataclass(frozen=True, eq=False)
class Ends:
    """The iterations of a loop that break if they run.

    may, must  { [outer, i] }
    sign       negative for a loop down
    """

    may: isl.Set
    must: isl.Set
    sign: int

    def later(self, than: isl.Set) -> isl.Set:
        """{ [outer, i] }: the iterations after one of some."""
        return later_iterations(than, self.sign)

    def place_before(self, place: Place, loop: c.For | c.While) -> Place:
        """The place inside of the loop, reached by the iterations up to the first one that breaks."""
        scope = place.scope
        reached = replace(
            scope,
            may=coalesced(scope.may.subtract(self.later(self.must))),
            must=coalesced(scope.must.subtract(self.later(self.may))),
        )
        is_exact = self.may.intersect(reached.may).is_subset(self.must)
        return replace(place, scope=reached, unsure=None if is_exact else loop.span)


def within(place: Place, scope: Scope, variable: Variable, domain: isl.Set, link: Loop) -> Place:
    """The place inside of a loop."""
    inner = replace(
        scope,
        iterators=(*scope.iterators, variable),
        may=coalesced(domain.intersect(scope.may.add_dims(isl.dim_type.set, 1))),
        must=coalesced(domain.intersect(scope.must.add_dims(isl.dim_type.set, 1))),
    )
    return replace(place, scope=inner, path=(*place.path, link))


def reached_by(places: Sequence[Place]) -> tuple[list[isl.Set], list[isl.Set]]:
    """The iterations that may reach each of some places, and those that surely do."""
    return [one.scope.may for one in places], [one.scope.must for one in places]
