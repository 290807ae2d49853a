"""C that comes out of folding: small files that once came out wrong, and unusual ones that must not."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError, NotAffine
from arrayfold.codegen import write_c
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.reorder import reorder
from arrayfold.run.compiler import find_compiler
from support.runs import run_both

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-fsyntax-only", "-xc", "-")
HEAD = "void f(int N, double in[restrict N + 2], double out[restrict N + 2])\n"
SQUARE = """\
void f(int N, double in[restrict N][N], double out[restrict N][N])
{
  double tmp[N][N];
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      tmp[i][j] = in[i][j];
    for (int j = 0; j < N; j++)
      out[i][j] = tmp[i][N - 1 - j];
  }
#pragma endscop
}
"""


def folded(
    code: bytes,
    loops: str | None,
    temporary: Sequence[str] = (),
    order: Mapping[str, Any] | None = None,
    arguments: Sequence[str] = (),
    style: Style = "readable",
) -> tuple[list[FoldResult], bytes]:
    """The regions of a file, and the file with all of them folded."""
    results: list[FoldResult] = []
    for program in read_c("kernel.c", code, arguments):
        for name in temporary:
            program = program.with_temporary(name)
        if order:
            program = reorder(program, budget=Budget(10), **order)
        results.append(fold(program, budget=Budget(10)))
    kept = None if order else loops
    regions = [result.region(kept, style) for result in results]  # type: ignore[arg-type]
    return results, write_c(regions)


def complaints(code: bytes, arguments: Sequence[str] = ()) -> Counter[str]:
    """What the compiler says of a file, without places."""
    compiler = find_compiler()
    assert compiler is not None
    command = [compiler, *arguments, *WARNINGS]
    done = subprocess.run(command, input=code, capture_output=True, check=False, timeout=60)
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return Counter(match[1] for line in lines if (match := re.search(r"((?:warning|error): .*)", line)))


def assert_runs_alike(
    code: str | bytes,
    loops: str | None = None,
    *,
    temporary: Sequence[str] = (),
    order: Mapping[str, Any] | None = None,
    arguments: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    sanitize: bool = False,
) -> bytes:
    """Fold a file and demand what every folded file must show; the code that came out."""
    data = code.encode() if isinstance(code, str) else code
    results, out = folded(data, loops, temporary, order, arguments)
    shown = out.decode("utf-8", "replace")
    assert not complaints(out, arguments) - complaints(data, arguments), shown
    with suppress(NotAffine):
        read_c("kernel.c", out, arguments)
    report = run_both(results[0], out, params=sizes, sanitize=sanitize)
    assert report.is_equal, f"{report}\n{shown}"
    if loops != "keep":
        _, fast = folded(data, loops, temporary, order, arguments, "fast")
        shown = fast.decode("utf-8", "replace")
        assert not complaints(fast, arguments) - complaints(data, arguments), shown
        report = run_both(results[0], fast, params=sizes, sanitize=True)
        assert report.is_equal, f"{report}\n{shown}"
    return out


FILES = {
    # The access is named in a comment that says what is assumed.
    "comment-in-an-access": HEAD.replace("in[restrict N + 2]", "in[restrict 3][40]")
    + """{
  double tmp[N];
#pragma scop
  for (int i = 0; i < N; i++) {
    tmp[i] = in /* plane */ [2] [i];
    out[i] = tmp[i];
  }
#pragma endscop
}
""",
    # Variables of the region move in front of generated loops and met others of the same name there.
    "inner-scalar-hides-outer": HEAD
    + """{
  double s = 2;
#pragma scop
  for (int i = 0; i < N; i++) {
    double s = in[i];
    out[i] = s;
  }
  out[0] += s;
#pragma endscop
}
""",
    "inner-array-hides-parameter": HEAD
    + """{
#pragma scop
  {
    double in[3];
    for (int j = 0; j < 3; j++)
      in[j] = j;
    for (int j = 0; j < 3; j++)
      out[j] = in[2 - j];
  }
  for (int j = 0; j < N; j++)
    out[j] += in[j];
#pragma endscop
}
""",
    "folded-array-hides-parameter": HEAD
    + """{
#pragma scop
  {
    double in[3];
    for (int j = 0; j < 3; j++) {
      in[j] = j;
      out[j] = in[j];
    }
  }
  for (int j = 0; j < N; j++)
    out[j] += in[j];
#pragma endscop
}
""",
    "two-temporaries-of-one-name": HEAD
    + """{
#pragma scop
  {
    double tmp[N];
    for (int i = 0; i < N; i++) {
      tmp[i] = in[i];
      out[i] = tmp[i];
    }
  }
  {
    double tmp[N];
    for (int i = 0; i < N; i++) {
      tmp[i] = in[i];
      out[i] += tmp[i];
    }
  }
#pragma endscop
}
""",
    "two-regions-with-variables-of-one-name": HEAD
    + """{
#pragma scop
  for (int i = 0; i < N; i++) {
    double t = in[i];
    out[i] = t;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) {
    double t = in[i];
    out[i] += t;
  }
#pragma endscop
}
""",
    # The size of an array that moves is computed inside the region.
    "size-computed-in-region": HEAD
    + """{
#pragma scop
  int m = N / 2;
  double q[m + 1];
  for (int j = 0; j <= m; j++)
    q[j] = in[j];
  for (int j = 0; j <= m; j++)
    out[j] = q[m - j];
#pragma endscop
}
""",
    "size-depends-on-loop": HEAD
    + """{
#pragma scop
  for (int i = 0; i < N; i++) {
    double row[i + 1];
    for (int j = 0; j <= i; j++)
      row[j] = in[j];
    for (int j = 0; j <= i; j++)
      out[i] += row[i - j];
  }
#pragma endscop
}
""",
    # Loops written anew do not set the iterator that is read later.
    "iterator-read-after-region": HEAD
    + """{
  double tmp[N];
  int i;
#pragma scop
  for (i = 0; i < N; i++) {
    tmp[i] = in[i];
    out[i] = tmp[i];
  }
#pragma endscop
  out[0] = i;
}
""",
    # A guarded statement evaluates its condition again when its data have been overwritten by another cell.
    "condition-on-cell-that-shares-an-address": HEAD
    + """{
  double t[N][2];
#pragma scop
  for (int i = 0; i < N; i++) {
    t[i][1] = -1;
    out[i] = t[i][1];
    t[i][0] = in[i] - 0.5;
    if (t[i][0] > 0) {
      t[i][1] = -in[i];
      out[i] = 2;
    }
  }
#pragma endscop
}
""",
    "condition-with-else-on-shared-address": HEAD
    + """{
  double t[N][2];
#pragma scop
  for (int i = 0; i < N; i++) {
    t[i][1] = -1;
    out[i] = t[i][1];
    t[i][0] = in[i] - 0.5;
    if (t[i][0] > 0)
      t[i][1] = -in[i];
    else
      out[i] = 2;
  }
#pragma endscop
}
""",
    # Constants lose their type when a statement is printed from the model.
    "unsigned-constant-in-macro": """\
