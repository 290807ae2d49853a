"""Tiles of other shapes than boxes: they cover everything, keep dependences, and are those of the papers."""

from __future__ import annotations

import itertools
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.order.tile_shapes import Cut, TileShape
from arrayfold.passes.one_tile import OneTile
from arrayfold.passes.reallocation import reallocate
from arrayfold.passes.reorder import Reorder, reorder
from arrayfold.program.model import Program
from support.command import run
from support.orders import example, kept, program_of
from support.runs import run_both

SHAPES = {
    "diamond-tile": "diamond:B",
    "hexagon-tile": "hexagon:B",
    "parallelogram-tile": "parallelogram:BxB",
}


@pytest.mark.parametrize("kind", ["diamond", "hexagon"])
@pytest.mark.parametrize(("back", "forth"), [(1, 1), (0, 1), (1, 2), (2, 0), (-1, 3)])
def test_tiles_cover_the_plane_and_one_of_them_is_the_tile_alone(kind: str, back: int, forth: int) -> None:
    """A tile needs nothing of others in its wavefront, as reads of cells as far away as can be show."""
    shape = TileShape.parse(f"{kind}:3")
    assert shape is not None
    cut = Cut(shape, ((back, 1),), forth)
    tiles = isl.Map(cut.tile_of())
    assert tiles.is_single_valued()
    assert isl.Set("{ [s, x] }").is_equal(tiles.domain())
    alone = isl.Set(f"{{ [s, x0] : {cut.one_tile()} }}")
    assert alone.is_equal(tiles.intersect_range(alone.apply(tiles)).domain())
    cells: dict[tuple[int, int], tuple[int, ...]] = {}
    for s, x, *tile in points(
        tiles.intersect_domain(isl.Set("{ [s, x] : -8 <= s, x < 9 }")).wrap().flatten()
    ):
        cells[s, x] = tuple(tile)
    for s, x in itertools.product(range(-7, 9), range(-8, 9)):
        for source in range(x - forth, x + back + 1):
            if (s - 1, source) in cells:
                here, before = cells[s, x], cells[s - 1, source]
                assert here == before or before[0] < here[0]


def differences(program: Program) -> isl.Set:
    found = Analysis.of(program).conflicts("A").differences
    return found.reset_tuple_id().intersect_params(isl.Set("[B] -> { : B >= 3 }"))


@pytest.mark.parametrize(("published", "shape"), SHAPES.items())
def test_one_tile_has_the_conflicts_of_the_published_one(published: str, shape: str) -> None:
    expected = differences(example(published))
    for program in (example("jacobi-1d"), read("examples/jacobi-1d.c")):
        assert isinstance(program, Program)
        assert differences(OneTile(shape).apply(program)).is_equal(expected)


def test_one_tile_of_a_program_with_two_arrays_has_its_size() -> None:
    program = read("examples/heat-1d.c")
    assert isinstance(program, Program)
    with pytest.raises(InputError, match="several times"):
        OneTile("diamond:B").apply(program)
    tile = OneTile("diamond:B").apply(reallocate(program, everything=True))
    assert fold(tile)["A_S_4"].size == read_formula("4*B - 4")


def test_the_size_of_one_box_is_that_of_the_published_tile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blur = "examples/blur.c", "--schedule", "S_0[x, y] -> [x, 0, y]; S_1[x, y] -> [x, 1, y]"
    assert run(monkeypatch, "fold", *blur, "--tile", "BxB", "--one-tile") == 0
    assert "3*B - 2" in capsys.readouterr().out


TILES = ["diamond:2", "diamond:3", "hexagon:2", "hexagon:3", "parallelogram:2x3"]


@pytest.mark.parametrize("tile", TILES)
def test_tiled_programs_keep_their_dependences(tile: str) -> None:
    program = example("jacobi-1d")
    found = kept(program, reorder(program, tile=tile, parallel=True), {"n": 5}, {"n": 9})
    begins_together = not tile.startswith("parallelogram")
    assert dict(found.parallel) == {1 if begins_together else 3: "doall"}


def test_a_tiling_may_be_given(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tiles = "S[i, j] -> [floor((i + j)/4), floor((i - j)/4)]"
    program = example("jacobi-1d")
    found = kept(program, reorder(program, tile=tiles), {"n": 9})
    assert found.schedule is not None
    with pytest.raises(InputError, match="the order runs"):
        reorder(program, tile="S[i, j] -> [floor(i/4), floor(j/4)]")
    assert run(monkeypatch, "fold", "examples/jacobi-1d.toml", "--tile", "S[i] -> [floor(i/4)]") == 2
    assert "--tile:1:1" in capsys.readouterr().err


SEIDEL = """
context = "[T, N] -> { : T >= 2 and N >= 4 }"
domain = "[T, N] -> { S[t, i, j] : 0 <= t < T and 0 < i, j < N - 1 }"
write = "[T, N] -> { S[t, i, j] -> A[i, j] }"
read = "[T, N] -> { S[t, i, j] -> A[i', j'] : i - 1 <= i' <= i + 1 and j - 1 <= j' <= j + 1 }"
schedule = "[T, N] -> { S[t, i, j] -> [t, i, j] }"
live_out = "{ A[i, j] }"
"""


def test_dependences_inside_of_a_time_step_are_skewed() -> None:
    program = program_of(SEIDEL)
    kept(program, reorder(program, tile="parallelogram:2x2x2"), {"T": 3, "N": 6})
    with pytest.raises(InputError, match="diamond tiles need"):
        reorder(program, tile="diamond:2")


@pytest.mark.parametrize(
    ("name", "tile"),
    [("heat-1d", "diamond:2"), pytest.param("jacobi-1d", "hexagon:2", marks=pytest.mark.long)],
)
def test_tiled_c_computes_the_same(name: str, tile: str) -> None:
    program = read(Path(f"examples/{name}.c"))
    assert isinstance(program, Program)
    tiled = reorder(program, tile=tile, parallel=True)
    assert len(tiled.parallel) >= 2
    result = fold(tiled, params={"N": 9, "T": 6}, arrays=["A"], method="identity", budget=1)
    report = run_both(result, write_c([result.region("generate", "readable")]))
    assert report.is_equal, str(report)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ("diamant:3", "expected positive sizes"),
        ("parallelogram:3", "not a shape of tiles"),
        ("diamond:0", "not a shape of tiles"),
        ("diamond:B", "must be numbers"),
        ("diamond:2x2", "there are none"),
    ],
)
def test_what_is_no_shape_is_refused(tile: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reorder(example("jacobi-1d"), tile=tile)


def test_one_tile_needs_a_size_for_each_loop_and_room() -> None:
    with pytest.raises(InputError, match="cuts 1 of 2 loops"):
        OneTile("B").apply(example("jacobi-1d"))
    assert Reorder(tile="diamond:8").options() == ["--tile", "diamond:8"]
