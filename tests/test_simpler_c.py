"""Loops that count, in forms in which simpler C is easily wrong: each is executed beside its original."""

from __future__ import annotations

from typing import Literal

import pytest

from arrayfold import fold
from arrayfold.frontends.c.read import read_c
from arrayfold.validation.subjects import validate_code

# Statements after `t[i] = x[i]` for 0 <= i < n + 2, of int, and `u`, which is unsigned and n + 1.
FORMS = {
    "--j >= 0": "j = n; while (--j >= 0) y[j + 1] = t[j]; y[0] = j;",
    "++j < n": "j = -1; while (++j < n) y[j] = t[j] + t[j + 1]; y[n] = j;",
    "--u": "u = n + 1; while (--u) y[u] = t[u]; y[0] = u;",
    "u--": "u = n + 1; while (u--) y[u] = t[u]; y[0] = u;",
    "j-- != 0": "j = n; while (j-- != 0) y[j] += t[j]; y[n + 1] = j;",
    "for without a step": "for (unsigned i = u; i-- > 0;) y[i] = t[i];",
    "more than the bound holds": "for (j = 0; j + 3 < n; j++) y[j] = t[j]; y[n] = j;",
    "up to the bound": "for (j = 0; j <= n && x[j] > 0; j++) y[j] = t[j]; y[n + 1] = j;",
    "another value where it fails": "for (j = x0; j < n; j += 3) y[0] += t[0]; y[n] = j;"
    " for (; j > x0; j -= 2) y[1] += t[1]; y[n + 1] = j;",
    "another variable of that name": "for (j = 0, k = n; j < n; j++, k--) {"
    " if (x[j] > 0) { int k = x[j]; y[j] = k; continue; } y[j] = t[j]; } y[n + 1] = k;",
    "another variable, and a break": "for (j = 0; j < n; j++) {"
    " if (x[j] > 0) { int j = 3; y[1] = j; break; } y[j] = t[j]; } y[n + 1] = j;",
    "a product of other sizes": "{ int n = 3; for (int i = 0; i < all; i++) y[i % 2] = n + t[0]; }",
}
PROGRAM = """
void f(int n, int x0, const int x[restrict n + 2], int y[restrict n + 2])
{{
    int t[n + 2], j, k;
    unsigned u = n + 1u;
    int all = n * n;
#pragma scop
    for (int i = 0; i < n + 2; i++)
        t[i] = x[i];
    {statements}
#pragma endscop
}}
"""


KEPT = {"another variable of that name", "up to the bound", "another variable, and a break"}
CASES = [(form, loops) for form in FORMS for loops in ("keep", "generate")[: 1 + (form not in KEPT)]]


@pytest.mark.parametrize(("form", "loops"), CASES)
def test_values_behind_loops_are_those_of_the_text(form: str, loops: Literal["keep", "generate"]) -> None:
    (program,) = read_c("f.c", PROGRAM.format(statements=FORMS[form]).encode())
    result = fold(program)
    code = result.to_c(loops=loops).encode()
    validation = validate_code([result.region(loops=loops)], code, "f.c")
    assert validation.is_equal, validation


def test_one_text_at_two_places_of_an_expression_is_decided_at_both() -> None:
    """What j was set to stands where the condition holds and where it fails; each knows another outcome."""
    text = PROGRAM.format(statements="j = x0 < n ? n : x0; j = j > x0 ? j - 1 : j; y[0] = t[1] + j;")
    (program,) = read_c("f.c", text.encode())
    result = fold(program)
    code = result.to_c(loops="generate").encode()
    assert validate_code([result.region(loops="generate")], code, "f.c").is_equal


BEFORE = """
void f(int n, int m, int x[restrict n], int y[restrict n])
{
    int t[n];
    %s
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = x[i];
    while (k < n) { y[k] = t[k]; k++; }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("before", "is_known"),
    [
        ("int k = 0;", True),
        ("int k = 0; if (m > 70) return;", True),
        ("int first = 1; int k = (first - 1) * n;", True),
        ("int k = 0; if (m > 0) k = 1;", False),
        ("int k = m; m = 0;", False),
        ("int k = 0; int *p = &k; *p = 1;", False),
        ("int k = 0; if (m > 0) goto on; k = 1; on:;", False),
        ("int k = m > 0 ? 0 : 1;", False),
    ],
)
def test_what_an_integer_is_before_the_region_is_known(before: str, is_known: bool) -> None:
    """Then it is no parameter, and a run has nothing to make up for it."""
    text = BEFORE % before
    (program,) = read_c("f.c", text.encode())
    is_read = "affine" not in program.kept["y"].reason
    assert (program.parameters == ("n",) and is_read) == is_known
    result = fold(program)
    code = result.to_c().encode()
    assert validate_code([result.region()], code, "f.c").is_equal


@pytest.mark.parametrize("around", ["for (int r = 0; r < 3; r++)", "while (m-- > 0)"])
def test_a_region_that_runs_again_begins_with_other_values(around: str) -> None:
    text = BEFORE.replace("#pragma scop", "LOOP {\n#pragma scop").replace("endscop", "endscop\n    }")
    (program,) = read_c("f.c", (text.replace("LOOP", around) % "int k = 0;").encode())
    result = fold(program)
    code = result.to_c().encode()
    assert validate_code([result.region()], code, "f.c").is_equal
    assert not result.arrays or str(result["t"].size) != "1"


def test_a_size_that_is_made_of_others_is_no_parameter() -> None:
    text = BEFORE.replace("t[n]", "t[k]").replace("t[i]", "t[k - 1 - i]") % ""
    text = text.replace("int t[k];", "const int k = n + 2; int t[k];").replace("while (k < n)", "if (0)")
    (program,) = read_c("f.c", text.replace("{ y[k] = t[k]; k++; }", "y[0] = 0;").encode())
    assert program.parameters == ("n",)
    assert not program.assumptions or "extent" in str(program.assumptions[0])


COPIES = """
#include <string.h>
double f(int n, int m, unsigned char *restrict img, double g[restrict n][n])
{
    unsigned char row[m];
    double h[n][n];
#pragma scop
    memcpy(row, img, m);
    for (int i = 0; i < m; i++) img[i] = row[m - 1 - i];
    memset(h, 0, sizeof(double) * n * n);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) h[i][j] += g[j][i];
    memcpy(g, h, sizeof h);
    const double first = g[0][0] + h[n - 1][0], second = first * 2;
#pragma endscop
    return second;
}
"""


@pytest.mark.parametrize("loops", ["keep", "generate"])
def test_copies_of_bytes_and_values_that_are_used_behind(loops: Literal["keep", "generate"]) -> None:
    (program,) = read_c("f.c", COPIES.encode())
    assert set(program.kept) >= {"img", "g"}
    assert not {"row", "h"} & set(program.kept)
    result = fold(program)
    code = result.to_c(loops=loops).encode()
    validation = validate_code([result.region(loops=loops)], code, "f.c")
    assert validation.is_equal, validation
    assert not validation.unchecked
