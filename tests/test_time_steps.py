"""Buffers that change places from one time step to the next: by pointers, or by a number."""

from __future__ import annotations

import pytest

from arrayfold import fold
from arrayfold.base.errors import InputError
from arrayfold.frontends.c.read import read_c
from arrayfold.validation.subjects import validate_code

STEPS = """
#include <stdlib.h>
#define SWAP(x, y) do { double *swap_ = x; x = y; y = swap_; } while (0)
double f(int m, int n, double *restrict a, double *restrict b, double *restrict c)
{
    double *tmp, *cur = a, *next = b;
    int now = 0;
#pragma scop
    %s
#pragma endscop
    %s
}
"""
BODY = "for (int i = 1; i < 9; i++) b[i] = a[i - 1] + a[i];"
SWAP = "tmp = a; a = b; b = tmp;"
CUR = "for (int i = 1; i < 9; i++) next[i] = cur[i - 1] + cur[i];"


def rewritten(body: str, after: str = "return 0;") -> str:
    """The text in simpler C, executed beside the original."""
    (program,) = read_c("f.c", (STEPS % (body, after)).encode())
    assert program.source is not None
    text = program.source.text
    validate_code([fold(program).region(loops="keep")], text.data, "f.c")
    return text.text


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        (f"for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }}", "if (t % 2 == 0)"),
        (f"for (int t = 3; t < n; t++) {{ {SWAP} {BODY} }}", "if ((t - 3) % 2 == 0)"),
        (f"for (int t = m; t <= n; t += 2) {{ {BODY} {SWAP} }}", "if (((long long)t - m) % 4 == 0)"),
        (f"for (int t = n; t > m; t--) {{ {BODY} SWAP(a, b); }}", "if (((long long)n - t) % 2 == 0)"),
        (f"for (int t = 0; t < n; t++) {{ {BODY} {{ double *s = b; b = a, a = s; }} }}", "if (t % 2 == 0)"),
        (f"if (m > 3) for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }}", "if (t % 2 == 0)"),
        (
            f"for (int t = 0; t < n; t++) {{ {BODY} if (b[3] > 5) break; c[0] = b[4]; {SWAP} }}",
            "if (t % 2 == 0)",
        ),
        (
            f"for (int t = 0; t < n; t++) {{ {BODY} tmp = a; a = b; b = c; c = tmp; }}",
            "else if (t % 3 == 1)",
        ),
        (f"while (n-- > 0) {{ {BODY} {SWAP} }}", "% 2 == 0)"),
    ],
)
def test_one_case_for_each_way_in_which_pointers_lie(body: str, condition: str) -> None:
    code = rewritten(body)
    assert condition in code
    assert "a = b" not in code[: code.index("#pragma endscop")].split("#pragma scop")[1]


def test_pointers_have_their_places_behind_the_loop() -> None:
    loop = f"for (int t = m; t < n; t++) {{ {BODY} {SWAP} }}"
    code = rewritten(f"{loop}\n    c[0] = a[3];", "return a[2] + b[4];")
    cond = "if (n > m && ((long long)n - m) % 2 == 1)"
    assert f"{cond} c[0] = b[3];\n    else c[0] = a[3];" in code
    assert f"{cond} {{ void *a_1 = b; void *b_1 = a; a = a_1; b = b_1; }}" in code
    assert f"{cond} {{ b = a; }}" in rewritten(loop, "return b[4];")


def test_pointers_that_are_set_before_go() -> None:
    loop = f"for (int t = 0; t < n; t++) {{ {CUR} SWAP(cur, next); }}"
    code = rewritten(loop, "return cur[1];")
    assert "if (n > 0 && n % 2 == 1) { cur = b; }" in code
    assert "next" not in code
    assert "{ cur = b; next = a; }" in rewritten(loop, "return cur[1] - next[1];")


