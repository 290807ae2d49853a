"""The order that is predicted to be fastest: the model on small programs, the choice, what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.c.read import read_c
from arrayfold.order.dependences import find_violation, memory_dependences
from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.auto import ChooseOrder
from arrayfold.ordering.candidates import interchanged
from arrayfold.ordering.choose import choose_order
from arrayfold.ordering.cost import cost_of
from arrayfold.ordering.hint import order_hint
from arrayfold.ordering.live_cells import live_cells
from arrayfold.ordering.machine import Machine, _cache_sizes, this_machine
from arrayfold.ordering.sized_program import SizedProgram
from arrayfold.passes.reorder import Reorder, reorder
from arrayfold.program.model import Program
from support.command import run

Capture = pytest.CaptureFixture[str]
MACHINE = Machine()

STAGES = """
void f(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
  float a[h][w];
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) a[y][x] = in[y][x] + in[y][x];
  for (int y = 1; y < h - 1; y++) for (int x = 0; x < w; x++) out[y][x] = a[y - 1][x] + a[y + 1][x];
#pragma endscop
}
"""

# Three stages, the last one a sum along rows.
CHAIN = """
void chain(int N, int M, const float in[restrict N][M], float out[restrict N])
{
  float a[N][M], b[N][M], s[N];
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i][j] = in[i][j] * in[i][j];
  for (int i = 1; i < N - 1; i++) for (int j = 0; j < M; j++) b[i][j] = a[i - 1][j] + a[i][j] - a[i + 1][j];
  for (int i = 1; i < N - 1; i++) {
    s[i] = 0;
    for (int j = 0; j < M; j++) s[i] += b[i][j];
    out[i] = s[i];
  }
#pragma endscop
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def test_live_cells_are_those_of_the_best_fold() -> None:
    sized = SizedProgram.of(program_of(STAGES), {"h": 40, "w": 30})
    given = sized.program, sized.must_keep, sized.flows
    found = {
        rows: live_cells(sized, sized.times(RowFusion(rows=rows).schedule(*given))) for rows in (True, False)
    }
    assert found == {True: {"a": 90}, False: {"a": 61}}


def test_a_large_picture_is_fused_by_rows_and_a_chain_of_additions_hides_the_rest() -> None:
    """Beyond caches as in them: 143 cells, for N * M of each of two arrays."""
    large = choose_order(program_of(STAGES), {"h": 4000, "w": 4000}, MACHINE)
    assert large.best.cost.cycles < 0.8 * large.as_written.cost.cycles
    assert large.best.cost.cells <= 12_000
    sizes = {"N": 60, "M": 70}
    found = fold(program_of(CHAIN), params=sizes, order="auto")
    assert sum(array.size.at(sizes) for array in found) <= 143


def test_what_is_in_caches_anyway_moves_no_bytes() -> None:
    small = SizedProgram.of(program_of(STAGES), {"h": 20, "w": 20})
    assert small.program.schedule is not None
    cost = cost_of(small, small.program.schedule, MACHINE)
    assert cost.cycles == cost.work
    assert cost.vectorised == 1


def test_a_loop_down_the_columns_is_not_vectorised() -> None:
    program = program_of(STAGES)
    columns = reorder(program, schedule="S_0[y, x] -> [0, x, y]; S_1[y, x] -> [1, x, y]")
    assert columns.schedule is not None
    sized = SizedProgram.of(program, {"h": 200, "w": 200})
    assert cost_of(sized, columns.schedule, MACHINE).vectorised == 0


def test_no_order_is_slower_than_as_written_and_all_are_legal() -> None:
    for file in ("three-mm", "harris", "pyramid", "heat-2d", "seidel-2d"):
        program = read(f"examples/{file}.c")
        assert isinstance(program, Program)
        found = ChooseOrder().apply(program)
        assert found.chosen is not None
        assert found.chosen.speed >= 0.99
        assert find_violation(found, memory_dependences(program)) is None


PRODUCT = """
void product(int n, const float a[restrict n][n], const float b[restrict n][n], float c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    c[i][j] = 0;
    for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
  }
#pragma endscop
}
"""


def test_a_product_of_matrices_walks_along_rows() -> None:
    given = program_of(PRODUCT)
    found = ChooseOrder({"n": 500}).apply(given)
    assert found.chosen is not None
    assert found.chosen.name.startswith("loops interchanged")
    assert found.chosen.options[1].endswith("k, j]")
    assert find_violation(found, memory_dependences(given)) is None


