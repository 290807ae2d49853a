"""A short part of the fuzzer with fixed seeds, and proof that it finds faults: some are planted here."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from arrayfold.bounds.moments import LowerBound
from arrayfold.conflicts import liveness
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact import relations
from arrayfold.exact.formula import Formula
from arrayfold.judge.verify import Proof
from arrayfold.mapping.modular import ModularMapping
from arrayfold.order import events
from arrayfold.select import choose
from arrayfold.select.choose import Candidate
from arrayfold.sharing.interference import Interference
from fuzz import mappings
from fuzz.affine import Condition, Context, Form
from fuzz.command import run
from fuzz.comparison import smaller_lattice
from fuzz.driver import Run, smallest
from fuzz.folds import Folds
from fuzz.isolation import Result, check_alone, checked, random_for
from fuzz.kind import Failure, Kind, Outcome, Refused
from fuzz.mappings import Mappings
from fuzz.problems import Problems
from fuzz.programs import Access, Arrow, ProgramCase, Statement
from fuzz.shares import Shares

SEED = 1
# A budget that no case needs: results do not depend on how busy the machine is.
PROBLEMS, FOLDS, SHARES = Problems(budget=60.0), Folds(budget=60.0), Shares(budget=60.0)


def results(kind: Kind[Any], cases: range) -> Iterator[Result]:
    for index in cases:
        yield checked(kind, kind.generate(random_for(SEED, kind.name, index)))


def failures(kind: Kind[Any], cases: range) -> set[str]:
    return {result.what for result in results(kind, cases) if result.failure}


@pytest.mark.parametrize(("kind", "count"), [(PROBLEMS, 40), (FOLDS, 30), (SHARES, 8), (Mappings(), 100)])
def test_fixed_part(kind: Kind[Any], count: int) -> None:
    found = list(results(kind, range(count)))
    assert not {index: result.failure for index, result in enumerate(found) if result.failure}
    assert sum(result.verdict == "passed" for result in found) > count // 2


# ---------------------------------------------------------------- planted faults


def test_finds_lifetimes_that_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_lives(accesses: liveness.Accesses, _order: events.Order) -> isl.Map:
        return isl.Map.empty(accesses.writes.get_space())

    monkeypatch.setattr(liveness, "live_after", nothing_lives)
    assert "missing conflict" in failures(PROBLEMS, range(10))


def test_finds_loops_that_are_not_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    case = _parallel_loop()
    assert PROBLEMS.check(case) is None
    monkeypatch.setattr(events, "_lexicographic", _one_after_the_other)
    outcome = PROBLEMS.check(case)
    assert isinstance(outcome, Failure)
    assert outcome.what == "missing conflict"


def _parallel_loop() -> ProgramCase:
    """A statement writes x[i, j], another one reads it at once; the loop around both is parallel."""
    box = ((Form(0), Form(-1, (("N", 1),))), (Form(0), Form(1)))
    index, spans = (Form.name("i0"), Form.name("i1") + 2), (0, 0)
    guard = Condition(Form.name("i1"))
    times = (Form.name("i0"), Form.name("i1"))
    write = Access("write", "x", index, spans, (guard,))
    other = Access("may_write", "y", (Form(0),), (0,))
    return ProgramCase(
        Context(("N", "M"), (Condition(Form(-1, (("N", 1),))), Condition(Form.name("M")))),
        (
            Statement("A", box, (guard,), (write, other), (*times, Form(0))),
            Statement("B", box, (), (replace(write, key="read"),), (*times, Form(1))),
        ),
        parallel=((0, "doall"),),
        temporary=("x", "y"),
        method="successive-modulo",
        with_bound=False,
    )


def _one_after_the_other(parameters: isl.Space, is_parallel: Sequence[bool]) -> isl.Map:
    return isl.Map.lex_lt(parameters.params().set_from_params().add_dims(isl.dim_type.set, len(is_parallel)))


def test_finds_orders_through_instances_that_may_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writes a cell, R reads it, M may run, B writes another cell: R comes before B only if M runs."""

    def one(name: str, *accesses: Access) -> Statement:
        return Statement(name, (), (), accesses)

    def cell(key: str, index: int) -> Access:
        return Access(key, "x", (Form(index),), (0,))

    def arrow(source: str, target: str) -> Arrow:
        return Arrow(source, target, (0, 0))

    writers = one("A", cell("write", 0)), one("B", cell("write", 1))
    readers = one("R", cell("read", 0)), one("C", cell("read", 1))
    case = ProgramCase(
        Context(),
        (*writers, *readers, one("M"), one("E")),
        order="relation",
        relation=(arrow("A", "R"), arrow("R", "M"), arrow("M", "B"), arrow("B", "C")),
        exclusive=(arrow("M", "E"),),
        temporary=("x",),
        method="successive-modulo",
    )
    assert PROBLEMS.check(case) is None
    monkeypatch.setattr(events, "close_through", lambda given, _sure: relations.close(given))
    outcome = PROBLEMS.check(case)
    assert isinstance(outcome, Failure)
    assert outcome.what == "missing conflict"


