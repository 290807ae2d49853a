"""Orders that are found: fused stages, tiles, parallel loops."""

from __future__ import annotations

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.exact.formula_parse import read_formula
from arrayfold.fold.arrays import fold
from arrayfold.passes.reorder import reorder
from support.orders import (
    JACOBI_IN_PLACE,
    example,
    kept,
    program_of,
    schedules_equal,
    times_of,
)

THREE_STAGES = """
context = "[N] -> { : N >= 8 }"
domain = "[N] -> { S[y, x] : 1 <= y, x < N - 1; T[y, x] : 2 <= y, x < N - 2; U[y, x] : 3 <= y, x < N - 3 }"
write = "[N] -> { S[y, x] -> a[y, x]; T[y, x] -> b[y, x]; U[y, x] -> out[y, x] }"
read = \"\"\"[N] -> { T[y, x] -> a[y', x'] : y - 1 <= y' <= y + 1 and x - 1 <= x' <= x + 1;
             U[y, x] -> b[y', x'] : y - 1 <= y' <= y + 1 and x - 1 <= x' <= x + 1 }\"\"\"
schedule = "[N] -> { S[y, x] -> [0, y, x]; T[y, x] -> [1, y, x]; U[y, x] -> [2, y, x] }"
live_out = "{ out[y, x] }"
"""


def test_fused_blur_needs_three_rows() -> None:
    program = example("blur")
    assert fold(program)["blurx"].size == read_formula("N^2")
    found = kept(program, reorder(program, fuse="cells"), {"N": 3}, {"N": 5})
    for n in (3, 10, 100):
        assert fold(found)["blurx"].size.at({"N": n}) <= 3 * n


def test_fused_stages_are_shifted() -> None:
    program = program_of(THREE_STAGES)
    found = kept(program, reorder(program, fuse="cells"), {"N": 8})
    sizes = {array.name: array.size for array in fold(found)}
    assert sizes == {"a": read_formula("2*N - 1"), "b": read_formula("2*N - 5")}


TRANSPOSED_TOO = """
context = "[N] -> { : N >= 4 }"
domain = "[N] -> { A[i, j] : 0 <= i, j < N; B[i, j] : 0 <= i, j < N; C[i, j] : 0 <= i, j < N }"
write = "[N] -> { A[i, j] -> a[i, j]; B[i, j] -> b[i, j]; C[i, j] -> c[i, j] }"
read = \"\"\"[N] -> { B[i, j] -> a[i, j]; B[i, j] -> a[i - 1, j] : i >= 1;
             C[i, j] -> b[i, j]; C[i, j] -> b[j, i] }\"\"\"
schedule = "[N] -> { A[i, j] -> [0, i, j]; B[i, j] -> [1, i, j]; C[i, j] -> [2, i, j] }"
live_out = "{ c[i, j] }"
"""


def test_whole_components_are_fused() -> None:
    program = program_of(TRANSPOSED_TOO)
    found = kept(program, reorder(program, fuse="cells"), {"N": 5})
    assert fold(found)["a"].size.at({"N": 100}) <= 200
    assert fold(found)["b"].size.at({"N": 100}) <= 200


@pytest.mark.parametrize(
    ("least", "written", "read"),
    [("0", "i + 2*j + N", "j + 1"), ("i", "j - i", "2*i + j - 1")],
    ids=["a context of its own", "a loop that counts through two"],
)
def test_fusion_where_isl_gives_up_at_first(least: str, written: str, read: str) -> None:
    text = f"""
context = "[N] -> {{ : 2 <= N <= 4 }}"
domain = "[N] -> {{ S[i, j] : 0 <= i <= 1 and {least} <= j < N }}"
write = "[N] -> {{ S[i, j] -> B[{written}] }}"
read = "[N] -> {{ S[i, j] -> B[{read}] }}"
schedule = "[N] -> {{ S[i, j] -> [j, i] }}"
"""
    program = program_of(text)
    kept(program, reorder(program, fuse="cells"), {"N": 2}, {"N": 3}, {"N": 4})


def test_fused_stages_run_row_by_row_in_parallel() -> None:
    program = program_of(THREE_STAGES)
    found = kept(program, reorder(program, fuse="cells", parallel=True), {"N": 8})
    assert found.parallel == {2: "doall"}
    sizes = {array.name: array.size for array in fold(found)}
    assert sizes == {"a": read_formula("3*N - 6"), "b": read_formula("3*N - 12")}


def test_ties_are_broken_by_fusion() -> None:
    found = reorder(example("gauss"), fuse="cells")
    assert found.schedule is not None
    assert found.schedule.is_injective()


def test_a_program_without_loops() -> None:
    text = """
domain = "{ P[]; Q[] }"
write = "{ P[] -> a[]; Q[] -> b[] }"
read = "{ Q[] -> a[] }"
schedule = "{ P[] -> [0]; Q[] -> [1] }"
live_out = "{ b[] }"
"""
    program = program_of(text)
    assert times_of(kept(program, reorder(program, fuse="cells", parallel=True), {}), {}) == {
        ("P", ()): (0,),
        ("Q", ()): (1,),
    }
    with pytest.raises(InputError, match="the order has 0 loops"):
        reorder(program, tile=[4])


