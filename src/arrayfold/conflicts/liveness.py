"""Liveness: Program + order -> the conflicts of an array.

A cell is live where it holds a value that is still going to be read: from a write (from the start if it is
live-in) to the last read of what was written (to the end if it is live-out). A write that nobody reads
afterwards destroys what is at its address, and leaves nothing there. Where each cell gets one value, that is
from its first write to its last read, which is what the constructions of the papers always count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Construction
from arrayfold.base.errors import BudgetExceeded, IslFailure, MethodNotApplicable
from arrayfold.conflicts.accesses import Accesses, accesses_of
from arrayfold.conflicts.conflicts import Conflicts, conflicts_from_differences, conflicts_from_pairs
from arrayfold.conflicts.values import live_values, several_values
from arrayfold.conflicts.windows import windows
from arrayfold.exact.isl import (
    coalesced,
    coalesced_if_few,
    first_images,
    fix_parameters,
    last_images,
    origin,
    sets_of,
)
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.order.dataflow import surely_written, undefined_reads
from arrayfold.order.dependences import checked_tiles
from arrayfold.order.events import Order, across, fronts, order_of, steps, sweep
from arrayfold.order.movable import find_obstacle, may_move
from arrayfold.program.model import Array, ConflictProblem, Problem, Program

_OPERATIONS_FOR_FRONTS = 1_500_000
_SHARE_FOR_FRONTS = 0.2
_FAR_MORE = 3


_OPERATIONS_FOR_VALUES = 4_000_000
_SHARE_FOR_VALUES = 0.5
_REALLOCATE = (
    "its cells hold one value after another, each at the same address; --mode reallocate --share cells, "
    "which gives values places of their own, may need fewer cells"
)
_NOT_TOLD_APART = (
    "which of its values are live together takes too long to find out; a cell counts as live from its first "
    "write to its last read"
)


_ASSUMED = (
    "the file does not say which cells there are, so there is no lower bound, and the size before is that of "
    "a box in which the differences occur; array = ... says it"
)


@dataclass(frozen=True, eq=False)
class Liveness:
    """A program with its order, its live-in cells and the arrays that may be folded."""

    program: Program
    order: Order
    live_in: isl.UnionSet
    temporaries: tuple[str, ...]

    def accesses(self, array: Array) -> Accesses:
        """What happens to the cells of one array."""
        return accesses_of(self.program, self.order, self.live_in, array)

    def conflicts(
        self, name: str, construction: Construction = "values", *, with_moments: bool = True
    ) -> Conflicts:
        """The conflicts of one array (DIY16 §2.1 and §3.2, Mor14 §2.3, BBC16 §2).

        with_moments  look for cells that all conflict, which lower bounds need
        """
        array = self.program.array(name)
        accesses = self.accesses(array)
        if construction in ("live-live", "butterfly") and not self.order.is_total:
            return self._conflicts_of_steps(array, accesses, construction)
        order = self.order.among(accesses.events)
        if not order.is_total:
            accesses = replace(accesses, races=self._races(array, accesses, order))
        several = isl.Set.empty(self.program.context.get_space())
        if construction == "values":
            several = several_values(self.program, accesses, order).intersect(self.program.context)
        is_never = several.is_empty()
        is_rare = is_never or several.is_disjoint(fix_parameters(large_parameters(self.program.context)))
        # Where they do so at corners only, such as N = 1, the other sizes take the short way. isl's answers
        # depend on how a relation is cut into pieces, so nothing is cut without need.
        if is_never or not is_rare:
            parts = [self._part(array, accesses, order, construction, with_moments, not is_rare)]
        else:
            rest = coalesced(self.program.context.subtract(several))
            parts = [
                replace(self, program=self.program.narrowed(where))._part(
                    array, accesses.within(where), order, construction, with_moments, of_values
                )
                for where, of_values in ((several, True), (rest, False))
            ]
        moments = [part.moments for part in parts if part.moments is not None]
        found = conflicts_from_pairs(
            array,
            self.program.context,
            accesses.cells,
            reduce(isl.Map.union, (part.pairs for part in parts)),
            reduce(_union_of_moments, moments) if moments else None,
            (*self.order.notes, *(note for part in parts for note in part.notes)),
        )
        return replace(
            found,
            moments_suffice=self.order.is_total and is_rare,
            program=self.program,
            advice=_REALLOCATE if not is_rare and self._may_be_reallocated(array, accesses) else "",
        )

    def _conflicts_of_steps(
        self, array: Array, accesses: Accesses, construction: Literal["live-live", "butterfly"]
    ) -> Conflicts:
        """The conflicts by way of steps, as if each happened at one moment (DIY16 §2.2)."""
        to_step = steps(self.program, self.order)
        if to_step is None:
            raise MethodNotApplicable(
                f"the {construction} construction needs a total order, or FORALL loops; use live-write"
            )
        races = self._races(array, accesses, self.order.among(accesses.events))
        times = to_step.get_space().range()
        order = replace(self.order, before=isl.Map.lex_lt(times), is_total=True, is_parallel=(), critical=())
        moved = replace(
            accesses,
            writes=coalesced(accesses.writes.apply_range(to_step)),
            reads=coalesced(accesses.reads.apply_range(to_step)),
            apart=None,
        )
        pairs = _CONSTRUCTIONS[construction](moved, order, live_after(moved, order)).union(races)
        found = conflicts_from_pairs(
            array, self.program.context, accesses.cells, pairs, None, self.order.notes
        )
        return replace(found, program=self.program)

    def _part(
        self,
        array: Array,
        accesses: Accesses,
        order: Order,
        construction: Construction,
        with_moments: bool,
        of_values: bool,
    ) -> _Part:
        """The conflicts for some sizes, those of the context.

        of_values  cells may hold one value after another there
        """
        live = self._live_values(array.name, accesses, order) if of_values else None
        notes = (_NOT_TOLD_APART,) if of_values and live is None else ()
        is_of_values = live is not None
        if live is None:
            accesses = replace(accesses, apart=None)
            if order.is_total:
                accesses = accesses.with_short_times()
                order = replace(order, before=isl.Map.lex_lt(accesses.writes.get_space().range()))
            live = live_after(accesses, order)
        pairs = _CONSTRUCTIONS[construction](accesses, order, live)
        moments = self._moments(accesses, live, pairs, is_of_values=is_of_values) if with_moments else None
        return _Part(pairs, moments, notes)

    def _may_be_reallocated(self, array: Array, accesses: Accesses) -> bool:
        """Whether cells of an array hold several values, and these could still have other places."""
        if accesses.writes.is_single_valued() and accesses.live_in.is_empty():
            return False
        program = self.program
        may_try = program.relocation.moved is None and may_move(program, array)
        return may_try and find_obstacle(program, array.name) is None

    def _live_values(self, name: str, accesses: Accesses, order: Order) -> isl.Map | None:
        """{ A[x] -> [t] }: as `live_values` gives it, if that does not take too long."""
        budget = Budget.of_work(_OPERATIONS_FOR_VALUES, _SHARE_FOR_VALUES)
        with suppress(BudgetExceeded, IslFailure), budget.limit(f"the lifetimes of the values of {name}"):
            return live_values(self.program, name, accesses, order)
        return None

    def _races(self, array: Array, accesses: Accesses, order: Order) -> isl.Map:
        """{ A[x] -> A[y] }: cells that different instances write in no order; x = y may occur."""
        writes = self.program.accesses(writes=True, array=array.name).intersect_params(self.program.context)
        if writes.is_single_valued():
            unordered = order.unordered().subtract(order.taking_turns())
            return accesses.writes.apply_range(unordered).apply_range(accesses.writes.reverse())
        times = order.write_times.intersect_domain(writes.domain())
        unordered = order.unordered().subtract(order.taking_turns())
        apart = across(times, unordered, times).subtract(writes.domain().identity())
        found = writes.reverse().apply_range(apart).apply_range(writes)
        return found.extract_map(array.cells.get_space().map_from_set())

    def _moments(
        self, accesses: Accesses, live: isl.Map, some_pairs: isl.Map, *, is_of_values: bool
    ) -> isl.Map | None:
        """{ [s, t] -> A[x] }: cells that all conflict with each other.

        Those in memory at a moment of a total order. For loops that run in parallel those that may be in
        memory during one front, if they all conflict; otherwise some of them that do, and those at a moment
        of the sequential execution, which is one of the possible ones. Under a relation, some of those that
        may be in memory at a write.
        """
        if self.order.is_total:
            in_memory = occupied(accesses, live)
            if accesses.apart is not None:
                in_memory = _conflicting(in_memory.intersect_params(self.program.context), some_pairs)
            return _all_moments(accesses, in_memory)
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
        in_memory = [*self._in_a_sweep(accesses, is_of_values=is_of_values), *of_fronts]
        if self.order.critical:
            # Sections need not be whole in the sequential order of all instances.
            in_memory = [_conflicting(one, some_pairs) for one in in_memory]
        return _all_moments(accesses, *in_memory) if in_memory else None

    def _in_a_sweep(self, accesses: Accesses, *, is_of_values: bool) -> list[isl.Map]:
        """{ [t] -> A[x] }: the cells in memory at a moment of one possible execution, if that is known."""
        order = sweep(self.order)
        if not is_of_values:
            return [occupied(accesses, live_after(accesses, order))]
        live = self._live_values(accesses.cells.get_tuple_name(), replace(accesses, apart=None), order)
        return [] if live is None or accesses.apart is not None else [occupied(accesses, live)]


@dataclass(frozen=True, eq=False)
class _Part:
    """The conflicts of an array for some sizes."""

    pairs: isl.Map
    moments: isl.Map | None
    notes: tuple[str, ...]


def _union_of_moments(first: isl.Map, second: isl.Map) -> isl.Map:
    """{ [t] -> A[x] }: the moments of different sizes, whose times may differ in length."""
    depth = max(one.dim(isl.dim_type.in_) for one in (first, second))

    def longer(moments: isl.Map) -> isl.Map:
        for k in range(moments.dim(isl.dim_type.in_), depth):
            moments = moments.insert_dims(isl.dim_type.in_, k, 1).fix_val(isl.dim_type.in_, k, isl.Val(0))
        return moments

    return longer(first).union(longer(second))


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

    Where all cells conflict with each other they are one moment; otherwise windows of cells that do are.
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
    return replace(found, moments=windows(found))


# ---------------------------------------------------------------- constructions


def live_after(accesses: Accesses, order: Order) -> isl.Map:
    """{ A[x] -> [t] }: right after the write event t the cell may hold a value that is still needed."""
    if order.exclusive is not None or order.critical:
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

    The triangle of DIY16 §3.2, Eq. 5, with all three sides: without conditionals the third one follows. What
    critical sections keep out, t is not between the two (footnote 4: by Eq. 2).
    """
    not_after = order.not_after()
    always = isl.Map.from_domain_and_range
    ends = accesses.writes.range_product(accesses.reads)
    ends = ends.intersect(always(accesses.cells, not_after.wrap()))
    at_both = not_after.domain_product(not_after.reverse())
    if order.critical:
        at_both = at_both.intersect_domain(ends.range()).intersect_range(accesses.moments)
        at_both = at_both.subtract(order.kept_out())
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
    "values": _live_write,
    "live-write": _live_write,
    "live-live": _live_live,
    "butterfly": _butterfly,
}
