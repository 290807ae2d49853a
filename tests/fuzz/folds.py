"""Random conflicts folded by every method: mappings, sizes and bounds against enumeration."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import arrayfold as af
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, NothingProved
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.report.data import fold_data
from fuzz.affine import Condition, Context, Form
from fuzz.comparison import MOST_CELLS, Comparison, Facts, Wrong
from fuzz.conflict_problems import (
    ConflictCase,
    Piece,
    fixed,
    random_conflicts,
    smaller_conflicts,
    without_dimension,
)
from fuzz.kind import Failure, Outcome, Refused
from fuzz.program_shapes import METHODS
from fuzz.text_of_cases import read_case, with_case

_MOST_SIZES = 8


@dataclass(frozen=True)
class FoldCase:
    """Conflicts, a method, and the sizes of --param."""

    conflicts: ConflictCase
    method: str
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def options(self) -> str:
        sizes = "".join(f" --param {name}={value}" for name, value in self.sizes.items())
        return f"--method {self.method}{sizes}"


@dataclass(frozen=True)
class Folds:
    """Conflicts without a program, folded.

    budget  of the tool in seconds; what takes longer is refused
    """

    budget: float = 0.4
    name: ClassVar[str] = "folds"
    share: ClassVar[float] = 1.0
    seconds: ClassVar[float] = 10.0
    memory: ClassVar[int | None] = 3 << 30

    def generate(self, choose: random.Random) -> FoldCase:
        conflicts = random_conflicts(choose)
        method = choose.choice([*METHODS, "auto"])
        sizes: dict[str, int] = {}
        if method in ("static", "exhaustive") or choose.random() < 0.3:
            possible = conflicts.context.sizes(20)
            sizes = choose.choice(possible) if possible else {}
        return FoldCase(conflicts, method, sizes)

    def check(self, case: FoldCase) -> Outcome:
        try:
            problem = read_problem("fuzz.toml", case.conflicts.text())
            result = af.fold(problem, method=case.method, params=case.sizes, budget=self.budget)
        except BudgetExceeded:
            return Refused("BudgetExceeded")
        except NothingProved as error:
            if case.method in ("identity", "auto") and "budget" not in str(error):
                return Failure("no answer", str(error))
            return Refused("NothingProved")
        except ArrayfoldError as error:
            return Refused(type(error).__name__)
        try:
            data: dict[str, Any] = json.loads(json.dumps(fold_data([result]), allow_nan=False))
            for folded, entry in zip(result, data["arrays"], strict=True):
                comparison = Comparison(folded, entry)
                for facts in _facts(case):
                    # What was cut short may know more conflicts than there are.
                    # An array that is kept for want of time says so only where it is not the smallest anyway.
                    is_kept = folded.method == "identity" and folded.conflicts.some_pairs is None
                    is_exact = not (folded.cut_short or is_kept)
                    comparison.compare(facts if is_exact else replace(facts, allowed=None))
        except Wrong as wrong:
            return wrong.failure
        return None

    def shrink(self, case: FoldCase) -> Iterator[FoldCase]:
        for name in case.conflicts.context.parameters:
            for number in (1, 2, 3):
                sizes = {other: value for other, value in case.sizes.items() if other != name}
                yield replace(case, conflicts=fixed(case.conflicts, name, number), sizes=sizes)
        for k in range(case.conflicts.rank if case.conflicts.rank > 1 else 0):
            yield replace(case, conflicts=without_dimension(case.conflicts, k))
        for conflicts in smaller_conflicts(case.conflicts):
            yield replace(case, conflicts=conflicts)
        if case.sizes:
            yield replace(case, sizes={})
        for method in ("identity", "successive-modulo"):
            if case.method not in ("identity", method):
                yield replace(case, method=method)

    def write(self, case: FoldCase, failure: Failure | None, folder: Path, stem: str) -> str:
        file = folder / f"{stem}.toml"
        head = f"# {failure.what if failure else ''}\n"
        file.write_text(with_case(head + case.conflicts.text(), case))
        return f"arrayfold fold {file} {case.options()}\n  python -m tests.fuzz --replay {file}"

    def read(self, file: Path) -> FoldCase:
        return read_case(file, [FoldCase, ConflictCase, Context, Condition, Form, Piece])


def _facts(case: FoldCase) -> Iterator[Facts]:
    """What enumeration says at the smallest sizes, and at those asked for."""
    for params in [*([case.sizes] if case.sizes else []), *case.conflicts.context.sizes(_MOST_SIZES)]:
        cells = case.conflicts.cells(params)
        if len(cells) > MOST_CELLS:
            continue
        pairs = itertools.combinations(sorted(cells), 2)
        meeting = frozenset(pair for pair in pairs if case.conflicts.conflict(*pair, params))
        yield Facts(
            params,
            cells,
            frozenset(cells),
            meeting,
            meeting,
            lambda x, y: f"{list(x)} and {list(y)} were said to conflict",
            lambda _addresses: None,
        )
