"""What generated code must never do: read variables before they are set, capture names, take more memory."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arrayfold import fold, fold_shared, read, read_all, reorder
from arrayfold.base.budget import Budget
from arrayfold.codegen import FoldedRegion, StorageFold, allocated_cells, write_c
from arrayfold.exact.formula import Formula
from arrayfold.fold.result import FoldResult
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.reallocation import reallocate
from arrayfold.program.model import Program
from support.runs import run_both

FLAGS = ("-O1", "-g", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SIZES = range(1, 12)
STYLES: list[dict[str, Any]] = [
    {},
    {"loops": "generate"},
    {"style": "readable"},
    {"slack": 0},
    {"loops": "generate", "style": "readable"},
]


def region_of(text: str, folder: Path, *, fuse: bool = False, **how: Any) -> FoldedRegion:
    file = folder / "kernel.c"
    file.write_text(text)
    (program,) = read_all(str(file))
    assert isinstance(program, Program)
    if fuse:
        program = reorder(program, fuse="cells", budget=Budget(30.0))
    return fold(program, budget=30.0).region(**how)


def outputs(code: bytes, folder: Path, name: str) -> list[str]:
    """What a program prints at all sizes, under sanitizers."""
    file, executable = folder / f"{name}.c", folder / name
    file.write_bytes(code)
    done = subprocess.run(
        ["gcc", *FLAGS, str(file), "-o", str(executable)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed: list[str] = []
    for size in SIZES:
        ran = subprocess.run([str(executable), str(size)], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        printed.append(ran.stdout)
    return printed


def whole(kernel: str, before: str = "") -> str:
    """A file with a kernel `void k(int n, const int in[n][n], int out[n][n])` and a main program."""
    return f"""#include <stdio.h>
#include <stdlib.h>
{before}
{kernel}
int main(int count, char **values)
{{
    int n = atoi(values[1]);
    int in[n][n], out[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            in[i][j] = 31 * i + 17 * j + 5;
            out[i][j] = -1;
        }}
    k(n, in, out);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            printf("%d ", out[i][j]);
    return 0;
}}
"""


HEAD = "void k(int n, const int in[restrict n][n], int out[restrict n][n])"
LOCALS = {
    "local": f"""{HEAD}
{{
    int t[n][n + 4];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            int next = j + 1;
            t[i][next] = in[i][j];
            if (j >= 2)
                out[i][j] = t[i][next] + t[i][next - 2];
        }}
#pragma endscop
}}""",
    "constant": f"""{HEAD}
{{
    int t[n + 8][n + 4];
#pragma scop
    for (int i = 0; i < n; i++) {{
        const int row = i + 3;
        for (int j = 0; j < n; j++) {{
            const int low = j + 2, high = low + 1;
            t[row][low] = in[i][j];
            if (i >= 1)
                out[i][j] = t[row][high - 1] - t[row - 1][low];
        }}
    }}
#pragma endscop
}}""",
    "in a branch": f"""#define AT q
{HEAD}
{{
    int t[n][n + 4];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            t[i][j] = in[i][j];
            if (j >= 3) {{
                int q = j - 3;
                out[i][j] = t[i][AT] + t[i][q + 1];
            }}
        }}
#pragma endscop
}}""",
}


@pytest.mark.parametrize("how", STYLES, ids=str)
@pytest.mark.parametrize("name", LOCALS)
def test_subscripts_are_evaluated_where_their_variables_are_set(
    name: str, how: dict[str, Any], tmp_path: Path
) -> None:
    text = whole(LOCALS[name])
    region = region_of(text, tmp_path, **how)
    assert [fold.mapping.array for fold in region.folds] == ["t"]
    folded = outputs(write_c([region]), tmp_path, "folded")
    assert folded == outputs(text.encode(), tmp_path, "original")


SUM = f"""{HEAD}
{{
    int t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            t[i][j] = in[i][j] + EXTRA;
            if (i >= 2)
                out[i][j] = t[i - 2][j] + t[i - 1][j] + t[i][j];
        }}
