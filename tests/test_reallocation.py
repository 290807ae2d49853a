"""Values in arrays of their statements: sizes against enumeration, values, orders that need it, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrayfold import InputError, fold, fold_shared, read, reallocate, reorder
from arrayfold.base.choices import Style
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from support.command import run
from support.runs import run_both
from support.traces import trace_of, values_seen

EXAMPLES = Path("examples")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")

IN_PLACE = """
void forward_subst(int N, const double b[restrict N], const double L[restrict N][N], double y[restrict N])
{
#pragma scop
    for (int i = 0; i < N; i++) {
        y[i] = b[i];
        for (int j = 0; j < i; j++)
            y[i] = y[i] - L[i][j] * y[j];
        y[i] = y[i] / L[i][i];
    }
#pragma endscop
}
"""
PURE = """
void two(int N, int M, const double in[restrict M], double out[restrict M])
{
    double x[N][M], y[N][M];
#pragma scop
    for (int j = 0; j < M; j++) {
        x[0][j] = y[0][j] = in[j];
        y[1][j] = in[j] * 2;
    }
    for (int i = 2; i < N; i++)
        for (int j = 0; j < M; j++)
            x[i - 1][j] = y[i][j] = x[i - 2][j] + y[i - 2][j];
    for (int j = 0; j < M; j++)
        out[j] = x[N - 2][j] + y[N - 1][j];
#pragma endscop
}
"""
SCALAR = """
void square(int N, const double in[restrict N], double out[restrict N])
{
    double s;
#pragma scop
    for (int i = 0; i < N; i++) {
        s = in[i] + 1;
        s *= in[i];
        out[i] = s * s;
    }
#pragma endscop
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def example(name: str) -> Program:
    problem = read(EXAMPLES / name)
    assert isinstance(problem, Program)
    return problem


def most_live(program: Program, params: dict[str, int]) -> dict[str, int]:
    """The cells of each temporary that are in memory at one moment."""
    trace = trace_of(program, params)
    return {
        array.name: trace.most_live(array.name)
        for array in program.arrays
        if array.name in program.relocation.origins
    }


def sizes_at(program: Program, params: dict[str, int]) -> dict[str, int]:
    return {one.name: one.size.at(params) for one in fold(program) if one.name in program.relocation.origins}


# ---------------------------------------------------------------- Mor14


@pytest.mark.parametrize("n", [2, 5, 8])
def test_forward_substitution_of_mor14(n: int) -> None:
    given = example("forward-substitution.toml")
    assert {one.name: str(one.size) for one in fold(given)} == {"y": "N"}
    program = reallocate(given)
    assert {one.name: str(one.size) for one in fold(program)} == {"y_S0": "1", "y_S1": "1", "y_S2": "N"}
    assert sizes_at(program, {"N": n}) == most_live(program, {"N": n})


def test_gauss_filter_of_mor14() -> None:
    # Statements with equal times run in any order, so that one cell more is needed than one after the other.
    assert {one.name: str(one.size) for one in fold(example("gauss.toml"))} == {"tmp": "4"}
    assert {one.name: str(one.size) for one in fold(reallocate(example("gauss.toml")))} == {"tmp_S0": "4"}
    one_order = example("gauss-filter.c")
    assert {one.name: str(one.size) for one in fold(one_order)} == {"tmp": "3"}
    program = reallocate(one_order)
    assert sizes_at(program, {"N": 5, "M": 7}) == most_live(program, {"N": 5, "M": 7}) == {"tmp_S_0": 3}


@needs_compiler
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_values_that_are_results_stay_where_they_are(style: Style) -> None:
    program = reallocate(program_of(IN_PLACE), ["y"])
    result = fold(program)
    assert {one.name: str(one.size) for one in result} == {"y_S_0": "1", "y_S_1": "1"}
    code = result.to_c(style=style)
    assert "y[" in code
    assert run_both(result, code.encode(), params={"N": 9}).is_equal


@needs_compiler
def test_a_statement_with_several_writes_has_an_array_for_each() -> None:
    program = reallocate(program_of(PURE))
    result = fold(program)
    names = {"x_S_0", "y_S_0", "y_S_1", "x_S_2", "y_S_2"}
    assert {one.name for one in result} == names
    assert sizes_at(program, {"N": 6, "M": 5}) == most_live(program, {"N": 6, "M": 5})
    assert run_both(result, result.to_c().encode(), params={"N": 6, "M": 5}).is_equal


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    "name", ["jacobi-1d.c", "seidel-2d.c", "heat-1d.c", "needleman-wunsch.c", "produce-consume.c", "horner.c"]
)
def test_every_read_sees_the_value_that_it_saw(name: str) -> None:
    program = example(name)
    params = dict.fromkeys(program.parameters, 4)
    assert values_seen(trace_of(reallocate(program, everything=True), params)) == values_seen(
        trace_of(program, params)
    )


