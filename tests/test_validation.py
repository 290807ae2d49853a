"""The interpreter that executes original and folded texts: what it accepts, and what it finds."""

from __future__ import annotations

import json
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.validation import Subject, validate
from support.command import run
from support.validated import agree, compared, difference

BLUR = """
void k(int N, const double in[restrict N][N], double out[restrict N][N])
{{
  {declared}
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {{
      {first} = in[i][j] * 2;
      if (i >= 2)
        out[i][j] = {second} + {third};
    }}
#pragma endscop
}}
"""
ORIGINAL = BLUR.format(
    declared="double t[N][N];", first="t[i][j]", second="t[i - 2][j]", third="t[i - 1][N - 1 - j]"
)


def folded(rows: str, declared: str = "") -> str:
    return BLUR.format(
        declared=declared or f"double t[{rows}][N];",
        first=f"t[i % {rows}][j]",
        second=f"t[(i - 2) % {rows}][j]",
        third=f"t[(i - 1) % {rows}][N - 1 - j]",
    )


# ---------------------------------------------------------------- folds


def test_a_right_fold_is_accepted() -> None:
    assert agree(ORIGINAL, folded("3")) >= 6


def test_a_modulus_that_is_too_small_is_found() -> None:
    text = difference(ORIGINAL, folded("2"))
    assert "k at N = 3" in text
    assert "out[2][0] holds in[6] instead of in[0] in ((in[6] * 2) + (in[5] * 2))" in text


def test_an_array_that_is_too_small_is_found() -> None:
    text = difference(ORIGINAL, folded("3", declared="double t[3][N - 1];"), "[N] -> { : N >= 2 }")
    assert "new.c:8: element 1 of 1 is accessed in t[0][0] in t" in text


def test_a_subscript_outside_of_its_row_is_found_although_it_is_inside_of_the_block() -> None:
    original = "void k(int N, int out[N]) { int t[4][N]; t[0][0] = 1; t[1][0] = 2; out[0] = t[1][0]; }"
    new = "void k(int N, int out[N]) { int t[4][N]; t[0][0] = 1; t[0][N] = 2; out[0] = t[0][N]; }"
    assert "element 1 of 1 is accessed in t[0][0] in t" in difference(original, new)


def test_a_value_used_before_it_is_set_is_found() -> None:
    original = """
    void k(int N, const int in[restrict N], int out[restrict N]) {
      int t[N + 3];
    #pragma scop
      for (int j = 0; j < N; j++) { int q = j + 1; t[q] = in[j]; out[j] = t[q]; }
    }"""
    new = """
    void k(int N, const int in[restrict N], int out[restrict N]) {
      int t[3];
      int q;
      const long long t_0 = q % 3;
      for (int j = 0; j < N; j++) { q = j + 1; t[t_0] = in[j]; out[j] = t[t_0]; }
    }"""
    assert (
        "new.c:6: a subscript or a size depends on a value that is not there: q was never set"
        in difference(original, new)
    )


def test_a_value_that_was_never_set_is_found_in_the_result_only() -> None:
    original = "void k(int N, int out[N]) { int t = 3; out[0] = t; }"
    assert "out[0] holds (t was never set)" in difference(
        original, "void k(int N, int out[N]) { int t; out[0] = t; }"
    )
    assert agree(original, "void k(int N, int out[N]) { int t, u = t; t = 3; (void)u; out[0] = t; }")


def test_a_captured_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "scale.h").write_text("static int c0 = 11;\n#define SCALE c0\n")
    original = """
    #include "scale.h"
    void k(int N, int a[restrict N]) {
      for (int i = 0; i < N; i++) a[i] = a[i] * SCALE;
    }"""
    new = (
        original.replace("int i", "int c0")
        .replace("i <", "c0 <")
        .replace("i++", "c0++")
        .replace("[i]", "[c0]")
    )
    text = difference(original, new, arguments=f"-I {tmp_path}")
    assert "a[0] holds 0 instead of c0" in text
    again = (
        original.replace("int i", "int c1")
        .replace("i <", "c1 <")
        .replace("i++", "c1++")
        .replace("[i]", "[c1]")
    )
    assert agree(original, again, arguments=f"-I {tmp_path}")


def test_overflow_of_a_size_is_found() -> None:
    original = (
        "void k(int lo, int hi, int out[64]) { int t[64]; for (int i = lo; i < hi; i++) out[i] = t[i] = i; }"
    )
    new = (
        "void k(int lo, int hi, int out[64]) "
        "{ int n = hi - lo; for (int i = lo; i < hi; i++) out[i] = n * 0 + i; }"
    )
    context = "[lo, hi] -> { : lo > 2000000000 and hi < -2000000000 }"
    assert "overflows" in difference(original, new, context)