def test_finds_moduli_that_are_one_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = choose.ask

    def ask(method: str, conflicts: Conflicts, request: Any) -> Candidate:
        found = asked(method, conflicts, request)
        if not isinstance(found.mapping, ModularMapping) or not found.mapping.moduli:
            return found
        first, *rest = found.mapping.moduli
        return replace(found, mapping=replace(found.mapping, moduli=(first - Formula.constant(1), *rest)))

    monkeypatch.setattr(choose, "ask", ask)
    for kind in (PROBLEMS, FOLDS):
        assert failures(kind, range(12)) & {"collision", "numbers that are not positive and whole"}


def test_finds_arrays_that_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two arrays in use at once, and nobody says so."""
    monkeypatch.setattr(Interference, "are_apart", lambda _self, _first, _second: False)
    assert "wrong value" in failures(SHARES, range(6, 9))


def test_finds_bounds_that_are_one_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    right = LowerBound.at

    def at(self: LowerBound, params: dict[str, int]) -> int | None:
        found = right(self, params)
        return None if found is None else found + 1

    monkeypatch.setattr(LowerBound, "at", at)
    assert failures(FOLDS, range(20)) & {"bound above the size", "bound above what is live"}


def test_lattices_that_are_smaller_are_found() -> None:
    hexagon = {((0, 0), one) for one in [(0, 1), (1, 0), (1, 1), (1, -1)]}
    assert smaller_lattice(hexagon, 4) is None
    found = smaller_lattice(hexagon, 5)
    assert found is not None
    assert found[0][0] * found[1][1] == 4
    assert smaller_lattice([((0,), (2,)), ((0,), (3,))], 9) == [[4]]
    assert smaller_lattice([((0,), (1,)), ((0,), (2,))], 4) == [[3]]


def test_finds_a_judge_that_proves_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mappings, "verify", lambda conflicts, _: Proof("", (), conflicts.context))
    assert failures(Mappings(), range(10)) >= {"proved with a collision"}


# ---------------------------------------------------------------- the driver


@dataclass
class Numbers:
    """A kind that fails for numbers above a limit, in the way that is asked for."""

    name = "numbers"
    share = 1.0
    seconds = 1.0
    memory = None
    way: str = "failure"

    def generate(self, choose: random.Random) -> int:
        return choose.randrange(100)

    def check(self, case: int) -> Outcome:
        if case < 50:
            return None if case % 2 else Refused("even")
        match self.way:
            case "crash":
                os.abort()
            case "exception":
                raise KeyError(case)
            case "hang":
                while True:
                    pass
        return Failure("too large", str(case))

    def shrink(self, case: int) -> Iterator[int]:
        yield from (case // 2, case - 1)

    def write(self, case: int, failure: Failure | None, folder: Path, stem: str) -> str:
        (folder / f"{stem}.txt").write_text(f"{case} {failure}")
        return f"look at {stem}"

    def read(self, file: Path) -> int:
        return int(file.read_text().split()[0])


def test_failures_are_shrunk_and_written(tmp_path: Path) -> None:
    said: list[str] = []
    whole = Run([Numbers()], 3, 3600.0, 1, tmp_path, said.append, most=30)
    assert not whole.go()
    tally = whole.tallies["numbers"]
    assert tally.tried == 30
    assert tally.verdicts["failed"] == tally.failures["too large"] > 0
    assert tally.verdicts["refused"] > 0
    texts = [file.read_text() for file in tmp_path.iterdir()]
    assert texts
    assert set(texts) == {"50 too large: 50"}
    assert any("30 tried" in line for line in said)


@pytest.mark.parametrize(
    ("way", "verdict", "what"),
    [
        ("crash", "failed", "crash SIGABRT"),
        ("exception", "failed", "traceback KeyError in check (test_fuzz.py)"),
        ("hang", "gave up", "time"),
    ],
)
def test_bad_cases_do_not_stop_the_run(way: str, verdict: str, what: str) -> None:
    result = check_alone(Numbers(way), 99, 60.0)
    assert (result.verdict, result.what) == (verdict, what)


def test_shrinking_keeps_the_failure() -> None:
    case, failure, _ = smallest(Numbers(), 97, Failure("too large", "97"), float("inf"))
    assert (case, failure.detail) == (50, "50")


def test_shrunk_programs_are_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is found comes with a file that shows it, in a program with nothing superfluous."""
    monkeypatch.setattr(events, "_lexicographic", _one_after_the_other)
    kind = PROBLEMS
    found = checked(kind, _parallel_loop()).failure
    assert found is not None
    case, failure, _ = smallest(kind, _parallel_loop(), found, float("inf"))
    assert failure.what == "missing conflict"
    assert sum(len(s.accesses) for s in case.statements) == 2
    assert not any(s.guards or a.guards for s in case.statements for a in s.accesses)
    assert case.arrays == {"x": 1}
    assert case.context.parameters == ()
    kind.write(case, failure, tmp_path, "problems-1")
    file = str(tmp_path / "problems-1.toml")
    assert kind.read(Path(file)) == case
    assert run(["--replay", file]) == 1
    monkeypatch.undo()
    assert run(["--replay", file]) == 0


