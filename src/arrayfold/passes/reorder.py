"""The order to analyse: as written, given, or fused; then tiled, then with parallel loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import FUSES, Fuse
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import InputError
from arrayfold.base.reported import reported
from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, maps_of
from arrayfold.frontends.kernel import Kernel, as_problem
from arrayfold.order.dataflow import find_dataflow
from arrayfold.order.dependences import Dependence, find_violation, memory_dependences, union_of
from arrayfold.order.events import order_of, sweep
from arrayfold.order.fusion import fused_schedule
from arrayfold.order.loops import loop_dimensions, statement_by_statement, with_parallel_loops
from arrayfold.order.parse import read_schedule, schedule_source
from arrayfold.order.private_overlaps import first_overlap, overlapping
from arrayfold.order.reductions import exact_updates, reorderable_dependences
from arrayfold.order.row_fusion import RowFusion
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.passes.shaped_tiles import is_map, shape_of, with_tiles
from arrayfold.program.guards import refuse_uncertain_loops
from arrayfold.program.model import Problem, Program


@dataclass(frozen=True)
class Reorder:
    """Another order, which keeps every memory dependence.

    schedule  an order in isl notation, such as "{ S[y, x] -> [y, x, 0]; T[y, x] -> [y + 2, x, 1] }"
    fuse      an order that brings producers and consumers together: with "rows" each stage runs over a row as
              soon as the rows that it reads are there, with "cells" each iteration as soon as its cells are
    tile      sizes of tiles for the outermost loops, where a loop with size 1 is not cut; or a shape with its
              sizes, such as "diamond:32"; or the tile of each instance, such as "S[t, i] -> [floor(t/8)]"
    parallel  the outermost loop of each nest that carries no dependence becomes doall
    """

    name: ClassVar[str] = "reorder"
    flags: ClassVar[tuple[str, ...]] = ("--schedule", "--fuse", "--tile", "--parallel")
    schedule: str | None = None
    fuse: Fuse | None = None
    tile: tuple[int, ...] | str = ()
    parallel: bool = False

    def __post_init__(self) -> None:
        if self.fuse is not None and self.fuse not in FUSES:
            raise InputError(f"there is no way to fuse {self.fuse!r}; it is {' or '.join(FUSES)}")
        if self.schedule is not None and self.fuse is not None:
            hint = "Leave --schedule or --fuse out."
            raise InputError("an order is either given or fused, not both", hint=hint)
        if isinstance(self.tile, str):
            if not is_map(self.tile):
                shape_of(self.tile)
            return
        for size in self.tile:
            if size < 1:
                raise InputError(f"the size of a tile must be positive, not {size}")

    @property
    def is_as_written(self) -> bool:
        """Whether nothing changes."""
        return self.schedule is None and not (self.fuse or self.tile or self.parallel)

    def options(self) -> list[str]:
        """The options on the command line."""
        found = ["--schedule", self.schedule] if self.schedule is not None else []
        found += ["--fuse", self.fuse] if self.fuse is not None else []
        tile = self.tile if isinstance(self.tile, str) else "x".join(map(str, self.tile))
        found += ["--tile", tile] if tile else []
        return found + ["--parallel"] * self.parallel

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program in that order, or an error that shows a dependence it would break.

        Without `schedule` and `fuse` the order is as written, where loops that were parallel run one
        iteration after the other.
        """
        program = _checked(program)
        if self.is_as_written:
            return program
        if program.domain().intersect_params(program.context).is_empty():
            return replace(program, happens_before=None, tiles=())
        program = movable_program(program)
        limit = as_budget(budget)
        return answer_in_time(partial(_reordered, program, limit, self), limit, "the order", known=program)


@reported
def reorder(
    problem: Problem | Kernel,
    *,
    schedule: str | None = None,
    fuse: Fuse | bool | None = None,
    tile: Sequence[int] | str = (),
    parallel: bool = False,
    budget: Budget | float | None = None,
) -> Program:
    """The program in another order, which keeps every memory dependence, or an error that shows one broken.

    The parameters are those of `Reorder`; fuse=True is "rows". Without any of them the program is returned as
    it is.
    """
    how = ("rows" if fuse else None) if isinstance(fuse, bool) else fuse
    cut = tile if isinstance(tile, str) else tuple(tile)
    return Reorder(schedule, how, cut, parallel).apply(as_problem(problem), as_budget(budget))


