"""Running the original and the folded program: made-up data, sizes, failures, and what counts as equal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from arrayfold.base.errors import InputError
from arrayfold.c.source import CText
from arrayfold.fold.arrays import fold
from arrayfold.fold.run import run_at_several_sizes
from arrayfold.frontends import read
from arrayfold.frontends.c.data import (
    ArrayData,
    PointerData,
    RecordData,
    ScalarData,
    function_data,
    is_constant,
)
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Program
from arrayfold.run.compiler import CannotRun, find_compiler
from arrayfold.run.driver_values import fill, put
from arrayfold.run.outcome import FinalState, RunReport, SizeComparison, first_difference
from arrayfold.run.process import TookTooLong, start
from support.command import run
from support.runs import run_both

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
Capture = pytest.CaptureFixture[str]

LOOPS = """
  {type} t[n];
#pragma scop
  for (int i = 0; i < n; i++) t[i] = {first};
  for (int i = 1; i < n; i++) out[i] = {second};
#pragma endscop
"""


@dataclass(frozen=True)
class Case:
    """Two loops with a temporary between them."""

    first: str
    parameters: str = "double in[restrict n], double out[restrict n]"
    before: str = ""
    after: str = ""
    second: str = "t[i - 1] + t[i]"
    type: str = "double"
    returns: str = "void"

    def text(self) -> str:
        loops = LOOPS.format(type=self.type, first=self.first, second=self.second)
        return f"{self.before}\n{self.returns} f(int n, {self.parameters})\n{{{loops}{self.after}}}\n"


CASES = {
    "const table": Case("table[1] * in[i]", before="static const float table[3] = {1, 2, 3};"),
    "const by typedef": Case(
        "table[1] * in[i]", before="typedef const double c; static c table[2] = {1, 2};"
    ),
    "const array by typedef": Case(
        "table[1] * in[i]", before="typedef double row[2]; static const row table = {1, 2};"
    ),
    "const structures": Case(
        "taps[1].w * in[i]", before="static const struct { float w; int id; } taps[2] = {{1, 2}, {3, 4}};"
    ),
    "texts": Case("names[1][0] + in[i]", before='static const char *names[] = {"one", "two"};'),
    "table with a value": Case("in[i] / order[0]", before="int order[2] = {7, 9};"),
    "const pointer": Case("where[0] + in[i]", before="double place[4]; double *const where = place;"),
    "global pointer": Case("where[i] + in[i]", before="double *where;"),
    "structures": Case(
        "in[i].p.x + in[i].tag + in[i].u.d",
        "struct cell in[restrict n], double out[restrict n]",
        before="struct cell { struct { char c; double x; } p; int tag : 3, : 0; float w[2][3]; "
        "long double q; union { int i; double d; } u; const int id; struct { int left, right; }; };",
    ),
    "structure by value": Case(
        "c.alpha * in[i]",
        "struct conf c, struct conf *more, double in[restrict n], double out[restrict n]",
        before="struct conf { double alpha; const char *name; double *weights; struct conf *next; };",
        after="more->weights[3] = n;",
    ),
    "rows": Case("in[1][i]", "double *restrict *restrict in, double *restrict out"),
    "numbers of all kinds": Case(
        "b[i] + c[i] + s + creal(z[i]) + q[i]",
        "const _Bool *restrict b, enum color *restrict c, double complex *restrict z, short s, "
        "long double *restrict q, float complex *restrict out",
        before="#include <complex.h>\nenum color { RED, GREEN };",
    ),
    "names of the library": Case(
        "stdout[i] + calloc[i]",
        "double stdout[restrict n], double calloc[restrict n], double *restrict out",
        before="#define line 3\n#define memory 4\n#define size_t 5\nstatic double random(void) { return 1; }",
    ),
    "division": Case(
        "in[i] / by[i]",
        "const int *restrict in, const int *restrict by, int *restrict out",
        second="t[i - 1] % by[i] + t[i]",
        type="int",
    ),
    "division by a difference": Case(
        "in[i] / (by[i] - 3)", "const int *restrict in, const int *restrict by, int *restrict out", type="int"
    ),
    "not a number": Case(
        "sqrt(in[i] - 0.5)", before="#include <math.h>", second="(t[i - 1] > t[i] ? -0.0 : t[i]) + t[i]"
    ),
    "printed": Case("in[i]", before="#include <stdio.h>", after='printf("%g\\n", out[n / 2]);'),
    "result": Case(
        "in[i]",
        before="struct pair { char c; double x; };",
        after="struct pair p = {n, out[0]}; return p;",
        returns="struct pair",
    ),
}


def folded(case: Case, folder: Path) -> tuple[Program, str]:
    """The program in a fused order, where the temporary shrinks, and its code."""
    file = folder / "kernel.c"
    file.write_text(case.text())
    program = reorder(read(file), fuse="cells")
    assert isinstance(program, Program)
    return program, fold(program).to_c()


def with_line(code: str, line: str, case: Case) -> bytes:
    """The code with one more line after the loops."""
    end = code.rindex(case.after) if case.after else code.rindex("}")
    return f"{code[:end]}{line}\n{code[end:]}".encode()


@needs_compiler
@pytest.mark.parametrize("name", CASES)
def test_data_are_made_up_for_any_type(name: str, tmp_path: Path) -> None:
    program, code = folded(CASES[name], tmp_path)
    report = run_both(fold(program), code.encode(), sanitize=True)
    assert report.is_equal, str(report)
    wrong = run_both(fold(program), with_line(code, "out[1] = 77;", CASES[name]))
    assert " of out is " in str(wrong) or "different texts" in str(wrong)


@needs_compiler
@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("#include <stdlib.h>", "rand()"),
        ("#define _XOPEN_SOURCE 600\n#include <stdlib.h>", "drand48()"),
        ("static double next(void) { static int calls; return ++calls; }", "next()"),
        ("static int counter = 3;\nstatic double next(void) { return counter++; }", "next()"),
    ],
)
def test_both_programs_begin_with_the_same_state(before: str, first: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel.c"
    file.write_text(Case(first, "double out[restrict n]", before=before).text())
    result = fold(read(file))
    report = run_at_several_sizes(result, result.to_c().encode())
    assert report.is_equal, str(report)
    assert [one.sizes["n"] for one in report.compared] == [12, 1, 2, 3]


@needs_compiler
def test_counters_are_compared(tmp_path: Path) -> None:
    file = tmp_path / "kernel.c"
    before = "static int counter;\nstatic double next(void) { return counter++; }"
    file.write_text(Case("next()", "double out[restrict n]", before=before).text())
    result = fold(read(file))
    wrong = result.to_c().replace("#pragma endscop", "counter = 5;").encode()
    assert "value 0 of counter is 12 in the original and 5 in the folded" in str(run_both(result, wrong))


GLOBALS = """
static int g[50], s[50];
void b(int n, const int in[restrict n + 1], int out[restrict n + 1])
{
#pragma scop
  for (int i = 0; i < n; i++) { s[i] = in[i]; g[i] = in[i] + s[i]; out[i] += g[i]; }
#pragma endscop
}
"""


@needs_compiler
@pytest.mark.parametrize("options", ["--mode reallocate", "--temporary s --share auto"])
def test_what_is_left_in_a_global_temporary_does_not_count(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "globals.c").write_text(GLOBALS)
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "fold", "globals.c", "--run", "--temporary", "g", *options.split()) == 0
    assert "results equal bit for bit" in capsys.readouterr().out


@needs_compiler
def test_a_difference_is_told(tmp_path: Path) -> None:
    case = Case("in[i]")
    program, code = folded(case, tmp_path)
    report = run_at_several_sizes(fold(program), with_line(code, "if (n == 2) out[1] = 77;", case))
    assert not report.is_equal
    assert str(report).startswith("f at n = 2: the results differ: value 1 of out is ")


@needs_compiler
def test_a_size_at_which_the_original_fails_is_told(tmp_path: Path) -> None:
    before = "static double at(int n, double x) { return n == 1 ? *(volatile double *)0 : x; }"
    case = Case("at(n, in[i])", before=before)
    file = tmp_path / "kernel.c"
    file.write_text(case.text())
    result = fold(read(file))
    report = run_at_several_sizes(result, result.to_c().encode())
    assert report.is_equal
    assert "not compared at n = 1: the original program fails: ended by signal 11, SIGSEGV" in str(report)
    assert not run_both(result, result.to_c().encode(), params={"n": 1}).is_equal


@needs_compiler
def test_programs_without_an_end(tmp_path: Path) -> None:
    before = "static double slow(double x) { while (x >= 0) x *= 0.5; return x; }"
    file = tmp_path / "kernel.c"
    file.write_text(Case("slow(in[i])", before=before).text())
    result = fold(read(file))
    report = run_at_several_sizes(result, result.to_c().encode(), seconds=1)
    assert not report.is_equal
    assert str(report) == "f at n = 12: the original program fails: it did not end within 1 s"
    file.write_text(Case("in[i]").text())
    good = fold(read(file))
    endless = good.to_c().replace("#pragma scop", "for (;;) ;").encode()
    assert "the folded program fails: it did not end within 1 s" in str(
        run_at_several_sizes(good, endless, seconds=1)
    )


@needs_compiler
def test_an_original_that_differs_from_itself(tmp_path: Path) -> None:
    before = "#include <sys/types.h>\n#include <unistd.h>"
    file = tmp_path / "kernel.c"
    file.write_text(Case("getpid()", "double out[restrict n]", before=before).text())
    result = fold(read(file))
    report = run_both(result, result.to_c().encode())
    assert not report.is_equal
    assert "the original program itself gives different results each time it runs" in str(report)


@needs_compiler
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("FILE *log, double *restrict in, double *restrict out", "the argument log, which is of type"),
        (
            "int (*call)(int), double *restrict in, double *restrict out",
            "the argument call, which is of type",
        ),
        ("struct hidden *h, double *restrict in, double *restrict out", "of type struct hidden"),
        ("struct { int x; } s, double *restrict in, double *restrict out", "a type without a name"),
    ],
)
def test_data_that_cannot_be_made_up(
    parameters: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "kernel.c"
    file.write_text(Case("in[i]", parameters, before="#include <stdio.h>\nstruct hidden;").text())
    assert run(monkeypatch, "fold", str(file), "--run") == 1
    output, errors = capsys.readouterr()
    assert "f was not run, so nothing was compared: cannot make up a value of" in errors
    assert message in errors
    assert "run:" not in output


@needs_compiler
def test_a_region_in_main_is_run_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "kernel.c"
    loops = LOOPS.format(type="double", first="i * 0.5", second="t[i - 1] + t[i]")
    begin = "#include <stdio.h>\n#define n 50\nint main(void) { double out[n];"
    file.write_text(f'{begin}{loops}printf("%g", out[9]); return 3; }}')
    assert run(monkeypatch, "fold", str(file), "--run") == 0
    assert "run: main: results equal bit for bit" in capsys.readouterr().out


@needs_compiler
def test_options_refer_to_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "table.h").write_text("static const double table[2] = {1, 2};")
    (tmp_path / "kernel.c").write_text(Case("table[1] * in[i]", before='#include "table.h"').text())
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "fold", "kernel.c", "--run", "--", "-I", "include") == 0
    assert "results equal" in capsys.readouterr().out


@needs_compiler
def test_the_sizes_are_told(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", "examples/horner.c", "--run", "--param", "N=40") == 0
    assert "also equal at N = 1, 2, 3, 12" in capsys.readouterr().out
    assert run(monkeypatch, "fold", "examples/horner.c", "--run", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    assert [one["at"]["N"] for one in report["compared"]] == [12, 1, 2, 3]
    assert all(one["equal"] and one["problem"] is None for one in report["compared"])


@needs_compiler
def test_a_size_that_does_not_fit(tmp_path: Path) -> None:
    file = tmp_path / "kernel.c"
    file.write_text(Case("in[i]").text().replace("int n", "unsigned char n"))
    program = read(file)
    assert isinstance(program, Program)
    result = fold(program)
    with pytest.raises(InputError, match="n = 1000 contradicts the context"):
        run_both(result, result.to_c().encode(), params={"n": 1000})


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TookTooLong, match=r"did not end within 0\.2 s"):
        start(["sleep", "1000"], tmp_path, 0.2)


def test_outcomes_that_differ() -> None:
    words = (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    one = FinalState(b"", "", words, ((0, "a"), (1, "b")))
    assert first_difference(one, one) == ""
    other = FinalState(b"", "", words[:8] + (3).to_bytes(8, "little"), one.names)
    assert first_difference(one, other) == "value 0 of b is 2 in the original and 3 in the folded program"
    assert "different texts" in first_difference(one, FinalState(b"x", "", words, one.names))
    assert "different amounts" in first_difference(one, FinalState(b"", "", words[:8], one.names))


def test_what_was_not_compared_is_no_success() -> None:
    bad = SizeComparison(
        {"n": 1}, FinalState(b"", "it fails"), None, "the original program fails", is_fair=False
    )
    report = RunReport("f", bad, (), 8, 8, is_sanitized=False)
    assert not report.is_equal
    assert str(report) == "f at n = 1: the original program fails"


REAL = ScalarData("double", "real")


def test_constants_are_never_written() -> None:
    constant = ScalarData("double", "real", is_const=True)
    record = RecordData("struct s", (("x", REAL), ("id", constant)), is_union=False)
    assert fill("s", record, "s") == ["s.x = arrayfold_real();"]
    assert fill("a", ArrayData(constant, 3), "a") == []
    assert is_constant(ArrayData(ArrayData(constant, 2), 3))
    assert fill("s", RecordData("struct s", (("x", REAL),), is_union=False, is_const=True), "s") == []
    assert fill("p", PointerData(REAL, is_const=True), "p") == []


def test_of_a_union_the_largest_member_counts() -> None:
    union = RecordData(
        "union u", (("c", ScalarData("char", "integer")), ("d", REAL), ("s", REAL)), is_union=True
    )
    assert put("u", union) == ["arrayfold_put_real(u.d);"]


def test_types_of_a_header_of_the_system_are_not_looked_into() -> None:
    data = function_data(CText("a.c", b"#include <stdio.h>\nFILE *f(FILE *file) { return file; }", ()), "f")
    with pytest.raises(InputError, match="cannot make up a value of the argument"):
        fill("x", data.parameters[0], "the argument")


def test_a_compiler_that_is_named_and_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(CannotRun, match="CC names 'no-such-compiler', which is not a program"):
        find_compiler()