def test_loops_that_walk_along_rows_already_are_not_interchanged() -> None:
    assert list(interchanged.propose(SizedProgram.of(program_of(STAGES), {"h": 40, "w": 40}))) == []
    scalar = "void f(int n, float out[restrict n])\n{\n#pragma scop\n  out[0] = 1;\n#pragma endscop\n}"
    assert list(interchanged.propose(SizedProgram.of(program_of(scalar), {"n": 4}))) == []


@pytest.mark.parametrize("style", ["fast", "readable"])
def test_borders_leave_the_loops_of_the_text_where_a_fast_order_was_asked_for(style: Style) -> None:
    body = "if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i + 1]; else out[i] = in[i];"
    text = "void f(int n, const float in[restrict n], float out[restrict n])\n{\n#pragma scop\n"
    text += f"  for (int i = 0; i < n; i++) {body}\n#pragma endscop\n}}\n"
    program = program_of(text)
    assert fold(program).to_c(style=style) == text
    found = ChooseOrder().apply(program)
    assert found.chosen is not None
    assert found.chosen.name == "as written"
    assert ("i > 0" in fold(found).to_c(style=style)) == (style == "readable")


def test_the_options_give_the_same_order_again() -> None:
    found = ChooseOrder({"h": 4000, "w": 4000}).apply(program_of(STAGES))
    assert found.chosen is not None
    flag, text = found.chosen.options
    again = reorder(program_of(STAGES), schedule=text)
    assert flag == "--schedule"
    assert again.schedule is not None
    assert found.schedule is not None
    assert again.schedule.is_equal(found.schedule)


def test_arrays_that_may_overlap_leave_the_order_as_it_is() -> None:
    program = program_of(STAGES.replace("restrict ", ""))
    found = ChooseOrder().apply(program)
    assert found.schedule is program.schedule
    assert found.chosen is not None
    assert "may overlap" in found.chosen.why
    assert ChooseOrder().apply(program.without_aliases()).chosen != found.chosen


def test_parallel_programs_stay_parallel() -> None:
    text = STAGES.replace("  for (int y", "  #pragma omp parallel for\n  for (int y")
    program = program_of(text)
    assert program.parallel
    found = ChooseOrder({"h": 4000, "w": 4000}).apply(program)
    assert found.parallel
    assert find_violation(found, memory_dependences(program)) is None


def test_what_would_run_in_parallel_row_by_row_only_stays_as_written() -> None:
    """A shift between stages makes rows wait for each other."""
    found = ChooseOrder({"h": 4000, "w": 4000}, parallel=True).apply(program_of(STAGES))
    assert found.parallel == {1: "doall"}
    assert found.chosen is not None
    assert found.chosen.name == "as written"
    assert "parallel" in found.chosen.why
    aligned = STAGES.replace("a[y - 1][x] + a[y + 1][x]", "a[y][x]")
    fused = ChooseOrder({"h": 4000, "w": 4000}, parallel=True).apply(program_of(aligned))
    assert fused.chosen is not None
    assert fused.chosen.name != "as written"
    assert fused.parallel == {0: "doall"}


def test_empty_programs_and_programs_without_an_order() -> None:
    empty = STAGES.replace("y = 0; y < h", "y = h; y < h").replace("y = 1; y < h - 1", "y = h; y < h")
    never = program_of(empty)
    assert ChooseOrder().apply(never) is never
    conflicts = read("examples/blur-differences.toml")
    with pytest.raises(InputError, match="needs a program with a schedule"):
        ChooseOrder().apply(conflicts)
    with pytest.raises(InputError, match="there is no order 'best'"):
        fold(program_of(STAGES), order="best")  # type: ignore[arg-type]


def test_the_table_says_which_order_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "stages.c"
    file.write_text(STAGES)
    sizes = ("--param", "h=3000", "--param", "w=3000")
    assert run(monkeypatch, "fold", str(file), "--order", "auto", *sizes) == 0
    printed = capsys.readouterr().out
    assert "order: stages fused" in printed
    assert "the same order without a search: --schedule 'S_0[y, x] -> [y" in printed
    assert run(monkeypatch, "fold", str(file), "--order", "auto", *sizes, "--json") == 0
    (order,) = json.loads(capsys.readouterr().out)["orders"]
    assert order["options"][0] == "--schedule"
    assert run(monkeypatch, "fold", str(file), "--order", "auto", "--fuse") == 2
    assert "chooses the order itself" in capsys.readouterr().err


def test_caches_are_read_where_they_are_told(tmp_path: Path) -> None:
    for k, (level, kind, size) in enumerate(
        [(1, "Data", "48K"), (1, "Instruction", "32K"), (2, "Unified", "2M")]
    ):
        folder = tmp_path / f"index{k}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{value}\n")
    assert _cache_sizes(tmp_path) == (48 << 10, 2 << 20)
    assert _cache_sizes(tmp_path / "none") == ()
    assert Reorder().is_as_written


