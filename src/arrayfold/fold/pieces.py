"""Arrays in two parts with a mapping each, where that takes fewer cells than one mapping for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.codegen.regenerate import check_new_loops
from arrayfold.exact.isl import at_sizes, fix_parameters, points
from arrayfold.exact.lattice import Vector, determinant
from arrayfold.exact.parameter_values import comfortable_parameters, large_parameters
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.array import fold_one
from arrayfold.fold.deadline import all_in_time, chosen_arrays
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.exhaustive import smallest_lattices
from arrayfold.passes.merge import Embedding, merged
from arrayfold.passes.split import Split, splits
from arrayfold.program.guards import arrays_in_conditions, refuse_uncertain_loops
from arrayfold.program.model import Array, Problem, Program

# The size at which splits are compared, an odd one so that there is a middle, and what one must save there,
# and far out, to be taken.
_SIZE = 9
_SAVED = Fraction(95, 100)
_MOST_PAIRS = 20_000
_MOST_WORK = 200_000
_MOST_RANK = 2


def fold_in_pieces(problem: Problem, options: FoldOptions, budget: Budget, progress: Progress) -> FoldResult:
    """The fold of each array, in two parts where these need fewer cells far out."""
    if not isinstance(problem, Program):
        raise InputError("arrays in two parts need a program, but the file gives conflicts")
    program = problem
    refuse_uncertain_loops(program, "arrays are not split")
    if program.source is not None:
        check_new_loops(program, program.source)

    def fold_all(say: Progress) -> FoldResult:
        analysis = Analysis.of(program, budget)
        folding = _Folding(program, options, budget, say)
        fixed = arrays_in_conditions(program)
        for name in chosen_arrays(analysis, options.arrays):
            folding.add(analysis, name, may_split=name not in fixed)
        return FoldResult(
            folding.program,
            tuple(folding.folded),
            analysis.kept(),
            options.params,
            analysis.live_in_arrays(),
        )

    return all_in_time(program, options, budget, progress, fold_all)


@dataclass(eq=False)
class _Folding:
    """Arrays that are folded one after the other, and the program with those that were split."""

    program: Program
    options: FoldOptions
    budget: Budget
    progress: Progress

    def __post_init__(self) -> None:
        self.folded: list[FoldedArray] = []

    def add(self, analysis: Analysis, name: str, *, may_split: bool) -> None:
        """Fold an array, in two parts if that is smaller."""
        whole = fold_one(analysis, name, self.options, self.budget, self.progress)
        if may_split and not whole.is_optimal:
            with suppress(ArrayfoldError, isl.Error), self.budget.limit(f"{name} in two parts"):
                self.progress(f"{name}: two parts")
                split = best_split(analysis.problem.array(name), whole, self.budget)
                if split is not None and self._add_split(whole, split):
                    return
        self.folded.append(whole)

    def _add_split(self, whole: FoldedArray, split: Split) -> bool:
        embedding = split.embedding(self.program)
        program = merged(self.program, embedding)
        analysis = Analysis.of(program, self.budget)
        one = fold_one(analysis, embedding.name, self.options, self.budget, self.progress)
        far = large_parameters(program.context) | dict(self.options.params)
        if _size_at(one, far) > _size_at(whole, far) * _SAVED:
            return False
        array = self.program.array(split.array)
        members: list[ModularMapping] = []
        if isinstance(one.mapping, ModularMapping):
            places = split.parts(array, embedding.name)
            mapping = one.mapping
            members = [
                Embedding(embedding.name, {array.name: part}).of_member(mapping, array) for part in places
            ]
        self.folded.append(
            replace(
                one,
                replaced_cells=whole.original_size,
                members=tuple(members),
                where=split.conditions(array.dimensions) if members else (),
            )
        )
        self.program = program
        return True


def _size_at(folded: FoldedArray, sizes: Mapping[str, int]) -> Fraction:
    """Cells at these sizes, in the case that holds there."""
    here = fix_parameters(sizes)
    cases = (case.size.evaluate(sizes) for case in folded.cases if not case.when.is_disjoint(here))
    return min((folded.size.evaluate(sizes), *cases))


def best_split(array: Array, whole: FoldedArray, budget: Budget) -> Split | None:
    """The split with the smallest lattice at one size, if that is clearly smaller than the mapping there."""
    conflicts = whole.conflicts
    if not 1 <= array.rank <= _MOST_RANK:
        return None
    sizes = comfortable_parameters(conflicts.context, {}, _SIZE)
    least = int(_size_at(whole, sizes) * _SAVED) + 1
    pairs = points(at_sizes(conflicts.pairs_one_way.wrap(), sizes))
    if len(pairs) > _MOST_PAIRS:
        return None
    best: Split | None = None
    for split in splits(array, conflicts.cells.intersect_params(conflicts.context)):
        found = _differences(split, pairs, array.rank, sizes)
        with suppress(ArrayfoldError):
            lattices = smallest_lattices(found, array.rank + 1, budget, below=least, most_work=_MOST_WORK)
            basis = next(lattices, None)
            if basis is not None and abs(determinant(basis)) < least:
                best, least = split, abs(determinant(basis))
    return best


def _differences(split: Split, pairs: Sequence[Vector], rank: int, sizes: Mapping[str, int]) -> set[Vector]:
    """How the places of conflicting cells differ."""
    places: dict[Vector, Vector] = {}
    for cell in (cell for pair in pairs for cell in (pair[:rank], pair[rank:])):
        if cell not in places:
            places[cell] = split.place(cell, sizes)
    found: set[Vector] = set()
    for pair in pairs:
        ends = zip(places[pair[:rank]], places[pair[rank:]], strict=True)
        step = tuple(other - one for one, other in ends)
        found |= {step, tuple(-entry for entry in step)}
    return {step for step in found if any(step)}