def _reordered(program: Program, budget: Budget, order: Reorder, _: object) -> Program:
    with budget.limit("the order"):
        ordered = _with_own_variables(program, lambda one: _placed(one, order))
        if not order.parallel:
            return ordered
        # In this order more variables may do with one for each thread than in the one that was tried first.
        ordered = _sharing(ordered, overlapping(replace(ordered, private=program.private)), program.private)
        return _with_own_variables(ordered, lambda one: _parallel(one, order.fuse is not None))


def _with_own_variables(program: Program, order: Callable[[Program], Program]) -> Program:
    """The program in an order, in which one variable is enough for those of which each iteration has its own.

    Where it is not, one variable cannot hold what several iterations need at once; then iterations depend on
    each other by it, and another order is found; or there is none, which is the variable's fault.
    """
    refused: tuple[Program, str] | None = None
    while True:
        try:
            ordered = order(program)
        except InputError:
            if refused is None:
                raise
            raise _one_variable(*refused) from None
        shared = list(overlapping(ordered))
        if not shared:
            return ordered
        refused = ordered, shared[0]
        program = _sharing(program, shared, program.private)


def _one_variable(program: Program, name: str) -> InputError:
    """Why an order is none: one variable would have to hold what several iterations need at once."""
    source = program.source
    message = str(first_overlap(program, name))
    hint = (
        f"Declare {name} before the region as an array, with an element for each iteration. "
        "Or give its values other places: fold --mode reallocate."
    )
    if source is None:
        return InputError(message, hint=hint)
    return source.text.error(message, source.variables[name].span.start, hint)


def _sharing(program: Program, shared: Iterable[str], private: Mapping[str, int]) -> Program:
    """The program in which iterations have these variables of their own, except for some that they share."""
    left = {*private} - {*shared}
    return replace(program, private={name: loops for name, loops in private.items() if name in left})


def _placed(program: Program, order: Reorder) -> Program:
    """The program in the order as written, given or fused, and tiled, all loops sequential."""
    dependences = reorderable_dependences(program)
    ordered = _ordered(program, dependences, order.schedule, order.fuse)
    if order.tile:
        is_text = isinstance(order.tile, str)
        ordered = (
            with_tiles(ordered, dependences, order.tile)
            if isinstance(order.tile, str)
            else _tiled(ordered, order.tile)
        )
        looks = "" if order.fuse == "cells" else " --fuse cells looks for loops to tile."
        hint = (
            f"Values may go from tile to tile one way only.{looks}"
            if is_text
            else f"A loop with size 1 is not cut.{looks}"
        )
        check_order(ordered, dependences, hint)
    return ordered


def _checked(problem: Problem) -> Program:
    if not isinstance(problem, Program):
        raise InputError("reordering needs a program with a schedule, but the file gives conflicts")
    if problem.schedule is None:
        hint = "Replace happens_before by a schedule."
        raise InputError("reordering needs a schedule, but the program gives happens_before", hint=hint)
    return problem


def movable_program(problem: Problem) -> Program:
    """The program in the order of its schedule, where all dependences are known, so that it may change."""
    program = replace(_checked(problem), happens_before=None, tiles=())
    refuse_aliases(program)
    return with_guard_reads(program)


def refuse_aliases(program: Program) -> None:
    """Raise where two names of one memory, functions with global variables, or jumps hide dependences."""
    refuse_uncertain_loops(program, "the order must stay")
    source = program.source
    if source is not None and source.impure is not None:
        offset, why = source.impure
        raise InputError(
            f"{why}, which hides dependences, so the order must stay",
            source.text.place(offset),
            "Give the function all it uses as arguments, or say that it only computes: "
            "#pragma arrayfold pure(NAME).",
        )
    if source is not None and source.may_alias is not None:
        first, second = source.may_alias
        raise InputError(
            f"{first} and {second} may overlap, so aliasing cannot be excluded and the order must stay",
            source.text.place(source.region.function.span.start),
            "Declare one of them with restrict, or say --no-alias (in the file: #pragma arrayfold no_alias).",
        )


