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
from typing import Any

import islpy as isl

import arrayfold as af
from arrayfold import cli
from arrayfold._budget import Budget
from arrayfold.analysis import Analysis
from arrayfold.bounds import UNKNOWN
from arrayfold.choose import choose
from arrayfold.errors import ArrayfoldError, BudgetExceeded, NothingProved
from arrayfold.folded import FoldedArray, FoldResult
from arrayfold.frontends.problem import read_problem
from arrayfold.methods import Request
from arrayfold.report.data import fold_data
from arrayfold.verify import Proof
from fuzz.affine import Condition, Context, Form
from fuzz.executions import Concrete, concrete
from fuzz.kind import Failure, Outcome, Refused
from fuzz.membership import Membership
from fuzz.printed import PrintedMapping, value
from fuzz.program_shapes import random_program
from fuzz.program_shrinking import smaller_programs
from fuzz.programs import Access, Arrow, Live, ProgramCase, Statement, Task
from fuzz.text_of_cases import read_case, to_json, with_case
from reference import Cell

_BUDGET = 0.8
_MOST_SIZES = 5
_MOST_INSTANCES = 26
_MOST_CELLS = 40
_EXECUTIONS = 3
_TRIES_FOR_A_WITNESS = 12


class _Wrong(Exception):
    def __init__(self, what: str, detail: str) -> None:
        self.failure = Failure(what, detail)


class Problems:
    """Programs against their executions."""

    name = "problems"
    share = 3.0
    seconds = 10.0
    memory = 3 << 30

    def generate(self, choose: random.Random) -> ProgramCase:
        return random_program(choose)

    def check(self, case: ProgramCase) -> Outcome:
        text = case.text()
        try:
            problem = read_problem("fuzz.toml", text)
            result = _folded(case, problem)
        except BudgetExceeded:
            return Refused("BudgetExceeded")
        except NothingProved as error:
            return Failure("no answer", str(error))
        except ArrayfoldError as error:
            return Refused(f"{type(error).__name__}: {_general(str(error))}")
        try:
            data = json.loads(json.dumps(fold_data([result]), allow_nan=False))
            choose = random.Random(text)
            at_sizes = list(_small(case, choose))
            for folded, entry in zip(result, data["arrays"], strict=True):
                for one in at_sizes:
                    _Comparison(folded, entry, *one, choose).compare()
                _check_claims(case, folded, entry, at_sizes)
            if case.by_command:
                _check_command(case, data)
        except _Wrong as wrong:
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
        types = [ProgramCase, Context, Condition, Form, Statement, Access, Arrow, Task, Live]
        return read_case(file, types)


def _general(message: str) -> str:
    """The first words of a message, without names and places."""
    words = message.split(": ", 1)[-1].splitlines()[0].split()
    return " ".join(word for word in words[:6] if not any(c in word for c in "0123456789[]{}"))


def _folded(case: ProgramCase, problem: af.Program | af.ConflictProblem) -> FoldResult:
    """The fold by the method of the case, or by the identity where the method does not apply."""
    if not case.with_bound:
        return _without_bound(case, problem)
    options: dict[str, Any] = {"params": case.sizes, "budget": _BUDGET, "power_of_two": case.power_of_two}
    try:
        return af.fold(problem, method=case.method, **options)
    except NothingProved:
        if case.method in ("identity", "auto"):
            raise
        return af.fold(problem, method="identity", **options)


def _without_bound(case: ProgramCase, problem: af.Program | af.ConflictProblem) -> FoldResult:
    """The same without lower bounds, which take most of the time."""
    budget = Budget(_BUDGET)
    analysis = Analysis.of(problem, budget)
    assert analysis.liveness is not None
    arrays: list[FoldedArray] = []
    for name in analysis.foldable():
        with budget.limit("the conflicts"):
            conflicts = analysis.liveness.conflicts(name, with_moments=False)
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


def _small(case: ProgramCase, choose: random.Random) -> Iterator[tuple[dict[str, int], Concrete]]:
    """The program at its smallest sizes, and at some others at which it is small enough."""
    sizes = case.context.sizes(40)
    first, rest = sizes[:3], sizes[3:]
    choose.shuffle(rest)
    tried = [*([case.sizes] if case.sizes else []), *first, *rest[:8]]
    found = 0
    for params in tried:
        one = concrete(case, params, _MOST_INSTANCES)
        if one is not None:
            yield params, one
            found += 1
            if found == _MOST_SIZES:
                return


# ---------------------------------------------------------------- at one size


