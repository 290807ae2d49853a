"""Budgets count work; the clock is the last resort, and whatever ends there still has an answer."""

from __future__ import annotations

import builtins
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from subprocess import PIPE
from typing import Any

import islpy as isl
import pytest

import arrayfold as af
from arrayfold.base import budget as budgets
from arrayfold.base import deadline
from arrayfold.base.budget import Budget, add_work, work_done
from arrayfold.base.deadline import answer_in_time, in_time, isolated
from arrayfold.base.errors import BudgetExceeded, InternalError, Interrupted, IslFailure, NothingProved
from arrayfold.cli import start
from arrayfold.fold import deadline as fold_deadline
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.check import check
from arrayfold.fold.compare import compare
from arrayfold.fold.deadline import keep, likely_arrays
from arrayfold.judge.verify import Proof, Undecided, verify
from arrayfold.methods import Request
from arrayfold.program.model import Problem
from arrayfold.select.choose import Candidate, best_of
from arrayfold.sharing.interference import Interference
from arrayfold.sharing.placement import offsets_for
from support.command import run

BLUR = "examples/blur-interleaved.toml"
TWO = """
domain = "[N] -> { S[i] : 0 <= i < N; T[i] : 0 <= i < N; R[i] : 0 <= i < N }"
write = "[N] -> { S[i] -> A[i]; T[i] -> B[i] }"
read = "[N] -> { T[i] -> A[i]; R[i] -> B[i] }"
schedule = "[N] -> { S[i] -> [i, 0]; T[i] -> [i, 1]; R[i] -> [i, 2] }"
context = "[N] -> { : N >= 2 }"
temporary = ["A", "B"]
"""


def parse(times: int) -> None:
    """Work that isl counts, the same amount each time."""
    for _ in range(times):
        isl.Set("[N] -> { A[i, j] : 0 <= i <= j < N }").is_empty()


def operations_of(work: Callable[[], None]) -> int:
    before = work_done()
    work()
    return work_done() - before


def two(tmp_path: Path) -> Problem:
    file = tmp_path / "two.toml"
    file.write_text(TWO)
    return af.read(file)


