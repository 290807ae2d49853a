"""Whether a lattice is smaller than that of a mapping, against the enumeration of all lattices."""

from __future__ import annotations

import pytest

from arrayfold.base.budget import Budget
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.lattice import determinant
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods.exhaustive import differences_at, smallest_lattices
from arrayfold.select.smaller_lattices import find_smallest_lattice
from support.command import run as run_command


def conflicts_of(context: str, cells: str, differences: str) -> Conflicts:
    text = "\n".join(
        (
            f'context = "[N] -> {{ : {context} }}"',
            f'differences = "[N] -> {{ {differences} }}"',
            f'array = "[N] -> {{ {cells} }}"',
        )
    )
    return Analysis.of(read_problem("differences.toml", text)).conflicts("A")


def test_a_box_shows_it_for_all_sizes() -> None:
    """Of the hexagon 5B - 4 cells are live at once, but no lattice has fewer than 6B - 6."""
    (array,) = fold(read("examples/hexagon-tile.toml")).arrays
    assert str(array.size) == "6*B - 6"
    assert not array.is_optimal
    assert array.smallest_lattice is not None
    assert array.smallest_lattice.is_everywhere
    assert "no lattice mapping has fewer than 6*B - 6 cells" in array.smallest_lattice.words
    for size in (3, 4, 7):
        first = next(smallest_lattices(differences_at(array.conflicts, {"B": size}), 2))
        assert abs(determinant(first)) == 6 * size - 6


def test_a_larger_mapping_is_not_taken_for_the_smallest() -> None:
    conflicts = Analysis.of(read("examples/hexagon-tile.toml")).conflicts("A")  # pyright: ignore
    assert find_smallest_lattice(conflicts, f("6*B - 6"), Budget(None)) is not None
    assert find_smallest_lattice(conflicts, f("6*B - 5"), Budget(None)) is None
    assert find_smallest_lattice(conflicts, f("6*B - 4"), Budget(None)) is None


@pytest.mark.parametrize(
    ("differences", "size", "sizes"),
    [
        # 1 and 3 are free modulo nothing below 4; no box shows it.
        ("A[d] : d = 1 or d = -1 or d = 3 or d = -3", "2", None),
        ("A[d] : d = 1 or d = -1 or d = 2 or d = -2 or d = 4 or d = -4", "3", []),
        ("A[d] : d = 2 or d = -2 or d = 3 or d = -3", "4", [3, 4, 5, 6]),
        ("A[d] : d = 2 or d = -2 or d = 3 or d = -3", "5", None),
        ("A[d] : d = N or d = -N", "N + 1", None),
    ],
)
def test_sizes_at_which_all_lattices_are_tried(differences: str, size: str, sizes: list[int] | None) -> None:
    conflicts = conflicts_of("N >= 3", "A[i] : 0 <= i <= 3*N", differences)
    found = find_smallest_lattice(conflicts, f(size), Budget(None))
    if sizes is None:
        assert found is None or found.is_everywhere
    else:
        assert found is not None
        assert [point["N"] for point in found.sizes] == sizes


def test_all_sizes_of_a_small_context_are_tried() -> None:
    conflicts = conflicts_of("N = 4", "A[i] : 0 <= i <= 20", "A[d] : d = 2 or d = -2 or d = 3 or d = -3")
    found = find_smallest_lattice(conflicts, f("4"), Budget(None))
    assert found is not None
    assert found.is_everywhere


def test_the_table_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(monkeypatch, "fold", "examples/hexagon-tile.toml") == 0
    output = capsys.readouterr().out
    assert "proved, smallest lattice" in output
    assert "note: A: no lattice mapping has fewer than 6*B - 6 cells" in output