def test_comparisons_of_pointers_are_decided() -> None:
    before = STEPS.replace("*next = b;", "*next = malloc(9 * sizeof *next);\n    if (!next) return 1;")
    before = before.replace("double *tmp, *cur = a, *next", "double *mine").replace("!next", "!mine")
    before = before.replace("sizeof *next", "sizeof *mine").replace(
        "int now", "double *cur = a, *next = mine; int now"
    )
    loop = f"for (int t = 0; t < n; t++) {{ next[0] = 1; {CUR} SWAP(cur, next); }}"
    behind = "if (cur != a) for (int i = 0; i < 9; i++) a[i] = cur[i];"
    (program,) = read_c("f.c", (before % (f"{loop}\n    {behind}", "free(mine); return 0;")).encode())
    assert program.source is not None
    code = program.source.text.data
    validate_code([fold(program).region(loops="keep")], code, "f.c")
    assert b"*cur" not in code
    assert b"if (n > 0 && n % 2 == 1) for (int i = 0; i < 9; i++) a[i] = mine[i];\n" in code
    assert "mine" not in program.kept


@pytest.mark.parametrize(
    ("toggle", "value"),
    [
        ("now ^= 1;", "t % 2"),
        ("now = 1 - now;", "t % 2"),
        ("now = !now;", "t % 2"),
        ("now = (now + 1) % 3;", "t % 3"),
        ("now = (1 + now) % 2;", "t % 2"),
    ],
)
def test_numbers_that_go_round(toggle: str, value: str) -> None:
    code = rewritten(f"for (int t = 0; t < n; t++) {{ a[now] = now; {toggle} c[now] = t; }} c[5] = now;")
    period = value[-1]
    assert f"a[({value})] = ({value}); c[(((long long)t + 1) % {period})] = t;" in " ".join(code.split())
    assert f"now = n > 0 ? n % {period} : 0;" in code


@pytest.mark.parametrize(
    "body",
    [
        f"for (int t = 0; t < n; t++) {{ {BODY} if (c[t] > 0) {{ {SWAP} }} }}",
        f"for (int t = 0; t < n; t++) {{ if (c[t] > 0) continue; {BODY} {SWAP} }}",
        f"for (int k = 0; k < m; k++) for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }}",
        f"for (int t = 0; t < n; t++) {{ {BODY} if (b[3] > 5) break; {SWAP} }} c[0] = a[0];",
        f"for (int t = 0; t < n; t++) {{ {BODY} a = b; }}",
        f"for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }} n = 3; c[0] = a[0];",
        f"for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }} c[0] = tmp[0];",
    ],
)
def test_what_is_not_known_is_refused(body: str) -> None:
    with pytest.raises(InputError):
        read_c("f.c", (STEPS % (body, "return 0;")).encode())


def test_swaps_at_the_end_of_a_region_are_outside_of_it() -> None:
    text = STEPS.replace("#pragma scop", "for (int t = 0; t < n; t++) {\n#pragma scop")
    text = text.replace("#pragma endscop", "#pragma endscop\n}")
    (program,) = read_c("f.c", (text % (f"{BODY} {SWAP}", "return a[1];")).encode())
    assert program.source is not None
    code = program.source.text.text
    assert code.index("#pragma endscop") < code.index("tmp = a;")


def test_a_file_in_which_nothing_folds_stays_as_it_is() -> None:
    text = STEPS % (f"for (int t = 0; t < n; t++) {{ {BODY} {SWAP} }}", "return 0;")
    (program,) = read_c("f.c", text.encode())
    assert fold(program).to_c() == text


def test_a_pointer_that_is_set_to_the_buffer_to_free() -> None:
    text = """
    #include <stdlib.h>
    #include <string.h>
    void f(int n, int steps, double *u)
    {
        double *cur = u;
        double *next = malloc(sizeof(double) * n);
        if (!next) return;
    #pragma scop
        memcpy(next, u, sizeof(double) * n);
        for (int t = 0; t < steps; t++) {
            for (int i = 1; i < n - 1; i++) next[i] = cur[i - 1] + cur[i + 1];
            double *tmp = cur; cur = next; next = tmp;
        }
        if (cur != u) {
            memcpy(u, cur, n * sizeof(double));
            next = cur;
        }
    #pragma endscop
        free(next);
    }
    """
    (program,) = read_c("f.c", text.encode())
    assert "next" not in program.kept
    result = fold(program)
    outcome = validate_code([result.region(loops="generate")], result.to_c(loops="generate").encode(), "f.c")
    assert outcome.is_equal
    assert not outcome.unchecked