def test_unsigned_numbers_wrap_around() -> None:
    original = """
    void k(int N, unsigned u, int out[restrict N]) {
      for (int i = 0; i < N; i++) if (i <= u - 3) out[i] = 1;
    }"""
    new = """
    void k(int N, unsigned u, int out[restrict N]) {
      for (int i = 0; i < N && i <= (long long)u - 3; i++) out[i] = 1;
    }"""
    assert "out[0] holds" in difference(original, new, "[N, u] -> { : }")
    assert agree(original, new, "[N, u] -> { : u >= 3 }")


def test_narrow_types_are_promoted_and_converted() -> None:
    original = (
        "void k(int N, int out[64]) "
        "{ unsigned char c = 250; c += 10; out[c] = c; out[(char)200 + 60] = -1 < 1u; }"
    )
    new = "void k(int N, int out[64]) { out[4] = 4; out[4] = 0; }"
    assert agree(original, new)


def test_a_pointer_outside_of_a_shared_block_is_found() -> None:
    original = "void k(int N, double out[N]) { double a[N], b[N]; a[0] = 1; b[0] = 2; out[0] = a[0] + b[0]; }"
    new = """
    #include <stdlib.h>
    void k(int N, double out[N]) {
      double *m = malloc(sizeof(double[N])); double *a = m, *b = (void *)(m + (N - 3));
      a[0] = 1; b[0] = 2; out[0] = a[0] + b[0]; free(m);
    }"""
    assert "a pointer leaves what is allocated in line 4" in difference(original, new)


def test_aligned_blocks_and_pointers_to_rows() -> None:
    new = """
    #include <stdlib.h>
    #define T double
    void k(int N, const double in[restrict N][N], double out[restrict N][N])
    {
      const size_t row = ((N / 8 + 1) | 1) * 8;
      char *block = malloc(sizeof(T[3][row]) + 63);
      if (!block)
        abort();
      T (*t)[row] = (void *)(block + (64 - (size_t)block % 64) % 64);
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
          t[i % 3][j] = in[i][j] * 2;
          if (i >= 2)
            out[i][j] = t[(i - 2) % 3][j] + t[(i - 1) % 3][N - 1 - j];
        }
      free(block);
    }"""
    assert agree(ORIGINAL, new)
    assert "was freed in line" in difference(ORIGINAL, new.replace("for (int i", "free(block); for (int i"))
    assert "new.c:13: byte 111 of 64 is accessed in what is allocated in line 7" in difference(
        ORIGINAL, new.replace("+ 63", "- 16 * row")
    )


def test_what_is_left_in_folded_arrays_does_not_matter() -> None:
    original = (
        "void k(int N, int a[4], int out[4]) { static int b[4]; b[1] = a[1] = N; out[0] = a[1] + b[1]; }"
    )
    new = "void k(int N, int a[4], int out[4]) { static int b[4]; out[0] = N + N; }"
    assert agree(original, new, gone="a b")
    assert "a[1] holds" in difference(original, new, gone="b")
    assert "k.b[1] holds" in difference(original, new, gone="a")


def test_pointers_to_rows_of_unknown_number() -> None:
    original = "void k(int N, const int (*in)[N + 5], int out[1]) { out[0] = in[2][1]; }"
    assert agree(original, original)
    assert "is accessed in in" in difference(
        original, original.replace("in[2][1]", "in[2][1] + 0 * in[3][0]")
    )


# ---------------------------------------------------------------- calls, conditions, returned values


def test_calls_of_functions_without_a_body_keep_their_order() -> None:
    text = "int f(int); void k(int N) {{ for (int i = {0}; {1}; {2}) f(i); }}"
    original = text.format("0", "i < N", "i++")
    assert "call 1 is f(1) instead of f(0)" in difference(original, text.format("N - 1", "i >= 0", "i--"))
    pure = "__attribute__((const)) "
    assert agree(pure + original, pure + text.format("N - 1", "i >= 0", "i--"))
    named = "#pragma arrayfold pure(f)\n"
    assert agree(named + original, named + text.format("N - 1", "i >= 0", "i--"))
    assert "once less" in difference(
        original, text.format("1", "i < N", "i++").replace("f(i)", "if (i > 1) f(i)")
    )


def test_a_function_without_a_body_may_change_what_it_is_given() -> None:
    text = "void f(double *); void k(int N, double a[4], double out[4]) { f(a); out[0] = a[1]; }"
    assert agree(text, text)
    assert "out[0] holds" in difference(text, text.replace("f(a); out[0] = a[1];", "out[0] = a[1]; f(a);"))
    assert "call 1" in difference(text, text.replace("f(a);", "a[0] = 1; f(a);"))