#define ONE 1u
#define T(a) tmp[a]
void f(int N, double in[restrict N + 2], double out[restrict N + 2])
{
  double tmp[N];
#pragma scop
  for (int i = 0; i < N; i++) {
    T(i) = (i - 2) / (ONE + 1) + in[i];
    out[i] = T(i);
  }
#pragma endscop
}
""",
    # The statement is printed from the model, in which sizeof is a word without a value.
    "size-of-a-type-in-a-macro": """\
#define SET(a, i, v) a[(i)] = (v)
void f(int N, double in[restrict N + 2], double out[restrict N + 2])
{
  double tmp[N];
#pragma scop
  for (int i = 0; i < N; i++) {
    SET(tmp, i, in[i] + (int)sizeof(unsigned /* x */ char *));
    if (in[i] > (int)sizeof (long))
      out[i] = tmp[i];
  }
#pragma endscop
}
""",
    # An int iterator becomes a long long one, and arithmetic with it changes.
    "iterators-of-two-widths": """\
void f(long N, double in[restrict N + 2], double out[restrict N + 2])
{
  double tmp[N];
#pragma scop
  for (long i = 0; i < N; i++) {
    tmp[i] = in[i];
    out[i] = tmp[i];
  }
  for (int i = 0; i < N; i++)
    out[i] += (i - 5) % 3u;
#pragma endscop
}
""",
    # So does one that stands for an expression of a long or an unsigned size.
    "iterator-equals-long-expression": """\