def test_caches_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    this_machine.cache_clear()
    monkeypatch.setenv("ARRAYFOLD_CACHES", "16K, 512K, 2M")
    assert this_machine().caches == (16 << 10, 512 << 10, 2 << 20)
    this_machine.cache_clear()
    monkeypatch.setenv("ARRAYFOLD_CACHES", "much")
    with pytest.raises(InputError, match="32K,1M,16M"):
        this_machine()


def hints(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("hint: ")]


def test_a_hint_where_another_order_helps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", "examples/blur.c", "--param", "N=100", "--", "-DM=3") == 0
    (line,) = hints(capsys)
    assert line == (
        "hint: another order has about 100 instead of 5,051 live cells at N = 100: "
        "arrayfold fold examples/blur.c --param N=100 --order auto -- -DM=3"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["examples/blur.c", "--fuse"],
        ["examples/blur.c", "--order", "auto"],
        ["examples/blur.c", "--share", "cells"],
        ["examples/gauss-filter.c"],
        ["examples/jacobi-openmp.c"],
        ["examples/blur-differences.toml"],
    ],
)
def test_no_hint_where_none_is_needed(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", *arguments) == 0
    assert not hints(capsys)


def test_a_hint_about_pointers_that_may_overlap() -> None:
    text = Path("examples/blur.c").read_bytes().replace(b"restrict ", b"")
    (program,) = read_c("blur.c", text)
    hint = order_hint(program, {"N": 50}, Budget(None))
    assert hint is not None
    assert hint.promise.startswith("if its pointers do not overlap, another order has about 50 ")
    assert hint.options == ("--order", "auto", "--no-alias")


PYRAMID = """
void pyramid(int n, const float in[restrict 2 * n + 1][n], float out[restrict n][n])
{
  float a[2 * n + 1][n];
#pragma scop
  for (int y = 0; y < 2 * n + 1; y++) for (int x = 0; x < n; x++) a[y][x] = 2 * in[y][x];
  for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) out[y][x] = a[2 * y][x] + a[2 * y + 2][x];
#pragma endscop
}
"""


def test_stages_that_run_in_every_second_iteration_have_a_cost() -> None:
    choice = choose_order(program_of(PYRAMID), {"n": 1000}, MACHINE)
    assert "fused" in choice.best.candidate.name
    assert choice.best.cost.cells <= 3 * 1000
    small = choose_order(program_of(PYRAMID), {"n": 40}, MACHINE)
    fused = next(rated for rated in small.rated if not rated.is_as_written)
    assert 0.8 < fused.cost.work / small.as_written.cost.work < 1.25


def test_sizes_count_where_mappings_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is enough in the order that is chosen for large pictures."""
    file = tmp_path / "stages.c"
    file.write_text(STAGES.replace("a[y - 1][x] + a[y + 1][x]", "a[y][x]"))
    sizes = ("--param", "h=3000", "--param", "w=3000")
    arguments = ("check", str(file), "--order", "auto", "--mapping", "a[y, x] -> [x mod w]")
    assert run(monkeypatch, *arguments, *sizes) == 0
    assert run(monkeypatch, *arguments[:2], *arguments[4:], *sizes) == 1


def test_products_of_matrices_keep_one_row() -> None:
    for size in (256, 500):
        program = read("examples/two-mm.c")
        assert isinstance(program, Program)
        choice = choose_order(program, dict.fromkeys("IJKL", size), MACHINE)
        assert choice.best.cost.cells == size


def test_what_a_chain_leaves_idle_is_free() -> None:
    """Three operations from one value to the next one: the other stages run beside them in one loop."""
    program = program_of("""
    void f(int n, float g, const float in[restrict n], float out[restrict n])
    {
      float low[n], slope[n];
    #pragma scop
      low[0] = in[0];
      low[1] = in[1];
      for (int i = 2; i < n; i++) low[i] = in[i] + g * low[i - 1] - 0.2f * low[i - 2];
      for (int i = 2; i < n; i++) slope[i] = 0.5f * (low[i] - low[i - 2]);
      for (int i = 3; i < n; i++) out[i] = slope[i] + slope[i - 1];
    #pragma endscop
    }
    """)
    for n in (4000, 8_000_000):
        found = choose_order(program, {"n": n}, MACHINE)
        assert found.best.candidate.name == "stages fused in all of their loops"
        assert found.best.cost.work == pytest.approx(9 * n, rel=0.01)
