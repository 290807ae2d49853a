"""Folds with a part of each array for every band: one band folded as if alone, times the bands."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import NothingProved
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import coalesced, nonzero
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.array import fold_one, without_cells
from arrayfold.fold.deadline import all_in_time
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.partitioned import partition
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.passes.bands import Bands
from arrayfold.passes.tiling import times_of
from arrayfold.program.model import Problem, Program
from arrayfold.select.choose import choose
from arrayfold.select.policy import best_for_loops


def fold_in_bands(
    problem: Problem, loop: str, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldResult:
    """Fold with a part of each array for every iteration of the loops of one name.

    Arrays that are named must allow that; of all temporaries, those that do not are folded as they are.
    """
    fold_all = partial(_with_bands, problem, loop, options, budget)
    return all_in_time(problem, options, budget, progress, fold_all)


def _with_bands(
    problem: Problem, loop: str, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldResult:
    parted = partition(problem, Bands(loop, options.arrays), budget, progress)
    program, analysis = parted.program, parted.analysis
    # Only the instances of a band use its part, so that bands might as well follow one another.
    inside = analysis.with_parallel(
        {d: meaning for d, meaning in program.parallel.items() if not _is_over_bands(program, d)}
    )
    folded = [
        _in_bands(inside if name in program.relocation.buffers else analysis, name, options, budget, progress)
        for name in program.relocation.origins
    ]
    folded += [fold_one(analysis, name, options, budget, progress) for name in parted.others]
    return parted.result(folded, options.params)


def _is_over_bands(program: Program, dimension: int) -> bool:
    """Whether a dimension of the schedule is the band or the same all the time, wherever there are bands."""
    times = times_of(program)
    for statement in program.statements:
        for access in statement.accesses:
            if access.array not in program.relocation.buffers or statement.name not in times:
                continue
            mine = times[statement.name].intersect_params(program.context)
            rest = mine.dim(isl.dim_type.out) - dimension - 1
            one = mine.project_out(isl.dim_type.out, dimension + 1, rest)
            one = one.project_out(isl.dim_type.out, 0, dimension)
            band = access.relation.project_out(isl.dim_type.out, 1, access.relation.dim(isl.dim_type.out) - 1)
            is_band = one.is_subset(band.reset_tuple_id(isl.dim_type.out))
            if not is_band and not one.range().is_singleton():
                return False
    return True


def _in_bands(
    analysis: Analysis, name: str, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldedArray:
    """An array whose first coordinate is the band; whatever is in different bands is kept apart."""
    params, method = options.params, options.method
    start = time.perf_counter()
    progress(f"{name}: conflicts")
    exact = analysis.conflicts(name, budget)
    if exact.context.is_empty():
        return without_cells(exact, params, method, time.perf_counter() - start)
    inside = _in_one_band(exact)
    conflicts = replace(inside, differences=inside.differences.union(_other_bands(inside)))
    request = Request.of(inside, params, budget)
    progress(f"{name}: mappings")
    if method == "auto":
        best = best_for_loops(analysis.innermost_loops, inside, request, lambda _: False, options.favor)
    else:
        best = choose(method, inside, request)
    if not isinstance(best.mapping, ModularMapping):
        raise NothingProved(f"{name}: no rows were found for a band")
    mapping = _for_each_band(best.mapping, conflicts)
    proof = verify(conflicts, mapping)
    if not isinstance(proof, Proof):
        raise NothingProved(f"{name}: {mapping} is not proved")
    assert isinstance(analysis.problem, Program)
    # What is live together when bands follow one another is so in one of the orders that can happen.
    progress(f"{name}: lower bound")
    bound = find_lower_bound(exact, budget, params)
    seconds = time.perf_counter() - start
    what = f"values of {analysis.problem.relocation.origins[name]}"
    return FoldedArray(name, best.method, mapping, proof, bound, conflicts, seconds, params, (), role=what)


def _in_one_band(conflicts: Conflicts) -> Conflicts:
    """The conflicts between cells of the same band, or a few more: how many bands there are is left out."""
    same = conflicts.differences.fix_val(isl.dim_type.set, 0, isl.Val(0))
    simple = coalesced(same.remove_divs()).intersect(nonzero(same.get_space()))
    return replace(
        conflicts, differences=simple, some_pairs=None, moments=None, moments_suffice=False, program=None
    )


def _other_bands(conflicts: Conflicts) -> isl.Set:
    """{ A[d] }: whatever the other coordinates are, cells of different bands."""
    rank = conflicts.array.rank
    bands = conflicts.cells.project_out(isl.dim_type.set, 1, rank - 1).reset_tuple_id()
    apart = isl.Map.from_domain_and_range(bands, bands).deltas()
    apart = apart.subtract(apart.fix_val(isl.dim_type.set, 0, isl.Val(0)))
    whole = apart.insert_dims(isl.dim_type.set, 1, rank - 1)
    return coalesced(whole.set_tuple_name(conflicts.name).intersect_params(conflicts.context))


def _for_each_band(mapping: ModularMapping, conflicts: Conflicts) -> ModularMapping:
    """The mapping of one band with a row in front that tells bands apart."""
    rank = conflicts.array.rank
    ((low, length), *_) = extents(conflicts.cells.intersect_params(conflicts.context), conflicts.context)
    rows = [[Formula.constant(int(k == 0)) for k in range(rank)], *map(list, mapping.matrix)]
    moduli, offset = [length, *mapping.moduli], [-low, *mapping.offset]
    divisors = [1, *(mapping.divisor(k) for k in range(len(mapping.moduli)))]
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli, offset, divisors)
