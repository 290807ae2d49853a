"""Folds with buffers of tiles: rows of a buffer that fit into one tile, and the smallest fold of the rest."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import islpy as isl

from arrayfold._budget import Budget
from arrayfold.conflicts import Conflicts
from arrayfold.errors import ArrayfoldError, InputError, NothingProved
from arrayfold.fold import (
    DEFAULT_SECONDS,
    Analysis,
    FoldedArray,
    FoldResult,
    Progress,
    bound_beside,
    checked_params,
    chosen_arrays,
    fold,
)
from arrayfold.formula import Formula
from arrayfold.formula_isl import extents
from arrayfold.mapping import Mapping as StorageMapping
from arrayfold.methods import Request
from arrayfold.program import Problem, Program
from arrayfold.tile_buffers import with_tile_buffers
from arrayfold.verify import Proof, verify


def fold_in_tiles(
    problem: Problem,
    loops: int,
    *,
    params: Mapping[str, int] | None = None,
    arrays: Sequence[str] = (),
    method: str = "auto",
    budget: Budget | None = None,
    progress: Progress = lambda _: None,
) -> FoldResult:
    """Fold with a buffer for each tile, a tile being an iteration of the first loops."""
    if not isinstance(problem, Program):
        raise InputError("buffers of tiles need a program, but the file gives conflicts")
    budget = budget or Budget(DEFAULT_SECONDS)
    values = checked_params(problem, params or {})
    first = Analysis.of(problem, budget)
    chosen = chosen_arrays(first, arrays)
    with budget.limit("the buffers of tiles"):
        program = with_tile_buffers(problem, loops, chosen)
    # Every thread has a buffer of its own, in which tiles follow one another.
    sequential = Analysis.of(replace(program, parallel={}), budget)
    folded: list[FoldedArray] = []
    for name in program.buffers:
        start = time.perf_counter()
        progress(f"{name}: conflicts")
        conflicts = sequential.conflicts(name, budget)
        request = Request.of(conflicts, values, budget)
        mapping, proof = _smallest(conflicts, program.buffers[name].dimensions, request)
        bound = bound_beside(mapping, conflicts, values, budget)
        seconds = time.perf_counter() - start
        was = program.buffers[name].size if program.buffers[name].border is None else Formula.constant(0)
        one = FoldedArray(name, "tile", mapping, proof, bound, conflicts, seconds, values, (), was)
        folded.append(one)
    borders = {one.border: one for one in program.buffers.values() if one.border is not None}
    if borders:
        chosen = list(borders)
        rest = fold(program, params=values, arrays=chosen, method=method, budget=budget, progress=progress)
        folded += [replace(one, was=borders[one.name].size) for one in rest]
    return FoldResult(program, tuple(folded), first.kept(), values)


def _smallest(conflicts: Conflicts, tile: int, request: Request) -> tuple[StorageMapping, Proof]:
    """The smallest proved mapping whose last row counts from the first address of a tile.

    tile  how many coordinates say which tile it is
    """
    with request.budget.limit(f"the buffer {conflicts.name}"):
        found = sorted(_candidates(conflicts, tile), key=lambda one: request.rank(one.size))
        for mapping in found:
            verdict = verify(conflicts, mapping)
            if isinstance(verdict, Proof):
                return mapping, verdict
    raise NothingProved(f"{conflicts.name}: no row fits into a tile")


def _candidates(conflicts: Conflicts, tile: int) -> Iterator[StorageMapping]:
    inside = conflicts.array.rank - tile
    for entries in itertools.product((0, 1, -1), repeat=inside - 1):
        for start in _starts(conflicts, tile, (*entries, 1)):
            with suppress(ArrayfoldError):
                yield _mapping(conflicts, (*start, *entries, 1))


def _starts(conflicts: Conflicts, tile: int, row: Sequence[int]) -> set[tuple[int, ...]]:
    """Coefficients of the tile that may make a row begin at the same value in every tile.

    They are those of lower bounds of the values of the row in a tile.
    """
    outer = [f"t{k}" for k in range(tile)]
    cell = [f"x{k}" for k in range(len(row))]
    value = " + ".join(f"{entry}*{one}" for entry, one in zip(row, cell, strict=True))
    spot = f"{conflicts.name}[{', '.join([*outer, *cell])}]"
    values = isl.Map(f"{{ {spot} -> [[{', '.join(outer)}] -> [{value}]] }}")
    found: set[tuple[int, ...]] = set()
    for part in conflicts.cells.apply(values).unwrap().get_basic_maps():
        for bound in part.get_constraints():
            if bound.get_coefficient_val(isl.dim_type.out, 0).is_one():
                slopes = (bound.get_coefficient_val(isl.dim_type.in_, k) for k in range(tile))
                found.add(tuple(int(slope.to_python()) for slope in slopes))
    return found


def _mapping(conflicts: Conflicts, last: tuple[int, ...]) -> StorageMapping:
    """A mapping with this last row, which never wraps; what it does not tell apart is told by indices."""
    rank, context = conflicts.array.rank, conflicts.context
    ((low, length),) = extents(conflicts.cells.apply(_row_map(conflicts.name, last)), context)
    rows, moduli, offsets = [last], [length], [-low]
    left = conflicts.differences.intersect(_kernel(conflicts.name, last))
    for k in reversed(range(rank)):
        if left.is_empty():
            break
        unit = tuple(int(j == k) for j in range(rank))
        ((low, _),) = extents(left.apply(_row_map(conflicts.name, unit)), context)
        if low == Formula.constant(0):
            continue
        rows.insert(0, unit)
        moduli.insert(0, -low + 1)
        offsets.insert(0, Formula.constant(0))
        left = left.intersect(_kernel(conflicts.name, unit))
    return StorageMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli, offsets)


def _row_map(name: str, row: Sequence[int]) -> isl.Map:
    """{ L[x] -> [row . x] }"""
    names = [f"x{k}" for k in range(len(row))]
    value = " + ".join(f"{entry}*{one}" for entry, one in zip(row, names, strict=True))
    return isl.Map(f"{{ {name}[{', '.join(names)}] -> [{value}] }}")


def _kernel(name: str, row: Sequence[int]) -> isl.Set:
    """{ L[x] : row . x = 0 }"""
    return _row_map(name, row).intersect_range(isl.Set("{ [0] }")).domain()
