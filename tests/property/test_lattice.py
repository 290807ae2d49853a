"""Mappings with polynomial coefficients: the judge against enumeration at the first sizes."""

from __future__ import annotations

import functools

from hypothesis import given, settings
from hypothesis import strategies as st

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.modular import ModularMapping
from support.effort import examples
from support.reference import is_valid
from test_paper_programs import pairs_at

EXAMPLES = {
    "jacobi-1d": "A",
    "blur-interleaved": "blurx",
    "diamond-tile": "A",
    "lbm-d2q9": "A",
    "blur": "blurx",
}
SIZES = 4


@functools.cache
def conflicts_of(file: str) -> tuple[Conflicts, str, int]:
    conflicts = Analysis.of(read(f"examples/{file}.toml")).conflicts(EXAMPLES[file])
    (name,) = conflicts.original_size.names()
    return conflicts, name, 3


@functools.cache
def pairs_of(file: str, size: int) -> frozenset[object]:
    conflicts, name, _ = conflicts_of(file)
    return frozenset(pairs_at(conflicts, {name: size}))


coefficients = st.tuples(st.integers(-3, 3), st.integers(-2, 2))
moduli = st.tuples(st.integers(-3, 4), st.integers(0, 4), st.sampled_from([0, 0, 1]))


@given(st.sampled_from(sorted(EXAMPLES)), st.lists(coefficients, min_size=3, max_size=3), moduli)
@settings(max_examples=examples(250))
def test_verdicts_agree_with_enumeration(
    file: str, row: list[tuple[int, int]], modulus: tuple[int, int, int]
) -> None:
    conflicts, name, least = conflicts_of(file)
    n = Formula.name(name)
    rank = conflicts.array.rank
    entries = [n * slope + start for start, slope in row[: rank - 1]] + [Formula.constant(1)]
    size = n**2 * modulus[2] + n * modulus[1] + modulus[0]
    if any(size.at({name: value}) < 1 for value in range(2, 12)):
        return
    mapping = ModularMapping.of(conflicts.name, conflicts.array.dimensions, [entries], [size])
    verdict = verify(conflicts, mapping)
    if isinstance(verdict, Counterexample):
        x, y = verdict.cells
        assert (x, y) in pairs_at(conflicts, dict(verdict.params))
        assert mapping.address(x, verdict.params) == mapping.address(y, verdict.params)
        return
    valid = [
        is_valid(pairs_of(file, value), lambda cell, v=value: mapping.address(cell, {name: v}))  # type: ignore[arg-type]
        for value in range(least, least + SIZES)
    ]
    if isinstance(verdict, Proof):
        assert all(valid)
