"""Defects that were found once, each with the input that showed it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.budget import Budget, work_done
from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.exact.formula_isl import fit
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.fold.check import check
from arrayfold.frontends import apply_options, read, read_all, write_problem
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Undecided, verify
from arrayfold.mapping.modular import ModularMapping
from support.command import run
from support.reference import Instance, Trace, partial_conflicts
from test_paper_programs import pairs_at
from test_partial_orders import forall_after

BLUR = "examples/blur-interleaved.toml"
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "text",
    [
        "blurx[4*y/3 % 3][x]",
        "blurx[y % (9/2)][x]",
        "blurx[y / 2][y % 2][x]",
        "blurx[y, x] -> [y/3, y mod 3, x]",
        "blurx[y, x] -> [(y + 1/2) mod 3, x]",
        "blurx[y, x] -> [y mod (N/2), x]",
    ],
)
def test_fractions_in_a_mapping_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="whole"):
        check(read(BLUR), text)


def test_the_judge_refuses_fractions_wherever_they_come_from() -> None:
    mapping = ModularMapping.of("blurx", ("y", "x"), [[f("4/3"), 0], [0, 1]], [f("3"), f("N")])
    with pytest.raises(InputError, match="whole"):
        verify(Analysis.of(read(BLUR)).conflicts("blurx"), mapping)


def test_a_polynomial_modulus_must_be_positive_everywhere() -> None:
    problem = read(BLUR)
    conflicts = Analysis.of(problem).conflicts("blurx")
    mapping = ModularMapping.of(
        "blurx", ("y", "x"), [[1, 0], [0, 1], [0, 1]], [f("3"), f("N"), f("N^2 - 100")]
    )
    verdict = verify(conflicts, mapping)
    assert isinstance(verdict, Undecided)
    assert "positive" in verdict.reason


def test_minimal_only_where_the_bound_was_shown(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    arguments = ["fold", "examples/two-writes.toml", "--array", "y", "--json"]
    assert run(monkeypatch, *arguments, "--param", "N=3") == 0
    (small,) = json.loads(capsys.readouterr().out)["arrays"]
    assert small["at"] == {"N": 3, "size": 8, "original_size": 12, "lower_bound": 5}
    assert small["optimal"] is False
    assert run(monkeypatch, *arguments, "--param", "N=9") == 0
    (large,) = json.loads(capsys.readouterr().out)["arrays"]
    assert large["optimal"] is True
    assert run(monkeypatch, "fold", "examples/two-writes.toml", "--array", "y", "--param", "N=3") == 0
    assert "2*N + 2 = 5" not in capsys.readouterr().out


SMALL_SIZES_DIFFER = """
domain = "[N] -> { P[i] : 0 <= i < N; C[i] : 0 <= i < N }"
write = "[N] -> { P[i] -> A[i] }"
read = "[N] -> { C[i] -> A[i - 1] : i >= 1; C[i] -> A[i] }"
schedule = "[N] -> { P[i] -> [i, 0]; C[i] -> [i, 1] }"
"""


def test_a_size_that_only_equals_the_bound_at_one_size_is_not_minimal() -> None:
    folded = fold(read_problem("p.toml", SMALL_SIZES_DIFFER), params={"N": 1})["A"]
    assert folded.lower_bound.formula == f("2")
    assert folded.is_optimal == (folded.size == f("2"))


def test_fit_keeps_one_of_two_pieces_that_are_equal_on_the_domain() -> None:
    context = isl.Set("[N, M] -> { : N mod 2 = 0 }")
    pieces = isl.PwAff(
        "[N, M] -> { [(N)] : N mod 2 = 0 and N > M and N mod 4 = 0; "
        "[(2*floor((N)/2))] : N mod 4 = 2 and N > M; [(M)] : N mod 2 = 0 and N <= M }"
    )
    fitted = fit(pieces, context, "max")
    assert fitted.evaluate({"N": 8, "M": 2}) >= 8
    assert fitted.evaluate({"N": 6, "M": 2}) >= 6


def test_fit_rounds_fractions_to_the_safe_side() -> None:
    half = isl.PwAff("[N] -> { [((N)/2)] : N mod 2 = 0 }")
    assert fit(half, isl.Set("{ : }"), "max").is_whole
    assert fit(half, isl.Set("{ : }"), "min").is_whole


def test_a_cycle_is_found_where_the_closure_is_not_exact() -> None:
    problem = read_problem(
        "cycle.toml",
        'domain = "[N] -> { S[i, j] : 0 <= i, j < N }"\nwrite = "{ S[i, j] -> A[i, j] }"\n'
        'happens_before = "[N] -> { S[i, j] -> S[i - 1, j + 2]; S[i, j] -> S[i + 2, j - 1];'
        ' S[i, j] -> S[i - 1, j - 1] }"\ntemporary = ["A"]\ncontext = "[N] -> { : N >= 4 }"',
    )
    with pytest.raises(InputError, match="cycle"):
        Analysis.of(problem)


def test_ties_in_a_forall_front_run_in_any_order() -> None:
    text = (
        'context = "[N] -> { : N >= 2 }"\n'
        'domain = "[N] -> { P[t, i] : 0 <= t, i < N; C[t, i] : 0 <= t, i < N }"\n'
        'write = "{ P[t, i] -> A[t, i] }"\nread = "[N] -> { C[t, i] -> A[t - 1, i] : t >= 1 }"\n'
        'schedule = "{ P[t, i] -> [t, i]; C[t, i] -> [t, i] }"\nparallel = { 1 = "forall" }'
    )
    conflicts = Analysis.of(read_problem("front.toml", text)).conflicts("A")
    size = 3
    instances = [
        Instance(name, (t, i), reads, writes)
        for t in range(size)
        for i in range(size)
        for name, reads, writes in (
            ("P", (), (("A", (t, i)),)),
            ("C", ((("A", (t - 1, i)),) if t else ()), ()),
        )
    ]
    trace = Trace(instances)
    by_front = forall_after(trace, lambda instance: instance.iteration[:1])

    def before(a: tuple[int, bool], b: tuple[int, bool]) -> bool:
        same_time = instances[a[0]].iteration == instances[b[0]].iteration
        return by_front(a, b) and not (same_time and a[0] != b[0])

    assert pairs_at(conflicts, {"N": size}) == partial_conflicts(trace, "A", before)


def test_the_context_narrows_what_is_live_in() -> None:
    text = (
        'domain = "[N] -> { S[i] : 0 <= i < N; T[] }"\nwrite = "[N] -> { S[i] -> A[i]; T[] -> o[] }"\n'
        'read = "[N] -> { T[] -> A[0] }"\nschedule = "[N] -> { S[i] -> [0, i]; T[] -> [1, 0] }"\n'
        'live_out = "{ o[] }"'
    )
    problem = read_problem("narrow.toml", text)
    assert Analysis.of(problem).foldable() == ()
    assert Analysis.of(apply_options(problem, context="N >= 3")).foldable() == ("A",)


def test_the_context_narrows_conflicts_that_are_given() -> None:
    text = 'conflicts = "[N] -> { A[i] -> A[j] : 0 <= i, j < N }"\ncontext = "[N] -> { : N >= 2 }"'
    problem = apply_options(read_problem("all.toml", text), context="N >= 5")
    assert find_lower_bound(Analysis.of(problem).conflicts("A")).formula == f("N")


def test_generated_index_names_avoid_parameters() -> None:
    text = (
        'context = "[i0] -> { : i0 >= 2 }"\ndomain = "[i0] -> { S[a] : 0 <= a < i0 }"\n'
        'write = "[i0] -> { S[a] -> A[a + 1] }"\nschedule = "{ S[a] -> [a] }"\ntemporary = ["A"]'
    )
    assert read_problem("names.toml", text).array("A").dimensions == ("i0_",)


def test_numbers_beyond_a_machine_word() -> None:
    far = 10**21
    text = (
        f'domain = "{{ S[i] : 0 <= i < 5; T[i] : 0 <= i < 5 }}"\nwrite = "{{ S[i] -> A[{far}*i] }}"\n'
        f'read = "{{ T[i] -> A[{far}*i] }}"\nschedule = "{{ S[i] -> [0, i]; T[i] -> [1, i] }}"'
    )
    assert fold(read_problem("far.toml", text))["A"].lower_bound.formula == f("5")


def test_a_statement_without_instances_may_have_accesses() -> None:
    text = (
        'context = "[N] -> { : N <= 0 }"\ndomain = "[N] -> { S[i] : 0 <= i < N; T[i] : 0 <= i < 3 }"\n'
        'write = "{ S[i] -> A[i]; T[i] -> B[i] }"\nschedule = "{ S[i] -> [i]; T[i] -> [i] }"'
    )
    assert Analysis.of(read_problem("empty.toml", text)).foldable() == ("A", "B")


def test_model_keeps_extra_temporaries(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "model", BLUR, "--temporary", "out") == 0
    problem = read_problem("model.toml", capsys.readouterr().out)
    assert Analysis.of(problem).foldable() == ("blurx", "out")


def test_model_of_a_cell_that_conflicts_with_itself_only() -> None:
    problem = read_problem("self.toml", 'conflicts = "{ A[] -> A[] }"')
    again = read_problem("again.toml", write_problem(problem))
    assert fold(again)["A"].size == f("1")


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "blurx", "matrix": [["1", "0"], ["0", "1"]], "offset": ["0"], "moduli": ["3", "N"]},
        {"name": "blurx", "matrix": [["1"], ["0", "1"]], "offset": ["0", "0"], "moduli": ["3", "N"]},
        {"name": "blurx", "matrix": [["4/3", "0"]], "offset": ["0"], "moduli": ["3"]},
        {"name": "blurx"},
        None,
    ],
)
def test_json_of_the_wrong_shape(
    entry: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps({"arrays": [entry] if entry else []}))
    assert run(monkeypatch, "check", BLUR, "--mapping", str(file)) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_array_smaller_than_its_conflicts_is_refused() -> None:
    text = 'array = "{ A[i] : 0 <= i < 2 }"\nconflicts = "{ A[i] -> A[j] : 0 <= i, j < 3 }"'
    with pytest.raises(InputError, match="outside the array"):
        read_problem("outside.toml", text)


def test_a_strange_digit_is_no_dimension(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "digit.toml"
    file.write_text(Path("examples/jacobi-1d.toml").read_text() + 'parallel = { "²" = "doall" }\n')
    assert run(monkeypatch, "fold", str(file)) == 2
    assert "no parallel dimension" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["inf", "1e300", "0", "nan"])
def test_budgets_that_are_none(seconds: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", BLUR, "--budget", seconds) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_parameter_given_twice(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", BLUR, "--param", "N=5", "--param", "N=7") == 2
    assert "another value" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0.05", "0.1", "0.2", "0.4"])
def test_a_budget_that_ends_anywhere_leaves_no_trace_in_the_output(seconds: str, capfd: Capture) -> None:
    command = Path(sys.executable).with_name("arrayfold")
    arguments = [command, "fold", "examples/lbm-d3q27.toml", "--budget", seconds, "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert done.stdout == "" if done.returncode else json.loads(done.stdout)["arrays"]
    assert capfd.readouterr().out == ""


def test_work_that_ends_at_its_limit_prints_nothing(capfd: Capture) -> None:
    """Nor where islpy makes one type of another, of which it tells the user if it cannot."""
    (program,) = read_all("tests/c_kernels/locals.c")
    before = work_done()
    Analysis.of(program)
    needed = work_done() - before
    ended: list[int] = []
    for operations in range(0, needed, needed // 120):
        try:
            Analysis.of(program, Budget.of_work(operations))
        except BudgetExceeded:
            ended.append(operations)
    assert len(ended) > 40
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("modulus", ["61 - N", "N^2 - 122*N + 3721"])
def test_a_modulus_that_vanishes_where_a_basis_is_guessed(modulus: str) -> None:
    text = (
        'context = "[N] -> { : 1 <= N <= 40 }"\narray = "[N] -> { A[d, e] : 0 <= d < 2 and 0 <= e <= N }"\n'
        'differences = "[N] -> { A[d, e] : -1 <= d <= 1 and -N <= e <= N }"'
    )
    conflicts = Analysis.of(read_problem("vanish.toml", text)).conflicts("A")
    mapping = ModularMapping.of("A", ("d", "e"), [[1, f("N + 2")]], [f(modulus)])
    assert verify(conflicts, mapping) is not None


def test_a_minimum_that_isl_finds_and_no_point_attains() -> None:
    text = (
        'context = "[N] -> { : N >= 6 }"\n'
        'array = "[N] -> { A[x, y, z] : 0 <= x < 2*N + 3 and 0 <= y < 2*N + 1 and 0 <= z < 4 }"\n'
        'differences = """[N] -> { A[x, y, z] : -N + 2 <= x <= N - 2 and -1 <= y <= 1'
        " and -3N - 4 <= z <= 3N + 4;"
        " A[x, y, z] : -3N - 4 <= x <= 3N + 4 and -2N - 3 <= y <= 2N + 3 and -N + 2 <= z <= N - 2"
        ' and z - y >= 1 }"""'
    )
    conflicts = Analysis.of(read_problem("minimum.toml", text)).conflicts("A")
    row = [f("-N - 4"), f("-N - 1"), f("1")]
    mapping = ModularMapping.of(
        "A", conflicts.array.dimensions, [row], [f("2*N^2 + 8*N + 4")], [f("2*N + 3")]
    )
    verdict = verify(conflicts, mapping)
    assert isinstance(verdict, Counterexample)
    x, y = verdict.cells
    assert mapping.address(x, verdict.params) == mapping.address(y, verdict.params)


