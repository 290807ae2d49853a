"""Stages fused row by row: shifts, rates, what stays apart; all orders are checked against dependences."""

from __future__ import annotations

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.cli.main import with_bare_options
from arrayfold.exact.isl import fix_parameters
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.c.read import read_c
from arrayfold.order.dependences import find_violation, memory_dependences
from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.sized_program import SizedProgram
from arrayfold.passes.reorder import Reorder, reorder
from arrayfold.program.model import Program

FUNCTION = """
void f(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{{
  float a[h][w], b[h][w], c[h][w];
#pragma scop
{body}
#pragma endscop
}}
"""
ALL = "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) "
INNER = "for (int y = 1; y < h - 1; y++) for (int x = 1; x < w - 1; x++) "


def program_of(body: str) -> Program:
    (program,) = read_c("f.c", FUNCTION.format(body=body).encode())
    return program


def fused(program: Program) -> Program:
    found = reorder(program, fuse="rows")
    assert find_violation(found, memory_dependences(program)) is None
    return found


def at_size(schedule: str, program: Program, sizes: dict[str, int]) -> bool:
    """Whether the program runs in an order that is written without domains."""
    assert program.schedule is not None
    wanted = isl.UnionMap(schedule).intersect_domain(program.domain())
    here = fix_parameters(sizes)
    return bool(program.schedule.intersect_params(here).is_equal(wanted.intersect_params(here)))


SIZES = {"h": 9, "w": 7}


def test_a_stage_that_reads_the_next_row_runs_one_row_later() -> None:
    body = ALL + "a[y][x] = in[y][x];\n" + INNER + "out[y][x] = a[y - 1][x] + a[y + 1][x + 1];"
    found = fused(program_of(body))
    assert at_size("{ S_0[y, x] -> [y, 0, x]; S_1[y, x] -> [y + 1, 1, x] }", found, SIZES)
    assert fold(found)["a"].size.at(SIZES) == 3 * (SIZES["w"] - 1)


def test_shifts_are_as_late_as_that_shortens_lifetimes() -> None:
    """Only the last stage reads `b`, which need not be computed when `a` is."""
    body = ALL + "a[y][x] = in[y][x];\n" + ALL + "b[y][x] = 2 * in[y][x];\n"
    body += INNER + "c[y][x] = a[y + 1][x];\n"
    body += (
        "for (int y = 2; y < h - 2; y++) for (int x = 1; x < w - 1; x++) out[y][x] = c[y + 1][x] + b[y][x];"
    )
    found = fused(program_of(body))
    assert at_size(
        "{ S_0[y, x] -> [y, 0, x]; S_1[y, x] -> [y + 2, 1, x];"
        " S_2[y, x] -> [y + 1, 2, x]; S_3[y, x] -> [y + 2, 3, x] }",
        found,
        SIZES,
    )


def test_a_stage_that_needs_every_second_row_runs_half_as_often() -> None:
    body = ALL + "a[y][x] = in[y][x];\n"
    body += "for (int y = 0; 2 * y + 1 < h; y++) for (int x = 0; x < w; x++) "
    body += "out[y][x] = a[2 * y][x] + a[2 * y + 1][x];"
    found = fused(program_of(body))
    assert at_size("{ S_0[y, x] -> [y, 0, x]; S_1[y, x] -> [2*y + 1, 1, x] }", found, SIZES)
    assert fold(found)["a"].size.at(SIZES) == 2 * SIZES["w"]


def test_a_stage_that_needs_all_of_another_one_stays_behind_it() -> None:
    body = ALL + "a[y][x] = in[y][x];\n" + ALL + "out[y][x] = a[h - 1 - y][x];"
    program = program_of(body)
    assert fused(program).schedule == program.schedule


def test_what_nobody_needs_at_once_may_come_before() -> None:
    """Rows of E and G go together, and all of F comes before."""
    found = fused(read("examples/three-mm.c"))  # type: ignore[arg-type]
    sizes = {array.name: str(array.size) for array in fold(found)}
    assert sizes == {"E": "N", "F": "N^2"}


def test_a_small_fixed_height_does_not_hide_that_all_rows_are_needed() -> None:
    rows = "for (int y = 0; y < 6; y++) for (int x = 0; x < w; x++) "
    program = program_of(rows + "a[y][x] = in[y][x];\n" + rows + "out[y][x] = a[5 - y][x];")
    assert at_size("{ S_0[y, x] -> [0, y, x]; S_1[y, x] -> [1, y, x] }", fused(program), SIZES)


def test_colours_are_no_rows() -> None:
    """An innermost loop of three iterations is not what a stage keeps: columns are not fused."""
    text = """
void f(int h, int w, const float in[restrict h][w][3], float out[restrict h][w][3])
{
  float a[h][w][3];
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)
    for (int c = 0; c < 3; c++) a[y][x][c] = in[y][x][c];
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)
    for (int c = 0; c < 3; c++) out[y][x][c] = a[y][x][2 - c];
#pragma endscop
}
"""
    (program,) = read_c("f.c", text.encode())
    found = fused(program)
    assert at_size("{ S_0[y, x, c] -> [y, 0, x, c]; S_1[y, x, c] -> [y, 1, x, c] }", found, SIZES)


