"""Memory that a function allocates for itself: who may reach it, and what becomes of the allocation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arrayfold import fold, read_all
from arrayfold.codegen import write_c
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code
from support.runs import run_both

KERNELS = Path(__file__).resolve().parent / "c_kernels"
TEXT = """
#include <alloca.h>
#include <assert.h>
#include <stdlib.h>
int f(int w, int h, const float *restrict in, float *restrict out)
{
    %s
#pragma scop
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++)
            t[y * w + x] = in[y * w + x] * 2;
        for (int x = 0; x < w; x++)
            out[y * w + x] = t[y * w + x] + t[y * w + w - 1 - x];
    }
#pragma endscop
    %s
    return 0;
}
"""
SIZE = "sizeof(float) * w"


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def folded(text: str) -> str:
    """The folded text, executed beside the original."""
    region = fold(program_of(text)).region(style="readable")
    code = write_c([region])
    validation = validate_code([region], code, "f.c")
    assert validation.is_equal, validation
    return code.decode()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("float *t = malloc(w * h * sizeof *t);", "free(t);", "float *t = malloc({});"),
        ("float *t = (float *)malloc(4 * w * h); assert(t);", "free(t);", "float *t = (float *)malloc({}); "),
        (
            "float *t; if (!(t = malloc(4ul * w * h))) return 1;",
            "free(t), t = 0;",
            "if (!(t = malloc({}))) r",
        ),
        ("float *t = calloc(h, w * sizeof(*t));", "free(t);", "calloc(w, sizeof(float));"),
        ("float *t = alloca(w * h * sizeof(t[0]));", "", "float *t = alloca({});"),
        (
            "float *t = aligned_alloc(1 << 5, w * h * sizeof *t);",
            "free(t);",
            "aligned_alloc(1 << 5, ({} + (1 << 5) - 1) / (1 << 5) * (1 << 5));",
        ),
        (
            "float *t; int status = posix_memalign((void **)&t, 64, w * h * 4); if (status) return status;",
            "free(t);",
            "posix_memalign((void **)&t, 64, {});",
        ),
        (
            "size_t n = w * h; float *t = 0; if (w > 9) goto done; t = malloc(n * 4); if (!t) goto done;",
            "done: free(t);",
            "t = malloc({}); if (!t) goto done;",
        ),
        ("static float t[4096];", "", "float *t = malloc(sizeof(float[w]));"),
    ],
)
def test_allocations_get_the_new_size_where_they_are(before: str, after: str, expected: str) -> None:
    code = folded(TEXT % (before, after))
    assert expected.replace("{}", SIZE) in code


def test_pointers_to_rows_stay_pointers_to_rows_where_they_can() -> None:
    text = TEXT % ("float (*t)[w] = malloc(sizeof(float[h][w]));", "free(t);")
    text = re.sub(r"\bt\[y \* w \+ ([^]]*)\]", r"t[y][\1]", text)
    code = folded(text)
    assert f"float (*t)[w] = malloc({SIZE});" in code
    assert "float *t_cells = (float *)t;" in code
    code = folded(text.replace("= t[y][x]", "= t[y ? y - 1 : 0][x]"))
    assert "float (*t)[w] = malloc(sizeof(float) * (1LL * (h < 2 ? h : 2) * w));" in code
    assert "t[y % 2][x] = " in code


def test_a_few_cells_need_no_allocation() -> None:
    text = TEXT.replace("t[y * w + w - 1 - x]", "1").replace("t[y * w + x]", "t[0]")
    tests = "if (!t || !more) { free(t); free(more); return 1; }"
    code = folded(
        text % (f"float *more = malloc(4), *t = malloc(4 * w); {tests}", "if (t) free(t); free(more);")
    )
    assert "float *more = malloc(4);" in code
    assert "if (!more) {  free(more); return 1; }" in code
    assert "float t;" in code
    assert code.count("free(") == 2


def test_what_allocates_inside_of_the_region_is_taken_out_of_it() -> None:
    text = TEXT.replace("    %s\n#pragma scop", "#pragma scop\n    %s").replace(
        "#pragma endscop\n    %s", "    %s\n#pragma endscop"
    )
    code = folded(text % ("float *t = malloc(w * h * 4);\n    if (t == NULL) return 1;", "free(t);"))
    assert code.index("return 1;") < code.index("#pragma scop")
    assert code.index("#pragma endscop") < code.index("free(t)")


def test_zeros_of_calloc_that_are_read_keep_their_memory() -> None:
    text = TEXT.replace("x = 0", "x = 1")
    result = fold(program_of(text % ("float *t = calloc(w * h, 4);", "free(t);")))
    assert "read before it is written" in result.kept["t"]


def test_sizes_that_changed_since_the_allocation() -> None:
    result = fold(program_of(TEXT % ("float *t = malloc(4 * w * h); h /= 2;", "free(t);")))
    assert result.kept["t"].startswith("h may have another value where it is allocated in line")


@pytest.mark.parametrize("is_kept", [False, True])
def test_sizes_that_change_in_a_loop_around_the_allocation(is_kept: bool) -> None:
    before = "float *t = malloc(4 * w * h);" if not is_kept else "if (!t) t = malloc(4 * w * h);"
    text = TEXT.replace("y < h;", "y < h - k;")
    head = "float *t = 0; " * is_kept
    loop = f"{head}for (int k = 0; k < 3; k++) {{ {before}"
    program = program_of(text % (loop, "} " if is_kept else "free(t); }"))
    assert ("t" in program.kept) == is_kept


def test_static_arrays_of_a_file_go() -> None:
    regions = [fold(one).region(style="readable") for one in read_all(KERNELS / "allocated.c")]
    code = write_c(regions).decode()
    assert "static short scratch" not in code
    assert "static short kept_for_later[1024], *last" in code
    assert "short own[4];" in code


SIZES_OF_AN_IMAGE = """
#include <stdlib.h>
struct image { int width, stride; float *pixels; };
void f(struct image *image, float *restrict out)
{
    int w = image->width;
    float *row = malloc(w * sizeof *row);
    %s
#pragma scop
    for (int y = 0; y < 9; y++) {
        for (int x = 0; x < w; x++)
            row[x] = image->pixels[y * image->stride + x];
        for (int x = 0; x < w; x++)
            out[y * w + x] = row[x] * row[x];
    }
#pragma endscop
    free(row);
}
"""


@pytest.mark.parametrize(
    ("before", "is_kept"), [("", False), ("image->stride = 4;", True), ("out[0] = 1; abs(w);", True)]
)
def test_sizes_in_structures_that_others_may_change(before: str, is_kept: bool) -> None:
    (program,) = read_c("f.c", (SIZES_OF_AN_IMAGE % before).encode())
    assert ("row" in program.kept) is is_kept


def test_fields_that_locals_are_set_to_have_the_sizes_of_a_run() -> None:
    (program,) = read_c("f.c", (SIZES_OF_AN_IMAGE % "").encode())
    result = fold(program)
    report = run_both(result, result.to_c().encode(), params={"w": 30, "image_stride": 33}, sanitize=True)
    assert report.is_equal, str(report)
    assert report.first.sizes["w"] == 30


def test_a_single_cell_that_stays_allocated_keeps_iterations_in_order() -> None:
    """What lies in memory is no variable, of which every lane of a vector loop has its own."""
    text = """
