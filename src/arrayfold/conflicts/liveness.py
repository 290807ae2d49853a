"""Liveness: Program + order -> the conflicts of an array.

A cell is live from its first write (from the start if it is live-in) to its last read (to the end if it
is live-out). A write that nobody reads afterwards destroys what is at its address, and leaves nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Construction
from arrayfold.base.errors import BudgetExceeded, IslFailure, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts, conflicts_from_differences, conflicts_from_pairs
from arrayfold.exact.isl import (
    coalesced,
    coalesced_if_few,
    first_images,
    fix_parameters,
    last_images,
    maps_of,
    origin,
    sets_of,
)
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.order.compressed_times import drop_constant_dimensions
from arrayfold.order.dataflow import surely_written, undefined_reads
from arrayfold.order.dependences import checked_tiles
from arrayfold.order.events import Order, fronts, order_of, sweep
from arrayfold.order.movable import find_obstacle, may_move
from arrayfold.program.conditions import never_together
from arrayfold.program.model import Array, ConflictProblem, Problem, Program

_OPERATIONS_FOR_FRONTS = 1_500_000
_SHARE_FOR_FRONTS = 0.2
_FAR_MORE = 3


_WRITTEN_ANEW = "cells are written anew, and a lifetime counts from the first write to the last read"
_REALLOCATE = "; --mode reallocate, which looks at single values, may need fewer cells"


_ASSUMED = (
    "the file does not say which cells there are, so there is no lower bound, and the size before is that of "
    "a box in which the differences occur; array = ... says it"
)


@dataclass(frozen=True, eq=False)
class Accesses:
    """What happens to the cells of one array, in the time space of an order.

    writes    { A[x] -> [t] }  every write that may happen
    reads     { A[x] -> [t] }  every read that may happen
    live_in   { A[x] }         holds a value before the program
    live_out  { A[x] }         needed after it
    races     { A[x] -> A[y] } different instances in no order write them; None where there is a total order
    """

    writes: isl.Map
    reads: isl.Map
    live_in: isl.Set
    live_out: isl.Set
    races: isl.Map | None = None

    @cached_property
    def cells(self) -> isl.Set:
        """{ A[x] }: cells that ever hold a value."""
        return coalesced(self.writes.domain().union(self.live_in))

    @cached_property
    def moments(self) -> isl.Set:
        """{ [t] }: the times of writes; right after one of them every conflict can be seen."""
        return self.writes.range()

    @property
    def events(self) -> isl.Set:
        """{ [t] }: the times of writes and reads."""
        return coalesced(self.writes.range().union(self.reads.range()))


@dataclass(frozen=True, eq=False)
class Liveness:
    """A program with its order, its live-in cells and the arrays that may be folded."""

    program: Program
    order: Order
    live_in: isl.UnionSet
    temporaries: tuple[str, ...]

    def accesses(self, array: Array) -> Accesses:
        """What happens to the cells of one array."""
        program, order = self.program, self.order
        writes = program.accesses(writes=True, array=array.name).reverse().apply_range(order.write_times)
        reads = program.accesses(writes=False, array=array.name).reverse().apply_range(order.read_times)
        cells, times = array.cells.get_space(), order.before.get_space().domain()
        space = cells.map_from_domain_and_range(times)
        context = program.context
        return Accesses(
            writes=coalesced(writes.extract_map(space).intersect_params(context)),
            reads=coalesced(reads.extract_map(space).intersect_params(context)),
            live_in=coalesced(self.live_in.extract_set(cells).intersect_params(context)),
            live_out=coalesced(program.live_out.extract_set(cells).intersect_params(context)),
        )

    def conflicts(
        self, name: str, construction: Construction = "live-write", *, with_moments: bool = True
    ) -> Conflicts:
        """The conflicts of one array (DIY16 §2.1 and §3.2, Mor14 §2.3, BBC16 §2).

        with_moments  look for cells that all conflict, which lower bounds need
        """
        array = self.program.array(name)
        accesses = self.accesses(array)
        if construction != "live-write" and not self.order.is_total:
            raise MethodNotApplicable(f"the {construction} construction needs a total order; use live-write")
        order = self.order.among(accesses.events)
        notes = self.order.notes
        if self._writes_anew(array, accesses, order):
            advice = _REALLOCATE if self._may_be_reallocated(array) else ""
            notes = (*notes, _WRITTEN_ANEW + advice)
        if order.is_total:
            accesses, order = _with_short_times(accesses, order)
        else:
            accesses = replace(accesses, races=self._races(array, accesses, order))
        live = live_after(accesses, order)
        pairs = _CONSTRUCTIONS[construction](accesses, order, live)
        return conflicts_from_pairs(
            array,
            self.program.context,
            accesses.cells,
            pairs,
            self._moments(accesses, live, pairs) if with_moments else None,
            notes,
            moments_suffice=self.order.is_total,
            program=self.program,
        )

    def _races(self, array: Array, accesses: Accesses, order: Order) -> isl.Map:
        """{ A[x] -> A[y] }: cells that different instances write in no order; x = y may occur."""
        writes = self.program.accesses(writes=True, array=array.name).intersect_params(self.program.context)
        if writes.is_single_valued():
            return accesses.writes.apply_range(order.unordered()).apply_range(accesses.writes.reverse())
        times = order.write_times.intersect_domain(writes.domain())
        apart = times.apply_range(isl.UnionMap.from_map(order.unordered())).apply_range(times.reverse())
        apart = apart.subtract(writes.domain().identity())
        found = writes.reverse().apply_range(apart).apply_range(writes)
        return found.extract_map(array.cells.get_space().map_from_set())

    def _writes_anew(self, array: Array, accesses: Accesses, order: Order) -> bool:
        """Whether cells get, also at large sizes, a value that has nothing to do with the one before.

        An instance that reads the cell it writes continues its life; another one could have begun a new one.
        """
        if accesses.writes.is_single_valued():
            return False
        writes, reads = (self.program.accesses(writes=kind, array=array.name) for kind in (True, False))
        updates = writes.intersect(reads).reverse().apply_range(order.write_times)
        before = order.before if order.exclusive is None else order.before.subtract(order.exclusive)
        pairs = accesses.writes.range_product(accesses.writes).intersect_range(before.wrap())
        pairs = pairs.intersect_range(self._together(order).wrap())
        anew = pairs.range_factor_range().subtract(updates.extract_map(accesses.writes.get_space()))
        return not anew.params().is_disjoint(fix_parameters(large_parameters(self.program.context)))

    def _may_be_reallocated(self, array: Array) -> bool:
        """Whether values of an array could still have other places."""
        program = self.program
        may_try = program.moved is None and may_move(program, array)
        return may_try and find_obstacle(program, array.name) is None

    def _together(self, order: Order) -> isl.Map:
        """{ [a] -> [b] }: writes that no condition on data keeps apart."""
        apart = never_together(self.program)
        found = isl.Map.universe(order.before.get_space())
        for part in maps_of(apart.apply_domain(order.write_times).apply_range(order.write_times)):
            found = found.subtract(part)
        return found

    def _moments(self, accesses: Accesses, live: isl.Map, some_pairs: isl.Map) -> isl.Map | None:
        """{ [s, t] -> A[x] }: cells that all conflict with each other.

        Those in memory at a moment of a total order. For loops that run in parallel those that may be in
        memory during one front, if they all conflict; otherwise some of them that do, and those at a moment
        of the sequential execution, which is one of the possible ones. Under a relation, some of those that
        may be in memory at a write.
        """
        if self.order.is_total:
            return _all_moments(accesses, occupied(accesses, live))
        of_fronts: list[isl.Map] = []
        if self.order.events is not None or not self.order.is_swept:
            with suppress(BudgetExceeded, IslFailure), _budget_of_fronts().limit("cells at a write"):
                at_a_write = occupied(accesses, live).intersect_params(self.program.context)
                of_fronts.append(_conflicting(at_a_write, some_pairs))
        if not self.order.is_swept:
            return _all_moments(accesses, *of_fronts) if of_fronts else None
        for front in fronts(self.order):
            with (
                suppress(BudgetExceeded, IslFailure),
                _budget_of_fronts().limit("the cells of a front"),
            ):
                together = coalesced_if_few(occupied(accesses, live).apply_domain(front))
                together = together.intersect_params(self.program.context)
                conflicting = _conflicting(together, some_pairs)
                if together.is_subset(conflicting):
                    return _all_moments(accesses, together)
                of_fronts.append(conflicting)
        in_a_sweep = occupied(accesses, live_after(accesses, sweep(self.order)))
        return _all_moments(accesses, in_a_sweep, *of_fronts)


def _budget_of_fronts() -> Budget:
    return Budget.of_work(_OPERATIONS_FOR_FRONTS, _SHARE_FOR_FRONTS)


def analyse(program: Program) -> Liveness:
    """The liveness of a program: its live-in cells completed, its temporaries chosen.

    Live-in are also cells that are read, or live-out, without a write that surely comes first. Without a
    list of temporaries every written array that is neither live-in nor live-out is one, unless the program
    knows a reason against it.
    """
    if program.tiles:
        checked_tiles(program)
    order = order_of(program)
    live_in = program.live_in.union(undefined_reads(program, order).range())
    live_in = live_in.union(program.live_out.subtract(surely_written(program)))
    live_in = coalesced(live_in.intersect_params(program.context))
    temporaries = program.temporaries
    if temporaries is None:
        live = live_in.union(program.live_out.intersect_params(program.context))
        kept = {cells.get_tuple_name() for cells in sets_of(live)} | program.kept.keys()
        temporaries = tuple(array.name for array in program.arrays if array.name not in kept)
    chosen = dict.fromkeys((*temporaries, *program.extra_temporaries))
    if program.source is not None:
        used = {cells.get_tuple_name() for cells in sets_of(_written_cells(program).union(live_in))}
        chosen = {name: None for name in chosen if name in used}
    return Liveness(program, order, live_in, tuple(chosen))


def _written_cells(program: Program) -> isl.UnionSet:
    return program.accesses(writes=True).intersect_params(program.context).range()


def with_temporaries(problem: Problem) -> Problem:
    """The problem with extra temporaries, or reasons against some, worked into its list of them."""
    if not isinstance(problem, Program) or not (problem.extra_temporaries or problem.kept):
        return problem
    return replace(problem, temporaries=analyse(problem).temporaries, extra_temporaries=(), kept={})


def given_conflicts(problem: ConflictProblem, name: str) -> Conflicts:
    """The conflicts that the input itself states.

    Where all cells conflict with each other they are one moment; otherwise no moments are known.
    """
    array = problem.array(name)
    if name in problem.pairs:
        cells = array.cells.union(problem.pairs[name].domain())
        found = conflicts_from_pairs(array, problem.context, cells, problem.pairs[name], None)
    else:
        found = conflicts_from_differences(array, problem.context, problem.differences[name])
    if name in problem.assumed:
        return replace(found, notes=(*found.notes, _ASSUMED), is_assumed=True)
    everything = isl.Map.from_domain_and_range(found.cells, found.cells).intersect_params(found.context)
    distinct = everything.subtract(isl.Map.identity(everything.get_space()))
    if distinct.is_subset(found.pairs):
        once = isl.Set("{ [] }").align_params(found.context.get_space()).intersect_params(found.context)
        moments = isl.Map.from_domain_and_range(once, found.cells)
        return replace(found, moments=moments, moments_suffice=True)
    return found


def _with_short_times(accesses: Accesses, order: Order) -> tuple[Accesses, Order]:
    """The same events in the same total order, with fewer dimensions of time."""
    writes, reads = drop_constant_dimensions(accesses.writes, accesses.reads)
    before = isl.Map.lex_lt(writes.get_space().range())
    return replace(accesses, writes=writes, reads=reads), replace(order, before=before)


# ---------------------------------------------------------------- constructions


def live_after(accesses: Accesses, order: Order) -> isl.Map:
    """{ A[x] -> [t] }: right after the write event t the cell may hold a value that is still needed."""
    if order.exclusive is not None:
        return _live_in_one_execution(accesses, order)
    first = _simpler(accesses.writes, first_images) if order.is_total else accesses.writes
    last = _simpler(accesses.reads, last_images) if order.is_total else accesses.reads
    may_precede = isl.Map.lex_le(order.before.get_space().domain()) if order.is_total else order.not_after()
    always = isl.Map.from_domain_and_range
    started = first.apply_range(may_precede).union(always(accesses.live_in, accesses.moments))
    needed = last.apply_range(may_precede.reverse())
    needed = needed.union(always(accesses.live_out, accesses.moments))
    return coalesced_if_few(started.intersect(needed).intersect_range(accesses.moments))


def _simpler(events: isl.Map, extreme: Callable[[isl.Map], isl.Map]) -> isl.Map:
    """The first or last events of each cell, or all of them where those are far fewer pieces.

    Some write came before a moment iff the first one did, so that either will do. All of them make pieces
    that overlap, which take long to count and to list.
    """
    found = coalesced(extreme(events))
    return found if found.n_basic_map() <= _FAR_MORE * events.n_basic_map() else events


def _live_in_one_execution(accesses: Accesses, order: Order) -> isl.Map:
    """{ A[x] -> [t] }: as above, where the write of x, its read and t are pairwise in one execution.

    The triangle of DIY16 §3.2, Eq. 5, with all three sides: without conditionals the third one follows.
    """
    not_after = order.not_after()
    always = isl.Map.from_domain_and_range
    ends = accesses.writes.range_product(accesses.reads)
    ends = ends.intersect(always(accesses.cells, not_after.wrap()))
    at_both = not_after.domain_product(not_after.reverse())
    live = ends.apply_range(at_both)
    live = live.union(
        always(accesses.live_in, accesses.moments).intersect(
            accesses.reads.apply_range(not_after.reverse()).union(always(accesses.live_out, accesses.moments))
        )
    )
    live = live.union(
        always(accesses.live_out, accesses.moments).intersect(accesses.writes.apply_range(not_after))
    )
    return coalesced_if_few(live.intersect_range(accesses.moments))


def occupied(accesses: Accesses, live: isl.Map) -> isl.Map:
    """{ [t] -> A[x] }: the cells in memory right after the write event t; for a partial order, that may be.

    Of cells that t writes and nobody reads any more one is taken: they conflict with the live ones, and not
    with each other.

    live  { A[x] -> [t] }  as `live_after` gives it for that order
    """
    dead = accesses.writes.subtract(live).reverse()
    if accesses.writes.is_injective():
        return coalesced_if_few(live.union(accesses.writes).reverse())
    return coalesced_if_few(live.reverse().union(first_images(dead)))


def _conflicting(together: isl.Map, some_pairs: isl.Map) -> isl.Map:
    """{ [f] -> A[x] }: of each front cells that all conflict; of two that do not, the later is kept.

    together    { [f] -> A[x] }
    some_pairs  { A[x] -> A[y] }  every conflict at least one way round
    """
    meeting = together.reverse().apply_range(together)
    later_to_earlier = meeting.intersect(isl.Map.lex_gt(together.get_space().range()))
    compatible = later_to_earlier.subtract(some_pairs.union(some_pairs.reverse()))
    return coalesced_if_few(together.subtract(together.apply_range(compatible)))


def _all_moments(accesses: Accesses, *in_memory: isl.Map) -> isl.Map:
    """{ [s, t] -> A[x] }: the cells in memory at the start (s = 0), and what else is known (s = 1, 2 ...).

    in_memory  { [t] -> A[x] }  kept apart by s, because their times need not mean the same
    """
    times = in_memory[0].get_space().domain().insert_dims(isl.dim_type.set, 0, 1)
    total = isl.Map.from_domain_and_range(origin(times), accesses.live_in)
    for number, cells in enumerate(in_memory, start=1):
        wider = cells.insert_dims(isl.dim_type.in_, 0, 1)
        total = total.union(wider.fix_val(isl.dim_type.in_, 0, isl.Val(number)))
    return coalesced_if_few(total)


def _live_write(accesses: Accesses, order: Order, live: isl.Map) -> isl.Map:
    """x is live at a write of y, or instances in no order write both, or both are live-in.

    DIY16 §2.1 (live × write), which for partial orders is the triangle of §3.2. The second case is one of its
    footnote 5: no value need be lost, but two stores in no order to one address are a data race. Two cells
    that one instance writes and nobody reads may share.
    """
    del order
    found = live.apply_range(accesses.writes.reverse()).union(_at_the_start(accesses))
    return found if accesses.races is None else found.union(accesses.races)


def _live_live(accesses: Accesses, order: Order, live: isl.Map) -> isl.Map:
    """x and y are in memory at the same moment (DIY16 §2.1, live × live, with dead writes kept)."""
    del order
    in_memory = live.union(accesses.writes).reverse()
    return live.apply_range(in_memory).union(_at_the_start(accesses))


def _butterfly(accesses: Accesses, order: Order, live: isl.Map) -> isl.Map:
    """Each of x and y is first written before the other's last access (DIY16 Fig. 3a, Mor14 §2.3).

    A write counts as an access, so that a dead one is kept; where a cell is written again after its last
    read this is coarser than the other constructions, on the safe side.
    """
    del live
    first = first_images(accesses.writes)
    last = last_images(accesses.reads.union(accesses.writes))
    not_later = isl.Map.lex_le(order.before.get_space().domain())
    always = isl.Map.from_domain_and_range
    overlap = first.apply_range(not_later).apply_range(last.reverse())
    overlap = overlap.union(always(accesses.live_in, last.domain()))
    overlap = overlap.union(always(accesses.cells, accesses.live_out)).union(_at_the_start(accesses))
    return overlap.intersect(overlap.reverse())


def _at_the_start(accesses: Accesses) -> isl.Map:
    return isl.Map.from_domain_and_range(accesses.live_in, accesses.live_in)


_CONSTRUCTIONS: Mapping[Construction, Callable[[Accesses, Order, isl.Map], isl.Map]] = {
    "live-write": _live_write,
    "live-live": _live_live,
    "butterfly": _butterfly,
}