#pragma endscop
}}"""
CAPTURES = {
    "a header": ("static int c0 = 3, c1 = 5, t_0 = 7;\n#define EXTRA (c0 + c1 * t_0)\n", ""),
    "pasted": ("", "#define PASTE(a, b) a##b\nstatic int PASTE(c, 1) = 9;\n#define EXTRA PASTE(c, 1)\n"),
    "an argument": ("", "static int c1 = 4;\n#define TWO(x) (2 * (x) + 1)\n#define EXTRA TWO(c1)\n"),
}  # fmt: skip


@pytest.mark.parametrize("how", STYLES[:2], ids=str)
@pytest.mark.parametrize("name", CAPTURES)
def test_new_names_are_free_after_preprocessing(name: str, how: dict[str, Any], tmp_path: Path) -> None:
    header, before = CAPTURES[name]
    (tmp_path / "values.h").write_text(header)
    text = whole(SUM, f'#include "values.h"\n{before}')
    folded = outputs(write_c([region_of(text, tmp_path, **how)]), tmp_path, "folded")
    assert folded == outputs(text.encode(), tmp_path, "original")


GROWING = {
    "slack": (SUM.replace("EXTRA", "1"), lambda n: n * n),
    "rows of whole lines": (
        f"""{HEAD}
{{
    int t[n + 1][n + 1];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[n - 1 - i][j];
#pragma endscop
}}""",
        lambda n: (n + 1) * (n + 1),
    ),
    "a constant extent": (
        f"""{HEAD}
{{
    int t[40];
#pragma scop
    for (int i = 0; i < n; i++) {{
        for (int j = 0; j < n; j++)
            t[j + 1] = in[i][j];
        for (int j = 0; j < n; j++)
            out[i][j] = t[j + 1] + t[n - j];
    }}
#pragma endscop
}}""",
        lambda _: 40,
    ),
    "a steep row": (
        f"""{HEAD}
{{
    int t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            t[i][j] = in[i][j];
            if (i >= 1 && j >= 2)
                out[i][j] = t[i - 1][j - 2] + t[i][j];
        }}
#pragma endscop
}}""",
        lambda n: n * n,
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", STYLES[:2], ids=str)
@pytest.mark.parametrize("name", GROWING)
def test_no_array_takes_more_memory_than_before(name: str, how: dict[str, Any], tmp_path: Path) -> None:
    kernel, before = GROWING[name]
    text = whole(kernel)
    region = region_of(text, tmp_path, **how)
    for n in [*SIZES, 20, 33, 39]:
        cells = allocated_cells(region, {"n": n})["t"]
        assert 0 < cells <= max(before(n), 16)
    folded = outputs(write_c([region]), tmp_path, "folded")
    assert folded == outputs(text.encode(), tmp_path, "original")


def test_sizes_do_not_overflow_where_no_loop_runs(tmp_path: Path) -> None:
    text = """#include <stdio.h>