void f(long N, double in[restrict N], double out[restrict N])
{
#pragma scop
  for (int i = N - 1; i < N; i++)
    out[i] = in[i] + (i - 15) % 3u;
#pragma endscop
}
""",
    "iterator-equals-unsigned-expression": """\
void f(unsigned N, double in[restrict N], double out[restrict N])
{
#pragma scop
  for (int i = N - 1; i < (int)N; i++)
    out[i] = in[i] + (i - 15) % 3u;
#pragma endscop
}
""",
    "region-that-never-runs": HEAD
    + """{
  double tmp[N];
#pragma scop
  for (int i = 5; i < 3; i++) {
    tmp[i] = in[i];
    out[i] = tmp[i];
  }
#pragma endscop
}
""",
    "line-comment-in-subscript": """\
void f(int N, double in[restrict N + 2], double out[restrict N])
{
  double tmp[N + 2];
#pragma scop
  tmp[0] = in[0];
  tmp[1] = in[1];
  for (int i = 0; i < N; i++) {
    tmp[i + 2 // the next one
    ] = in[i + 2];
    out[i] = tmp[i] + tmp[i + 1];
  }
#pragma endscop
}
""",
    "utf-8-that-latin-1-takes-for-a-line-end": """\
static double length(const char *text)
{
  double n = 0;
  while (*text++)
    n++;
  return n;
}

void f(int N, double in[restrict N], double out[restrict N])
{
  double tmp[N];
#pragma scop
  for (int i = 0; i < N; i++) {
    tmp[i] = in[i] + /* \u00c5ngstr\u00f6m */ length("\u00c5");
    out[i] = tmp[i];
  }
#pragma endscop
}
""",
    # Where #include <stdlib.h> goes.
    "include-inside-ifdef": "#ifdef FAST\n#include <math.h>\n#endif\n" + SQUARE,
    "include-left-out": "#if 0\n#include <stdlib.h>\n#endif\n" + SQUARE,
    "function-after-comment-of-two-lines": "/* a kernel\n   of mine */ " + SQUARE,
    "function-at-byte-0": SQUARE,
    "local-variable-malloc": SQUARE.replace("double tmp", "double malloc = 3, tmp").replace(
        "= in[i][j]", "= in[i][j] + malloc"
    ),
    "local-variable-free": SQUARE.replace("double tmp", "double free = 3, tmp").replace(
        "= in[i][j]", "= in[i][j] + free"
    ),
    # A parameter that only the folded array's declaration or subscripts used.
    "parameter-without-use": """\
void f(int M, int k, double in[restrict 10], double out[restrict 10])
{
  double tmp[M];
#pragma scop
  for (int i = 0; i < 10; i++) {
    tmp[k] = in[i];
    out[i] = tmp[k];
  }
#pragma endscop
}
""",
    "jump-over-the-region": """\
void f(int N, double in[restrict N][N][N], double out[restrict N][N][N])
{
  double tmp[N][N][N];
  if (N < 3)
    goto done;
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        tmp[i][j][k] = in[i][j][k];
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        out[i][j][k] = tmp[i][k][N - 1 - j];
  }
#pragma endscop
done:
  return;
}
""",
    "allocation-that-names-itself": """\