def slow_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock go so slowly that it never ends anything."""
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() / 1000)


def sleep_forever(*_: Any, **__: Any) -> Any:
    """C code that counts nothing and cannot be interrupted."""
    while True:
        time.sleep(60)


# ---------------------------------------------------------------- work


def test_work_is_counted() -> None:
    few, many = operations_of(lambda: parse(10)), operations_of(lambda: parse(100))
    assert 1000 < few < many
    assert 9 < many / few < 11


def test_a_budget_ends_after_its_work_however_long_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(budget: Budget) -> int:
        count = 0
        with suppress(BudgetExceeded), budget.limit("work"):
            while True:
                parse(1)
                count += 1
        return count

    slow_down(monkeypatch)
    first = parsed(Budget(0.5))
    assert first > 10
    assert parsed(Budget(0.5)) == pytest.approx(first, rel=0.02)


def test_blocks_inside_of_others_do_not_get_a_new_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    budget = Budget(1)

    def work() -> None:
        with budget.limit("outside"):
            for _ in range(1000):
                try:
                    with Budget(0.5).limit("inside"):
                        parse(10_000)
                except BudgetExceeded:
                    pass
                parse(1)

    spent = work_done()
    with pytest.raises(BudgetExceeded, match="outside"):
        work()
    spent = work_done() - spent
    assert spent < 1.1 * budgets._OPERATIONS_PER_SECOND
    assert budget.cuts


def test_after_a_block_the_work_around_it_goes_on_with_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    budget = Budget(1)
    with budget.limit("outside"):
        fifth = Budget.of_work(budgets._OPERATIONS_PER_SECOND // 5)
        with pytest.raises(BudgetExceeded), fifth.limit("inside"):
            parse(20_000)
        left = budget.operations
        parse(10)
        assert budget.operations < left
    assert 0.7 * budgets._OPERATIONS_PER_SECOND < left < 0.81 * budgets._OPERATIONS_PER_SECOND


def test_isl_is_free_after_the_last_block() -> None:
    with pytest.raises(BudgetExceeded), Budget(0.001).limit("work"):
        parse(10_000)
    assert operations_of(lambda: parse(100)) > 10_000


def test_steps_of_searches_count(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    budget = Budget(1)
    steps = 0
    with suppress(BudgetExceeded):
        while True:
            budget.check("a search")
            steps += 1
    assert budget.cuts == ["a search"]
    # To look whether anything is left takes an operation of isl, too.
    assert steps == pytest.approx(budgets._OPERATIONS_PER_SECOND / (budgets.STEP + 1), rel=0.01)


def test_shares_are_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    budget = Budget(1)
    half = budget.part(0.5)
    add_work(50_000)
    assert half.operations < 0.5 * budget.operations
    assert budget.part(1.0, most=100).operations <= 100
    assert Budget(None).part(0.5).operations == float("inf")


def test_the_clock_is_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(10)
    later = time.monotonic() + 11
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with pytest.raises(BudgetExceeded, match="cut short by wall time"):
        budget.check("a search")


def test_places_of_arrays_are_searched_for_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    count = 11
    apart = frozenset((j, k) for k in range(count) for j in range(k) if (j + k) % 3)
    sizes = [3 + (7 * k) % 5 for k in range(count)]
    interference = Interference(tuple(f"A{k}" for k in range(count)), apart)
    free, few = offsets_for(interference, sizes), offsets_for(interference, sizes, Budget(0.001))
    assert few == offsets_for(interference, sizes, Budget(0.001))
    assert free.total <= few.total


# ---------------------------------------------------------------- processes


def test_what_a_child_did_is_counted() -> None:
    assert operations_of(lambda: answer_in_time(lambda _: parse(1000), Budget(60), "work")) > 100_000
    assert operations_of(lambda: str(isolated(lambda: str(parse(1000)), Budget(60)))) > 100_000


def test_a_child_that_never_ends_is_ended_and_what_it_sent_is_kept() -> None:
    found: list[object] = []

    def work(send: Callable[[object], None]) -> None:
        send(isl.Set("{ [i] : 0 <= i < 3 }"))
        sleep_forever()

    ending = in_time(work, Budget(0.3), receive=found.append)
    assert ending == "cut short by wall time"
    assert [str(one) for one in found] == ["{ [i] : 0 <= i <= 2 }"]


def test_a_child_that_crashes_is_said() -> None:
    def work(_: Callable[[object], None]) -> None:
        os.kill(os.getpid(), 11)

    assert in_time(work, Budget(20), receive=lambda _: None) == "cut short by a crash (SIGSEGV)"


def test_the_processor_time_of_isolated_work_is_limited() -> None:
    def work() -> str:
        while True:
            pass

    assert isolated(work, Budget(100).part(1.0, most=50_000)) is None


def test_errors_of_a_child_are_raised_with_their_place() -> None:
    def wrong(_: object) -> None:
        raise af.InputError("no such thing", None, "say so")

    def unforeseen(_: object) -> None:
        raise KeyError("n")

    with pytest.raises(af.InputError, match="no such thing\n  say so"):
        answer_in_time(wrong, Budget(20), "work")
    with pytest.raises(InternalError, match=r"KeyError: 'n' \(in .*; ARRAYFOLD_DEBUG=1") as caught:
        answer_in_time(unforeseen, Budget(20), "work")
    assert "Traceback" in str(caught.value.__cause__)


def test_what_was_known_comes_back_as_itself() -> None:
    problem = af.read(BLUR)
    found = answer_in_time(lambda _: (problem, problem.context), Budget(20), "work", known=problem)
    assert found[0] is problem
    assert found[1] is problem.context


# ---------------------------------------------------------------- folds


def test_relations_of_a_child_are_read_when_they_are_asked_for() -> None:
    problem = af.read("examples/jacobi-1d.toml")
    conflicts = Analysis.of(problem).conflicts("A")
    assert conflicts.some_pairs is not None
    assert conflicts.moments is not None
    found = answer_in_time(lambda _: conflicts, Budget(60), "conflicts", known=problem)
    fewer = found.with_differences_within(isl.Set("[n] -> { : n = 7 }"))
    again = answer_in_time(lambda _: fewer, Budget(60), "conflicts", known=problem)
    for one in (found, fewer, again):
        assert not {"some_pairs", "moments"} & set(vars(one))
        assert one.some_pairs.is_equal(conflicts.some_pairs)
        assert one.moments.is_equal(conflicts.moments)
        assert not hasattr(one, "another")
    assert found.differences.is_equal(conflicts.differences)
    assert again.differences.is_equal(conflicts.at({"n": 7}).differences)


def test_an_array_that_never_ends_keeps_its_cells_and_the_others_are_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = Analysis.conflicts

    def slow(self: Analysis, name: str, *given: Any, **named: Any) -> Any:
        return sleep_forever() if name == "B" else conflicts(self, name, *given, **named)

    monkeypatch.setattr(Analysis, "conflicts", slow)
    result = af.fold(two(tmp_path), budget=6)
    assert str(result["A"].mapping) == "A[i] -> []"
    assert not result["A"].cut_short
    assert str(result["B"].mapping) == "B[i] -> [i mod N]"
    assert result["B"].cut_short.startswith(
        "the fold: cut short by wall time; a budget of 6 s allows no more"
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [(KeyError("n"), "KeyError"), (RecursionError("deep"), "RecursionError"), (IslFailure("isl"), "isl")],
)
def test_an_array_at_which_something_fails_does_not_end_the_others(
    error: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = Analysis.conflicts

    def failing(self: Analysis, name: str, *given: Any, **named: Any) -> Any:
        if name == "A":
            raise error
        return conflicts(self, name, *given, **named)

    monkeypatch.setattr(Analysis, "conflicts", failing)
    result = af.fold(two(tmp_path))
    assert result["A"].method == "identity"
    assert words in result["A"].cut_short
    assert str(result["B"].mapping) == "B[i] -> []"


def test_an_analysis_that_never_ends_has_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Analysis, "of", sleep_forever)
    problem = two(tmp_path)
    for result in (af.fold(problem, budget=0.5), af.fold_shared(problem, budget=0.5)):
        assert [array.name for array in result] == ["A", "B"]
        for array in result:
            assert array.method == "identity"
            assert "cut short by wall time" in array.cut_short
            assert isinstance(verify(array.conflicts, array.mapping), Proof)
    (checked,) = check(problem, "A[i] -> [0]", budget=0.5)
    assert isinstance(checked.verdict, Undecided)
    (array, *_) = compare(problem, budget=0.5)
    proved = [candidate.method for candidate in array.candidates if candidate.is_proved]
    assert proved == ["identity", "auto"]
    with pytest.raises(BudgetExceeded, match="wall time"):
        Analysis.in_time(problem, Budget(0.5))


def test_orders_and_places_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    program = af.read("examples/blur.c")
    assert isinstance(program, af.Program)
    monkeypatch.setattr("arrayfold.passes.reorder.reorderable_dependences", sleep_forever)
    with pytest.raises(BudgetExceeded, match="the order: cut short by wall time"):
        af.reorder(program, fuse="cells", budget=0.5)
    monkeypatch.setattr("arrayfold.passes.reallocation.analyse", sleep_forever)
    with pytest.raises(BudgetExceeded, match="cut short by wall time"):
        af.reallocate(program, budget=0.5)


def test_without_even_the_cells_an_array_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Analysis, "of", sleep_forever)
    monkeypatch.setattr(fold_deadline, "extents", sleep_forever)
    result = af.fold(two(tmp_path), budget=0.5)
    assert not result.arrays
    assert result.kept == result.cut_short
    assert list(result.kept) == ["A", "B"]
    assert all("cut short by wall time" in reason for reason in result.kept.values())


@pytest.mark.parametrize("file", sorted(Path("examples").glob("*.toml")), ids=lambda file: file.stem)
def test_arrays_keep_their_cells_with_a_proof(file: Path) -> None:
    problem = af.read(file)
    for name in likely_arrays(problem, ()):
        kept = keep(problem, name, {}, "no time")
        assert isinstance(kept, af.FoldedArray)
        assert kept.size == kept.original_size
        assert kept.cut_short == "no time"


def test_a_search_that_was_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    folded = af.fold(af.read("examples/lbm-d3q27.toml"), budget=0.5)["A"]
    assert "cut short by the budget of 0.5 s" in folded.cut_short
    assert not af.fold(af.read(BLUR))["blurx"].cut_short


def test_the_same_work_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> str:
        (folded,) = af.fold(af.read("examples/jacobi-1d-tiles.toml"), budget=0.6)
        return f"{folded.mapping} {folded.lower_bound.formula} {folded.cut_short}"

    slow_down(monkeypatch)
    first = answer()
    assert "cut short by the budget of 0.6 s" in first
    assert answer() == first


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("options", [[], ["--share", "auto"], ["--json"]], ids=lambda options: str(options))
def test_the_command_has_an_answer_when_its_time_is_over(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Analysis, "of", sleep_forever)
    file = tmp_path / "two.toml"
    file.write_text(TWO)
    assert run(monkeypatch, "fold", str(file), "--budget", "0.5", *options) == 0
    shown = capsys.readouterr().out
    assert "identity" in shown
    assert "cut short by wall time" in shown


def test_another_order_that_takes_too_long_leaves_the_order_as_it_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("arrayfold.passes.reorder.reorderable_dependences", sleep_forever)
    assert run(monkeypatch, "fold", "examples/blur.c", "--fuse", "--budget", "0.5") == 0
    shown = capsys.readouterr().out
    assert "identity" in shown
    assert "the order: cut short by wall time" in shown


def test_a_defect_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("arrayfold.report.tables.fold_report", fail)
    assert run(monkeypatch, "fold", BLUR) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("arrayfold: this is a defect of arrayfold, please report it: ZeroDivisionError")
    assert "Traceback" not in shown
    monkeypatch.setenv("ARRAYFOLD_DEBUG", "1")
    assert run(monkeypatch, "fold", BLUR) == 1
    assert "Traceback" in capsys.readouterr().err


def test_in_the_library_a_defect_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(import_module("arrayfold.fold.options"), "checked_params", fail)
    with pytest.raises(InternalError, match="AssertionError") as caught:
        af.fold(af.read(BLUR))
    assert isinstance(caught.value.__cause__, AssertionError)


def test_a_process_knows_whether_it_is_a_child() -> None:
    assert not deadline._is_child
    assert answer_in_time(lambda _: deadline._is_child, Budget(20), "work")


def test_where_the_budget_ends_all_methods_an_array_keeps_its_cells() -> None:
    """It is no proof that there is no mapping: the array is as it was, and the reason is said once."""
    conflicts = Analysis.of(af.read("examples/jacobi-1d.toml")).conflicts("A")
    request = Request.of(conflicts, {})
    cut = [
        Candidate(name, None, None, 0.0, f"{name}: cut short", is_cut=True) for name in ("identity", "linear")
    ]
    other = Candidate("basis", None, None, 0.0, "basis: no lattice")
    with pytest.raises(BudgetExceeded, match="identity: cut short"):
        best_of([*cut, other], conflicts, request)
    with pytest.raises(NothingProved, match="no lattice"):
        best_of([other], conflicts, request)


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str, *arguments: Any) -> Any:
        if name == "arrayfold.cli.main":
            raise KeyboardInterrupt
        return imported(name, *arguments)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130


def test_an_interrupted_fold_says_what_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(work: Any, *_: Any, receive: Any, **_known: Any) -> None:
        def receive_one(found: Any) -> None:
            receive(found)
            if isinstance(found, af.FoldedArray):
                raise KeyboardInterrupt

        work(receive_one)

    monkeypatch.setattr(fold_deadline, "in_time", interrupted)
    with pytest.raises(Interrupted) as ended:
        af.fold(af.read("examples/harris.c"))
    words = str(ended.value).splitlines()
    assert words[0] == "1 of 8 arrays had been folded:"
    assert len(words) == 2


def test_ctrl_c_ends_the_command_without_a_traceback() -> None:
    command = [sys.executable, "-m", "arrayfold", "fold", "examples/lbm-d3q27.toml", "--verbose"]
    process = subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    assert "conflicts" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said


@pytest.mark.parametrize("jobs", [2, 3])
def test_arrays_side_by_side_get_the_same_answers(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_down(monkeypatch)
    program = af.read("examples/harris.c")
    for budget in (60.0, 0.8):
        one, several = (af.fold(program, budget=budget, jobs=number) for number in (1, jobs))
        assert [str(array) for array in several] == [str(array) for array in one]
        assert [array.cut_short for array in several] == [array.cut_short for array in one]