@needs_compiler
@pytest.mark.parametrize("name", ["seidel-2d.c", "needleman-wunsch.c", "horner.c", "pipeline-if.c"])
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_reads_of_several_statements_are_guarded(name: str, style: Style) -> None:
    program = reallocate(example(name), everything=True)
    result = fold(program)
    code = result.to_c(style=style)
    params = dict.fromkeys(program.parameters, 9)
    assert run_both(result, code.encode(), params=params, sanitize=style == "readable").is_equal


def test_guards_are_said_once() -> None:
    # Values of the start and of the loop are read by one access: one condition tells them apart.
    code = fold(reallocate(example("horner.c"))).to_c(style="readable")
    (line,) = (line for line in code.splitlines() if "value_S_1 =" in line)
    assert line.count("?") == 1


CHAIN = """
#define DOUBLE(x) x = x + x
void f(int N, const double in[restrict N], double out[restrict N])
{
    double a[N], b[N], c[N];
#pragma scop
    for (int i = 0; i < N; i++) a[i] = in[i];
    for (int i = 0; i < N; i++) out[i] = a[i] += 1.0;
    for (int i = 0; i < N; i++) b[i] = in[i];
    for (int i = 0; i < N; i++) out[i] += b[i] = b[i] * 2;
    for (int i = 0; i < N; i++) { c[i] = in[i]; DOUBLE(c[i]); }
    for (int i = 0; i < N; i++) out[i] += a[N - 1 - i] + b[N - 1 - i] + c[i];
#pragma endscop
}
"""


@needs_compiler
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_assignments_inside_of_assignments_and_macros(style: Style) -> None:
    program = reallocate(program_of(CHAIN))
    assert set(program.relocation.origins.values()) == {"b", "c"}
    result = fold(program)
    assert run_both(result, result.to_c(style=style).encode(), params={"N": 9}).is_equal


# ---------------------------------------------------------------- orders

ROWS_FIRST = "S_0[y, x] -> [0, y, x]; S_1[y, x] -> [1, y, x]"


def test_an_order_that_overwrites_is_refused_when_arrays_are_kept() -> None:
    with pytest.raises(InputError, match="anti dependence") as error:
        reorder(example("row-buffer.c"), schedule=ROWS_FIRST)
    assert "--mode reallocate" in (error.value.hint or "")


@needs_compiler
def test_the_same_order_is_legal_for_values() -> None:
    program = reorder(reallocate(example("row-buffer.c")), schedule=ROWS_FIRST)
    result = fold_shared(program, "none")
    assert str(result["row_S_0"].size) == "H*W"
    assert result.footprint is not None
    assert (str(result.footprint.before), str(result.footprint.after)) == ("W", "H*W")
    assert "more values are live together" in result.footprint.why_larger
    assert run_both(result, result.to_c().encode(), params={"H": 5, "W": 7}).is_equal


@needs_compiler
def test_rows_run_in_parallel_once_they_have_places_of_their_own() -> None:
    assert not reorder(example("row-buffer.c"), parallel=True).parallel.get(0)
    result = fold(reorder(reallocate(example("row-buffer.c")), parallel=True))
    code = result.to_c()
    assert code.index("#pragma omp parallel for") < code.index("row_S_0[c0][c2] =")
    assert run_both(result, code.encode(), params={"H": 5, "W": 7}).is_equal


