from __future__ import annotations

import itertools
from contextlib import suppress

import islpy as isl
import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded
from arrayfold.bounds import moments
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import fix_parameters, linear_form
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from conftest import PaperProgram


def test_this_set_up_counts() -> None:
    assert moments.can_count()


def test_counting_at_a_size_without_barvinok(
    paper_program: PaperProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    analysis = Analysis.of(read(paper_program.file))
    params = paper_program.expected["sizes"][0]
    for name in paper_program.expected["arrays"]:
        bound = find_lower_bound(analysis.conflicts(name))
        assert bound.formula is None
        assert bound.at(params) == paper_program.trace(**params).most_live(name)


def test_minimality_at_a_size_without_barvinok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    assert fold(read("examples/two-writes.toml"), params={"N": 5})["x"].is_optimal
    assert not fold(read("examples/two-writes.toml"))["x"].is_optimal


def test_too_many_cells_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    monkeypatch.setattr(moments, "_MOST_COUNTED", 10)
    conflicts = Analysis.of(read("examples/jacobi-1d.toml")).conflicts("A")
    assert find_lower_bound(conflicts).at({"n": 9}) is None


def test_counting_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    bound = find_lower_bound(Analysis.of(read("examples/jacobi-1d.toml")).conflicts("A"))
    assert bound.at({"n": 9}) == 10
    monkeypatch.setattr(moments, "_OPERATIONS_TO_COUNT", 1)
    assert bound.at({"n": 9}) is None


def test_cells_that_all_conflict_are_a_bound_without_a_program() -> None:
    conflicts = Analysis.of(read("examples/reverse-l.toml")).conflicts("A")
    assert find_lower_bound(conflicts).formula == read_formula("4*N - 4")
    differences = Analysis.of(read("examples/blur-differences.toml")).conflicts("blurx")
    assert find_lower_bound(differences).formula == read_formula("2*N + 1")


def test_live_in_cells_count_at_the_start() -> None:
    problem = read_problem(
        "in.toml",
        'context = "[N] -> { : N >= 1 }"\ndomain = "[N] -> { S[i] : 0 <= i < N }"\n'
        'write = "{ S[i] -> B[i] }"\nread = "{ S[i] -> A[i] }"\nschedule = "{ S[i] -> [i] }"\n'
        'temporary = ["A"]',
    )
    folded = fold(problem)["A"]
    assert folded.size == folded.lower_bound.formula == read_formula("N")


def test_where_a_formula_holds_is_said() -> None:
    bound = find_lower_bound(Analysis.of(read("examples/occupancy-stencil.toml")).conflicts("A"))
    assert bound.formula == read_formula("n + 2")
    assert bound.when is not None
    assert bound.at({"m": 2, "n": 4}) == 5


@pytest.mark.parametrize("operations", range(1, 600, 13))
def test_a_budget_that_ends_at_any_operation_is_a_budget_error(
    operations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arrayfold.base.budget._OPERATIONS_PER_SECOND", operations / 100)
    cells = isl.Set("{ A[t, i] : (-1 <= t <= 1 and -3 <= i <= 3) or (i + t = 0 and -5 <= i <= 6) }")
    budget = Budget(100)
    with suppress(BudgetExceeded), budget.limit("work"):
        for row in itertools.product(range(5), repeat=2):
            ((_, form),) = linear_form(cells.get_space(), row).get_pieces()
            assert cells.max_val(form).to_python() >= 0


def test_a_budget_stops_isl_and_leaves_it_usable() -> None:
    def long_work() -> None:
        with Budget(0.0001).limit("work"):
            for size in range(10_000):
                isl.Set(f"[N] -> {{ [i, j] : 0 <= i < j < N + {size} }}").subtract(isl.Set("{ [i, i] }"))

    with pytest.raises(BudgetExceeded):
        long_work()
    assert not isl.Set("{ [i] : i = 1 }").is_empty()


def test_without_time_there_is_no_bound_but_an_answer() -> None:
    conflicts = Analysis.of(read("examples/lbm-d3q27.toml")).conflicts("A")
    bound = find_lower_bound(conflicts, Budget(0.001))
    assert bound.formula is None


@pytest.mark.parametrize("file", ["jacobi-1d", "blur-interleaved", "produce-consume", "two-writes", "gauss"])
def test_a_few_moments_are_counted_where_all_are_too_many(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = Analysis.of(read(f"examples/{file}.toml"))
    for name in analysis.foldable():
        conflicts = analysis.conflicts(name)
        exact = find_lower_bound(conflicts)
        with monkeypatch.context() as patch:
            patch.setattr(moments, "_MOST_PIECES", 0)
            found = find_lower_bound(conflicts)
        assert exact.formula is not None
        assert found.formula is not None
        assert not found.is_attained
        assert found.formula == exact.formula
        for size in range(3, 9):
            params = dict.fromkeys(analysis.problem.parameters, size)
            counted = max(
                (
                    formula.at(params)
                    for where, formulas in found.pieces
                    if not where.is_disjoint(fix_parameters(params))
                    for formula in formulas
                ),
                default=0,
            )
            assert counted <= (exact.at(params) or 0)
