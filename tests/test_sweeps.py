"""Several time steps in one sweep over the rows: legal, found where they pay, and left alone elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrayfold.frontends.c.read import read_c
from arrayfold.order.dependences import find_violation, memory_dependences, union_of
from arrayfold.order.nests import Times
from arrayfold.order.time_steps import Sweep, find_sweeps, sweep_schedule
from arrayfold.ordering.auto import ChooseOrder, schedule_text
from arrayfold.ordering.choose import ComparedOrders, choose_order
from arrayfold.ordering.machine import Machine
from arrayfold.program.model import Program
from support.command import run

LOOP = """
void f(int T, int N, double A[restrict N][N], double B[restrict N][N])
{
#pragma scop
BODY
#pragma endscop
}
"""
TWO_ARRAYS = """
for (int t = 0; t < T; t++) {
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++)
    B[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1];
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++)
    A[i][j] = B[i - 1][j] + B[i + 1][j] + B[i][j];
}"""
IN_PLACE = """
for (int t = 0; t < T; t++)
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++)
    A[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j + 1];"""
# The first stage has no rows: it writes one.
ROW_AND_PLANES = """
for (int t = 0; t < T; t++) {
  for (int j = 0; j < N; j++) A[0][j] = t;
  for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i][j] - (B[i][j] - B[i - 1][j]);
  for (int i = 0; i < N - 1; i++) for (int j = 0; j < N; j++) B[i][j] = B[i][j] - (A[i + 1][j] - A[i][j]);
}"""
ONE_DIMENSION = """
for (int t = 0; t < T; t++) {
  for (int i = 1; i < N - 1; i++) B[0][i] = A[0][i - 1] + A[0][i + 1];
  for (int i = 1; i < N - 1; i++) A[0][i] = B[0][i - 1] + B[0][i + 1];
}"""
TRANSPOSED = """
for (int t = 0; t < T; t++) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[j][i];
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = B[i][j];
}"""


def program_of(body: str) -> Program:
    (program,) = read_c("f.c", LOOP.replace("BODY", body).encode())
    return program


def sweeps_of(program: Program) -> list[Sweep]:
    dependences = union_of(program, memory_dependences(program))
    return list(find_sweeps(Times.of(program), dependences))


@pytest.mark.parametrize(
    ("body", "skew", "shifts"),
    [
        (TWO_ARRAYS, 2, [0, 1]),
        (IN_PLACE, 1, [0]),
        (ROW_AND_PLANES, 1, [0, 0, 1]),
        (ONE_DIMENSION, 2, [0, 1]),
    ],
)
@pytest.mark.parametrize("steps", [1, 3])
def test_sweeps_keep_all_dependences(body: str, skew: int, shifts: list[int], steps: int) -> None:
    program = program_of(body)
    (sweep,) = sweeps_of(program)
    assert (sweep.skew, [row.shift for _, row in sweep.rows]) == (skew, shifts)
    assert sweep.strips == (body == ONE_DIMENSION)
    dependences = memory_dependences(program)
    schedule = sweep_schedule(program, Times.of(program), [sweep], steps, 4)
    assert find_violation(program.in_order(schedule, {}), dependences) is None


def test_the_skew_is_the_least() -> None:
    program = program_of(TWO_ARRAYS)
    (sweep,) = sweeps_of(program)
    flatter = Sweep(sweep.nest, sweep.loop, sweep.rows, sweep.skew - 1, sweep.strips)
    schedule = sweep_schedule(program, Times.of(program), [flatter], 3, 4)
    assert find_violation(program.in_order(schedule, {}), memory_dependences(program)) is not None


def test_steps_that_need_all_of_the_one_before_are_no_sweep() -> None:
    assert sweeps_of(program_of(TRANSPOSED)) == []
    one_loop = "for (int i = 0; i < N; i++) A[0][i] = B[0][i];"
    assert sweeps_of(program_of(one_loop)) == []
    independent = "for (int t = 0; t < T; t++) for (int i = 0; i < N; i++) A[t][i] = B[t][i];"
    assert sweeps_of(program_of(independent)) == []


def chosen_at(size: int) -> ComparedOrders:
    return choose_order(program_of(TWO_ARRAYS), {"T": 64, "N": size}, Machine())


def test_sweeps_are_chosen_beyond_caches_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAYFOLD_CACHES", "32K,1M,16M")
    assert "time steps in one sweep" in chosen_at(2000).best.candidate.name
    assert not any("time steps" in rated.candidate.name for rated in chosen_at(100).rated)


def test_swept_code_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, body in enumerate((ROW_AND_PLANES, ONE_DIMENSION)):
        file, output = tmp_path / f"f{number}.c", tmp_path / f"g{number}.c"
        file.write_text(LOOP.replace("BODY", body))
        program = program_of(body)
        schedule = sweep_schedule(program, Times.of(program), sweeps_of(program), 3, 4)
        text = schedule_text(program, schedule)
        assert run(monkeypatch, "fold", str(file), "--schedule", text, "-o", str(output)) == 0
        assert "agree at" in capsys.readouterr().out
        assert "#pragma scop" not in output.read_text()


def test_a_parallel_program_stays_parallel() -> None:
    parallel = TWO_ARRAYS.replace("  for (int i", "#pragma omp parallel for\n  for (int i")
    program = program_of(parallel)
    assert program.parallel
    found = ChooseOrder({"T": 64, "N": 2000}).apply(program)
    assert found.parallel
    assert found.chosen is not None
