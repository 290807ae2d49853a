"""Ties, doall and forall loops, happens-before relations: conflicts against plain enumeration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arrayfold.base.choices import CONSTRUCTIONS
from arrayfold.base.errors import InputError, MethodNotApplicable
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.exact.formula_parse import read_formula
from arrayfold.explore.papers.executions import Executions
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import Program
from support.reference import Before, Instance, Trace, partial_conflicts
from support.shapes import jacobi
from test_paper_programs import pairs_at

EXAMPLES = Path("examples")

Time = Callable[[Instance], tuple[int, ...]]


def doall_after(trace: Trace, sequential: Time) -> Before:
    """Instances are ordered by their sequential time only; inside one the reads come first."""

    def before(a: tuple[int, bool], b: tuple[int, bool]) -> bool:
        if a[0] == b[0]:
            return a[1] < b[1]
        return sequential(trace.instances[a[0]]) < sequential(trace.instances[b[0]])

    return before


def forall_after(trace: Trace, sequential: Time) -> Before:
    """All reads of a front come before all its writes."""

    def before(a: tuple[int, bool], b: tuple[int, bool]) -> bool:
        return (sequential(trace.instances[a[0]]), a[1]) < (sequential(trace.instances[b[0]]), b[1])

    return before


def gauss(N: int, M: int) -> Trace:
    first = [Instance("S0", (i, j), (), (("tmp", (i, j)),)) for i in range(1, N - 1) for j in range(M)]
    second = [
        Instance("S1", (i, j), tuple(("tmp", (i, k)) for k in (j - 1, j, j + 1)), (("out", (i, j)),))
        for i in range(1, N - 1)
        for j in range(1, M - 1)
    ]
    return Trace([*first, *second])


def gauss_time(instance: Instance) -> tuple[int, ...]:
    i, j = instance.iteration
    return (i, j) if instance.name == "S0" else (i, j + 2)


@pytest.mark.parametrize(
    ("file", "array", "params", "trace", "order", "size"),
    [
        (
            "jacobi-1d-doall",
            "A",
            {"n": 4},
            jacobi(4),
            lambda t: doall_after(t, lambda s: s.iteration[:1]),
            "2*n",
        ),
        (
            "jacobi-1d-forall",
            "A",
            {"n": 4},
            jacobi(4),
            lambda t: forall_after(t, lambda s: s.iteration[:1]),
            "n",
        ),
        ("gauss", "tmp", {"N": 4, "M": 6}, gauss(4, 6), lambda t: doall_after(t, gauss_time), "4"),
    ],
)
def test_conflicts_equal_enumeration(
    file: str, array: str, params: dict[str, int], trace: Trace, order: Callable[[Trace], Before], size: str
) -> None:
    problem = read(EXAMPLES / f"{file}.toml")
    conflicts = Analysis.of(problem).conflicts(array)
    expected = partial_conflicts(trace, array, order(trace))
    assert expected
    assert pairs_at(conflicts, params) == expected
    assert fold(problem)[array].size == read_formula(size)


def test_ties_are_reported() -> None:
    assert Analysis.of(read(EXAMPLES / "gauss.toml")).conflicts("tmp").notes


def test_all_cells_of_a_front_count_where_they_conflict() -> None:
    """One execution keeps n + 1 cells at most, but no two cells of two neighbouring rows may share."""
    conflicts = Analysis.of(read(EXAMPLES / "jacobi-1d-doall.toml")).conflicts("A")
    assert find_lower_bound(conflicts).formula == read_formula("2*n")
    assert fold(read(EXAMPLES / "jacobi-1d-doall.toml"))["A"].is_optimal


INNER = """
context  = "[n] -> { : n >= 4 }"
domain   = "[n] -> { S[i, j] : 0 <= i, j < n }"
write    = "[n] -> { S[i, j] -> A[i, j] }"
read     = "[n] -> { S[i, j] -> A[i - 1, j'] : i >= 1 and 0 < j < n - 1 and j - 1 <= j' <= j + 1 }"
schedule = "[n] -> { S[i, j] -> [i, j] }"
"""


def test_some_cells_of_a_front_count_where_others_may_share() -> None:
    """S[i, 1] alone reads A[i - 1, 0], so A[i, 1] may take its address."""
    parallel = Analysis.of(read_problem("p.toml", INNER + 'parallel = { 1 = "doall" }')).conflicts("A")
    sequential = Analysis.of(read_problem("s.toml", INNER)).conflicts("A")
    params = {"n": 6}
    bounds = [
        find_lower_bound(sequential),
        find_lower_bound(parallel),
        find_lower_bound(parallel, None, params),
    ]
    assert all(bound.formula is not None for bound in bounds)
    assert [bound.at(params) for bound in bounds] == [7, 10, 10]


def test_without_time_for_fronts_one_execution_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrayfold.conflicts.liveness._OPERATIONS_FOR_FRONTS", 1)
    conflicts = Analysis.of(read(EXAMPLES / "jacobi-1d-doall.toml")).conflicts("A")
    assert find_lower_bound(conflicts).formula == read_formula("n + 1")
    bound = find_lower_bound(conflicts, None, {"n": 6})
    assert bound.at({"n": 6}) == 12
    assert bound.equals(read_formula("2*n"), {"n": 6})
    assert not bound.equals(read_formula("2*n"), {"n": 7})
    assert not bound.equals(read_formula("2*n"), {})


def test_a_parallel_loop_outside_keeps_what_each_of_its_iterations_keeps() -> None:
    problem = read_problem(
        "outer.toml",
        """