def test_functions_with_a_body_are_executed() -> None:
    original = """
    static int twice(int x) { return x > 0 ? 2 * x : -twice(-x); }
    void k(int N, int out[64]) { out[twice(3)] = twice(N); }"""
    assert agree(original.replace("-twice(-x)", "2 * x"), "void k(int N, int out[64]) { out[6] = 2 * N; }")
    assert "out[6] holds" in difference(
        original.replace("-twice(-x)", "2 * x"), "void k(int N, int out[64]) { out[6] = N; }"
    )


def test_conditions_on_data_are_taken_both_ways() -> None:
    original = "void k(int N, double a[N], double out[N]) { out[0] = 1; if (a[0] > 0) out[0] = 2; }"
    assert agree(
        original, original.replace("out[0] = 1; if (a[0] > 0) out[0] = 2;", "out[0] = a[0] > 0 ? 2 : 1;")
    )
    assert "out[0] holds" in difference(original, original.replace("if (a[0] > 0)", ""))
    assert "out[0] holds" in difference(original, original.replace("if (a[0] > 0) out[0] = 2;", ""))


def test_a_returned_value_is_compared() -> None:
    original = (
        "double k(int N, double a[N]) { double s = 0; for (int i = 0; i < N; i++) s += a[i]; return s; }"
    )
    assert agree(original, original.replace("s += a[i]", "s = s + a[i]"))
    assert "returns" in difference(original, original.replace("i = 0", "i = 1"), "[N] -> { : N >= 1 }")


# ---------------------------------------------------------------- what cannot be said


def test_sizes_at_which_the_original_has_no_meaning_are_left_out() -> None:
    original = "void k(int N, int out[8]) { int t[8]; t[N] = 1; out[0] = 12 / (N - 2); }"
    found = compared(original, original, context="[N] -> { : N >= 0 }")
    assert [sizes["N"] for sizes in found.compared["k"]] == [0, 1, 3, 4, 5, 6, 7]


def test_loops_that_turn_with_nothing_to_do_are_not_wrong_at_extreme_sizes() -> None:
    """Two thousand million turns of the new loop do nothing, and take longer than anybody waits."""
    text = "void k(int N, int M, int out[8]) { LOOPS }"
    rows, columns = "for (int i = 0; i < N && i < 8; i++)", "for (int j = 0; j < M; j++)"
    original = text.replace("LOOPS", f"{rows} {columns} out[i] = 1;")
    found = compared(
        original, text.replace("LOOPS", f"{columns} {rows} out[i] = 1;"), context="[N, M] -> { : }"
    )
    assert found.is_equal
    endless = text.replace("LOOPS", "for (;;) ;")
    assert "more than" in difference(original, endless)


def test_what_is_not_known_is_said_with_its_place() -> None:
    original = 'void k(int N, int out[N])\n{\n  __asm__("nop");\n  out[0] = 1;\n}\n'
    found = compared(original, original, context="[N] -> { : N >= 0 }")
    assert found.is_equal
    assert str(found) == "not checked: original.c:3: inline assembly"


def test_a_text_that_no_compiler_takes_is_found() -> None:
    original = "void k(int N, int out[8]) { out[0] = N; }"
    assert "new.c:1: C error: use of undeclared identifier 'M'" in difference(
        original, original.replace("N;", "M;")
    )


# ---------------------------------------------------------------- examples

OPTIONS = [
    *("", "--style readable", "--loops generate", "--slack none", "--favor speed"),
    *("--parallel", "--fuse", "--tile 8x8", "--mode reallocate", "--share cells", "--local 1"),
]
QUICK = [
    *("blur", "gauss-filter", "produce-consume", "row-buffer", "pipeline-if", "jacobi-openmp"),
    *("rows-openmp", "forward-substitution"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options or "default")
def test_examples_are_accepted_in_every_style_and_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str
) -> None:
    out = tmp_path / "out.c"
    written = 0
    for name in QUICK[:3] if "--tile" in options else QUICK:
        status = run(monkeypatch, "fold", f"examples/{name}.c", *options.split(), "-o", str(out), "--force")
        last = capsys.readouterr().out.splitlines()[-1:]
        assert status in (0, 2), (name, status)
        if status == 0:
            written += 1
            assert last[0].startswith("checked: original and folded text agree at "), (name, last)
    assert written >= 3


# ---------------------------------------------------------------- the command


