"""Buffers of tiles: sizes, values through copies, code that runs, threads with a buffer each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from arrayfold import read
from arrayfold.base.errors import InputError
from arrayfold.exact.isl import maps_of, points
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.partition import taken_names, with_parts
from arrayfold.passes.reorder import reorder
from arrayfold.passes.tile_buffers import plan_buffer
from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from support.runs import run_both

Cell = tuple[str, tuple[int, ...]]

ROOT = Path(__file__).parent.parent


def with_buffer(program: Program, loops: int, name: str) -> Program:
    """The same program in which an array has a buffer inside of the first loops."""
    return with_parts(program, [plan_buffer(program, loops, name, taken_names(program))])


PARALLELOGRAMS = (ROOT / "benchmarks/kernels/parallelogram-tiles.c").read_text().replace("TILE 8", "TILE 4")

ROWS = """
void rows(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double tmp[N][N];
#pragma scop
#pragma omp parallel for
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++)
            tmp[y][x] = in[y][x] * 0.5;
        for (int x = 1; x < N; x++)
            out[y][x] = tmp[y][x] + tmp[y][x - 1];
    }
#pragma endscop
}
"""

STAGES = """
void stages(int N, const double in[restrict N + 2][N], double out[restrict N][N])
{
    double a[N][N];
#pragma scop
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            a[y][x] = in[y][x] + in[y + 1][x] + in[y + 2][x];
    for (int y = 0; y < N; y++)
        for (int x = 2; x < N; x++)
            out[y][x] = a[y][x] + a[y][x - 1] + a[y][x - 2];
#pragma endscop
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def blur() -> Program:
    program = read(str(ROOT / "examples/blur-tiled.c"))
    assert isinstance(program, Program)
    return program


def sizes_of(result: FoldResult) -> dict[str, str]:
    return {array.name: str(array.size) for array in result}


def test_blur_has_a_row_of_a_tile_and_two_cells_of_each_column() -> None:
    result = fold(blur(), local=2)
    assert sizes_of(result) == {"blurx_tile": "10", "blurx_border": "2*N"}
    assert str(result["blurx_tile"].mapping) == "blurx_tile[t0, t1, x, y] -> [(y + 2 - t0) mod 10]"
    code = result.to_c()
    inner = [line for line in code.splitlines() if "blurx_tile[c" in line]
    assert inner
    assert not any("%" in line for line in inner)


RUNS: list[tuple[str, dict[str, int]]] = [
    *(("blur", {"N": n}) for n in (1, 2, 7, 8, 9, 10, 23)),
    *(("parallelograms", {"N": n, "T": t}) for n, t in ((3, 1), (9, 4), (17, 5), (40, 13), (31, 15))),
    *(("rows", {"N": n}) for n in (1, 2, 20)),
    *(("tiled by us", {"N": n}) for n in (2, 8, 21)),
]


@pytest.mark.xdist_group("tiles: parallelograms")
def test_a_parallelogram_has_two_rows() -> None:
    result = folded("parallelograms")
    mapping = str(result["A_tile"].mapping)
    assert mapping == "A_tile[t0, t1, t2, t, i] -> [t mod 2, (t + i + 2 - t2) mod 6]"


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
@pytest.mark.parametrize("style", ["fast", "readable"])
@pytest.mark.parametrize(
    ("name", "params"),
    # The tests of a program run in one process, which folds it once.
    [pytest.param(name, params, marks=pytest.mark.xdist_group(f"tiles: {name}")) for name, params in RUNS],
)
def test_code_runs(name: str, params: dict[str, int], style: str) -> None:
    result, code = folded(name), code_of(name, style)
    report = run_both(result, code.encode(), params=params, sanitize=True)
    assert report.is_equal, code


@cache
def folded(name: str) -> FoldResult:
    if name == "tiled by us":
        program = reorder(program_of(STAGES), fuse="cells", tile=(8, 8))
    else:
        program = blur() if name == "blur" else program_of(PARALLELOGRAMS if name[0] == "p" else ROWS)
    return fold(program, local=1 if name == "rows" else 2)


@cache
def code_of(name: str, style: str) -> str:
    return folded(name).to_c(style="fast" if style == "fast" else "readable")


def test_threads_have_a_buffer_each() -> None:
    result = fold(program_of(ROWS), local=1)
    assert sizes_of(result) == {"tmp_tile": "N"}
    lines = [line.strip() for line in result.to_c().splitlines()]
    pragma = lines.index("#pragma omp parallel for")
    assert lines[pragma + 1].startswith("for (int c0")
    assert any("malloc" in line for line in lines[pragma + 2 :])
    assert not any("malloc" in line for line in lines[:pragma])


def pairs(relation: isl.Map) -> list[tuple[int, ...]]:
    """All pairs, input and output one after the other."""
    return points(relation.wrap().flatten())


def results(program: Program, size: int) -> dict[Cell, object]:
    """What is in memory after the program, where every value is the history that made it; copies leave it."""
    here = isl.Set(f"[N] -> {{ : N = {size} }}")
    assert program.schedule is not None
    runs: list[tuple[tuple[int, ...], str, tuple[int, ...]]] = []
    touched: dict[object, list[tuple[bool, Cell]]] = {}
    for statement in program.statements:
        rank = statement.domain.dim(isl.dim_type.set)
        for access in statement.accesses:
            for point in pairs(access.relation.intersect_params(here)):
                cell = (access.array, point[rank:])
                touched.setdefault((statement.name, point[:rank]), []).append((access.is_write, cell))
        for part in maps_of(program.schedule.intersect_params(here)):
            if part.get_tuple_name(isl.dim_type.in_) == statement.name:
                runs += [(point[rank:], statement.name, point[:rank]) for point in pairs(part)]
    memory: dict[Cell, object] = {}
    for _, name, iteration in sorted(runs):
        accesses = touched.get((name, iteration), [])
        values = [memory.get(cell, cell) for is_write, cell in accesses if not is_write]
        for is_write, cell in accesses:
            if is_write:
                memory[cell] = values[0] if name.startswith("blurx_") else (name, iteration, tuple(values))
    return memory


@pytest.mark.parametrize("size", [3, 9, 17])
def test_copies_keep_values_by_enumeration(size: int) -> None:
    program = blur()
    before, after = results(program, size), results(with_buffer(program, 2, "blurx"), size)
    outputs = {cell: value for cell, value in before.items() if cell[0] == "out"}
    assert outputs
    assert outputs == {cell: value for cell, value in after.items() if cell[0] == "out"}


@pytest.mark.parametrize(
    ("loops", "message"),
    [(0, "at least one loop"), (4, "not accessed inside of more than 4 loops")],
)
def test_refusals(loops: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fold(blur(), local=loops, arrays=["blurx"])


SHAPES = """
void shapes(int N, const double in[restrict 2 * N][2 * N], double out[restrict N][N], double sum[restrict 1])
{
    double A[N][N], B[N][2 * N];
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            A[i][j] = in[i][j];
        for (int j = 1; j < N; j++)
            out[i][j] = A[i][j] + A[i][j - 1];
    }
    for (int i = 0; i < N; i++) {
        for (int j = i; j < i + N; j++)
            B[i][j] = in[i][j];
        for (int j = i + 1; j < i + N; j++)
            sum[0] += B[i][j] * B[i][j - 1];
    }
#pragma endscop
}
"""


def test_loops_of_different_shape_have_no_buffers_at_once() -> None:
    """A parallel loop and a sequential one are different dimensions of the schedule."""
    program = program_of(SHAPES)
    result = fold(program, local=1)
    assert [array.name for array in result] == ["B_tile", "A"]
    assert run_both(result, result.to_c().encode(), params={"N": 7}, sanitize=True).is_equal
    for name in ("A", "B"):
        alone = fold(program, local=1, arrays=[name])
        assert run_both(alone, alone.to_c().encode(), params={"N": 7}, sanitize=True).is_equal
    with pytest.raises(InputError, match="A and B are accessed in loops of different shape"):
        fold(program, local=1, arrays=["A", "B"])


def test_a_buffer_has_a_lower_bound() -> None:
    """Two cells of the tile before and the eight of its own; without a tile before, these alone."""
    array = fold(blur(), local=2)["blurx_tile"]
    assert str(array.lower_bound.formula) == str(array.size) == "10"
    assert [array.lower_bound.at({"N": size}) for size in (8, 16, 17)] == [8, 10, 10]


def test_a_fused_and_tiled_program_keeps_the_columns_of_one_tile() -> None:
    result = folded("tiled by us")
    assert sizes_of(result) == {"a_tile": "10", "a_border": "16"}


def test_conditions_are_read_where_the_buffer_is() -> None:
    text = ROWS.replace("#pragma omp parallel for\n", "").replace(
        "            out[y][x] =", "            if (tmp[y][0] > 0.25)\n                out[y][x] ="
    )
    assert "if (tmp" in text
    result = fold(program_of(text), local=1, arrays=["tmp"])
    code = result.to_c()
    assert "if (tmp_tile" in code
    assert run_both(result, code.encode(), params={"N": 9}, sanitize=True).is_equal


def test_an_array_that_may_not_be_written_has_no_buffer() -> None:
    text = ROWS.replace("            tmp[y][x] =", "            if (in[y][0] > 0.25) tmp[y][x] =")
    assert "if (in" in text
    with pytest.raises(InputError, match="may or may not write tmp"):
        with_buffer(program_of(text), 1, "tmp")


def test_cells_of_one_iteration_need_no_buffer_unless_threads_share_them() -> None:
    text = ROWS.replace(
        "        for (int x = 1; x < N; x++)\n            out[y][x] = tmp[y][x] + tmp[y][x - 1];\n", ""
    ).replace("tmp[y][x] = in[y][x] * 0.5;", "{ tmp[y][x] = in[y][x] * 0.5; out[y][x] = tmp[y][x]; }")
    assert sizes_of(fold(program_of(text), local=1)) == {"tmp_tile": "1"}
    alone = text.replace("#pragma omp parallel for\n", "")
    with pytest.raises(InputError, match="no array can have a buffer"):
        fold(program_of(alone), local=1)


INNER_THREADS = """
void f(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double a[N][N];
#pragma scop
    for (int y = 0; y < N; y++) {
#pragma omp parallel for
        for (int x = 0; x < N; x++) {
            a[y][x] = in[y][x] * 2;
            out[y][x] = a[y][x] + 1;
        }
    }
#pragma endscop
}
"""


def test_threads_inside_of_a_tile_share_its_buffer() -> None:
    """One cell is live at a time in each thread, and the buffer is for all of them."""
    result = fold(program_of(INNER_THREADS), local=1)
    assert sizes_of(result) == {"a_tile": "N"}


def test_flat_arrays_have_no_buffers() -> None:
    text = """
void f(int n, int m, const int *restrict in, int *restrict out)
{
    int t[n * m];
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[i * m + j] = in[i * m + j];
        for (int j = 0; j < m; j++)
            out[i * m + j] = t[i * m + m - 1 - j];
    }
#pragma endscop
}
"""
    with pytest.raises(InputError, match="no array can have a buffer"):
        fold(program_of(text), local=1)
    with pytest.raises(InputError, match="t is a flat array"):
        fold(program_of(text), local=1, arrays=["t"])
