"""Storage for all legal schedules and all tilings, against enumeration of them at small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from arrayfold.base.choices import AnyOrder
from arrayfold.base.errors import InputError
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods.occupancy_vectors import shortest_occupancy_vector
from arrayfold.passes.all_orders import AllOrders
from arrayfold.program.model import Program
from support.reference import Cell, is_valid
from test_paper_programs import pairs_at

Point = tuple[int, ...]

JACOBI = """
context  = "[n, m] -> { : n >= 3 and m >= 3 }"
domain   = "[n, m] -> { S[t, i] : 0 <= t < m and 0 <= i < n }"
write    = "{ S[t, i] -> A[t, i] }"
read     = "[n, m] -> { S[t, i] -> A[t - 1, j] : t >= 1 and i - 1 <= j <= i + 1 and 0 <= j < n }"
schedule = "{ S[t, i] -> [t, t + i] }"
"""


def jacobi() -> Program:
    program = read_problem("jacobi.toml", JACOBI)
    assert isinstance(program, Program)
    return program


def readers(point: Point, size: Point) -> list[Point]:
    t, i = point
    return [(t + 1, j) for j in (i - 1, i, i + 1) if t + 1 < size[0] and 0 <= j < size[1]]


def conflicts_of(sequence: list[Point], size: Point) -> set[tuple[Cell, Cell]]:
    """Cells in memory together when instances run in this sequence; reads come before the write."""
    place = {point: k for k, point in enumerate(sequence)}
    last = {point: max([place[r] for r in readers(point, size)], default=place[point]) for point in sequence}
    found: set[tuple[Cell, Cell]] = set()
    for x, y in itertools.permutations(sequence, 2):
        if place[x] < place[y] < last[x]:
            found |= {(x, y), (y, x)}
    return found


# ---------------------------------------------------------------- all schedules


def linear_extensions(events: list[Point], before: Callable[[Point, Point], bool]) -> Iterator[list[Point]]:
    if not events:
        yield []
    for first in events:
        if not any(before(other, first) for other in events):
            rest = [event for event in events if event != first]
            for tail in linear_extensions(rest, before):
                yield [first, *tail]


def test_conflicts_for_all_schedules_equal_enumeration() -> None:
    size = (3, 3)
    events = [(t, i) for t in range(size[0]) for i in range(size[1])]
    total: set[tuple[Cell, Cell]] = set()
    for sequence in linear_extensions(events, lambda a, b: b in readers(a, size)):
        total |= conflicts_of(sequence, size)
    conflicts = Analysis.of(AllOrders("dependences").apply(jacobi())).conflicts("A")
    assert total
    # Two values that nobody reads, written in any order, count as a race and conflict (DIY16, footnote 5).
    found = {(x, y) for x, y in pairs_at(conflicts, {"m": 3, "n": 3}) if x[0] < 2 or y[0] < 2}
    assert found == total


def test_the_universal_vector_of_the_stencil_of_strout_and_others() -> None:
    problem = read("examples/occupancy-stencil.toml")
    universal = Analysis.of(AllOrders("dependences").apply(problem)).conflicts("A")
    assert shortest_occupancy_vector(universal) == (3, 0)
    assert shortest_occupancy_vector(Analysis.of(problem).conflicts("A")) == (2, 0)


@pytest.mark.parametrize(("order", "vector"), [("dependences", (2, 0)), ("tilings", (1, 1))])
def test_vectors_of_jacobi(order: AnyOrder, vector: Point) -> None:
    conflicts = Analysis.of(AllOrders(order).apply(jacobi())).conflicts("A")
    assert shortest_occupancy_vector(conflicts) == vector
    # No shorter vector will do: each is, or has a multiple that is, between conflicting cells at some size.
    pairs = pairs_at(conflicts, {"m": 5, "n": 7})
    apart = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairs}
    for other in itertools.product(range(-2, 3), repeat=2):
        if 0 < sum(map(abs, other)) < sum(vector):
            assert any(tuple(k * entry for entry in other) in apart for k in range(1, 5))


def test_what_is_valid_for_all_schedules_is_valid_for_each() -> None:
    folded = fold(AllOrders("dependences").apply(jacobi()))["A"]
    assert str(folded.size) == "2*n"
    for name in ("dependences", "tilings"):
        pairs = pairs_at(Analysis.of(AllOrders(name).apply(jacobi())).conflicts("A"), {"m": 4, "n": 4})
        assert is_valid(pairs, lambda cell: folded.mapping.address(cell, {"m": 4, "n": 4}))
    pairs = pairs_at(Analysis.of(jacobi()).conflicts("A"), {"m": 4, "n": 4})
    assert is_valid(pairs, lambda cell: folded.mapping.address(cell, {"m": 4, "n": 4}))


# ---------------------------------------------------------------- tiles


def tiled(size: Point, tile: Point, start: Point) -> list[Point]:
    """All instances, tile by tile, in the skewed coordinates (t, t + i)."""

    def key(point: Point) -> tuple[Point, Point]:
        time = (point[0], point[0] + point[1])
        place = tuple((a - s) // b for a, s, b in zip(time, start, tile, strict=True))
        return place, time

    return sorted(itertools.product(range(size[0]), range(size[1])), key=key)


def conflicts_of_tilings(size: Point, tile: Point) -> set[tuple[Cell, Cell]]:
    starts = itertools.product(range(tile[0]), range(tile[1]))
    return set[tuple[Cell, Cell]]().union(*(conflicts_of(tiled(size, tile, s), size) for s in starts))


@pytest.mark.parametrize("tile", [(1, 1), (2, 2), (2, 3), (3, 2), (4, 4)])
def test_tiles_of_symbolic_size_equal_enumeration(tile: Point) -> None:
    conflicts = Analysis.of(read("examples/jacobi-1d-tiles.toml")).conflicts("A")
    params = {"m": 4, "n": 4, "T": tile[0], "B": tile[1]}
    if min(tile) >= 2:
        assert pairs_at(conflicts, params) == conflicts_of_tilings((4, 4), tile)
    program = read_problem("tiles.toml", JACOBI + f"tiles = [{tile[0]}, {tile[1]}]")
    found = pairs_at(Analysis.of(program).conflicts("A"), {"m": 4, "n": 4})
    assert found == conflicts_of_tilings((4, 4), tile)


def test_all_tilings_equal_enumeration() -> None:
    total: set[tuple[Cell, Cell]] = set()
    for tile in itertools.product(range(1, 8), repeat=2):
        total |= conflicts_of_tilings((4, 4), tile)
    conflicts = Analysis.of(AllOrders("tilings").apply(jacobi())).conflicts("A")
    assert pairs_at(conflicts, {"m": 4, "n": 4}) == total


def test_loops_that_cannot_be_tiled() -> None:
    text = JACOBI.replace("[t, t + i]", "[t, i]")
    with pytest.raises(InputError, match="cannot be tiled: the order runs S"):
        AllOrders("tilings").apply(read_problem("straight.toml", text))
    with pytest.raises(InputError, match="cannot be tiled"):
        Analysis.of(read_problem("straight.toml", text + "tiles = [2, 2]"))


def test_what_has_no_other_orders() -> None:
    with pytest.raises(InputError, match="gives conflicts"):
        AllOrders("dependences").apply(read("examples/blur-differences.toml"))
    with pytest.raises(InputError, match="need a schedule"):
        AllOrders("tilings").apply(read("examples/pipeline-overlap-relation.toml"))