def _ordered(
    program: Program, dependences: Sequence[Dependence], text: str | None, fuse: Fuse | None
) -> Program:
    """The program in the order as written, given or fused, all loops sequential."""
    if text is not None:
        source = schedule_source(program, text)
        given = program.in_order(read_schedule(program, source), {})
        check_order(given, dependences, "It must run later, for example by a shift of its statement.", source)
        return given
    as_before = replace(program, parallel={})
    hint = "As written they run at the same time, or in a forall loop; give an order with --schedule."
    if fuse is None:
        check_order(as_before, dependences, hint)
        return as_before
    flows = find_dataflow(program, sweep(order_of(program))).flows.range_factor_domain()
    must_keep = union_of(program, dependences)
    if fuse == "rows":
        check_order(as_before, dependences, hint)
        times = RowFusion().schedule(as_before, must_keep, flows)
    else:
        try:
            times = fused_schedule(program, must_keep, flows)
        except isl.Error:
            # A forall loop may have dependences in a circle: no sequential order keeps them.
            check_order(as_before, dependences, hint)
            raise
    fused = program.in_order(times, {})
    assert find_violation(fused, dependences) is None
    return fused


def _tiled(program: Program, sizes: Sequence[int]) -> Program:
    """The program with its outermost loops cut into tiles, { S[i] -> [places, tiles, loops] }.

    A loop with size 1 stays where its tiles would be.
    """
    times = program.schedule
    assert times is not None
    loops = loop_dimensions(times)
    if len(sizes) > len(loops):
        found = "1 loop" if len(loops) == 1 else f"{len(loops)} loops"
        raise InputError(f"the order has {found}, but {len(sizes)} sizes of tiles are given")
    size_of = dict(zip(loops, sizes, strict=False))
    depth = max(part.dim(isl.dim_type.out) for part in maps_of(times))
    names = [f"t{d}" for d in range(depth)]
    outside = names[: loops[0]]
    tiles = [names[d] if size == 1 else f"floor({names[d]}/{size})" for d, size in size_of.items()]
    inside = [names[d] for d in range(loops[0], depth) if size_of.get(d) != 1]
    cut = isl.UnionMap(f"{{ [{', '.join(names)}] -> [{', '.join([*outside, *tiles, *inside])}] }}")
    return program.in_order(coalesced(times.apply_range(cut)), program.parallel)


def _parallel(program: Program, may_regroup: bool) -> Program:
    """The program with parallel loops.

    A fused program that has none may run each statement over a part of the inner loops before the next one.
    One in which updates of a reduction have changed places has none.
    """
    dependences = memory_dependences(program)
    if exact_updates(program) and find_violation(program, dependences) is not None:
        return program
    must_keep = union_of(program, dependences)
    found = with_parallel_loops(program, must_keep)
    if may_regroup and not found.parallel and program.schedule is not None:
        for times in statement_by_statement(program.schedule):
            regrouped = program.in_order(times, program.parallel)
            if find_violation(regrouped, dependences) is None:
                candidate = with_parallel_loops(regrouped, must_keep)
                if candidate.parallel:
                    found = candidate
                    break
    assert find_violation(found, dependences) is None
    return found


def check_order(
    program: Program, dependences: Sequence[Dependence], hint: str, source: SourceText | None = None
) -> None:
    """Raise where the program's order breaks a dependence."""
    violation = find_violation(program, dependences)
    if violation is None:
        return
    if violation.kind != "flow":
        hint += " Or give its values other places: fold --mode reallocate."
    if source is None:
        raise InputError(str(violation), hint=hint)
    statement = violation.sink.split("[")[0]
    raise source.error(str(violation), source.find(rf"\b{statement}\s*\["), hint)