context  = "[n] -> { : n >= 3 }"
domain   = "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n }"
write    = "[n] -> { S[i, j] -> A[i, j] }"
read     = "[n] -> { S[i, j] -> A[i, j'] : j - 2 <= j' < j and 0 <= j' }"
schedule = "[n] -> { S[i, j] -> [i, j] }"
parallel = { 0 = "doall" }
""",
    )
    folded = fold(problem)["A"]
    assert folded.size == read_formula("2*n")
    assert folded.is_optimal


FORALL = {
    "jacobi": (EXAMPLES / "jacobi-1d-forall.toml").read_text(),
    "two dimensions in a front": """
context  = "[n] -> { : n >= 2 }"
domain   = "[n] -> { S[t, i, j] : 0 <= t, i, j < n }"
write    = "[n] -> { S[t, i, j] -> A[t, i, j] }"
read     = "[n] -> { S[t, i, j] -> A[t - 1, i, j'] : t >= 1 and j - 1 <= j' <= j and 0 <= j' }"
schedule = "[n] -> { S[t, i, j] -> [t, i, j] }"
parallel = { 1 = "forall", 2 = "forall" }
""",
    "two statements in a front": """
context  = "[n] -> { : n >= 3 }"
domain   = "[n] -> { S[t, i] : 0 <= t, i < n; T[t, i] : 0 <= t, i < n }"
write    = "[n] -> { S[t, i] -> A[t, i]; T[t, i] -> B[t, i] }"
read     = "[n] -> { S[t, i] -> A[t - 1, i - 1] : t >= 1 and i >= 1; T[t, i] -> A[t, n - 1 - i] }"
schedule = "[n] -> { S[t, i] -> [t, 0, i]; T[t, i] -> [t, 1, i] }"
parallel = { 2 = "forall" }
""",
    "cells that nobody reads": """
context  = "[n] -> { : n >= 3 }"
domain   = "[n] -> { S[t, i] : 0 <= t, i < n }"
write    = "[n] -> { S[t, i] -> A[t, i] }"
read     = "[n] -> { S[t, i] -> A[t - 1, 0] : t >= 1 and i = 0 }"
schedule = "[n] -> { S[t, i] -> [t, i] }"
parallel = { 1 = "forall" }
""",
}


@pytest.mark.parametrize("title", FORALL)
def test_steps_of_a_front_are_moments(title: str) -> None:
    """DIY16 §2.2: with FORALL loops there are time steps, so that all constructions apply and agree."""
    problem = read_problem("forall.toml", FORALL[title])
    assert isinstance(problem, Program)
    analysis = Analysis.of(problem)
    found = {c: pairs_at(analysis.conflicts("A", construction=c), {"n": 3}) for c in CONSTRUCTIONS}
    _, expected = Executions.of(problem, "A", {"n": 3}).walk()
    assert found["values"] == found["live-write"] == found["live-live"] == expected
    assert found["butterfly"] >= expected
    if title != "cells that nobody reads":
        assert found["butterfly"] == expected


def test_butterfly_needs_a_total_order() -> None:
    analysis = Analysis.of(read(EXAMPLES / "jacobi-1d-doall.toml"))
    with pytest.raises(MethodNotApplicable, match="total order"):
        analysis.conflicts("A", construction="butterfly")


CHAIN = """
domain = "{ P[i] : 0 <= i < 4; C[i] : 0 <= i < 4 }"
write = "{ P[i] -> A[i] }"
read = "{ C[i] -> A[i] }"
temporary = ["A"]
"""


def test_happens_before_is_closed_transitively() -> None:
    order = 'happens_before = "{ P[i] -> C[i]; C[i] -> P[i + 1] }"'
    problem = read_problem("chain.toml", CHAIN + order)
    assert fold(problem)["A"].size == read_formula("1")


def test_a_schedule_and_the_same_happens_before_agree() -> None:
    scheduled = read_problem("s.toml", CHAIN + 'schedule = "{ P[i] -> [i, 0]; C[i] -> [i + 1, 1] }"')
    related = read_problem(
        "h.toml",
        CHAIN
        + 'happens_before = "{ P[i] -> P[j] : i < j; C[i] -> C[j] : i < j; P[i] -> C[j] : i <= j + 1;'
        + ' C[i] -> P[j] : i + 1 < j }"',
    )
    assert isinstance(scheduled, Program)
    left, right = (Analysis.of(problem).conflicts("A").pairs for problem in (scheduled, related))
    assert not left.is_empty()
    assert left.is_equal(right)


def test_a_cycle_is_refused() -> None:
    problem = read_problem("c.toml", CHAIN + 'happens_before = "{ P[i] -> C[i]; C[i] -> P[i] }"')
    with pytest.raises(InputError, match="cycle"):
        Analysis.of(problem)


def test_without_time_for_any_moment_there_is_no_bound_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrayfold.conflicts.liveness._OPERATIONS_FOR_FRONTS", 1)
    monkeypatch.setattr("arrayfold.conflicts.liveness.Liveness._in_a_sweep", lambda *_, **__: [])
    assert Analysis.of(read(EXAMPLES / "jacobi-1d-doall.toml")).conflicts("A").moments is None