#include <stdlib.h>
void f(int N, double in[restrict N], double out[restrict N])
{
  double *tmp = malloc(N * sizeof *tmp);
#pragma scop
  for (int i = 0; i < N; i++)
    tmp[i] = in[i];
  for (int i = 0; i < N; i++)
    out[i] = tmp[N - 1 - i];
#pragma endscop
  free(tmp);
}
""",
    # Unusual, but right so far.
    "crlf": SQUARE.replace("\n", "\r\n"),
    "one-line": SQUARE.replace("\n", " ")
    .replace("#pragma scop", "\n#pragma scop\n")
    .replace("#pragma endscop", "\n#pragma endscop\n"),
    "comments-and-parentheses": SQUARE.replace("tmp[i][j]", "tmp /* [x] */ [i] /* y */ [j]").replace(
        "tmp[i][N - 1 - j]", "(tmp)[i][N - 1 - j]"
    ),
    "array-type": "typedef double row[9];\n"
    + SQUARE.replace("double tmp[N][N];", "row tmp[9], other;\n  (void)other;"),
    "region-inside-a-loop": SQUARE.replace(
        "#pragma scop", "for (int r = 0; r < 2; r++) {\n#pragma scop"
    ).replace("#pragma endscop", "#pragma endscop\n}"),
    "size-of-an-element": SQUARE.replace("= in[i][j]", "= in[i][j] + sizeof tmp[0][0]"),
    "size-of-the-array": SQUARE.replace("= in[i][j]", "= in[i][j] + sizeof tmp"),
    "iterator-hides-size": SQUARE.replace(
        "out[i][j] = tmp[i][N - 1 - j];",
        "{ out[i][j] = tmp[i][N - 1 - j];\n  for (int N = 0; N < 1; N++) out[i][j] += tmp[i][N]; }",
    ),
    "chained-assignments": HEAD
    + """{
  double tmp[N + 1], u[N + 1];
#pragma scop
  tmp[0] = u[0] = 1;
  for (int i = 0; i < N; i++) {
    u[i + 1] = tmp[i] += tmp[i + 1] = in[i] + u[i];
    out[i] = tmp[i];
  }
#pragma endscop
}
""",
}


# Loops that cannot be written anew, and why.
KEPT_ONLY = {
    "condition-on-cell-that-shares-an-address": "may overwrite what a condition reads",
    "condition-with-else-on-shared-address": "may overwrite what a condition reads",
    "iterator-read-after-region": "is used outside the region",
}


@pytest.mark.parametrize("loops", ["keep", "generate"])
@pytest.mark.parametrize("name", sorted(FILES))
def test_file(name: str, loops: str) -> None:
    if loops == "generate" and name in KEPT_ONLY:
        with pytest.raises(InputError, match=KEPT_ONLY[name]):
            assert_runs_alike(FILES[name], loops)
    else:
        assert_runs_alike(FILES[name], loops)


@pytest.mark.parametrize("size", ["WIDTH", "sizeof in[0]", "sizeof(double[i + 1])"])
def test_sizes_that_cannot_be_written_again(size: str) -> None:
    code = FILES["size-of-a-type-in-a-macro"].replace("sizeof(unsigned /* x */ char *)", size)
    with pytest.raises(InputError, match="sizeof cannot be written again in new loops") as refusal:
        folded(f"#define WIDTH sizeof(long)\n{code}".encode(), "generate")
    assert refusal.value.place is not None
    assert size in refusal.value.place.line_text


@pytest.mark.parametrize(
    "declaration",
    [
        "double a[N], tmp[N], b[3];",
        "double tmp[N], a[N], b[3];",
        "double a[N], b[3], tmp[N];",
        "double tmp[N], *p = out, a[N], b[3]; (void)p;",
        "double a[N], (tmp)[N], b[3];",
        "double (tmp)[N], a[N], b[3];",
        "double a[N], /* c, */ tmp[N] /* d, */, b[3];",
        "double a[N]\n  , tmp[N] // one, two\n  , b[3]\n  ;",
        "double a[N]; double tmp[N]; double b[3];",
        "double a[N], tmp[N] __attribute__((aligned(32))), b[3];",
        "double a[N], b[3], tmp[N] __attribute__((aligned(32), unused));",
        "_Alignas(32) double tmp[N]; double a[N], b[3];",
        "double a[N], b[3]; struct pair { double x; } tmp_[N]; (void)tmp_; double tmp[N];",
    ],
)
def test_declarators(declaration: str) -> None:
    code = f"""{HEAD}{{
  {declaration}
  a[0] = b[0] = 1;
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i] + a[0] + b[0];
  }}
