"""Pointers and numbers that go through all rows of an image: what they mean, and what is refused."""

from __future__ import annotations

import islpy as isl
import pytest

from arrayfold import fold, fold_shared, reallocate
from arrayfold.base.errors import InputError
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code
from support.runs import run_both

TEXT = """
void f(int w, int h, int gap, const int *restrict in, int *restrict out)
{
    int t[h][w];
    const int *p = in;
    int k = 0;
#pragma scop
    %s
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y * w + x] = t[y][w - 1 - x];
#pragma endscop
}
"""


def program_of(body: str) -> Program:
    (program,) = read_c("f.c", (TEXT % body).encode())
    return program


def cells_of(program: Program, array: str) -> isl.UnionMap:
    return program.accesses(writes=False, array=array).gist_params(program.context)


@pytest.mark.parametrize(
    ("body", "cell"),
    [
        ("for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[y][x] = *p++;", "[y, x]"),
        ("for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[y][x] = in[k++];", "[y, x]"),
        ("for (int y = 0; y < h; y++, p += w) for (int x = 0; x < w; x++) t[y][x] = p[x];", "[y, x]"),
        ("for (int y = 0; y < h; y++) for (int x = w; x > 0; x--) t[y][x - 1] = *p++;", "[y, w - x]"),
        (
            "p += h * w; for (int y = 0; y < h; y++) { for (int x = w - 1; x >= 0; x--) t[y][x] = *--p; }",
            "[h - 1 - y, x]",
        ),
    ],
)
def test_what_walks_by_rows_is_known(body: str, cell: str) -> None:
    program = program_of(body)
    name = program.statements[0].name
    program_reads = cells_of(program, "in")
    ranges = "0 < x <= w" if "x > 0" in body else "0 <= x < w"
    expected = isl.UnionMap(f"[w, h] -> {{ {name}[y, x] -> in{cell} : 0 <= y < h and {ranges} }}")
    sizes = isl.Set("[w, h] -> { : w >= 1 and h >= 1 }")
    assert program_reads.intersect_params(sizes).is_equal(expected.intersect_params(sizes))


@pytest.mark.parametrize(
    "body",
    [
        "for (int y = 0; y < h; y++) { for (int x = 0; x < w; x++) t[y][x] = *p++; p += gap; }",
        """for (int y = 0; y < h; y++) {
            for (int x = 1; x < w - 1; x++) t[y][x] = *p++;
            t[y][0] = p[0]; if (w > 1) t[y][w - 1] = p[1]; p += 2;
        }""",
        """for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) { if (x > 3) t[y][x] = *p++; else { t[y][x] = p[0]; p++; } }""",
        """for (int y = 0; y < h; y++) { for (int x = 0; x < w; x++) t[y][x] = in[k + x]; k += w; }
        out[0] = k;""",
    ],
)
def test_programs_with_walks_run_as_before(body: str) -> None:
    result = fold(program_of(body))
    code = result.to_c().encode()
    assert not validate_code([result.region()], code, "f.c").unchecked
    for w, h, gap in ((2, 1, 0), (3, 4, 2), (5, 2, 7)):
        assert run_both(result, code, params={"w": w, "h": h, "gap": gap}, sanitize=True).is_equal


@pytest.mark.parametrize(
    "body",
    [
        "for (int y = 0; y < h; y++) for (int x = 0; x < y; x++) t[y][x % w] = *p++;",
        "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { t[y][x] = *p; if (p[0] > 3) p++; }",
        "for (int y = 0; y < h; y++) for (int x = 0; x < w; x += gap) t[y][x] = *p++;",
    ],
)
def test_steps_that_are_not_the_same_in_each_turn_are_refused(body: str) -> None:
    with pytest.raises(InputError) as found:
        program_of(body)
    assert found.value.place is not None
    assert found.value.place.line == 8


def test_a_number_that_walks_through_a_triangle_keeps_its_array() -> None:
    body = "for (int y = 0; y < h; y++) for (int x = 0; x <= y; x++) t[0][k++ % w] = in[x];"
    assert "t" in program_of(body).kept


def test_an_inner_loop_that_does_not_run_moves_nothing() -> None:
    body = "for (int y = 0; y < h; y++) { for (int x = 2; x < gap; x++) out[0] += *p++; t[y][0] = *p; }"
    assumed = " ".join(map(str, program_of(body).assumptions))
    assert "gap >= 2" in assumed


@pytest.mark.parametrize("places", ["reallocate", "share cells"])
def test_values_that_pointers_reach_move_to_other_arrays(places: str) -> None:
    text = """
void f(int h, const int *restrict in, int *restrict out)
{
    int t[4], u[4];
#pragma scop
    for (int y = 0; y < h; y++) {
        int *to = t;
        for (int x = 0; x < 4; x++)
            *to++ = 2 * in[y * 4 + x];
        for (int x = 0; x < 4; x++)
            u[x] = *--to;
        *to += 1;
        for (int x = 0; x < 4; x++)
            out[y * 4 + x] = u[x] + to[x];
    }
#pragma endscop
}
"""
    (program,) = read_c("f.c", text.encode())
    program = reallocate(program)
    result = fold_shared(program, "cells") if places == "share cells" else fold(program)
    code = result.to_c()
    assert "*(t" not in code
    assert "int t[" not in code
    assert not validate_code([result.region()], code.encode(), "f.c").unchecked
    assert run_both(result, code.encode(), params={"h": 5}, sanitize=True).is_equal
