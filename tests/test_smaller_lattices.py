"""Whether a lattice is smaller than that of a mapping, against the enumeration of all lattices."""

from __future__ import annotations

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.bounds.moments import UNKNOWN
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.lattice import determinant
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.fold.check import check
from arrayfold.frontends import read
from arrayfold.frontends.options import apply_options
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.methods import Request
from arrayfold.methods.exhaustive import differences_at, smallest_lattices
from arrayfold.select.cases import find_cases
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


def test_a_full_triangle_has_three_quarters_of_the_square() -> None:
    """At even sizes the group of a smallest lattice is not cyclic: both moduli grow."""
    full = conflicts_of(
        "N >= 3",
        "A[i, j] : 0 <= j <= i < N",
        "A[d, e] : exists (i, j : 0 <= j <= i < N and 0 <= j + e <= i + d < N)",
    )
    request = Request.of(full, {})
    cases = find_cases(full, request, f("N^2 - N + 1"), UNKNOWN)
    for size in (6, 7, 8, 9):
        sizes = {"N": size}
        here = [case for case in cases if not case.when.is_disjoint(fix_parameters(sizes))]
        first = next(smallest_lattices(differences_at(full, sizes), 2))
        assert min(case.size.at(sizes) for case in here) == abs(determinant(first))
        assert all(isinstance(verify(full.at(sizes), case.mapping), Proof) for case in here)


def test_fractions_that_are_whole_in_the_context_are_read() -> None:
    even = apply_options(read("examples/reverse-l.toml"), context="N mod 2 = 0")
    (checked,) = check(even, "A[x, y] -> [((N/2)*x + y) mod (N^2/2), x mod 2]")
    assert checked.is_valid
    assert str(checked.mapping) == "A[x, y] -> [((N/2)*x + y) mod ((N^2)/2), x mod 2]"
    with pytest.raises(InputError, match="whole number"):
        check(read("examples/reverse-l.toml"), "A[x, y] -> [(x - y) mod (N/2), x mod 2]")
