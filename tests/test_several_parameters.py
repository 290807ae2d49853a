"""Lattices that are affine in several parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from support.reference import is_valid
from test_paper_programs import pairs_at

# Distances from reads to writes, and the cells of the smallest lattices, found by enumeration at many sizes.
PROGRAMS = [
    ("i - 1, j - 1, k - 1; i - 1, j - 1, k + 1", "M*N + 1"),
    ("i - 1, j - 2, k - 1; i - 2, j - 2, k - 1", "2*M*N - 2*M - 2*N + 3"),
    ("i - 1, j + 1, k - 1; i, j - 1, k + 2", "M*N - M - N + 3"),
    ("i - 1, j, k - 1; i, j - 1, k", "M*N - M + 2"),
]


@pytest.mark.parametrize(("reads", "size"), PROGRAMS)
def test_boxes_with_three_sizes(tmp_path: Path, reads: str, size: str) -> None:
    file = tmp_path / "box.toml"
    inside = "0 <= a < T and 0 <= b < M and 0 <= c < N"
    parts = [one.split(",") for one in reads.split(";")]
    cells = "; ".join(
        f"S[i, j, k] -> A[a, b, c] : a = {x} and b = {y} and c = {z} and {inside}" for x, y, z in parts
    )
    box = "0 <= i < T and 0 <= j < M and 0 <= k < N"
    file.write_text(
        'context = "[T, M, N] -> { : T >= 3 and M >= 3 and N >= 3 }"\n'
        f'domain = "[T, M, N] -> {{ S[i, j, k] : {box} }}"\n'
        'write = "[T, M, N] -> { S[i, j, k] -> A[i, j, k] }"\n'
        f'read = "[T, M, N] -> {{ {cells} }}"\n'
        'schedule = "[T, M, N] -> { S[i, j, k] -> [i, j, k] }"\n'
    )
    (folded,) = fold(read(file))
    assert folded.size == f(size)
    sizes = {"T": 3, "M": 5, "N": 4}
    pairs = pairs_at(folded.conflicts, sizes)
    assert is_valid(pairs, lambda cell: folded.mapping.address(cell, sizes))