def test_an_array_without_cells_is_no_reason_for_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "never.toml"
    file.write_text(
        'context = "[N] -> { : N >= 1 }"\ndomain = "[N] -> { S[i] : 0 <= i < N }"\n'
        'write = "[N] -> { S[i] -> A[i]; S[i] -> B[i] : i < 0 }"\nschedule = "[N] -> { S[i] -> [i] }"\n'
        'temporary = ["A", "B"]\n'
    )
    assert run(monkeypatch, "fold", str(file)) == 0
    assert capsys.readouterr().err == ""


def test_another_order_is_looked_for_within_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """What is printed does not wait for the hint."""
    file = tmp_path / "two.c"
    file.write_text(
        "void f(int n, const int in[restrict n], int out[restrict n]) {\n int t[n];\n#pragma scop\n"
        " for (int i = 0; i < n; i++) t[i] = in[i];\n for (int i = 0; i < n; i++) out[i] = t[i];\n"
        "#pragma endscop\n}\n"
    )
    assert run(monkeypatch, "fold", str(file)) == 0
    assert "hint: another order has about 1 instead of" in capsys.readouterr().out
    monkeypatch.setattr("arrayfold.ordering.hint.compared_orders", lambda *_: time.sleep(3600))
    assert run(monkeypatch, "fold", str(file), "--budget", "2") == 0
    assert "t[i] -> [i mod n]" in capsys.readouterr().out