#include <stdlib.h>
void f(int n, const int in[restrict n], int out[restrict n], int last[restrict n])
{
    int *t = malloc(sizeof(int) * n);
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = in[i];
        out[i] = in[n - 1 - i];
        last[n - 1 - i] = t[i];
    }
#pragma endscop
    free(t), t = NULL;
}
"""
    region = fold(program_of(text)).region(loops="generate")
    code = write_c([region])
    assert b"t[0] = in[" in code
    assert b"ivdep" not in code
    assert validate_code([region], code, "f.c").is_equal


@pytest.mark.parametrize(
    ("allocation", "before"),
    [
        ("malloc(sizeof(double) * 2 * m * (n + 1))", " : (sizeof(double) * 2 * m * (n + 1)));"),
        (
            "aligned_alloc(64, (sizeof(double) * 2 * m * (n + 1) + 63) / 64 * 64)",
            " : ((sizeof(double) * 2 * m * (n + 1) + 63) / 64 * 64));",
        ),
        ("calloc(m * (n + 1), 2 * sizeof(double))", " : (2 * sizeof(double)));"),
    ],
)
def test_loops_as_written_have_what_the_text_allocates(allocation: str, before: str) -> None:
    """Where the fold would be larger than what is seen of the old size, old loops run in the old memory."""
    text = f"""
#include <stdlib.h>
void f(int n, int m, const double in[restrict m][n], double out[restrict m][n])
{{
    double (*b)[m][n + 1] = {allocation};
#pragma scop
    for (int j = 0; j < m && j < 50; j++)
        for (int k = 0; k < n; k++)
            b[1][j][k] = in[j][k];
    for (int j = 0; j < m && j < 50; j++)
        for (int k = 0; k < n; k++)
            out[j][k] = b[1][j][n - 1 - k];
#pragma endscop
    free(b);
}}
"""
    code = folded(text)
    assert "} else { /* folded it would take more memory here */" in code
    assert before in code