#pragma endscop
}}
"""
    assert b"tmp[N]" not in assert_runs_alike(code, "keep")


@pytest.mark.parametrize("kind", ["struct pair { double x, y; }", "struct { double x, y; }"])
def test_array_of_structures_declared_with_its_type(kind: str) -> None:
    code = f"""{HEAD}{{
  {kind} tmp[N], zero = {{0, 0}};
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = zero;
    tmp[i].x = in[i];
    tmp[i].y = in[i];
    out[i] = tmp[i].x + tmp[i].y;
  }}
#pragma endscop
}}
"""
    assert_runs_alike(code, "keep")
    if "pair" in kind:
        static = code.replace(", zero = {0, 0};", "; static const struct pair zero;")
        assert_runs_alike(static, "keep")


def test_condition_keeps_its_time_when_loops_are_fused() -> None:
    code = f"""{HEAD}{{
  double t[N], v[N];
#pragma scop
  for (int i = 0; i < N; i++)
    t[i] = in[i] - 0.5;
  for (int i = 0; i < N; i++)
    if (t[i] > 0)
      v[i] = in[i];
    else
      v[i] = 0;
  for (int i = 0; i < N; i++)
    out[i] = v[i];
#pragma endscop
}}
"""
    assert_runs_alike(code, order={"fuse": "cells"})


@pytest.mark.parametrize("order", [{"fuse": "cells"}, {"parallel": True}])
def test_region_that_never_runs_in_another_order(order: dict[str, Any]) -> None:
    assert_runs_alike(FILES["region-that-never-runs"], order=order)


@pytest.mark.parametrize("loops", ["keep", "generate"])
@pytest.mark.parametrize(
    "code",
    [
        f"""{HEAD}{{
  double tmp[N];
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i];
  }}
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] += tmp[i];
  }}
#pragma endscop
}}
""",
        f"""{HEAD.replace(")", ", double tmp[restrict N])")}{{
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i];
  }}
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] += tmp[i];
  }}
#pragma endscop
}}
""",
        f"""{HEAD}{{
  static double tmp[100];
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i];
  }}
#pragma endscop
}}
""",
        f"""double tmp[100];
{HEAD}{{
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i];
  }}
#pragma endscop
}}
""",
    ],
    ids=["local-in-two-regions", "parameter-in-two-regions", "static", "global"],
)
def test_temporary_by_request(code: str, loops: str) -> None:
    assert_runs_alike(code, loops, temporary=["tmp"])


@pytest.mark.parametrize("loops", ["keep", "generate"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "out[0] += tmp[N - 1];"),
        ("for (int i = 0; i < N; i++) tmp[i] = 3;", ""),
        ("out[1] = sizeof tmp;", ""),
    ],
)
def test_temporary_by_request_with_uses_outside(before: str, after: str, loops: str) -> None:
    """Either refused, or the declaration stays for the uses outside."""
    code = f"""{HEAD}{{
  double tmp[N];
  {before}
#pragma scop
  for (int i = 0; i < N; i++) {{
    tmp[i] = in[i];
    out[i] = tmp[i];
  }}
#pragma endscop
  {after}
}}
"""
    try:
        _, out = folded(code.encode(), loops, ["tmp"])
    except InputError:
        return
    assert not complaints(out) - complaints(code.encode()), out.decode()


@pytest.mark.parametrize(
    "code",
    [
        """{
#pragma scop
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    double t = in[i];
    out[i] = t * 2;
  }
