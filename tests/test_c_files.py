"""C files as a user meets them: which arrays fold and why not, pragmas, regions, options, output files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arrayfold import InputError, fold, read, read_all, reorder
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.c import headers
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.run.compiler import CannotRun
from arrayfold.validation.subjects import validate_code
from support.command import run
from support.runs import run_both

Capture = pytest.CaptureFixture[str]
STDLIB = "#include <stdlib.h>"
LOOP = """
#pragma scop
  for (int i = 0; i < N; i++) {
    tmp[i] = in[i];
    out[i] = 2 * tmp[i];
  }
#pragma endscop
"""


def program_of(before: str, body: str = LOOP, after: str = "", head: str = "") -> Program:
    text = f"{head}\nvoid f(int N, const double in[N], double out[N])\n{{\n{before}{body}{after}}}\n"
    (program,) = read_c("test.c", text.encode())
    return program


def kept_reason(before: str, body: str = LOOP, after: str = "", head: str = "") -> str | None:
    return Analysis.of(program_of(before, body, after, head)).kept().get("tmp")


# ---------------------------------------------------------------- which arrays fold


@pytest.mark.parametrize(
    ("before", "after", "head", "reason"),
    [
        ("double tmp[N];", "", "", None),
        ("static double tmp[100];", "", "", None),
        ("", "", "static double tmp[100];", None),
        ("", "", "static double tmp[100]; double *scratch(void) { return tmp; }", "global: if nothing"),
        ("", "", "static double tmp[100], more[8];", "global"),
        ("", "", "double tmp[100];", "global"),
        ("", "", "extern double tmp[];", "global"),
        ("double tmp[N];", "out[0] = tmp[1];", "", "used outside the region in line 11"),
        ("double tmp[N]; tmp[0] = 1;", "", "", "used outside the region in line 4"),
        ("double tmp[N]; g(tmp);", "", "void g(double *);", "given to g() in line 4"),
        ("double tmp[N]; double *p = tmp; (void)p;", "", "", "used as a pointer in line 4"),
        ("double tmp[N]; double *p = &tmp[1]; (void)p;", "", "", "p points into it"),
        ("double tmp[3] = {1, 2, 3};", "", "", "has initial values"),
        ("volatile double tmp[N];", "", "", "volatile"),
        ("double *tmp = malloc(8 * N);", "free(tmp);", STDLIB, None),
        ("double *tmp = malloc(8 * N); g(tmp);", "", f"{STDLIB}\nvoid g(double *);", "given to g()"),
        ("double *tmp = malloc(8 * N), *p = tmp;", "", STDLIB, None),
        ("double *tmp = malloc(8 * N), *p = &tmp[1];", "", STDLIB, "p points into it"),
        ("double *tmp = malloc(8 * N);", "out[0] = tmp[0];", STDLIB, "used outside the region"),
        (
            "double *tmp = NULL; if (N > 9) tmp = malloc(8 * N); else tmp = malloc(8);",
            "",
            STDLIB,
            "allocated in line 4 and in line 4",
        ),
        (
            "double *tmp = ALLOCATED(N);",
            "",
            f"{STDLIB}\n#define ALLOCATED(n) malloc(8 * (n))",
            "its allocation in line 5 comes",
        ),
        ("double *tmp = malloc(8 * N); N--;", "", STDLIB, "N may have another value"),
    ],
)
def test_why_an_array_is_kept(before: str, after: str, head: str, reason: str | None) -> None:
    found = kept_reason(before, after=after, head=head)
    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and found.startswith(reason)), found


READ_FIRST = LOOP.replace("tmp[i] = in[i];", "").replace("2 * tmp[i];", "tmp[1]; tmp[i + 1] = in[i];")


@pytest.mark.parametrize(
    ("before", "head", "body", "name"),
    [
        ("static double tmp[100];", "", READ_FIRST, "tmp"),
        ("", "static double tmp[100];", READ_FIRST, "tmp"),
        ("", "static double tmp[100] = {1, 2};", READ_FIRST, "tmp"),
        ("double tmp[100] = {1, 2};", "", READ_FIRST, "tmp"),
        ("double tmp[100]; for (int i = 0; i < 100; i++) tmp[i] = i;", "", READ_FIRST, "tmp"),
        ("static double tmp[100]; for (int i = 0; i < 9; i++) tmp[i] = i;", "", READ_FIRST, "tmp"),
        ("struct s q = {{1, 2}};", "struct s { double v[100]; };", READ_FIRST.replace("tmp", "q.v"), "q_v"),
        (
            "static double tmp[100];",
            "",
            LOOP.replace("tmp[i]", "tmp[2 * i]").replace("tmp[2 * i] =", "if (in[i] > 0) tmp[2 * i] ="),
            "tmp",
        ),
    ],
)
def test_values_from_before_the_region_need_their_memory(
    before: str, head: str, body: str, name: str
) -> None:
    program = program_of(before, body, head=head)
    assert name in Analysis.of(program).kept()
    result = fold(program.with_temporary(name))
    assert [one.name for one in result.arrays if one.shrinks] == [name]
    with pytest.raises(InputError, match=f"{name} is read before it is written.*from outside the region"):
        result.to_c()


def test_memory_without_values_may_be_read_first() -> None:
    result = fold(program_of("double tmp[100];", READ_FIRST).with_temporary("tmp"))
    assert "tmp[" in result.to_c(style="readable")


@pytest.mark.parametrize("head", ["", "static double tmp[100];"])
def test_static_arrays_that_a_second_region_uses_stay_declared(head: str) -> None:
    declared = "" if head else "static double tmp[100];"
    program = program_of(declared, LOOP, after="for (int i = 0; i < N; i++) out[i] += tmp[i] = i;", head=head)
    result = fold(program.with_temporary("tmp"))
    code = result.to_c(style="readable")
    assert "static double tmp[100];" in code
    assert "double tmp_folded;" in code
    validation = validate_code([result.region(style="readable")], code.encode(), "test.c")
    assert validation.is_equal, validation


def test_sizes_and_addresses_inside_the_region_are_final() -> None:
    body = LOOP.replace("2 * tmp[i]", "sizeof(tmp) * tmp[i]")
    program = program_of("double tmp[N];", body)
    assert "sizeof" in program.kept["tmp"].reason
    with pytest.raises(InputError, match="cannot be folded"):
        program.with_temporary("tmp")


def test_an_array_that_is_read_first_is_kept_with_the_size_at_which() -> None:
    body = LOOP.replace("2 * tmp[i]", "tmp[N - 1]")
    reason = kept_reason("double tmp[N];", body)
    assert reason is not None
    assert reason.startswith("read before it is written: at N = 2, S_1[0] (line ")
    assert reason.endswith("reads tmp[1], and nothing writes that before"), "N = 1 alone is no cure"


def test_an_array_declared_in_a_loop_stays_there() -> None:
    body = LOOP.replace("tmp[i] = in[i];", "double tmp[4]; tmp[i % 4] = in[i];").replace(
        "2 * tmp[i]", "tmp[i % 4]"
    )
    assert kept_reason("", body) == "declared inside the loop over i"


def test_an_array_declared_in_the_region_outside_loops_folds() -> None:
    program = program_of("", LOOP.replace("#pragma scop", "#pragma scop\n  double tmp[N];"))
    result = fold(program)
    assert str(result["tmp"].size) == "1"
    assert "double tmp;" in result.to_c()


def test_the_pragmas_of_the_file_say_what_the_options_say() -> None:
    pragmas = "#pragma arrayfold temporary(tmp) context(N >= 4)\n"
    program = program_of("", head="double tmp[100];", body=pragmas + LOOP)
    assert str(fold(program)["tmp"].size) == "1"
    assert str(program.context) == "[N] -> {  : 4 <= N <= 100 }"
    needed = program_of("double tmp[N];", body="\n#pragma arrayfold live_out(tmp[i] : i = 0)\n" + LOOP)
    assert "tmp" not in Analysis.of(needed).foldable()


def test_an_array_from_outside_becomes_a_new_one() -> None:
    program = program_of("", head="double tmp[100];").with_temporary("tmp")
    code = fold(program).to_c()
    assert "double tmp_folded;" in code
    assert "double tmp[100];" in code
    assert run_both(fold(program), code.encode(), sanitize=True).is_equal


def test_values_from_outside_cannot_move() -> None:
    program = program_of("", head="double tmp[100];").with_temporary("tmp")
    result = replace(fold(program), live_in=frozenset({"tmp"}))
    with pytest.raises(InputError, match="values come from outside"):
        result.to_c()


# ---------------------------------------------------------------- order


def test_arrays_that_may_overlap_keep_their_order() -> None:
    program = program_of("double tmp[N];")
    with pytest.raises(InputError, match="may overlap"):
        reorder(program, fuse="cells")
    assert reorder(program.without_aliases(), fuse="cells") is not program


def test_conditions_whose_data_change_meanwhile_cannot_be_written_anew() -> None:
    body = LOOP.replace("tmp[i] = in[i];", "if (out[i] > 0) { out[i] = 0; tmp[i] = 1; out[i] = tmp[i]; }")
    body = body.replace("    out[i] = 2 * tmp[i];\n", "")
    result = fold(program_of("double tmp[N];", body))
    assert "tmp" in result.to_c()
    with pytest.raises(InputError, match="changes between a condition on it"):
        result.to_c(loops="generate")


# ---------------------------------------------------------------- files, regions, options


def test_macros_and_include_paths_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.h").write_text("#define COUNT (2 * HALF)\n")
    file = tmp_path / "kernel.c"
    file.write_text(
        "#include <sizes.h>\nvoid f(double A[COUNT]) {\n#pragma scop\n"
        "  for (int i = 0; i < COUNT; i++) A[i] = 0;\n#pragma endscop\n}\n"
    )
    program = read(file, arguments=["-I", str(tmp_path / "include"), "-DHALF=7", "-std=c99"])
    assert isinstance(program, Program)
    assert program.domain().is_equal(program.domain().intersect_params(program.context))
    assert int(str(program.statements[0].domain.count_val())) == 14


def test_files_parse_without_the_headers_of_a_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(headers, "SYSTEM_HEADER", str(tmp_path / "stdlib.h"))
    file = tmp_path / "kernel.c"
    names = "math stdio stdlib string assert stdint limits float stdbool time stddef stdarg omp complex"
    file.write_text(
        "".join(f"#include <{name}.h>\n" for name in names.split())
        + "void f(int64_t n, double A[n]) {\n  assert(n > 0);\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) A[i] = sqrt(fabs(A[i])) + DBL_MAX + M_PI;\n#pragma endscop\n"
        '  printf("%f\\n", A[0]);\n}\n'
    )
    program = read(file, arguments=["-nostdinc"])
    assert len(getattr(program, "statements", ())) == 1


def test_several_regions(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    file = "examples/two-regions.c"
    assert [problem.name for problem in read_all(file)] == ["pairs", "water"]
    assert read(file, region="2").name == read(file, region="water").name == "water"
    with pytest.raises(InputError, match="has 2 regions: pairs, water"):
        read(file)
    with pytest.raises(InputError, match="no region 'tides'"):
        read(file, region="tides")
    assert run(monkeypatch, "fold", file, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [(array["region"], array["name"]) for array in data["arrays"]] == [
        ("pairs", "smooth"),
        ("water", "left"),
        ("water", "right"),
    ]
    assert ("height", "comes from the caller") in [(one["name"], one["reason"]) for one in data["kept"]]


def test_output_is_not_overwritten_unless_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    out = tmp_path / "out.c"
    assert run(monkeypatch, "fold", "examples/horner.c", "-o", str(out)) == 0
    assert "double value;" in out.read_text()
    out.write_text("mine")
    assert run(monkeypatch, "fold", "examples/horner.c", "-o", str(out)) == 2
    assert out.read_text() == "mine"
    assert "--force" in capsys.readouterr().err
    assert run(monkeypatch, "fold", "examples/horner.c", "-o", str(out), "--force") == 0
    assert "double value;" in out.read_text()


def test_a_run_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", "examples/horner.c", "--run", "--param", "N=40") == 0
    assert "horner at N = 40: results equal bit for bit; arrays 320 -> 8 bytes" in capsys.readouterr().out
    assert run(monkeypatch, "fold", "examples/horner.c", "--sanitize", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    assert report["equal"]
    assert report["sanitized"]


def test_a_wrong_fold_is_noticed() -> None:
    """The runner really compares: code that computes something else is reported."""
    problem = read("examples/horner.c")
    result = fold(problem)
    assert run_both(result, result.to_c().encode()).is_equal
    report = run_both(result, result.to_c().replace("+= coefficient", "-= coefficient").encode())
    assert not report.is_equal
    assert "differ" in str(report)


def test_without_a_compiler_the_fold_goes_on_and_the_run_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("arrayfold.run.compare.find_compiler", lambda: None)
    assert run(monkeypatch, "fold", "examples/horner.c", "--run") == 1
    output, errors = capsys.readouterr()
    assert "value[i] -> []" in output
    assert "horner was not run, so nothing was compared: there is no C compiler" in errors
    assert run(monkeypatch, "fold", "examples/horner.c", "--run", "--json") == 1
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    assert not report["equal"]
    assert "there is no C compiler" in report["reason"]
    with pytest.raises(CannotRun):
        run_both(fold(read("examples/horner.c")), b"")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fold", "examples/horner.c", "--loops", "some"], "'some' is not one of 'keep', 'generate'"),
        (["fold", "examples/horner.c", "other.c"], "unexpected argument 'other.c'"),
        (["fold", "examples/jacobi-1d.toml", "--", "-DX"], "is not a C file"),
        (["fold", "examples/two-regions.c", "--temporary", "in"], "add --region NAME"),
        (["fold", "examples/two-regions.c", "--array", "nothing"], "there is no array 'nothing'"),
        (["fold", "examples/two-regions.c", "--param", "Q=3"], "there is no parameter 'Q'"),
        (["model", "examples/two-regions.c"], "has 2 regions"),
        (["fold", "examples/horner.c", "--tile", "4xb"], "expected positive sizes"),
        (["fold", "examples/jacobi-1d.c", "--tile", "4x4"], "the order runs"),
        (["fold", "examples/jacobi-1d.c", "--schedule", "S_9[i] -> [i]"], "S_9"),
        (["fold", "examples/horner.c", "-o", "/no/such/place/out.c"], "cannot be written"),
        (
            ["fold", "examples/blur.c", "--loops", "keep", "--fuse", "-o", "-"],
            "cannot be kept in another order",
        ),
    ],
)
def test_wrong_options(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, *arguments) == 2
    assert message in capsys.readouterr().err