def test_options_of_isl_are_restored() -> None:
    context = isl.DEFAULT_CONTEXT
    before = context.get_schedule_whole_component(), context.get_schedule_maximize_band_depth()
    assert before == (0, 0)
    reorder(example("blur"), fuse="cells")
    assert (context.get_schedule_whole_component(), context.get_schedule_maximize_band_depth()) == before


def test_tiles_stand_outside_the_loops() -> None:
    program = example("blur-interleaved")
    found = kept(program, reorder(program, tile=[2, 3]), {"N": 3}, {"N": 5})
    expected = (
        "{ S[y, x] -> [floor(y/2), floor(x/3), y, x, 0]; T[y, x] -> [floor(y/2), floor(x/3), y, x, 1] }"
    )
    assert schedules_equal(found, expected)


def test_places_in_front_of_the_loops_stay_there() -> None:
    program = example("blur")
    found = kept(program, reorder(program, tile=[4]), {"N": 6})
    assert schedules_equal(found, "{ S[x, y] -> [0, floor(x/4), x, y]; T[x, y] -> [1, floor(x/4), x, y] }")


def test_size_one_leaves_a_loop_alone() -> None:
    program = example("jacobi-1d")
    found = kept(program, reorder(program, tile=[1, 2]), {"n": 5})
    assert schedules_equal(found, "{ S[i, j] -> [i, floor(j/2), j] }")


def test_illegal_tiles_are_refused_with_the_dependence() -> None:
    message = (
        r"runs S\[1, 3\] before S\[0, 4\], which writes A\[0, 4\] that it reads "
        r"\(flow dependence, new times \[0, 0, 1, 3\] and \[0, 1, 0, 4\], n = 5\)"
    )
    with pytest.raises(InputError, match=message) as caught:
        reorder(example("jacobi-1d"), tile=[4, 4])
    assert "--fuse" in str(caught.value.hint)


def test_fusion_skews_jacobi_for_tiles() -> None:
    program = example("jacobi-1d")
    found = kept(program, reorder(program, fuse="cells", tile=[4, 4]), {"n": 3}, {"n": 9})
    assert schedules_equal(found, "{ S[i, j] -> [floor(i/4), floor((i + j)/4), i, i + j] }")


def test_time_tiles_of_two_statements() -> None:
    program = program_of(JACOBI_IN_PLACE)
    found = kept(program, reorder(program, fuse="cells", tile=[2, 3]), {"T": 4, "N": 9})
    times = times_of(found, {"T": 4, "N": 9})
    steps_of_first_tile = {t for (_, (t, _)), time in times.items() if time[:2] == min(times.values())[:2]}
    assert len(steps_of_first_tile) == 1
    assert any(
        len({t for (_, (t, _)), time in times.items() if time[:2] == tile}) == 2
        for tile in {time[:2] for time in times.values()}
    )


@pytest.mark.parametrize(
    ("name", "wish", "parallel"),
    [
        ("blur", {"parallel": True}, {1: "doall"}),
        ("jacobi-1d", {"parallel": True}, {1: "doall"}),
        ("jacobi-1d", {"fuse": "cells", "tile": [4, 4], "parallel": True}, {3: "doall"}),
        ("jacobi-1d-forall", {"tile": [2]}, {}),
        ("jacobi-1d-doall", {"fuse": "cells"}, {}),
        ("blur-interleaved", {"tile": [2, 2], "parallel": True}, {1: "doall"}),
        ("scalar-chain", {"parallel": True}, {}),
    ],
)
def test_the_outermost_loop_that_carries_nothing(
    name: str, wish: dict[str, object], parallel: dict[int, str]
) -> None:
    program = example(name)
    found = reorder(program, **wish)  # type: ignore[arg-type]
    kept(program, found, dict.fromkeys(program.parameters, 5))
    assert found.parallel == parallel


def test_nests_with_different_parallel_loops_get_dimensions_of_their_own() -> None:
    text = """
context = "[N] -> { : N >= 3 }"
domain = "[N] -> { P[i, j] : 1 <= i, j < N; Q[i, j] : 1 <= i, j < N; R[i, j] : 1 <= i, j < N }"
write = "[N] -> { P[i, j] -> A[i, j]; Q[i, j] -> B[i, j]; R[i, j] -> C[0] }"
read = "[N] -> { P[i, j] -> A[i - 1, j]; Q[i, j] -> B[i, j - 1]; R[i, j] -> A[i, j] }"
schedule = "[N] -> { P[i, j] -> [0, i, j]; Q[i, j] -> [1, i, j]; R[i, j] -> [2, i, j] }"
"""
    program = program_of(text)
    found = kept(program, reorder(program, parallel=True), {"N": 3}, {"N": 5})
    assert found.parallel == {2: "doall", 4: "doall"}
    assert schedules_equal(
        found,
        "{ P[i, j] -> [0, i, 0, 0, j]; Q[i, j] -> [1, 0, i, j, 0]; R[i, j] -> [2, i, 0, j, 0] }",
    )


def test_statements_inside_a_sequential_loop_are_separate_nests() -> None:
    program = program_of(JACOBI_IN_PLACE)
    found = kept(program, reorder(program, parallel=True), {"T": 3, "N": 6})
    assert found.parallel == {2: "doall"}