@dataclass
class _Comparison:
    """One array at one size: what the tool says against what can be listed."""

    folded: FoldedArray
    entry: Mapping[str, Any]
    params: dict[str, int]
    program: Concrete
    choose: random.Random

    def __post_init__(self) -> None:
        self.array = self.folded.name
        self.cells = sorted(self.program.touched(self.array))

    def wrong(self, what: str, detail: str) -> _Wrong:
        return _Wrong(what, f"{self.array} at {self.params}: {detail}")

    def compare(self) -> None:
        if len(self.cells) > _MOST_CELLS:
            return
        expected = self.program.conflicts(self.array)
        needed = self.compare_conflicts(expected)
        self.compare_mapping(needed)
        self.compare_numbers(expected)

    # ------------------------------------------------------------ conflicts

    def compare_conflicts(self, expected: set[tuple[Cell, Cell]]) -> set[tuple[Cell, Cell]]:
        """The conflicts to keep; those that the tool does not know must not show in any execution."""
        pairs = list(itertools.combinations(self.cells, 2))
        found = self._known(pairs)
        missing = {pair for pair in expected if pair not in found}
        for x, y in sorted(missing):
            story = self._witness(x, y)
            if story:
                raise self.wrong("missing conflict", f"{list(x)} and {list(y)}: {story}")
        if self._is_exact and (more := found - self._allowed(expected)):
            raise self.wrong("conflict that no execution shows", str(sorted(more)[:3]))
        return expected - missing

    def _known(self, pairs: list[tuple[Cell, Cell]]) -> set[tuple[Cell, Cell]]:
        member = _memberships(self.folded)[0]
        there = member.has(self.params, [(*x, *y) for x, y in pairs])
        back = member.has(self.params, [(*y, *x) for x, y in pairs])
        found = {pair for pair, a, b in zip(pairs, there, back, strict=True) if a or b}
        steps = [tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in sorted(found)]
        for step, is_known in zip(steps, _memberships(self.folded)[1].has(self.params, steps), strict=True):
            if not is_known:
                raise self.wrong("difference that conflicts have and differences do not", str(step))
        return found

    @property
    def _is_exact(self) -> bool:
        return not any("closure" in note for note in self.folded.conflicts.notes)

    def _allowed(self, expected: set[tuple[Cell, Cell]]) -> set[tuple[Cell, Cell]]:
        """What the order that all tilings share allows, for tiled programs."""
        if not self.program.tilings:
            return expected
        return self.program.with_order(self.program.surely).conflicts(self.array)

    def _witness(self, x: Cell, y: Cell) -> str | None:
        """An execution in which cells that share an address show a wrong value."""

        def address(cell: Cell) -> Cell:
            return y if cell == x else cell

        writes, reads = (self.program.events(self.array, writes=w) for w in (True, False))
        stories: list[list[tuple[int, int]]] = [[]]
        for one, other in ((x, y), (y, x)):
            for w in writes.get(other, []):
                now = 2 * w + 1
                before = [(2 * v + 1, now) for v in writes.get(one, []) if v != w]
                after = [(now, 2 * r) for r in reads.get(one, [])]
                stories += [[a, b] for a in before for b in after]
                stories += [[a] for a in before] + [[b] for b in after]
        for story in stories[:80]:
            for _ in range(_TRIES_FOR_A_WITNESS):
                sequence = self.program.execution(self.choose, story)
                if sequence is None:
                    break
                found = self.program.wrong_read(self.array, sequence, address, self.choose)
                if found:
                    return found
        return None

    # ------------------------------------------------------------ mappings

    def compare_mapping(self, needed: set[tuple[Cell, Cell]]) -> None:
        mapping = PrintedMapping(self.entry)
        if mapping.only_at is not None and any(self.params[k] != v for k, v in mapping.only_at.items()):
            return
        moduli = mapping.moduli(self.params)
        has_cells = bool(self.program.events(self.array, writes=True)) or bool(
            self.program.live_in(self.array)
        )
        if not has_cells:
            return
        if any(one.denominator != 1 or one < 1 for one in moduli) or not mapping.is_whole(self.params):
            raise self.wrong("numbers that are not positive and whole", f"moduli {list(map(str, moduli))}")
        addresses = mapping.addresses(self.cells, self.params)
        for x, y in sorted(needed):
            if addresses[x] == addresses[y]:
                raise self.wrong("collision", f"{list(x)} and {list(y)} at {addresses[x]}")
        for cell in self.cells[:2]:
            told = self.folded.mapping.address(cell, self.params)
            if cell in addresses and tuple(told) != addresses[cell]:
                raise self.wrong("printed mapping", f"{list(cell)}: {told} and {addresses[cell]}")
        for _ in range(_EXECUTIONS):
            sequence = self.program.execution(self.choose)
            if sequence is None:
                raise self.wrong("no execution", "the order has a cycle that was accepted")
            story = self.program.wrong_read(self.array, sequence, addresses.__getitem__, self.choose)
            if story:
                raise self.wrong("wrong value", story)

    # ------------------------------------------------------------ sizes and bounds

    def compare_numbers(self, expected: set[tuple[Cell, Cell]]) -> None:
        mapping = PrintedMapping(self.entry)
        if mapping.only_at is not None and any(self.params[k] != v for k, v in mapping.only_at.items()):
            return
        size = value(self.entry["size"], self.params)
        original = value(self.entry["original_size"], self.params)
        bound = self.folded.lower_bound.at(self.params)
        told = self.folded.lower_bound.formula
        is_shown = told is not None and _is_in(self.params, self.entry.get("lower_bound_when"))
        bounds = [
            one for one in (bound, value(self.entry["lower_bound"], self.params) if is_shown else None) if one
        ]
        if size < 0 or original < 0 or any(one < 0 for one in bounds):
            raise self.wrong("negative number", f"size {size}, of {original}, bound {bounds}")
        held = {*self.program.events(self.array, writes=True), *self.program.live_in(self.array)}
        most = largest_clique(held, expected)
        for one in bounds:
            if one > size:
                raise self.wrong("bound above the size", f"bound {one}, size {size}")
            if self._is_exact and not self.program.tilings and one > most:
                raise self.wrong("bound above what is live", f"bound {one}, largest clique {most}")
        if original < len(self.cells):
            raise self.wrong("original size", f"{original} for {len(self.cells)} cells")
        sized = self.entry.get("at")
        if sized is None or any(sized[k] != v for k, v in self.params.items()):
            return
        if [sized[key] for key in ("size", "original_size", "lower_bound")] != [size, original, bound]:
            raise self.wrong("numbers under `at`", f"{sized}, size {size} of {original}, bound {bound}")