@needs_compiler
def test_a_variable_gets_a_place_for_each_iteration() -> None:
    order = "S_0[i] -> [0, i]; S_1[i] -> [1, i]; S_2[i] -> [2, i]"
    with pytest.raises(InputError, match="reads s"):
        reorder(program_of(SCALAR), schedule=order)
    result = fold(reorder(reallocate(program_of(SCALAR), everything=True), schedule=order))
    assert {one.name: str(one.size) for one in result} == {"s_S_0": "N", "s_S_1": "N"}
    assert run_both(result, result.to_c().encode(), params={"N": 9}).is_equal


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("if (in[i] > 0) t[i] = in[i]; else t[i] = 0;", "need not happen"),
        ("t[i] = in[i]; if (t[i] > 0) out[i] = 1;", "a condition"),
    ],
)
def test_values_without_a_certain_writer_stay(statement: str, reason: str) -> None:
    text = f"""
void f(int N, const double in[restrict N], double out[restrict N])
{{
    double t[N];
#pragma scop
    for (int i = 0; i < N; i++) {{
        {statement}
        out[i] = t[i];
    }}
#pragma endscop
}}
"""
    program = program_of(text)
    with pytest.raises(InputError, match=reason):
        reallocate(program, ["t"])
    assert not reallocate(program).relocation.origins


def test_a_parallel_program_must_leave_no_doubt_about_values() -> None:
    text = """
context = "[N] -> { : N >= 2 }"
domain = "[N] -> { S[i] : 0 <= i < N; T[i] : 0 <= i < N }"
write = "{ S[i] -> A[0]; T[i] -> out[i] }"
read = "{ T[i] -> A[0] }"
schedule = "{ S[i] -> [i, 0]; T[i] -> [i, 1] }"
live_out = "{ out[i] }"
parallel = { 0 = "doall" }
"""
    from arrayfold.frontends.toml.problem import read_problem

    program = read_problem("f.toml", text)
    assert isinstance(program, Program)
    with pytest.raises(InputError, match="which of its parallel parts runs first"):
        reallocate(program, ["A"])
    assert reallocate(example("jacobi-openmp.c")).relocation.origins


HALF_ORDERED = """
domain = "[N] -> { W[i] : 0 <= i < N; R[i] : 0 <= i < N }"
write = "[N] -> { W[i] -> A[i] }"
read = "[N] -> { R[i] -> A[i] }"
happens_before = "[N] -> { W[i] -> W[i + 1] }"
temporary = ["A"]
"""


def test_where_no_value_can_move_the_program_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which write a read sees is unknown: nothing orders them."""
    file = tmp_path / "half.toml"
    file.write_text(HALF_ORDERED)
    program = read(file)
    assert isinstance(program, Program)
    assert reallocate(program) is program
    for path in (file, EXAMPLES / "double-diamond.toml"):
        assert run(monkeypatch, "fold", str(path), "--mode", "reallocate") == 0
        shown = capsys.readouterr()
        assert "no value can have another place" in shown.err
        assert "proved" in shown.out


WRITTEN_ANEW = """
void k(int n, int in[restrict n + 1], int out[restrict n + 1])
{
    int t[n + 1];
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = 1;
        CONDITION
            t[i] = in[i];
        if (i >= 2)
            out[i] = t[i - 2];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(("condition", "can_move"), [("if (in[i] > 10)", False), ("if (i > 10)", True)])
def test_reallocation_is_advised_where_it_is_possible(condition: str, can_move: bool) -> None:
    (program,) = read_c("anew.c", WRITTEN_ANEW.replace("CONDITION", condition).encode())
    folded = fold(program)["t"]
    assert any("--mode reallocate" in note for note in folded.notes) == (can_move and not folded.is_optimal)
    assert ("--mode reallocate" in folded.conflicts.advice) == can_move
    moved = fold(reallocate(program))
    assert not any("--mode reallocate" in note for array in moved for note in array.notes)
