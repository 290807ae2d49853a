"""The main job: analyse, fold, prove, and say how far from the minimum the answer is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Literal

from arrayfold._budget import Budget
from arrayfold._integer import Vector
from arrayfold._isl import fix_parameters, parameter_names, sets_of, smallest_parameters
from arrayfold.bounds import LowerBound, find_lower_bound
from arrayfold.cases import Case, find_cases
from arrayfold.choose import Candidate, ask_all, best_of, choose
from arrayfold.codegen import FoldedRegion, StorageFold, Style, write_c
from arrayfold.codegen.code_order import CodeOrder
from arrayfold.codegen.lowering import STRIP, InnermostLoops, Lowered, hindrance, lower
from arrayfold.conflicts import Conflicts
from arrayfold.errors import InputError, NothingProved
from arrayfold.footprint import Block, Footprint
from arrayfold.formula import Formula
from arrayfold.guards import with_guard_reads
from arrayfold.liveness import Construction, Liveness, analyse, given_conflicts
from arrayfold.mapping import FoldMapping, StorageMapping, TableMapping
from arrayfold.mapping import Mapping as ModularMapping
from arrayfold.methods import Request
from arrayfold.program import Problem, Program
from arrayfold.verify import Proof, verify
from arrayfold.whole_lines import keep_lines_whole

Progress = Callable[[str], None]
Favor = Literal["size", "speed"]
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, eq=False)
class FoldedArray:
    """One array, its mapping, the proof, and the lower bound beside it.

    was      cells that it replaces, where these are not its own; zero beside another one that replaces them
    what     what it is for, where it replaces no array alone, such as a tile
    members  the mappings of the arrays that it holds, where these are several
    """

    name: str
    method: str
    mapping: FoldMapping
    proof: Proof
    lower_bound: LowerBound
    conflicts: Conflicts
    seconds: float
    params: Mapping[str, int]
    cases: tuple[Case, ...] = ()
    was: Formula | None = None
    what: str | None = None
    members: tuple[ModularMapping, ...] = ()

    @property
    def size(self) -> Formula:
        """Cells after folding."""
        return self.mapping.size

    @property
    def original_size(self) -> Formula:
        """Cells that the fold replaces: those of the box that the array spans."""
        return self.conflicts.original_size if self.was is None else self.was

    @property
    def is_optimal(self) -> bool:
        """Whether the size equals the lower bound: no mapping whatsoever is smaller.

        For all of the context, or at the parameter values of the request.
        """
        return self.lower_bound.is_reached(self.mapping, self.params if self.is_sized else {})

    @property
    def limits(self) -> str:
        """The only sizes at which the mapping holds, in words; nothing if it holds for all of the context."""
        return self.mapping.where if isinstance(self.mapping, TableMapping) else ""

    @property
    def shrinks(self) -> bool:
        """Whether there are fewer cells than before."""
        if isinstance(self.mapping, TableMapping):
            return self.size.at({}) < self.original_size.at(self.mapping.params)
        return self.size != self.original_size

    @property
    def is_sized(self) -> bool:
        """Whether the request fixed every parameter, so that numbers can be shown."""
        return set(parameter_names(self.conflicts.context)) <= set(self.params)

    @property
    def remark(self) -> str:
        """What the fold is worth, in words."""
        proved = "proved minimal" if self.is_optimal else "proved"
        cells = "1 cell" if str(self.size) == "1" else f"{self.size} cells"
        return ", ".join(filter(None, (f"{cells} {self._instead}", proved, self.limits)))

    @property
    def _instead(self) -> str:
        """What the cells replace, in words."""
        return f"instead of {self.original_size}" if self.what is None else f"for {self.what}"

    def __str__(self) -> str:
        minimal = " (minimal)" if self.is_optimal else ""
        limits = f" {self.limits}" if self.limits else ""
        return f"{self.mapping}: {self.size} cells{minimal} {self._instead}{limits}"


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The folded arrays of a problem, and why the others were kept.

    footprint  of all arrays together, where that was asked for
    """

    problem: Problem
    arrays: tuple[FoldedArray, ...]
    kept: Mapping[str, str]
    params: Mapping[str, int]
    live_in: frozenset[str] = frozenset()
    footprint: Footprint | None = None

    def to_c(
        self,
        *,
        loops: Literal["keep", "generate"] | None = None,
        style: Style = "fast",
        slack: int = STRIP,
    ) -> str:
        """The C file with this region folded.

        loops  "keep" leaves them as written, "generate" writes them anew; without a choice they are kept
               where the order is the one as written and nothing is gained by new ones
        style  "fast" writes innermost loops without a modulo, "readable" says the mapping in subscripts
        slack  cells that an array may have more than its mapping so that innermost loops vectorise
        """
        return write_c([self.region(loops, style, slack)]).decode("utf-8", "surrogateescape")

    def region(
        self,
        loops: Literal["keep", "generate"] | None = None,
        style: Style = "fast",
        slack: int = STRIP,
    ) -> FoldedRegion:
        """The region to write: the arrays that really shrink, with a remark on each."""
        program = self.problem
        if not isinstance(program, Program):
            raise InputError(f"{program.name} gives conflicts and no program, so there is no C to write")
        placed = {name for block in self._blocks for name in block.offsets}
        shrinking = [
            array
            for array in self.arrays
            if array.shrinks or array.was is not None or array.name in program.origins or array.name in placed
        ]
        forms = {array.name: Lowered(array.mapping) for array in shrinking}
        if style == "fast" and loops != "keep" and program.source is not None and shrinking:
            conflicts = {array.name: array.conflicts for array in shrinking}
            order = CodeOrder.of(program, program.source)
            # In a block there is room for the cells of the mapping, and for no more.
            slack = 0 if self._blocks else slack
            forms = lower(program, order, conflicts, {n: f.mapping for n, f in forms.items()}, slack)
        folds = tuple(
            StorageFold(form.mapping, f"{array.remark}{form.remark}", array.name in self.live_in)
            for array, form in ((array, forms[array.name]) for array in shrinking)
        )
        return FoldedRegion(program, folds, loops, style, self._blocks)

    @property
    def _blocks(self) -> tuple[Block, ...]:
        return () if self.footprint is None else self.footprint.blocks

    def __getitem__(self, name: str) -> FoldedArray:
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def __iter__(self) -> Iterator[FoldedArray]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __str__(self) -> str:
        return "\n".join(map(str, self.arrays)) or "nothing to fold"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in ("array", "mapping", "cells", "was", "lower bound"))
        rows = "".join(
            f"<tr><td>{escape(array.name)}</td><td><code>{escape(str(array.mapping))}</code></td>"
            f"<td>{array.size} {array.limits}</td><td>{array.original_size}</td>"
            f"<td>{array.lower_bound.formula or 'unknown'}</td></tr>"
            for array in self.arrays
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


@dataclass(frozen=True, eq=False)
class Analysis:
    """A problem with its liveness, ready to give the conflicts of its arrays."""

    problem: Problem
    liveness: Liveness | None

    @staticmethod
    def of(problem: Problem, budget: Budget | None = None) -> Analysis:
        """The analysis of a problem."""
        if not isinstance(problem, Program):
            return Analysis(problem, None)
        with (budget or Budget(None)).limit("the analysis"):
            return Analysis(problem, analyse(problem))

    def conflicts(
        self, name: str, budget: Budget | None = None, construction: Construction = "live-write"
    ) -> Conflicts:
        """The conflicts of one array."""
        with (budget or Budget(None)).limit(f"the conflicts of {name}"):
            if self.liveness is not None:
                return self.liveness.conflicts(name, construction)
            assert not isinstance(self.problem, Program)
            return given_conflicts(self.problem, name)

    @cached_property
    def innermost_loops(self) -> InnermostLoops | None:
        """The innermost loops of a program that came from C."""
        program = self.problem
        if not isinstance(program, Program) or program.source is None:
            return None
        return InnermostLoops.of(with_guard_reads(program), CodeOrder.of(program, program.source))

    def foldable(self) -> tuple[str, ...]:
        """The arrays that may be folded."""
        if self.liveness is None:
            return tuple(array.name for array in self.problem.arrays)
        return self.liveness.temporaries

    def live_in_arrays(self) -> frozenset[str]:
        """The arrays that hold values before the program which it may read."""
        if self.liveness is None:
            return frozenset()
        return frozenset(cells.get_tuple_name() for cells in sets_of(self.liveness.live_in))

    def _first_size(self, name: str) -> str:
        """The smallest sizes at which an array is live-in, in words."""
        assert self.liveness is not None
        where = self.liveness.live_in.extract_set(self.problem.array(name).cells.get_space()).params()
        values = smallest_parameters(where)
        return "at " + ", ".join(f"{k} = {v}" for k, v in values.items()) if values else "whatever the sizes"

    def kept(self) -> dict[str, str]:
        """The arrays that stay as they are, each with the reason."""
        if self.liveness is None:
            return {}
        live_in = self.live_in_arrays()
        program = self.liveness.program
        needed = program.live_out.intersect_params(program.context)
        live_out = {cells.get_tuple_name() for cells in sets_of(needed)}
        reasons: dict[str, str] = {}
        for array in self.problem.arrays:
            if array.name in self.liveness.temporaries or (program.source and array.rank == 0):
                continue
            if array.name in program.kept:
                reasons[array.name] = program.kept[array.name].reason
                continue
            words = ["live-in"] * (array.name in live_in) + ["live-out"] * (array.name in live_out)
            otherwise = "never written" if program.source else "not listed as temporary"
            reasons[array.name] = " and ".join(words) or otherwise
            if program.source and words == ["live-in"]:
                reasons[array.name] = f"read before it is written, {self._first_size(array.name)}"
        return reasons


def fold(
    problem: Problem,
    *,
    params: Mapping[str, int] | None = None,
    arrays: Sequence[str] = (),
    method: str = "auto",
    budget: Budget | float | None = None,
    power_of_two: bool = False,
    favor: Favor = "size",
    progress: Progress = lambda _: None,
) -> FoldResult:
    """Fold the temporaries of a problem and prove each mapping for every parameter value of the context.

    params are the sizes at which candidates are compared and numbers shown; without them sizes are
    compared far out. The proof covers the whole context either way, unless the method is one for fixed
    sizes. budget is the time in seconds that the work may take, a minute if nothing is said.

    With favor="speed" and method="auto" a mapping that makes faster loops wins over the smallest one, as long
    as it has at most twice as many cells.
    """
    if favor not in ("size", "speed"):
        raise InputError(f"there is no way to favor {favor!r}; it is size or speed")
    values = checked_params(problem, params or {})
    budget = budget if isinstance(budget, Budget) else Budget(DEFAULT_SECONDS if budget is None else budget)
    analysis = Analysis.of(problem, budget)
    folded = tuple(
        fold_one(analysis, name, values, method, budget, progress, power_of_two=power_of_two, favor=favor)
        for name in chosen_arrays(analysis, arrays)
    )
    return FoldResult(problem, folded, analysis.kept(), values, analysis.live_in_arrays())


def fold_with(
    problem: Problem, mappings: Mapping[str, FoldMapping], *, budget: Budget | None = None
) -> FoldResult:
    """Fold with given mappings, each of which must be proved; an error says which one is not."""
    budget = budget or Budget(DEFAULT_SECONDS)
    analysis = Analysis.of(problem, budget)
    folded: list[FoldedArray] = []
    for name in chosen_arrays(analysis, list(mappings)):
        start = time.perf_counter()
        conflicts = analysis.conflicts(name, budget)
        with budget.limit(f"the proof of {mappings[name]}"):
            verdict = verify(conflicts, mappings[name])
        if not isinstance(verdict, Proof):
            raise NothingProved(f"{mappings[name]}: {verdict}")
        bound = bound_beside(mappings[name], conflicts, {}, budget)
        seconds = time.perf_counter() - start
        folded.append(FoldedArray(name, "given", mappings[name], verdict, bound, conflicts, seconds, {}))
    return FoldResult(problem, tuple(folded), analysis.kept(), {}, analysis.live_in_arrays())


def fold_all(
    problems: Sequence[Problem],
    folding: Callable[[Problem, Mapping[str, int], Sequence[str]], FoldResult],
    *,
    params: Mapping[str, int],
    arrays: Sequence[str],
) -> list[FoldResult]:
    """Fold each problem; sizes and arrays need to occur in one of them only.

    folding  folds one problem, given its sizes and arrays
    """
    for name in params:
        if not any(name in problem.parameters for problem in problems):
            checked_params(problems[0], {name: params[name]})
    for name in arrays:
        if not any(name == array.name for problem in problems for array in problem.arrays):
            problems[0].array(name)
    results: list[FoldResult] = []
    for problem in problems:
        chosen = [name for name in arrays if any(name == array.name for array in problem.arrays)]
        if arrays and not chosen:
            continue
        sizes = {name: value for name, value in params.items() if name in problem.parameters}
        results.append(folding(problem, sizes, chosen))
    return results


def fold_one(
    analysis: Analysis,
    name: str,
    params: Mapping[str, int],
    method: str,
    budget: Budget,
    progress: Progress,
    *,
    power_of_two: bool = False,
    favor: Favor = "size",
) -> FoldedArray:
    """Fold one array of a problem."""
    start = time.perf_counter()
    progress(f"{name}: conflicts")
    conflicts = analysis.conflicts(name, budget)
    request = Request.of(conflicts, params, budget, power_of_two=power_of_two)
    bound: LowerBound | None = None
    if method == "auto":
        progress(f"{name}: lower bound")
        bound = find_lower_bound(conflicts, budget, params)
    progress(f"{name}: mappings")
    if favor == "speed" and method == "auto" and analysis.innermost_loops is not None:
        assert bound is not None
        best = _fastest(analysis.innermost_loops, conflicts, request, _at_the_bound(bound, request))
    elif bound is None or power_of_two:
        best = choose(method, conflicts, request)
    else:
        best = choose(method, conflicts, request, _at_the_bound(bound, request))
    assert best.mapping is not None
    assert isinstance(best.verdict, Proof)
    if bound is None:
        progress(f"{name}: lower bound")
        bound = bound_beside(best.mapping, conflicts, params, budget)
    cases: tuple[Case, ...] = ()
    if method == "auto" and not power_of_two:
        progress(f"{name}: cases")
        cases = find_cases(conflicts, request, best.mapping.size, bound)
    seconds = time.perf_counter() - start
    return FoldedArray(
        name, best.method, best.mapping, best.verdict, bound, conflicts, seconds, params, cases
    )


def _at_the_bound(bound: LowerBound, request: Request) -> Callable[[Formula], bool]:
    return lambda size: bound.is_enough(size, request.sizes, request.far)


def _fastest(
    loops: InnermostLoops, conflicts: Conflicts, request: Request, is_enough: Callable[[Formula], bool]
) -> Candidate:
    """The candidate with the best loops among those with at most twice the cells of the smallest.

    Of several with equally good loops the smallest. One that is not in the way of loops at all, and that no
    mapping is smaller than, ends the search.
    """
    steps = loops.steps(conflicts.name)
    candidates: list[Candidate] = []
    for candidate in ask_all(conflicts, request):
        candidates.append(candidate)
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        if is_enough(mapping.size) and hindrance(mapping, steps, conflicts) == 0:
            return candidate
    smallest = best_of(candidates, conflicts, request)
    assert smallest.mapping is not None
    limit = request.rank(smallest.mapping.size * 2)
    best, least = smallest, None
    for candidate in (smallest, *candidates, *_whole_lines(conflicts, request, steps)):
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        rank = request.rank(mapping.size)
        if rank <= limit:
            hinders = hindrance(mapping, steps, conflicts), rank
            if least is None or hinders < least:
                best, least = candidate, hinders
    return best


def _whole_lines(conflicts: Conflicts, request: Request, steps: Sequence[Vector]) -> Iterator[Candidate]:
    """Mappings that leave the dimensions alone along which innermost loops walk most often."""
    kept = [k for k, by in enumerate(steps[0]) if by] if steps else []
    if 0 < len(kept) < conflicts.array.rank:
        yield from keep_lines_whole(conflicts, request, kept)


def bound_beside(
    mapping: StorageMapping, conflicts: Conflicts, params: Mapping[str, int], budget: Budget
) -> LowerBound:
    """The lower bound to compare a mapping with; for a table, with the cells that show it at its sizes."""
    if isinstance(mapping, TableMapping):
        return find_lower_bound(replace(conflicts, moments_suffice=False), budget, mapping.params)
    return find_lower_bound(conflicts, budget, params)


def chosen_arrays(analysis: Analysis, names: Sequence[str]) -> tuple[str, ...]:
    """The arrays to fold: those named, or all that may be."""
    foldable = analysis.foldable()
    for name in names:
        analysis.problem.array(name)
        if name not in foldable:
            reason = analysis.kept().get(name, "kept")
            raise InputError(
                f"array {name} is kept: {reason}", hint=f"To fold it all the same, say --temporary {name}."
            )
    return tuple(dict.fromkeys(names)) or foldable


def checked_params(problem: Problem, params: Mapping[str, int]) -> dict[str, int]:
    """The parameter values, after their names and the context were checked."""
    for name in params:
        if name not in problem.parameters:
            known = ", ".join(problem.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; the parameters are: {known}")
    if problem.context.intersect(fix_parameters(params)).is_empty():
        values = ", ".join(f"{name} = {value}" for name, value in params.items())
        raise InputError(f"{values} contradicts the context {problem.context}")
    return dict(params)