def test_a_case_is_decided_by_its_seed() -> None:
    for kind in (PROBLEMS, FOLDS, SHARES, Mappings()):
        assert kind.generate(random_for(5, kind.name, 9)) == kind.generate(random_for(5, kind.name, 9))
        assert kind.generate(random_for(5, kind.name, 9)) != kind.generate(random_for(6, kind.name, 9))


def test_every_kind_of_program_occurs() -> None:
    cases = [PROBLEMS.generate(random_for(SEED, "problems", k)) for k in range(2000)]
    keys = {a.key for case in cases for s in case.statements for a in s.accesses}
    assert keys == {"write", "may_write", "read", "may_read"}
    assert {case.order for case in cases} == {"schedule", "relation", "tasks"}
    assert {meaning for case in cases for _, meaning in case.parallel} == {"doall", "forall"}
    assert {len(case.context.parameters) for case in cases} == {0, 1, 2, 3, 4}
    assert {rank for case in cases for rank in case.arrays.values()} == {0, 1, 2, 3, 4}
    for part in ("tiles", "exclusive", "optional", "live_in", "live_out", "relation", "sizes"):
        assert sum(bool(getattr(case, part)) for case in cases) > 20, part
    guards = [g for case in cases for s in case.statements for g in s.guards]
    assert any(isinstance(g, Condition) and g.modulus for g in guards)