def _memberships(folded: FoldedArray) -> tuple[Membership, Membership]:
    known: dict[int, tuple[Membership, Membership]] = _memberships.__dict__.setdefault("known", {})
    if id(folded) not in known:
        known.clear()
        context = folded.conflicts.context
        pairs = folded.conflicts.pairs_one_way.align_params(context.get_space()).intersect_params(context)
        steps = folded.conflicts.differences.align_params(context.get_space()).intersect_params(context)
        known[id(folded)] = Membership(pairs), Membership(steps)
    return known[id(folded)]


def _is_in(params: Mapping[str, int], where: str | None) -> bool:
    if where is None:
        return True
    names = list(params)
    here = " and ".join(f"{name} = {params[name]}" for name in names) or "true"
    return not isl.Set(where).intersect(isl.Set(f"[{', '.join(names)}] -> {{ : {here} }}")).is_empty()


def largest_clique(cells: set[Cell], pairs: set[tuple[Cell, Cell]]) -> int:
    """How many cells all conflict with each other at most (Bron and Kerbosch)."""
    order = sorted(cells)
    number = {cell: k for k, cell in enumerate(order)}
    near = [0] * len(order)
    for x, y in pairs:
        if x in number and y in number:
            near[number[x]] |= 1 << number[y]
            near[number[y]] |= 1 << number[x]
    best = 0

    def grow(size: int, open_: int) -> None:
        nonlocal best
        best = max(best, size)
        while open_ and size + open_.bit_count() > best:
            k = open_.bit_length() - 1
            open_ &= ~(1 << k)
            grow(size + 1, open_ & near[k])

    grow(0, (1 << len(order)) - 1)
    return best


# ---------------------------------------------------------------- all sizes, and the command


def _check_claims(
    case: ProgramCase,
    folded: FoldedArray,
    entry: Mapping[str, Any],
    at_sizes: list[tuple[dict[str, int], Concrete]],
) -> None:
    """What is called minimal is as large as cells that all conflict, wherever that is claimed."""
    if not entry["optimal"] or any("closure" in note for note in folded.conflicts.notes):
        return
    for params, program in at_sizes:
        if folded.is_sized and params != {**params, **case.sizes}:
            continue
        held = {*program.events(folded.name, writes=True), *program.live_in(folded.name)}
        if len(held) > _MOST_CELLS or not held:
            continue
        most = largest_clique(held, program.conflicts(folded.name))
        size = value(entry["size"], params)
        if size != most and not program.tilings:
            raise _Wrong("called minimal", f"{folded.name} at {params}: {size} cells, largest clique {most}")


def _check_command(case: ProgramCase, data: Mapping[str, Any]) -> None:
    """The command prints the same as JSON, and its exit status is 0."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fuzz.toml"
        file.write_text(case.text())
        status, out, err = run_command("fold", str(file), *case.options(), "--budget", str(_BUDGET), "--json")
    methods = {entry["method"] for entry in data["arrays"]}
    if status not in (0, 1):
        raise _Wrong("exit status", f"{status}: {err}")
    if status == 1 and case.method in ("identity", "auto"):
        raise _Wrong("exit status", f"{status} for {case.method}: {err}")
    if status == 0 and (case.method == "auto" or methods == {case.method}):
        told = json.loads(out)
        if [one["name"] for one in told["arrays"]] != [one["name"] for one in data["arrays"]]:
            raise _Wrong("the command folds other arrays", f"{to_json(told)}")
    if "Traceback" in err:
        raise _Wrong("traceback of the command", err)


def run_command(*arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `arrayfold ARGUMENTS`, in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["arrayfold", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli._run()
    finally:
        sys.argv = before
    return status, out.getvalue(), err.getvalue()