def test_single_loops_become_one_where_values_stay_in_their_iterations() -> None:
    text = """
void f(int n, const float in[restrict n], float out[restrict n])
{{
  float a[n];
#pragma scop
  for (int i = 0; i < n; i++) a[i] = in[i];
  for (int i = 1; i < n; i++) out[i] = a[i - {back}];
#pragma endscop
}}
"""
    found = {back: fused(read_c("f.c", text.format(back=back).encode())[0]) for back in (0, 1)}
    assert str(fold(found[0])["a"].size) == "1"
    assert at_size("{ S_0[i] -> [0, i]; S_1[i] -> [1, i] }", found[1], {"n": 5})


def test_stages_share_innermost_loops_where_values_stay_in_iterations() -> None:
    """`b` is used where it is made; `a` is read beside that, too, and `c` by a stage that is shifted."""
    body = ALL + "a[y][x] = in[y][x];\n" + INNER + "b[y][x] = a[y][x - 1] + a[y][x + 1];\n"
    body += INNER + "c[y][x] = b[y][x] * in[y][x];\n"
    body += "for (int y = 2; y < h - 2; y++) for (int x = 1; x < w - 1; x++)\n"
    program = program_of(body + "out[y][x] = c[y - 1][x] + c[y + 1][x];")
    sized = SizedProgram.of(program, SIZES)
    found = program.in_order(RowFusion(points=True).schedule(program, sized.must_keep, sized.flows), {})
    assert find_violation(found, sized.dependences) is None
    wanted = "{ S_0[y, x] -> [y, 0, x, 0]; S_1[y, x] -> [y, 1, x, 0]; S_2[y, x] -> [y, 1, x, 1];"
    assert at_size(f"{wanted} S_3[y, x] -> [y + 1, 2, x, 0] }}", found, SIZES)
    assert fold(found)["b"].size.at(SIZES) == 1


def test_stages_inside_of_time_steps_are_fused_there() -> None:
    text = """
void f(int t, int n, double a[restrict n][n])
{
  double b[n][n];
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j];
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) a[i][j] = b[i][j];
  }
#pragma endscop
}
"""
    (program,) = read_c("f.c", text.encode())
    found = fused(program)
    assert at_size(
        "{ S_0[k, i, j] -> [k, i, 0, j]; S_1[k, i, j] -> [k, i + 1, 1, j] }", found, {"t": 3, "n": 6}
    )


@pytest.mark.parametrize(("extent", "counter"), [("3*n + 4", "int"), ("n + 4", "long long")])
def test_counters_are_as_wide_as_arrays_that_exist_can_need(extent: str, counter: str) -> None:
    """3n is no int for every n, but it is one where two extents of an array in memory are 3n."""
    (program,) = read_c(
        "level.c",
        f"""void level(int n, const float in[restrict {extent}][{extent}], float out[restrict n / 4 + 1][n])
{{
  float rows[n + 4][n];
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) rows[y][x] = in[y][x];
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) out[0][x] = rows[y][x];
#pragma endscop
}}""".encode(),
    )
    stretched = reorder(program, schedule="S_0[y, x] -> [2y, 0, x]; S_1[y, x] -> [3y + 1, 0, x]")
    assert f"for ({counter} c0 = " in fold(stretched).to_c()


def test_one_statement_and_none_stay_as_they_are() -> None:
    program = program_of(ALL + "out[y][x] = in[y][x];")
    assert fused(program).schedule == program.schedule
    never = program_of("for (int y = 5; y < 5; y++) out[y][y] = in[y][y];")
    assert reorder(never, fuse="rows").statements == never.statements


def test_true_means_rows_and_other_words_are_refused() -> None:
    program = program_of(ALL + "a[y][x] = in[y][x];\n" + ALL + "out[y][x] = a[y][x];")
    assert reorder(program, fuse=True).schedule == fused(program).schedule
    assert reorder(program, fuse=False) is program
    assert Reorder(fuse="rows").options() == ["--fuse", "rows"]
    with pytest.raises(InputError, match="it is rows or cells"):
        Reorder(fuse="lines")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["fold", "--fuse", "a.c"], ["fold", "--fuse=rows", "a.c"]),
        (["fold", "a.c", "--fuse"], ["fold", "a.c", "--fuse=rows"]),
        (["fold", "--fuse", "cells", "a.c"], ["fold", "--fuse", "cells", "a.c"]),
        (["fold", "a.c", "--fuse", "--", "--fuse"], ["fold", "a.c", "--fuse=rows", "--", "--fuse"]),
    ],
)
def test_fuse_needs_no_value(given: list[str], wanted: list[str]) -> None:
    assert with_bare_options(given) == wanted
