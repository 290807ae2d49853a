"""Flat arrays and pointers into arrays in C: what becomes of them in the model and in the code."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from arrayfold import fold, read
from arrayfold.base.choices import Loops
from arrayfold.base.errors import NotAffine
from arrayfold.codegen import write_c
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.merge import Merge
from arrayfold.program.model import Program
from arrayfold.run.driver import Driver
from arrayfold.validation.subjects import validate_code
from support.command import run
from support.runs import run_both

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
    program = program_of(ROWS.replace("out[y * w + x]", "out[y * n + x]") % ("w", "x"))
    assert "n >= w (line 11: out[y * n + x] stays in its row)" in map(str, program.assumptions)


FRAMES = """
void f(int frames, int hop, const float *restrict signal, float *restrict out)
{
    float t[frames][8];
#pragma scop
    for (int k = 0; k < frames; k++) {
        for (int i = 0; i < 8; i++) t[k][i] = signal[k * hop + i];
        for (int i = 0; i < 8; i++) out[8 * k + i] = t[k][7 - i];
    }
#pragma endscop
}
"""


def test_rows_that_are_only_read_may_overlap() -> None:
    program = program_of(FRAMES)
    assert not any("hop" in str(one) for one in program.assumptions)
    expected = isl.UnionMap("[frames] -> { S_0[k, i] -> signal[k, i] : 0 <= k < frames and 0 <= i < 8 }")
    assert cells_read(program, "signal").is_equal(expected)
    result = fold(program)
    code = result.to_c().encode()
    for hop in (0, 1, 3, 8, 11):
        assert run_both(result, code, params={"frames": 5, "hop": hop}).is_equal


def test_rows_that_are_written_somewhere_must_not_overlap() -> None:
    program = program_of(FRAMES.replace("out[8 * k + i] =", "signal[k * hop + i] =").replace("const ", ""))
    assert any("hop >= 8" in str(one) for one in program.assumptions)


def test_an_array_of_two_shapes_is_kept_and_the_others_fold() -> None:
    text = ROWS.replace("out[y * w + x] = t", "out[x * h + y] = out[y * w + x] + t") % ("w", "x")
    program = program_of(text)
    assert "no length of rows fits" in program.kept["out"].reason
    assert "t" not in program.kept


def test_numbers_as_factors_leave_one_dimension() -> None:
    text = ROWS.replace("t[h * w]", "t[3 * h]").replace("w + ", "3 + ").replace("x < w", "x < 3")
    program = program_of(text % ("3", "x"))
    assert program.array("t").rank == 1


EVERY_SECOND_ROW = """
void f(int N, const double in[restrict N + 1], double out[restrict N + 1])
{
    double a[(N + 2) * (N + 3)], sum = 0;
#pragma scop
    for (int i = 1; i < N + 2; i++)
        for (int j = 0; j < N + 3; j++)
            a[i * (N + 3) + j] = in[0] + i;
    for (int y = 1; y < N + 2; y++)
        for (int x = 0; x < N + 3; x++)
            sum += (N + 2 > 2 * y ? a[2 * y * (N + 3) + x] : 0.5) + a[y * (N + 3) + x];
#pragma endscop
    out[0] += sum;
}
"""


def test_every_second_row_does_not_make_rows_of_two_halves() -> None:
    program = program_of(EVERY_SECOND_ROW)
    assert program.array("a").rank == 2
    assert [str(one) for one in program.assumptions] == ["N >= 0 (line 2: extent of in)"]
    result = fold(program)
    assert run_both(result, result.to_c().encode(), params={"N": 7}).is_equal


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
        "if (!(stride >= w)) /* grey[y * stride + x] stays in its row */\n        abort();" in out.read_text()
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


FLAT_LOOP = """
int f(int w, int h, int d, const float *restrict in, float *restrict out)
{
    int i = 0;
#pragma scop
    %s
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                out[(z * h + y) * w + x] += in[(z * h + y) * w + x];
#pragma endscop
    return i;
}
"""


@pytest.mark.parametrize(
    ("loop", "sizes"),
    [
        ("for (int k = 0; k < w * h; k++) out[k] = in[k];", "h, w"),
        ("for (int k = 0; d * w * h > k; ++k) { if (in[k] > 0) continue; out[k] = 1; }", "d, h, w"),
        ("for (int k = 0; k < h * (w - 1); k++) out[k] = 1;", "h, w - 1"),
        ("for (int k = 0; k < 4 * w * h; k += 1) out[k] = 1;", "4, h, w"),
        ("for (int k = 0; k < 4 * w * h; k++) out[k] = in[4 * k];", "h, w, 4"),
    ],
)
def test_a_loop_over_all_elements_is_a_loop_for_each_size(loop: str, sizes: str) -> None:
    program = program_of(FLAT_LOOP % loop)
    names = ("a", "b", "c")[: sizes.count(",") + 1]
    ranges = (f"0 <= {name} < {size}" for name, size in zip(names, sizes.split(", "), strict=True))
    expected = isl.Set(f"[w, h, d] -> {{ [{', '.join(names)}] : {' and '.join(ranges)} }}")
    domain = program.statements[0].domain.reset_tuple_id()
    context = program.context
    assert domain.intersect_params(context).is_equal(expected.intersect_params(context))
    assert "out" in program.kept


def test_sizes_of_which_a_flat_loop_takes_the_product_are_not_negative() -> None:
    program = program_of(FLAT_LOOP % "for (int k = 0; k < w * h; k++) out[k] = 1;")
    assert program.context.is_subset(isl.Set("[w, h] -> { : w >= 0 and h >= 0 }"))


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < w * h; k++) { if (in[k] > 0) break; out[k] = 1; }",
        "for (i = 0; i < w * h; i++) { i += in[i] > 0; out[i] = 1; }",
        "for (int k = 0; k < w * h; k++) { w -= in[k] > 0; out[k] = 1; }",
        "for (int k = 1; k < w * h; k++) out[k] = 1;",
    ],
)
def test_loops_that_may_end_early_or_begin_late_are_no_flat_loops(loop: str) -> None:
    (program,) = read_c("f.c", (FLAT_LOOP % loop).encode())
    assert program.source is not None
    assert not program.source.text.split


def test_openmp_shares_the_rows_of_a_flat_loop() -> None:
    pragma = "#pragma omp parallel for schedule(static) firstprivate(d)\n"
    loop = "for (int k = 0; k < w * h; k++) out[k] = in[k];"
    assert program_of(FLAT_LOOP % (f"\n{pragma}{loop}")).source.text.split
    with pytest.raises(NotAffine):
        program_of(FLAT_LOOP % f"\n#pragma omp parallel for collapse(1)\n{loop}")


def test_an_image_of_one_row_is_not_excluded() -> None:
    text = ROWS.replace(
        "int y = 0; y < h; y++)\n        for (int x = 0; x < %s",
        "int y = 0; y + 1 < h; y++)\n        for (int x = 0; x < %s",
    )
    program = program_of(text % ("w", "x"))
    assert not program.context.intersect(isl.Set("[h] -> { : h = 1 }")).is_empty()


def test_sizes_of_a_run_are_known_where_flat_arrays_have_become_others() -> None:
    text = ROWS.replace("t[h * w]", "t[h * w], u[h * w]").replace("= in[y", "= u[y * w + x] = in[y")
    program = program_of(text % ("w", "x"))
    merged = Merge(("t", "u")).apply(program)
    assert isinstance(merged, Program)
    sizes = {"w": 3, "h": 20, "n": 1}
    known = {name: sizes[name] for name in merged.parameters}
    assert Driver(merged).numbers(known) == Driver(program).numbers(known)
    assert "60" in Driver(merged).numbers(known)


@pytest.mark.parametrize("loops", ["keep", "generate"])
def test_an_element_that_is_set_in_one_of_two_places(loops: Loops) -> None:
    """A choice between two elements is no place in C; one between their addresses is."""
    text = """
#include <stdlib.h>
void f(int n, int w, const double in[restrict n][w], double out[restrict n][w])
{
    double *t = malloc(sizeof(double) * (size_t)n * (2 * w));
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < w; j++) {
            t[i * 2 * w + (j < 3 ? j : j + w)] = in[i][j];
            t[i * 2 * w + (j < 3 ? j : j + w)] += 1;
            out[i][j] = t[i * 2 * w + (j < 3 ? j : j + w)] + t[i * 2 * w];
        }
#pragma endscop
    free(t);
}
"""
    result = fold(program_of(text))
    region = result.region(loops=loops, style="readable")
    code = write_c([region])
    assert validate_code([region], code, "f.c").is_equal
    assert run_both(result, code, params={"n": 3, "w": 7}).is_equal
