"""The judge's verdict on every printed mapping, and the mappings of our own methods beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

import islpy as isl

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.bounds.moments import LowerBound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import points
from arrayfold.explore.papers.executions import Executions
from arrayfold.explore.papers.published import PublishedRow, PublishedTable
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.compare import ComparedArray, compare
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.frontends import read
from arrayfold.judge.verify import Proof, Verdict, verify
from arrayfold.mapping.parse import read_mappings
from arrayfold.methods import PUBLISHED, SUFFIX, Request, as_published
from arrayfold.program.model import Problem, Program
from arrayfold.select.cases import find_cases
from arrayfold.select.choose import Candidate, ask
from arrayfold.select.mapping_case import MappingCase

_PACKAGE = Path(__file__).resolve().parents[2]
_EXAMPLE_FOLDERS = (_PACKAGE / "examples", _PACKAGE.parents[1] / "examples")


@dataclass(frozen=True)
class Enumerated:
    """All executions at some parameter values: states, conflicting pairs, whether ours are the same."""

    params: Mapping[str, int]
    states: int
    pairs: int
    is_equal: bool


@dataclass(frozen=True, eq=False)
class ReproducedRow:
    """A printed row with our own numbers.

    printed    the verdict on the printed mapping; None if there was nothing to ask the judge about
    corrected  the verdict on the corrected mapping, where the row has one
    run        what the algorithm finds as it is published; None where there is none
    ours       what each of our methods of the same idea finds; None for a method that is not there
    enumerated what walking through all executions at a small size shows; None where nobody asked
    auto       what `auto` finds for all sizes together
    cases      smaller mappings of `auto` for some sizes each
    reason     why there is no verdict
    """

    published: PublishedRow
    printed: Verdict | None = None
    corrected: Verdict | None = None
    run: Candidate | None = None
    ours: tuple[tuple[str, Candidate | None], ...] = ()
    auto: Candidate | None = None
    lower_bound: LowerBound | None = None
    cases: tuple[MappingCase, ...] = ()
    enumerated: Enumerated | None = None
    reason: str = ""

    @property
    def is_proved(self) -> bool:
        """Whether the mapping, corrected where need be, is proved, and enumeration shows nothing else."""
        is_proved = isinstance(self.corrected if self.published.corrected else self.printed, Proof)
        return is_proved and (self.enumerated is None or self.enumerated.is_equal)

    @property
    def is_minimal(self) -> bool:
        """Whether the size that `auto` finds equals the lower bound."""
        if self.auto is None or self.auto.mapping is None or self.lower_bound is None:
            return False
        return self.lower_bound.equals(self.auto.mapping.size, {})

    @property
    def is_minimal_by_cases(self) -> bool:
        """Whether the cases cover all sizes, and each has as many cells as the lower bound says."""
        if self.auto is None or not isinstance(self.auto.verdict, Proof) or not self.cases:
            return False
        covered = reduce(isl.Set.union, (case.when for case in self.cases))
        is_least = all(self.lower_bound and self.lower_bound.equals(case.size, {}) for case in self.cases)
        return is_least and self.auto.verdict.context.is_subset(covered)


@dataclass(frozen=True, eq=False)
class ReproducedTable:
    """A printed table with our own numbers."""

    published: PublishedTable
    rows: tuple[ReproducedRow, ...]


def find_example(name: str) -> Path:
    """The problem file of an example: inside the installed package, or in the source tree."""
    for folder in _EXAMPLE_FOLDERS:
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    looked = " and ".join(str(folder) for folder in _EXAMPLE_FOLDERS)
    raise InputError(f"{name}.toml is neither in {looked}", hint="Install arrayfold anew.")


def reproduce(
    tables: Sequence[PublishedTable],
    *,
    budget: Budget | float | None = None,
    progress: Progress = lambda _: None,
) -> list[ReproducedTable]:
    """The tables with a verdict on every mapping and our numbers beside it.

    Every program is folded once, with an equal share of the time that is left. The judge comes first.
    """
    budget = as_budget(budget)
    rows = [row for table in tables for row in table.rows]
    sizes = {row.example: table.enumerate_at for table in tables for row in table.rows}
    names = list(dict.fromkeys(row.example for row in rows))
    programs: dict[str, _Folded | str] = {}
    for k, name in enumerate(names):
        progress(f"{name}, program {k + 1} of {len(names)}")
        share = budget.part(1 / (len(names) - k))
        try:
            mine = [row for row in rows if row.example == name]
            programs[name] = answer_in_time(
                partial(_fold_example, name, mine, sizes[name], share), share, name
            )
        except ArrayfoldError as error:
            programs[name] = str(error)
    return [ReproducedTable(table, tuple(_row(row, programs) for row in table.rows)) for table in tables]


@dataclass(frozen=True, eq=False)
class _Folded:
    """An example with the verdicts on its mappings, and what every method makes of its array."""

    verdicts: Mapping[str, Verdict]
    array: ComparedArray
    cases: tuple[MappingCase, ...]
    published: Mapping[str, Candidate]
    enumerated: Enumerated | None

    def candidate(self, method: str) -> Candidate | None:
        """What a method finds; None if there is no such method."""
        return next((found for found in self.array.candidates if found.method == method), None)


def _fold_example(
    name: str, rows: Sequence[PublishedRow], size: int | None, budget: Budget, _: Progress
) -> _Folded:
    problem = read(find_example(name))
    (array,) = {row.array for row in rows}
    conflicts = Analysis.of(problem, budget).conflicts(array, budget)
    verdicts: dict[str, Verdict] = {}
    for text in (text for row in rows for text in (row.mapping, row.corrected) if text):
        (mapping,) = read_mappings(text, problem)
        with budget.limit(f"the verification of {text}"):
            verdicts[text] = verify(conflicts, mapping)
    request = Request.of(conflicts, {}, budget)
    runs = {method: ask(method, conflicts, request) for method in _published_methods(rows)}
    enumerated = None if size is None else _enumerated(problem, conflicts, size, budget)
    (compared,) = compare(problem, FoldOptions(arrays=(array,)), budget, only_general=True)
    return _Folded(verdicts, compared, _cases(compared, budget), runs, enumerated)


def _published_methods(rows: Sequence[PublishedRow]) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row.methods[:1] if name + SUFFIX in PUBLISHED)
    return [as_published(name) for name in names]


def _enumerated(problem: Problem, conflicts: Conflicts, size: int, budget: Budget) -> Enumerated:
    assert isinstance(problem, Program)
    params = dict.fromkeys(problem.parameters, size)
    states, pairs = Executions.of(problem, conflicts.name, params).walk(budget)
    rank = conflicts.array.rank
    ours = {(point[:rank], point[rank:]) for point in points(conflicts.at(params).pairs.wrap())}
    return Enumerated(params, states, len(pairs), frozenset(ours) == pairs)


def _cases(compared: ComparedArray, budget: Budget) -> tuple[MappingCase, ...]:
    auto = compared.candidates[-1]
    if auto.mapping is None:
        return ()
    request = Request.of(compared.conflicts, {}, budget)
    return find_cases(compared.conflicts, request, auto.mapping.size, compared.lower_bound)


def _row(row: PublishedRow, programs: Mapping[str, _Folded | str]) -> ReproducedRow:
    folded = programs[row.example]
    if isinstance(folded, str):
        return ReproducedRow(row, reason=folded)
    return ReproducedRow(
        row,
        folded.verdicts[row.mapping],
        folded.verdicts[row.corrected] if row.corrected else None,
        next(
            (folded.published[one + SUFFIX] for one in row.methods if one + SUFFIX in folded.published), None
        ),
        tuple((method, folded.candidate(method)) for method in row.methods),
        folded.candidate("auto"),
        folded.array.lower_bound,
        folded.cases,
        folded.enumerated,
    )