void k(int lo, int hi, const int in[restrict 64], int out[restrict 64])
{
    int t[64];
#pragma scop
    for (int i = lo; i < hi; i++)
        t[i] = in[i];
    for (int i = lo; i < hi; i++)
        out[i] = t[i] + 1;
#pragma endscop
}
int main(void)
{
    int in[64] = {1, 2, 3}, out[64] = {0};
    k(2, 20, in, out);
    k(1700000000, -1700000000, in, out);
    k(-1700000000, -2000000000, in, out);
    for (int i = 0; i < 64; i++)
        printf("%d ", out[i]);
    return 0;
}
"""
    for how in STYLES[:2]:
        folded = outputs(write_c([region_of(text, tmp_path, **how)]), tmp_path, "folded")
        assert folded == outputs(text.encode(), tmp_path, "original")


def test_where_a_fold_may_grow_the_loops_as_written_run(tmp_path: Path) -> None:
    """(i - 16*s) mod (9*n + 16): at n = 1 that is 25 cells, and there were 18."""
    text = whole(
        f"""{HEAD}
{{
    int t[2][9 * n];
#pragma scop
    for (int i = 0; i < 9 * n; i++)
        t[0][i] = in[0][0] + i;
    for (int i = 0; i < 9 * n; i++)
        t[1][i] = t[0][i] + 3;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[1][9 * i] + j;
#pragma endscop
}}"""
    )
    program = region_of(text, tmp_path).program
    entries = (Formula.constant(-16), Formula.constant(1))
    steep = ModularMapping("t", ("s", "i"), (entries,), (Formula.constant(0),), (Formula.name("n") * 9 + 16,))
    region = FoldedRegion(program, (StorageFold(steep, "as given"),), loops="keep")
    code = write_c([region])
    assert b"if (9LL * n + 16 <= 18LL * n) {" in code
    assert code.count(b"int t[2]") == 1
    assert [allocated_cells(region, {"n": n})["t"] for n in (1, 2, 3)] == [18, 34, 43]
    assert outputs(code, tmp_path, "folded") == outputs(text.encode(), tmp_path, "original")


TOGETHER: dict[str, tuple[str, Callable[[Program], FoldResult], Callable[[int], int]]] = {
    "slack of a common array": (
        f"""{HEAD}
{{
    int a[n + 1][n + 1], c[n + 1][2 * n + 1];
#pragma scop
    for (int i = 4; i < n; i++)
        for (int j = 2; j < n - 1; j++)
            a[i][j] = i * 3 + j;
    for (int i = 4; i < n; i++)
        for (int j = 2; j < n - 1; j++)
            out[i][j] = a[n + 3 - i][j] + in[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2 * n - 6; j++)
            c[i][j] = i - j;
    for (int i = 0; i < n - 2; i++)
        for (int j = 0; j < 2 * n - 6; j += 2)
            out[i][j / 2] += c[i + 2][2 * n - 7 - j];
#pragma endscop
}}""",
        lambda program: fold_shared(program, "cells", budget=30.0),
        lambda n: (n + 1) * (n + 1) + (n + 1) * (2 * n + 1),
    ),
    "rows of whole lines of a common array": (
        f"""{HEAD}
{{
    int a[n + 1][n + 1], d[7];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = in[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = a[n - 1 - i][j];
    for (int j = 0; j < 7; j++)
        d[j] = out[0][0] + j;
    for (int j = 0; j < 7; j++)
        out[0][0] += d[6 - j];
#pragma endscop
}}""",
        lambda program: fold_shared(program, "cells", budget=30.0),
        lambda n: (n + 1) * (n + 1) + 7,
    ),
    "begin of a line of a common array": (
        f"""{HEAD}
{{
    int t[n + 1], u[n + 1];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = in[0][i];
    for (int i = 0; i < n; i++)
        u[i] = t[i] + 1;
    for (int i = 0; i < n; i++)
        out[0][i] = u[i] - i;
#pragma endscop
}}""",
        lambda program: fold_shared(program, "cells", budget=30.0),
        lambda n: 2 * n + 2,
    ),
    "values of arrays of constant extents": (
        f"""{HEAD}
{{
    int t[34][36], u[34][35];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u[i][n - j] = t[n - 1 - i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = u[i][j + 1] + t[i][j];
#pragma endscop
}}""",
        lambda program: fold_shared(reallocate(program), "none", budget=30.0),
        lambda _: 34 * 36 + 34 * 35,
    ),
    "buffers of tiles": (
        f"""{HEAD}
{{
    int t[n][n];
#pragma scop
    for (int i = 0; i < n; i++) {{
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j];
        for (int j = 0; j < n; j++)
            out[i][j] = t[i][n - 1 - j] + (i > 4 ? t[i - 5][j] : 0);
    }}
#pragma endscop
}}""",
        lambda program: fold(program, local=1, budget=30.0),
        lambda n: n * n,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_arrays_that_replace_others_together_take_no_more_memory(name: str, tmp_path: Path) -> None:
    kernel, folded_by, before = TOGETHER[name]
    text = whole(kernel)
    result = folded_by(region_of(text, tmp_path).program)
    region = result.region()
    assert not result.growth
    for n in [*SIZES, 20, 33]:
        assert sum(allocated_cells(region, {"n": n}).values()) <= before(n) + 16
    folded = outputs(write_c([region]), tmp_path, "folded")
    assert folded == outputs(text.encode(), tmp_path, "original")


def test_where_buffers_of_tiles_would_grow_the_loops_as_written_run(tmp_path: Path) -> None:
    kernel, folded_by, before = TOGETHER["buffers of tiles"]
    region = folded_by(region_of(whole(kernel), tmp_path).program).region()
    assert b"folded it would take more memory here" in write_c([region])
    assert [sum(allocated_cells(region, {"n": n}).values()) - before(n) for n in (3, 4)] == [0, 0]
    assert sum(allocated_cells(region, {"n": 40}).values()) < before(40) / 3


def test_it_is_said_where_buffers_take_more_memory(tmp_path: Path) -> None:
    kernel = f"""{HEAD}
{{
    int t[n + 2][n + 2];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[i][j] + t[j][i];
#pragma endscop
}}"""
    result = fold(region_of(whole(kernel), tmp_path).program, local=1, budget=30.0)
    (words,) = result.growth
    assert words.startswith("larger than before for n >= 4: ")
    assert words.endswith(" cells instead of n^2 + 4*n + 4")
    region = result.region()
    now = {n: sum(allocated_cells(region, {"n": n}).values()) for n in range(1, 20)}
    assert [n for n, cells in now.items() if cells > (n + 2) * (n + 2)] == [*range(4, 20)]


def test_values_of_arrays_take_little_where_no_loop_runs(tmp_path: Path) -> None:
    """With n = -1 and m as large as can be, an array of m cells would not fit into memory."""
    text = """#include <limits.h>
#include <stdio.h>
void k(int n, int m, const int in[restrict 20][17], int out[restrict 20][17])
{
    int t[20][17];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i][j] = in[i][j] / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = t[i][j] + 1;
#pragma endscop
}
int main(void)
{
    static int in[20][17] = {{1, 2, 3}}, out[20][17];
    k(-1, INT_MAX, in, out);
    k(-INT_MAX, INT_MAX, in, out);
    k(20, 17, in, out);
    for (int i = 0; i < 20; i++)
        printf("%d ", out[i][i % 17]);
    return 0;
}
"""
    result = fold_shared(reallocate(region_of(text, tmp_path).program), "none", budget=30.0)
    region = result.region()
    for n, m in ((20, 17), (1, 3), (-1, 2**31 - 1), (1 - 2**31, 2**31 - 1)):
        assert sum(allocated_cells(region, {"n": n, "m": m}).values()) <= 20 * 17
    assert outputs(write_c([region]), tmp_path, "folded") == outputs(text.encode(), tmp_path, "original")


def test_declarations_spell_types_as_the_source_does(tmp_path: Path) -> None:
    text = """#define DATA_TYPE double
