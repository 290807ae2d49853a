"""Random programs: conflicts, mappings, sizes and bounds against executions listed one by one."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import arrayfold as af
from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, NothingProved
from arrayfold.bounds.moments import UNKNOWN
from arrayfold.cli import main
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof
from arrayfold.methods import Request
from arrayfold.report.data import fold_data
from arrayfold.select.choose import choose
from fuzz.affine import Condition, Context, Form
from fuzz.comparison import MOST_CELLS, Comparison, Facts, Wrong
from fuzz.executions import Concrete
from fuzz.kind import Failure, Outcome, Refused
from fuzz.listing import concrete
from fuzz.program_shapes import random_program
from fuzz.program_shrinking import smaller_programs
from fuzz.programs import Access, Arrow, Live, ProgramCase, Some, Statement, Task
from fuzz.text_of_cases import read_case, to_json, with_case
from support.reference import Cell

_INEXACT = ("closure", "cut short", "takes too long", "taken to run")
_MOST_SIZES = 5
_MOST_INSTANCES = 26
_EXECUTIONS = 3
_TRIES_FOR_A_WITNESS = 12
_MOST_STORIES = 80


@dataclass(frozen=True)
class Problems:
    """Programs against their executions.

    budget  of the tool in seconds; what takes longer is refused, so that there is time for more programs
    """

    budget: float = 0.25
    name: ClassVar[str] = "problems"
    share: ClassVar[float] = 3.0
    seconds: ClassVar[float] = 10.0
    memory: ClassVar[int | None] = 3 << 30

    def generate(self, choose: random.Random) -> ProgramCase:
        return random_program(choose)

    def check(self, case: ProgramCase) -> Outcome:
        text = case.text()
        try:
            problem = read_problem("fuzz.toml", text)
            result = _folded(case, problem, self.budget)
        except BudgetExceeded:
            return Refused("BudgetExceeded")
        except NothingProved as error:
            return Refused("BudgetExceeded") if "budget" in str(error) else Failure("no answer", str(error))
        except ArrayfoldError as error:
            return Refused(f"{type(error).__name__}: {general(str(error))}")
        try:
            data = json.loads(json.dumps(fold_data([result]), allow_nan=False))
            choose = random.Random(text)
            at_sizes = list(small_sizes(case, choose))
            for folded, entry in zip(result, data["arrays"], strict=True):
                comparison = Comparison(folded, entry)
                notes = (folded.cut_short, *folded.conflicts.notes)
                is_exact = not any(part in note for note in notes for part in _INEXACT)
                # Without pairs all cells are taken to conflict, which says so only where it matters.
                is_exact = is_exact and folded.conflicts.some_pairs is not None
                for params, program in at_sizes:
                    facts = facts_of(program, folded.name, params, choose, is_exact=is_exact)
                    if facts is not None:
                        comparison.compare(facts)
            if case.by_command:
                _check_command(case, data)
        except Wrong as wrong:
            return wrong.failure
        return None

    def shrink(self, case: ProgramCase) -> Iterator[ProgramCase]:
        return smaller_programs(case)

    def write(self, case: ProgramCase, failure: Failure | None, folder: Path, stem: str) -> str:
        file = folder / f"{stem}.toml"
        options = " ".join(case.options())
        comment = f"# {failure.what}: {failure.detail.splitlines()[-1:]}\n" if failure else ""
        file.write_text(with_case(f"{comment}# arrayfold fold {options}\n{case.text()}", case))
        return f"arrayfold fold {file} {options}\n  python -m tests.fuzz --replay {file}"

    def read(self, file: Path) -> ProgramCase:
        types = [ProgramCase, Context, Condition, Form, Statement, Access, Arrow, Some, Task, Live]
        return read_case(file, types)


def general(message: str) -> str:
    """The first words of a message, without names and places."""
    words = message.split(": ", 1)[-1].splitlines()[0].split()
    return " ".join(word for word in words[:6] if not any(c in word for c in "0123456789[]{}"))


def _folded(case: ProgramCase, problem: af.Program | af.ConflictProblem, seconds: float) -> FoldResult:
    """The fold by the method of the case, or by the identity where the method does not apply."""
    if not case.with_bound:
        return _without_bound(case, problem, seconds)
    options: dict[str, Any] = {"params": case.sizes, "budget": seconds, "power_of_two": case.power_of_two}
    try:
        return af.fold(problem, method=case.method, **options)
    except NothingProved:
        if case.method in ("identity", "auto"):
            raise
        return af.fold(problem, method="identity", **options)


def _without_bound(case: ProgramCase, problem: af.Program | af.ConflictProblem, seconds: float) -> FoldResult:
    """The same without lower bounds, which take most of the time."""
    budget = Budget(seconds)
    analysis = Analysis.of(problem, budget)
    assert analysis.liveness is not None
    arrays: list[FoldedArray] = []
    for name in analysis.foldable():
        with budget.limit("the conflicts"):
            conflicts = analysis.liveness.conflicts(name, with_moments=False)
        if conflicts.context.is_empty():
            continue
        request = Request.of(conflicts, case.sizes, budget, power_of_two=case.power_of_two)
        try:
            best = choose(case.method, conflicts, request)
        except NothingProved:
            if case.method in ("identity", "auto"):
                raise
            best = choose("identity", conflicts, request)
        assert best.mapping is not None
        assert isinstance(best.verdict, Proof)
        arrays.append(
            FoldedArray(name, best.method, best.mapping, best.verdict, UNKNOWN, conflicts, 0.0, case.sizes)
        )
    return FoldResult(problem, tuple(arrays), {}, case.sizes)


def small_sizes(case: ProgramCase, choose: random.Random) -> Iterator[tuple[dict[str, int], Concrete]]:
    """The program at its smallest sizes, and at some others at which it is small enough."""
    sizes = case.context.sizes(40)
    first, rest = sizes[:3], sizes[3:]
    choose.shuffle(rest)
    tried = [*([case.sizes] if case.sizes else []), *first, *rest[:8]]
    programs = ((params, concrete(case, params, _MOST_INSTANCES)) for params in tried)
    return itertools.islice(((params, one) for params, one in programs if one is not None), _MOST_SIZES)


# ---------------------------------------------------------------- facts


def facts_of(
    program: Concrete, array: str, params: dict[str, int], choose: random.Random, *, is_exact: bool
) -> Facts | None:
    """What enumeration says of an array at a size; None if it has too many cells."""
    cells = sorted(program.touched(array))
    if len(cells) > MOST_CELLS:
        return None
    conflicts = frozenset(program.conflicts(array))
    allowed = conflicts
    if program.tilings:
        allowed = frozenset(program.with_order(program.surely).conflicts(array))

    def run(addresses: Mapping[Cell, object]) -> str | None:
        for _ in range(_EXECUTIONS):
            sequence = program.execution(choose)
            if sequence is None:
                return "the order has a cycle"
            if story := program.wrong_read([array], sequence, lambda place: addresses[place[1]], choose):
                return story
        return None

    return Facts(
        params,
        cells,
        frozenset({*program.events(array, writes=True), *program.live_in(array)}),
        conflicts,
        allowed if is_exact else None,
        lambda x, y: find_witness(program, array, x, y, choose),
        run,
    )


def find_witness(program: Concrete, array: str, x: Cell, y: Cell, choose: random.Random) -> str | None:
    """An execution in which two cells that share an address show a wrong value."""
    writes, reads = (program.events(array, writes=kind) for kind in (True, False))
    stories: list[list[tuple[int, int]]] = [[]]
    for one, other in ((x, y), (y, x)):
        for w in writes.get(other, []):
            now = 2 * w + 1
            before = [(2 * v + 1, now) for v in writes.get(one, []) if v != w]
            after = [(now, 2 * r) for r in reads.get(one, [])]
            stories += [[a, b] for a in before for b in after]
            stories += [[a] for a in before] + [[b] for b in after]
    for story in stories[:_MOST_STORIES]:
        for _ in range(_TRIES_FOR_A_WITNESS):
            sequence = program.execution(choose, story)
            if sequence is None:
                break
            found = program.wrong_read([array], sequence, lambda p: y if p[1] == x else p[1], choose)
            if found:
                return found
    return None


# ---------------------------------------------------------------- the command


def _check_command(case: ProgramCase, data: Mapping[str, Any]) -> None:
    """The command prints the same as JSON, and its exit status is 0."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fuzz.toml"
        file.write_text(case.text())
        status, out, err = run_command("fold", str(file), *case.options(), "--json")
    methods = {entry["method"] for entry in data["arrays"]}
    if status not in (0, 1):
        raise Wrong("exit status", f"{status}: {err}")
    if status == 1 and case.method in ("identity", "auto") and "budget" not in err:
        raise Wrong("exit status", f"{status} for {case.method}: {err}")
    if status == 0 and (case.method == "auto" or methods == {case.method}):
        told = json.loads(out)
        if [one["name"] for one in told["arrays"]] != [one["name"] for one in data["arrays"]]:
            raise Wrong("the command folds other arrays", f"{to_json(told)}")
    if "Traceback" in err:
        raise Wrong("traceback of the command", err)


def run_command(*arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `arrayfold ARGUMENTS`, in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["arrayfold", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main._run()
    finally:
        sys.argv = before
    return status, out.getvalue(), err.getvalue()