#pragma endscop
}
""",
        """{
  double t;
#pragma scop
#pragma omp parallel for private(t)
  for (int i = 0; i < N; i++) {
    t = in[i];
    out[i] = t * 2;
  }
#pragma endscop
}
""",
    ],
    ids=["declared-inside", "private"],
)
def test_variables_of_each_thread_stay_private(code: str) -> None:
    """Loops written anew either keep the variable private or are refused or sequential."""
    try:
        _, out = folded((HEAD + code).encode(), "generate")
    except InputError:
        return
    text = out.decode()
    parallel = re.search(r"#pragma omp parallel for(.*)\n(?s:(.*))", text)
    if parallel:
        assert "private(t" in parallel[1] or re.search(r"\bdouble t\b", parallel[2]), text


def test_reduction() -> None:
    code = f"""{HEAD}{{
  double s = 0;
#pragma scop
#pragma omp parallel for reduction(+:s)
  for (int i = 0; i < N; i++)
    s += (int)(4 * in[i]);
#pragma endscop
  out[0] = s;
}}
"""
    try:
        _, out = folded(code.encode(), "generate")
    except InputError:
        return
    assert "reduction" in out.decode() or "omp" not in out.decode()


def test_macro_of_a_header_named_like_an_iterator(tmp_path: Path) -> None:
    Path(tmp_path, "physics.h").write_text("#define c0 299792458.0\n")
    code = '#include "physics.h"\n' + SQUARE
    assert_runs_alike(code, "generate", arguments=[f"-I{tmp_path}"])


def test_macro_of_the_command_line_named_like_an_iterator() -> None:
    assert_runs_alike(SQUARE, "generate", arguments=["-Dc0=3"])


def test_sanitizers_accept_a_correct_program() -> None:
    assert_runs_alike(SQUARE, "keep", sanitize=True)


def test_names_of_the_driver_are_not_those_of_arrays() -> None:
    names = ("k", "state", "random", "allocate", "result", "count_tmp")
    for name in names:
        code = SQUARE.replace("in[", f"{name}[").replace("out", "copy").encode()
        (result,), text = folded(code, None)
        assert run_both(result, text, params={"N": 5}).is_equal


def test_memory_stays_where_it_was() -> None:
    """An array on the stack becomes a smaller one there, as does one that was allocated; where others see the
    address, or a jump may cross the declaration, the new one is allocated."""
    styles: tuple[Style, ...] = ("fast", "readable")
    for style in styles:
        assert b"malloc" not in folded(SQUARE.encode(), None, style=style)[1]
    jumping = SQUARE.replace("#pragma scop", "if (N < 3) goto done;\n#pragma scop")
    jumping = jumping.replace("#pragma endscop", "#pragma endscop\ndone:\n  return;")
    assert b"malloc" in folded(jumping.encode(), None)[1]
    allocated = SQUARE.replace("double tmp[N][N];", "double (*tmp)[N] = malloc(sizeof(double[N][N]));")
    allocated = "#include <stdlib.h>\n" + allocated.replace("endscop", "endscop\n  free(tmp);")
    assert folded(allocated.encode(), None)[1].count(b"malloc(") == 1
    seen = allocated.replace("free(tmp)", "free(out[0] > 3 ? tmp : 0)")
    assert folded(seen.encode(), None, ["tmp"])[1].count(b"malloc(") == 2


def test_files_without_folds_stay_as_they_are() -> None:
    code = (
        SQUARE.replace("tmp[i][N - 1 - j]", "tmp[i][N - 1 - j] + sizeof tmp").replace("\n", "\r\n").encode()
    )
    _, out = folded(code, "keep")
    assert out == code
