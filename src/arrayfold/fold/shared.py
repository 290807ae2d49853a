"""Folds of several arrays into one memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Share
from arrayfold.base.errors import ArrayfoldError, InputError, MethodNotApplicable
from arrayfold.bounds.moments import LowerBound, find_lower_bound
from arrayfold.codegen.regenerate import check_new_loops
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fresh_name
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.array import fold_one
from arrayfold.fold.deadline import all_in_time, chosen_arrays
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.merge import Embedding, Merge, merged
from arrayfold.program.guards import arrays_in_conditions, refuse_uncertain_loops
from arrayfold.program.model import Problem, Program
from arrayfold.sharing.footprint import Footprint, SharedBlock, farthest, largest
from arrayfold.sharing.interference import Interference, find_interference
from arrayfold.sharing.placement import Placement, buffers_for, heaviest_clique, offsets_for

_MOST_NUMBERS = 4
_MOST_FOLLOWED = 2
_SHARE_FOR_BOUND = 0.3
_SHARE_FOR_CELLS = 0.7
_SHARE_FOR_PLACES = 0.3
_Places: TypeAlias = Callable[[Interference, Sequence[int], Budget], Placement]


def fold_into_one_memory(
    problem: Problem, share: Share, options: FoldOptions, budget: Budget, progress: Progress
) -> FoldResult:
    """The fold of all temporaries together; see `fold_shared`."""
    if not isinstance(problem, Program):
        raise InputError("sharing needs a program, but the file gives conflicts")
    program = problem

    def fold_all(say: Progress) -> FoldResult:
        analysis = Analysis.of(program, budget)
        chosen = chosen_arrays(analysis, options.arrays)
        return _Folding(program, analysis, chosen, options, budget, say).smallest(share)

    return all_in_time(program, options, budget, progress, fold_all)


@dataclass(frozen=True, eq=False)
class _Folding:
    program: Program
    analysis: Analysis
    arrays: tuple[str, ...]
    options: FoldOptions
    budget: Budget
    progress: Progress

    @property
    def params(self) -> Mapping[str, int]:
        """The sizes at which places are compared, as far as they were given."""
        return self.options.params

    def smallest(self, share: Share) -> FoldResult:
        """The result with the fewest cells; of several, the simplest."""
        if share == "cells":
            refuse_uncertain_loops(self.program, "cells of different arrays do not share addresses")
        # Every array for itself must still be possible afterwards.
        some = replace(self, budget=self.budget.part(_SHARE_FOR_CELLS))
        why_apart = self._why_loops_stay() if share == "auto" else None
        is_merged = share in ("cells", "auto") and why_apart is None
        merged = list(some._with_merged_cells()) if is_merged else []
        if share == "cells" and any(map(_is_tight, merged)):
            return min(merged, key=self._rank)
        apart = self._apart()
        found = [apart]
        if share in ("arrays", "auto"):
            found.append(self._in_blocks(apart, buffers_for))
        if share in ("offsets", "auto"):
            found.append(self._in_blocks(apart, offsets_for))
        return self._with_remarks(min([*found, *merged], key=self._rank), why_apart)

    def _with_remarks(self, result: FoldResult, why_apart: str | None) -> FoldResult:
        """The result, which says what kept the search from fewer cells."""
        footprint = result.footprint
        if footprint is None or footprint.is_least:
            return result
        words = [f"cells of different arrays do not share addresses: {why_apart}"] if why_apart else []
        words += filter(None, [self.budget.cut_words()])
        return replace(result, footprint=replace(footprint, remarks=(*footprint.remarks, *words)))

    def _why_loops_stay(self) -> str | None:
        """Why loops cannot be written anew, as cells in one memory need it; None if they can."""
        source = self.program.source
        if source is None:
            return None
        try:
            with self.budget.limit("the question whether loops can be written anew"):
                check_new_loops(self.program, source)
        except ArrayfoldError as error:
            return error.message if isinstance(error, InputError) else str(error)
        return None

    def _rank(self, result: FoldResult) -> tuple[object, ...]:
        assert result.footprint is not None
        size = result.footprint.after
        return size.evaluate(self._sizes), size.evaluate(large_parameters(self.program.context))

    @property
    def _where(self) -> str:
        """The sizes at which places are compared, in words."""
        if self.program.parameters and not set(self.program.parameters) <= self.params.keys():
            return " at large sizes"
        return f" at {', '.join(f'{k} = {v}' for k, v in self.params.items())}" if self.params else ""

    @property
    def _sizes(self) -> dict[str, int]:
        """Values of all parameters: those given, and large ones."""
        return {**large_parameters(self.program.context), **self.params}

    def _groups(self) -> list[list[str]]:
        """Arrays that may share: elements of one type, and values from the program itself."""
        source = self.program.source
        live_in = self.analysis.live_in_arrays()
        groups: dict[str, list[str]] = {}
        for name in self._with_cells():
            kind = "" if source is None else source.variables[name].element.canonical.replace("const ", "")
            groups.setdefault(f"{name} live-in" if name in live_in else kind, []).append(name)
        return list(groups.values())

    def _with_cells(self) -> list[str]:
        """The arrays of which there are cells at some sizes."""
        program = self.program
        return [
            name
            for name in self.arrays
            if not program.array(name).cells.intersect_params(program.context).is_empty()
        ]

    # ------------------------------------------------ every array for itself

    def _apart(self) -> FoldResult:
        folded = tuple(
            replace(one, role=f"values of {self.program.relocation.origins[one.name]}")
            if one.name in self.program.relocation.origins
            else one
            for one in (self._folded(self.analysis, name) for name in self.arrays)
        )
        before = Formula.sum(one.original_size for one in folded)
        before = _before(self.program, folded, before)
        after = Formula.sum(one.size for one in folded)
        bound = folded[0].lower_bound if len(folded) == 1 else self._bound()
        why = self._why_larger(before, after, bound)
        footprint = Footprint(before, after, bound, why_larger=why, context=self.program.context)
        return self._result(self.program, folded, footprint)

    def _why_larger(self, before: Formula, after: Formula, bound: LowerBound | None) -> str:
        """Why arrays of statements have more cells than the arrays before, where they do."""
        sizes = farthest(after, self.program.running_sizes()) | dict(self.params)
        if not self.program.relocation.origins or after.evaluate(sizes) <= before.evaluate(sizes):
            return ""
        least = bound.formula if bound is not None and bound.is_shown_at(sizes) else None
        if least is not None and least.evaluate(sizes) > before.evaluate(sizes):
            return "in this order more values are live together than there were cells"
        return "each statement has its own array; with --share cells they share one"

    def _folded(self, analysis: Analysis, name: str) -> FoldedArray:
        return fold_one(analysis, name, self.options, self.budget, self.progress)

    def _result(self, program: Program, folded: tuple[FoldedArray, ...], footprint: Footprint) -> FoldResult:
        if set(self.program.parameters) <= self.params.keys():
            here = sum(one.size_here or 0 for one in folded)
            was = sum(one.original_size_at(self.params) for one in folded)
            if program.relocation.origins:
                was = footprint.before.at(self.params)
            footprint = replace(footprint, before_here=was, after_here=here)
        footprint = replace(footprint, params=self.params)
        kept, live_in = self.analysis.kept(), self.analysis.live_in_arrays()
        return FoldResult(program, folded, kept, self.params, live_in, footprint)

    def _bound(self) -> LowerBound | None:
        """Cells of all arrays that are live at one moment."""
        arrays = self._with_cells()
        if not arrays:
            return None
        self.progress("all arrays: lower bound")
        with suppress(ArrayfoldError, isl.Error):
            budget = self.budget.part(_SHARE_FOR_BOUND)
            embedding = Merge(tuple(arrays)).embedding(self.program)
            program = merged(self.program, embedding)
            conflicts = Analysis.of(program, budget).conflicts(embedding.name, budget)
            return find_lower_bound(conflicts, budget, self.params)
        return None

    # ------------------------------------------------ cells of several arrays

    def _with_merged_cells(self) -> Iterator[FoldResult]:
        conditions = arrays_in_conditions(self.program)
        groups = [[name for name in group if name not in conditions] for group in self._groups()]
        groups = [group for group in groups if len(group) > 1]
        if not groups:
            return
        choices = [0 for _ in groups]
        with suppress(ArrayfoldError):
            choices = [min(Merge(tuple(group)).choices(self.program), _MOST_FOLLOWED) for group in groups]
        for followed in range(max(choices, default=0) + 1):
            most = 0
            for one_number in (True, False):
                if not one_number and not 2 < most <= _MOST_NUMBERS:
                    break
                with suppress(ArrayfoldError):
                    merges = [
                        Merge(tuple(group), one_number, min(followed, count))
                        for group, count in zip(groups, choices, strict=True)
                    ]
                    result, most = self._merged(merges)
                    yield result
                    if _is_tight(result):
                        return

    def _merged(self, merges: Sequence[Merge]) -> tuple[FoldResult, int]:
        """Each group in one memory, and the largest number of arrays at equal coordinates."""
        program = self.program
        embeddings: dict[str, Embedding] = {}
        most = 0
        for merge in merges:
            self.progress(f"{', '.join(merge.arrays)}: one memory")
            with self.budget.limit("one memory for several arrays"):
                embedding = merge.embedding(program)
                program = merged(program, embedding)
            embeddings[embedding.name] = embedding
            most = max(most, embedding.numbers)
        analysis = Analysis.of(program, self.budget)
        alone = [name for name in self.arrays if all(name not in merge.arrays for merge in merges)]
        folded = [self._folded(analysis, name) for name in alone]
        for name, embedding in embeddings.items():
            one = _simplified(self._folded(analysis, name))
            mapping = one.mapping
            assert isinstance(mapping, ModularMapping)
            members = tuple(embedding.of_member(mapping, self.program.array(old)) for old in embedding.places)
            origins = {self.program.relocation.origins.get(old, old) for old in embedding.places}
            gone = [
                program.relocation.replaced[old]
                for old in sorted(origins)
                if old in program.relocation.replaced
            ]
            was = Formula.sum(gone)
            folded.append(replace(one, replaced_cells=was, members=members))
        before = _before(program, folded, Formula.constant(0))
        after = Formula.sum(one.size for one in folded)
        is_one = not alone and len(embeddings) == 1
        bound = folded[0].lower_bound if is_one else self._bound()
        footprint = Footprint(before, after, bound, context=self.program.context)
        return self._result(program, tuple(folded), footprint), most

    # ------------------------------------------------ whole arrays

    def _in_blocks(self, apart: FoldResult, places: _Places) -> FoldResult:
        assert apart.footprint is not None
        blocks: list[SharedBlock] = []
        remarks: list[str] = []
        taken = [array.name for array in self.program.arrays]
        for arrays in self._groups():
            # A single cell becomes a variable, which costs no memory at all.
            group = [
                name for name in arrays if not apart[name].size.is_constant or apart[name].size.at({}) > 1
            ]
            if len(group) < 2:
                continue
            self.progress(f"{', '.join(group)}: places")
            with self.budget.limit("the times in which arrays are in use"):
                interference = find_interference(self.program, group)
            folded = [apart[name] for name in group]
            cells = [max(1, one.size.at(self._sizes)) for one in folded]
            placement = places(interference, cells, self.budget.part(_SHARE_FOR_PLACES))
            name = fresh_name("memory", [*taken, *(block.name for block in blocks)])
            if places is buffers_for:
                blocks += _buffers(folded, placement, name)
            else:
                blocks.append(_block(interference, folded, cells, placement.offsets, name))
            remarks += _remarks(interference, cells, placement, self._where)
        shared = {array for block in blocks for array in block.offsets}
        rest = (one.size for one in apart.arrays if one.name not in shared)
        after = Formula.sum((*(block.size for block in blocks), *rest))
        here = None
        if apart.footprint.after_here is not None:
            alone = (one.size_here or 0 for one in apart.arrays if one.name not in shared)
            here = sum(block.size.at(self.params) for block in blocks) + sum(alone)
        footprint = replace(
            apart.footprint,
            after=after,
            after_here=here,
            blocks=tuple(blocks),
            remarks=tuple(dict.fromkeys(remarks)),
            why_larger="",
        )
        return replace(apart, footprint=footprint)


def _is_tight(result: FoldResult) -> bool:
    """Whether there are as many cells as are live at one moment, maybe but for a few sizes."""
    footprint = result.footprint
    assert footprint is not None
    return footprint.gap is not None and bool(footprint.gap.words)


def _before(program: Program, folded: Sequence[FoldedArray], otherwise: Formula) -> Formula:
    """Cells of the arrays of the text: those that are gone, and those that are folded as they are."""
    if not program.relocation.origins:
        return otherwise
    still = (one.original_size for one in folded if one.name not in program.relocation.origins)
    return Formula.sum((*program.relocation.replaced.values(), *still))


def _simplified(folded: FoldedArray) -> FoldedArray:
    """The same addresses with simpler coefficients, if the judge sees that they are right, too."""
    mapping = folded.mapping
    if not isinstance(mapping, ModularMapping):
        raise MethodNotApplicable(f"{folded.method} has no rows that several arrays could have in common")
    simpler = mapping.reduced()
    if simpler == mapping:
        return folded
    verdict = verify(folded.conflicts, simpler)
    return replace(folded, mapping=simpler, proof=verdict) if isinstance(verdict, Proof) else folded


def _buffers(folded: Sequence[FoldedArray], placement: Placement, name: str) -> Iterator[SharedBlock]:
    """A block for each buffer that holds more than one array."""
    shared = [[folded[k] for k in sorted(members)] for members in placement.buffers if len(members) > 1]
    for number, members in enumerate(shared):
        size = largest((one.size, one.conflicts.whole_context) for one in members)
        yield SharedBlock(f"{name}{number or ''}", size, {one.name: Formula.constant(0) for one in members})


def _block(
    interference: Interference,
    folded: Sequence[FoldedArray],
    cells: Sequence[int],
    starts: Sequence[int],
    name: str,
) -> SharedBlock:
    """Offsets as formulas: every array lies above those that it interferes with and that lie below it.

    Which these are was found at some sizes; that none overlap then holds at all sizes.

    cells, starts  of the arrays at those sizes
    """
    where = [one.conflicts.whole_context for one in folded]
    offsets: dict[int, Formula] = {}
    for k in sorted(range(len(folded)), key=lambda k: (starts[k], starts[k] + cells[k])):
        below = [j for j in offsets if interference.are_apart(j, k)]
        offsets[k] = largest((offsets[j] + folded[j].size, where[j].intersect(where[k])) for j in below)
    size = largest((offsets[k] + one.size, where[k]) for k, one in enumerate(folded))
    return SharedBlock(name, size, {one.name: offsets[k] for k, one in enumerate(folded)})


def _remarks(
    interference: Interference, cells: Sequence[int], placement: Placement, where: str
) -> Iterator[str]:
    if placement.is_least:
        what = "other buffers for whole arrays have" if placement.buffers else "placement of whole arrays has"
        yield f"no {what} fewer cells{where}"
        return
    least = heaviest_clique(interference, cells)
    if least:
        yield f"the search for places stopped at {placement.total / least:.2f} times what is in use together"
