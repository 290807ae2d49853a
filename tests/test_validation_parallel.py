"""Parallel code is executed as any interleaving of its threads may: races, private variables, locks."""

from __future__ import annotations

import pytest

from support.validated import agree, difference

PARALLEL = """
void k(int N, const double in[restrict N], double out[restrict N])
{{
  {outside}
{pragma}
  for (int i = 0; i < N; i++) {{
    {inside}
    {t} = in[i];
    out[i] = {t} * 2;
  }}
}}
"""


def parallel(outside: str, inside: str, t: str, pragma: str = "#pragma omp parallel for") -> str:
    return PARALLEL.format(outside=outside, inside=inside, t=t, pragma=pragma)


def test_a_race_between_iterations_is_found() -> None:
    original = parallel("double t[N];", "", "t[i]")
    assert agree(original, original)
    assert agree(original, parallel("", "double t;", "t"))
    assert agree(original, parallel("double t;", "", "t", "#pragma omp parallel for private(t)"))
    text = difference(original, parallel("double t;", "", "t"))
    assert "k at N = 2" in text
    assert "a race: t is written here and written in line 8 at the same time" in text
    assert "a race: t[0] is" in difference(original, parallel("double t[2];", "", "t[i % 2]"))


def test_a_private_variable_begins_without_a_value() -> None:
    text = (
        "void k(int N, int out[restrict N]) {{ int t = 3;\n#pragma omp parallel for {0}(t)\n"
        "for (int i = 0; i < N; i++) out[i] = t; }}"
    )
    original = text.format("shared")
    assert agree(original, text.format("firstprivate"))
    assert "t was never set" in difference(original, text.format("private"))


def test_constants_are_set_before_threads_begin() -> None:
    text = """
    static const int weights[2] = {3, 4};
    void k(int N, int out[restrict N]) {
    #pragma omp parallel for
      for (int i = 0; i < N; i++) out[i] = weights[i % 2];
    }"""
    assert agree(text, text)


TASKS = """
void k(int N, const double in[restrict N], double out[restrict N])
{{
  double t[N + 2];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < N; i++) {{
#pragma omp task depend(out: {t})
    {t} = in[i];
#pragma omp task depend({kind}: {t})
    out[i] = {t};
  }}
}}
"""


def test_tasks_are_ordered_by_what_they_depend_on() -> None:
    original = TASKS.format(t="t[i]", kind="in")
    assert agree(original, TASKS.format(t="t[i % 2]", kind="in"))
    wrong = TASKS.format(t="t[i]", kind="in").replace(" depend(in: t[i])", "")
    assert "a race: t[0]" in difference(original, wrong)


def test_barriers_order_and_nowait_does_not() -> None:
    original = """
    void k(int N, double a[restrict N], double b[restrict N]) {
    #pragma omp parallel
      {
    #pragma omp for
        for (int i = 0; i < N; i++) a[i] = i;
    #pragma omp for
        for (int i = 0; i < N; i++) b[i] = a[N - 1 - i];
      }
    }"""
    assert agree(original, original)
    assert "a race: a[0]" in difference(original, original.replace("omp for", "omp for nowait", 1))


LANES = """
void k(int N, const double in[restrict N], double out[restrict N])
{{
  double t[N + 2];
{pragma}
  for (int i = 0; i < N; i++) {{
    {first};
    {second};
  }}
}}
"""


@pytest.mark.parametrize("pragma", ["#pragma GCC ivdep", "#pragma omp simd"])
def test_loops_whose_iterations_are_said_to_be_independent_are(pragma: str) -> None:
    def text(first: str, second: str, pragma: str = pragma) -> str:
        return LANES.format(first=first, second=second, pragma=pragma)

    original = text("t[i] = in[i]", "out[i] = t[i]", "")
    assert agree(original, text("t[i] = in[i]", "out[i] = t[i]"))
    assert agree(original, text("double x, *p = &x; *p = in[i]", "out[i] = *p"))
    assert agree(original, text("(void)&y; y = in[i]", "out[i] = y").replace("double t[N + 2]", "double y"))
    shifted = ("t[i + 1] = in[i]", "out[i] = i ? t[i] : 0")
    assert agree(text(*shifted, ""), text(*shifted))
    assert "iterations are not independent: t[1] is read here" in difference(
        text(*reversed(shifted), ""), text(*reversed(shifted))
    )
    assert (
        "iterations are not independent: t[0] is written here after an earlier one has read it"
        in difference(original, text("t[0] = in[i]", "out[i] = t[0]"))
    )


LOCKED = """
void k(int N, const int in[restrict N], int out[restrict N + 1])
{{
  int s = 0;
#pragma omp parallel for {clause}
  for (int i = 0; i < N; i++) {{
#pragma omp {first}
    {{ s += in[i]; }}
#pragma omp {second}
    {{ out[i + 1] = out[i] + 1; s += 1; }}
  }}
  out[0] = s;
}}
"""


def locked(first: str, second: str, clause: str = "") -> str:
    return LOCKED.format(first=first, second=second, clause=clause)


def test_locks_keep_accesses_apart() -> None:
    original = locked("critical", "critical")
    assert agree(original, original)
    assert agree(original, locked("critical(a)", "critical(a)"))
    assert "a race: s is" in difference(original, locked("critical(a)", "critical(b)"))
    assert "a race: s is" in difference(original, locked("flush", "critical"))


def test_ordered_blocks_run_in_turn() -> None:
    text = locked("flush", "ordered", "ordered").replace("{ s += in[i]; }", "")
    assert agree(text, text)
    assert "a race: out[" in difference(text, text.replace("#pragma omp ordered", ""))


def test_the_last_iteration_leaves_its_value() -> None:
    text = """
    void k(int N, const int in[restrict N], int out[restrict 1])
    {{
      int last = 7;
    #pragma omp parallel for {}
      for (int i = 0; i < N; i++)
        last = in[i];
      out[0] = last;
    }}"""
    plain = text.format("").replace("#pragma omp parallel for ", "")
    assert agree(plain, text.format("lastprivate(last)"))
    assert "out[0]" in difference(plain, text.format("private(last)"))
