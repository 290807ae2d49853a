"""Folds with buffers of tiles: rows of a buffer that fit into one tile, and the smallest fold of the rest."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import NotAffine, NothingProved
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import image, linear_form, nonzero
from arrayfold.fold.array import fold_one, without_cells
from arrayfold.fold.deadline import all_in_time
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.partitioned import PartitionedProgram, partition
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.passes.tile_buffers import TileBuffers
from arrayfold.program.model import Problem


def fold_in_tiles(
    problem: Problem, loops: int, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldResult:
    """Fold with a buffer for each tile, a tile being an iteration of the first loops.

    Arrays that are named must allow that; of all temporaries, those that do not, and those of which one cell
    is live at a time, are folded as they are.
    """
    fold_all = partial(_in_tiles, problem, loops, options, budget)
    return all_in_time(problem, options, budget, progress, fold_all)


def _in_tiles(
    problem: Problem, loops: int, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldResult:
    parted = partition(problem, TileBuffers(loops, options.arrays), budget, progress)
    return parted.result(_folded(parted, options, budget, progress), options.params)


def _folded(
    parted: PartitionedProgram, options: FoldOptions, budget: Budget, progress: Progress
) -> list[FoldedArray]:
    """The buffers, what tiles leave to each other, and the other arrays, each folded."""
    program, analysis, params = parted.program, parted.analysis, options.params
    folded: list[FoldedArray] = []
    for buffer in program.relocation.buffers.values():
        start = time.perf_counter()
        progress(f"{buffer.name}: conflicts")
        # Every thread has a buffer of its own, in which tiles follow one another.
        inside = analysis.with_parallel(
            {d: meaning for d, meaning in program.parallel.items() if d >= buffer.dimensions}
        )
        exact = inside.conflicts(buffer.name, budget)
        if exact.context.is_empty():
            folded.append(without_cells(exact, params, "tile", time.perf_counter() - start))
            continue
        conflicts = _coarser(exact)
        request = Request.of(conflicts, params, budget)
        progress(f"{buffer.name}: mappings")
        mapping, proof = _smallest(conflicts, buffer.dimensions, request)
        progress(f"{buffer.name}: lower bound")
        bound = find_lower_bound(exact, budget, params)
        seconds = time.perf_counter() - start
        is_all = not buffer.borders
        was, what = (buffer.size, None) if is_all else (Formula.constant(0), "a tile")
        one = FoldedArray(
            buffer.name, "tile", mapping, proof, bound, conflicts, seconds, params, (), was, what
        )
        folded.append(one)
    borders = {one: buffer for buffer in program.relocation.buffers.values() for one in buffer.borders}
    for name in (*borders, *parted.others):
        one = fold_one(analysis, name, options, budget, progress)
        if (buffer := borders.get(name)) is not None:
            # The first of them stands for the array.
            is_first = name == buffer.borders[0]
            was, what = (buffer.size, None) if is_first else (Formula.constant(0), "a side of tiles")
            one = replace(one, replaced_cells=was, role=what)
        folded.append(one)
    return folded


def _coarser(conflicts: Conflicts) -> Conflicts:
    """The conflicts with cells and differences of one piece, which may hold more.

    Tiles at the borders of the program have cells of many shapes, which one mapping for all does not gain by.
    """
    cells, differences = (
        isl.Set.from_basic_set(one.simple_hull()) for one in (conflicts.cells, conflicts.differences)
    )
    return replace(
        conflicts, cells=cells, differences=differences.intersect(nonzero(differences.get_space()))
    )


def _smallest(conflicts: Conflicts, tile: int, request: Request) -> tuple[ModularMapping, Proof]:
    """The smallest proved mapping whose last row counts from the first address of a tile.

    tile  how many coordinates say which tile it is
    """
    # Any cells at a difference may be the counterexample, because the differences are coarser than the pairs.
    anywhere = isl.Set.universe(conflicts.cells.get_space())
    judged = replace(conflicts, cells=anywhere, some_pairs=None)
    with request.budget.limit(f"the buffer {conflicts.name}"):
        for mapping in sorted(_candidates(conflicts, tile), key=lambda one: request.rank(one.size)):
            verdict = verify(judged, mapping)
            if isinstance(verdict, Proof):
                return mapping, verdict
    raise NothingProved(f"{conflicts.name}: no row fits into a tile")


def _candidates(conflicts: Conflicts, tile: int) -> Iterator[ModularMapping]:
    if conflicts.differences.is_empty():
        yield ModularMapping.of(conflicts.name, conflicts.array.dimensions, [], [])
    inside = conflicts.array.rank - tile
    for entries in itertools.product((0, 1, -1), repeat=inside - 1):
        for row, low, length in _rows_in_tiles(conflicts, tile, (*entries, 1)):
            with suppress(NotAffine):
                yield _mapping(conflicts, row, low, length)


def _rows_in_tiles(
    conflicts: Conflicts, tile: int, row: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Formula, Formula]]:
    """Rows that begin at the same value in every tile: coefficients, that value, and how far they go.

    A lower and an upper bound of a row in a tile that grow alike from tile to tile make one.
    """
    outer = [f"t{k}" for k in range(tile)]
    cell = [f"x{k}" for k in range(len(row))]
    value = " + ".join(f"{entry}*{one}" for entry, one in zip(row, cell, strict=True))
    spot = f"{conflicts.name}[{', '.join([*outer, *cell])}]"
    values = isl.Map(f"{{ {spot} -> [[{', '.join(outer)}] -> [{value}]] }}")
    bounds: dict[int, dict[tuple[int, ...], list[Formula]]] = {1: {}, -1: {}}
    for bound in conflicts.cells.apply(values).unwrap().simple_hull().get_constraints():
        side = bound.get_coefficient_val(isl.dim_type.out, 0).to_python()
        count = bound.get_local_space().dim(isl.dim_type.div)
        if side not in bounds or any(
            not bound.get_coefficient_val(isl.dim_type.div, k).is_zero() for k in range(count)
        ):
            continue
        slopes = (bound.get_coefficient_val(isl.dim_type.in_, k).to_python() for k in range(tile))
        rest = Formula.constant(bound.get_constant_val().to_python())
        for k in range(bound.get_local_space().dim(isl.dim_type.param)):
            factor = bound.get_coefficient_val(isl.dim_type.param, k).to_python()
            rest += Formula.name(str(bound.get_dim_name(isl.dim_type.param, k))) * factor
        bounds[side].setdefault(tuple(side * one for one in slopes), []).append(rest)
    for slopes, lows in bounds[1].items():
        for low, high in itertools.product(lows, bounds[-1].get(slopes, [])):
            yield (*slopes, *row), -low, low + high + 1


def _mapping(conflicts: Conflicts, last: tuple[int, ...], low: Formula, length: Formula) -> ModularMapping:
    """A mapping with this last row, which never wraps; what it does not tell apart is told by indices."""
    rank, context, space = conflicts.array.rank, conflicts.context, conflicts.cells.get_space()
    rows, moduli, offsets = [last], [length], [-low]
    left = conflicts.differences.intersect(linear_form(space, last).zero_set())
    for k in range(rank):
        if left.is_empty():
            break
        unit = tuple(int(j == k) for j in range(rank))
        ((least, _),) = extents(image(left, linear_form(space, unit)), context)
        if least == Formula.constant(0):
            continue
        rows.insert(0, unit)
        moduli.insert(0, -least + 1)
        offsets.insert(0, Formula.constant(0))
        left = left.intersect(linear_form(space, unit).zero_set())
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli, offsets)