#define LOCAL static
typedef float real;
typedef real pair[2];
void k(int n, const double in[restrict n], double out[restrict n])
{
    DATA_TYPE a[n], b[n];
    const real *unused = 0;
    real c[n];
    pair d[n];
    unsigned long int e[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = in[i];
        b[i] = a[i];
        c[i] = b[i];
        d[i][0] = c[i];
        e[i] = d[i][0];
        if (i >= 1)
            out[i] = a[i - 1] + b[i - 1] + c[i - 1] + d[i - 1][0] + e[i - 1];
    }
#pragma endscop
}
"""
    code = write_c([region_of(text, tmp_path, style="readable")]).decode()
    declared = re.findall(r"^\s+([a-zA-Z_ ]+) ([a-e])\[2\]", code, re.MULTILINE)
    assert {name: kind for kind, name in declared} == {
        "a": "DATA_TYPE",
        "b": "DATA_TYPE",
        "c": "real",
        "d": "float",
        "e": "unsigned long",
    }


# ---------------------------------------------------------------- sizes at the ends of their types

BETWEEN = """\
void between(int lo, int hi, const int in[restrict 64], int out[restrict 64])
{
    int t[64];
#pragma scop
    for (int i = FIRST)
        t[i] = in[i];
    for (int i = FIRST)
        out[i] = t[i] + 1;
#pragma endscop
}
"""


@pytest.mark.parametrize("loop", ["lo; i < hi; i++", "hi; i >= lo; i--"])
@pytest.mark.parametrize("order", [{}, {"parallel": True}, {"tile": (8,)}, {"fuse": "cells"}], ids=str)
def test_no_bound_of_a_loop_that_does_not_run_overflows(
    loop: str, order: dict[str, object], tmp_path: Path
) -> None:
    """From the largest int to the least, as for an empty box, no loop runs."""
    file = tmp_path / "kernel.c"
    file.write_text(BETWEEN.replace("FIRST", loop))
    program = read(file)
    assert isinstance(program, Program)
    if order:
        program = reorder(program, **order)  # type: ignore[arg-type]
    result = fold(program)
    code = result.to_c(loops="generate").encode()
    for lo, hi in ((3, 9), (2**31 - 1, -(2**31)), (1_700_000_000, -1_700_000_000), (0, -(2**31))):
        report = run_both(result, code, params={"lo": lo, "hi": hi}, sanitize=True)
        assert report.is_equal, str(report)
