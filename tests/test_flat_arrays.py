"""Flat arrays and pointers into arrays in C: what becomes of them in the model and in the code."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from arrayfold import fold, read
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from support.command import run

KERNELS = Path(__file__).resolve().parent / "c_kernels"
ROWS = """
void f(int w, int h, int n, const float *restrict in, float *restrict out)
{
    float t[h * w];
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            t[y * w + x] = in[y * w + x];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < %s; x++)
            out[y * w + x] = t[y * w + %s];
#pragma endscop
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def cells_read(program: Program, array: str) -> isl.UnionMap:
    return program.accesses(writes=False, array=array).gist_params(program.context)


@pytest.mark.parametrize(
    ("subscript", "cell"),
    [
        ("y * w + x", "[y, x]"),
        ("x + w * y", "[y, x]"),
        ("(y - 1) * w + x + w", "[y, x]"),
        ("w - 1 - x + y * w", "[y, w - 1 - x]"),
        ("h * w - w + x", "[h - 1, x]"),
        ("(h - 1 - y) * w + x", "[h - 1 - y, x]"),
        ("(size_t)y * w + (unsigned)x", "[y, x]"),
    ],
)
def test_subscripts_are_split_whichever_way_they_are_written(subscript: str, cell: str) -> None:
    text = ROWS.replace("t[y * w + %s]", f"t[{subscript}]") % "w"
    program = program_of("#include <stddef.h>\n" + text)
    expected = isl.UnionMap(
        f"[w, h, n] -> {{ S_1[y, x] -> t{cell} : 0 <= y < h and 0 <= x < w }}"
    ).gist_params(program.context)
    assert cells_read(program, "t").is_equal(expected)
    assert "t" not in program.kept


def test_one_column_beside_an_edge_is_in_the_row_beside() -> None:
    program = program_of(ROWS % ("w - 1", "x + 2"))
    expected = isl.UnionMap(
        "[w, h, n] -> { S_1[y, x] -> t[y, x + 2] : 0 <= y < h and 0 <= x < w - 2;"
        " S_1[y, x] -> t[y + 1, 0] : 0 <= y < h - 1 and x = w - 2 and w >= 2 }"
    ).gist_params(program.context)
    assert expected.is_subset(cells_read(program, "t"))


def test_the_message_says_which_range_is_missing() -> None:
    program = program_of(ROWS.replace("x < %s", "x < 3 * w").replace("%s", "x"))
    assert program.kept["t"].is_final
    assert program.kept["t"].reason == "line 11: x may be w or more in t[y * w + x]"
    assert "in" in program.kept
    assert not program.kept["in"].is_final


def test_a_stride_of_its_own_is_assumed_to_be_as_long_as_a_row() -> None:
    program = program_of(ROWS.replace("in[y * w + x]", "in[y * n + x]") % ("w", "x"))
    assert "n >= w (line 8: in[y * n + x] stays in its row)" in map(str, program.assumptions)


def test_an_array_of_two_shapes_is_kept_and_the_others_fold() -> None:
    text = ROWS.replace("out[y * w + x] = t", "out[x * h + y] = out[y * w + x] + t") % ("w", "x")
    program = program_of(text)
    assert "no length of rows fits" in program.kept["out"].reason
    assert "t" not in program.kept


def test_numbers_as_factors_leave_one_dimension() -> None:
    text = ROWS.replace("t[h * w]", "t[3 * h]").replace("w + ", "3 + ").replace("x < w", "x < 3")
    program = program_of(text % ("3", "x"))
    assert program.array("t").rank == 1


def test_a_row_pointer_into_an_array_that_folds_goes() -> None:
    result = fold(read(KERNELS / "row-pointers.c"))
    assert not result["t"].shrinks
    text = (KERNELS / "row-pointers.c").read_text().replace("in + y * stride", "in + (h - 1) * stride")
    second = text.index("    for (int y = 0; y < h; y++) {\n        const float *up")
    fused = text[: text.rindex("    }", 0, second)] + text[second:].split("{\n", 1)[1]
    fused = fused.replace("*up = y > 0 ? &t[(y - 1) * w] : t", "*up = &t[y * w]")
    (program,) = read_c("f.c", fused.encode())
    code = fold(program).to_c(style="readable")
    assert "*up" not in code
    assert "*to" not in code
    assert "float t[w];" in code
    assert "const float *row" in code


def test_assumptions_are_checked_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.c"
    source = KERNELS / "flat-image.c"
    arguments = ("--temporary", "grey", "--fuse", "--check-assumptions", "-o", str(out))
    assert run(monkeypatch, "fold", str(source), *arguments) == 0
    assert "checked" in capsys.readouterr().out
    assert (
        "if (!(stride >= w)) /* grey[y * stride + x] stays in its row */\n      abort();" in out.read_text()
    )


@pytest.mark.parametrize(
    ("subscript", "interval"),
    [
        ("b[0]", "(0, 255)"),
        ("b[0] >> 3", "(0, 31)"),
        ("(b[0] + b[1]) / 2", "(0, 255)"),
        ("n & 15", "(0, 15)"),
        ("2 * s[0] - 1", "(-65537, 65533)"),
        ("n", "None"),
        ("n % 8", "None"),
        ("b[0] % 8", "(0, 7)"),
    ],
)
def test_types_and_operators_bound_subscripts(subscript: str, interval: str) -> None:
    text = f"""void f(int n, const unsigned char *b, const short *s, int *restrict a)
{{
#pragma scop
    n = b[2];
    a[{subscript}] = 0;
#pragma endscop
}}"""
    program = program_of(text)
    (cells,) = (
        access.relation.range()
        for one in program.statements
        for access in one.accesses
        if access.array == "a"
    )
    low, high = cells.dim_min_val(0), cells.dim_max_val(0)
    assert (f"({low}, {high})" if low.is_int() else "None") == interval