def test_the_last_line_says_what_was_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.c"
    assert run(monkeypatch, "fold", "examples/blur.c", "-o", str(out)) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("checked: original and folded text agree at ")
    assert run(monkeypatch, "fold", "examples/blur.c", "-o", str(out), "--force", "--json") == 0
    check = json.loads(capsys.readouterr().out)["check"]
    assert check["equal"] is True
    assert {"N": 3} in check["sizes"]["blur"]
    assert run(monkeypatch, "fold", "examples/blur.c", "-o", str(out), "--force", "--no-check") == 0
    assert "checked" not in capsys.readouterr().out


def test_nothing_is_written_if_the_texts_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from arrayfold import codegen

    out = tmp_path / "out.c"
    right = codegen.write_c
    monkeypatch.setattr(
        codegen, "write_c", lambda regions: b"out[0 * ".join(right(regions).rsplit(b"out[", 1))
    )
    assert run(monkeypatch, "fold", "examples/blur.c", "-o", str(out)) == 3
    errors = capsys.readouterr().err
    assert "nothing is written, because the original and the folded text differ: blur at N = " in errors
    assert "please report it" in errors
    assert not out.exists()
    assert run(monkeypatch, "fold", "examples/blur.c", "-o", str(out), "--no-check") == 0
    assert out.exists()


# ---------------------------------------------------------------- what only some sizes show


@pytest.mark.parametrize("size", [7, 11, 15, 17])
def test_a_text_that_is_wrong_at_one_size_of_one_parameter_is_found(size: int) -> None:
    wrong = folded("3").replace("* 2;", f"* (N == {size} ? 3 : 2);")
    assert difference(ORIGINAL, wrong).startswith(f"k at N = {size}:")


def test_a_text_that_is_wrong_where_one_of_several_parameters_is_large_is_found() -> None:
    kernel = """
void k(int L, int M, int N, const double *restrict in, double *restrict out)
{{
  double t[{rows}];
#pragma scop
  for (int l = 0; l < L; l++) for (int m = 0; m < M; m++) for (int n = 0; n < N; n++) {{
    t[m] = in[n];
    out[l] = t[m];
  }}
#pragma endscop
}}
"""
    context = "[L, M, N] -> { : L >= 0 and M >= 0 and N >= 0 }"
    right, wrong = kernel.format(rows="M + 1"), kernel.format(rows="M / 16 > 0 ? 16 : M + 1")
    assert agree(right, right, context) > 10
    assert "element 16 of 16" in difference(right, wrong, context)


def test_memory_is_aligned_in_several_ways() -> None:
    right = folded("3", "double b[3 * N + 6]; double (*t)[N] = (void *)(b + (64 - (long)b % 64) % 64 / 8);")
    assert agree(ORIGINAL, right) > 10
    assert "accessed in" in difference(ORIGINAL, right.replace("3 * N + 6", "3 * N + 5"))


def test_pointers_that_the_original_makes_may_be_made() -> None:
    beyond = """
void k(int N, const double in[restrict N], double *restrict out)
{
  double *end = out + 100;
  if (N > 1000) *end = 0;
#pragma scop
  for (int i = 0; i < N; i++) out[i] = in[i];
#pragma endscop
}
"""
    assert agree(beyond, beyond) > 10
    wrong = beyond.replace("out[i] = in[i];", "out[i] = in[i];  out[100] = 0;")
    assert "accessed in out" in difference(beyond, wrong)


def test_loops_on_data_that_do_not_end_one_way_are_checked_the_other_way() -> None:
    waits = ORIGINAL.replace(
        "#pragma scop", "double e = in[0][0];\n  while (e > 1) e = e * in[0][0];\n#pragma scop"
    )
    wrong = waits.replace("* 2;", "* (N == 9 ? 3 : 2);")
    assert agree(waits, waits, "[N] -> { : N >= 1 }") > 10
    assert difference(waits, wrong, "[N] -> { : N >= 1 }").startswith("k at N = 9:")


def test_sizes_beyond_a_machine_word() -> None:
    found = compared(ORIGINAL, folded("3"), context="[N] -> { : N >= 9223372036854775807 }")
    assert found.is_equal
    assert not found.compared.get("k")


def test_after_the_deadline_one_size_is_enough() -> None:
    subject = Subject("k", (ORIGINAL.index("#pragma scop"),), (isl.Set("[N] -> { : N >= 1 }"),))
    texts = ("original.c", ORIGINAL.encode()), ("new.c", folded("3").encode())
    assert len(validate(*texts, [], [subject], 0.0).compared["k"]) == 1
    assert len(validate(*texts, [], [subject]).compared["k"]) > 6
