"""Transitive closures against walks at small sizes."""

from __future__ import annotations

import islpy as isl
import pytest

from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.relations import close

TURNS = "S[i, j] -> S[i + 1, n + 1 - j] : 1 <= i < n and 1 <= j <= n"
THROUGH_T = "S[i, i] -> T[i] : 1 <= i <= n; T[i] -> S[i + 1, j] : 1 <= i < n and 1 <= j <= n"
ROUND_THREE = "S[i, j, k] -> S[i + 1, k, n - j] : 0 <= i < n and 0 <= j, k <= n"


def walked(step: isl.UnionMap) -> isl.UnionMap:
    """The closure of a finite relation."""
    reached = step
    while not (further := reached.union(reached.apply_range(step)).coalesce()).is_subset(reached):
        reached = further
    return reached


@pytest.mark.parametrize("pieces", [TURNS, f"{TURNS}; {THROUGH_T}", THROUGH_T, ROUND_THREE])
def test_closures_are_exact(pieces: str) -> None:
    relation = isl.UnionMap(f"[n] -> {{ {pieces} }}")
    closure = close(relation)
    assert closure.is_exact
    for n in (1, 2, 3, 5):
        here = fix_parameters({"n": n})
        assert closure.relation.intersect_params(here).is_equal(walked(relation.intersect_params(here)))


def test_what_is_found_of_others_is_part_of_the_closure() -> None:
    """Powers of two are no affine relation."""
    relation = isl.UnionMap("[n] -> { S[i] -> S[2i] : 1 <= i <= n }")
    closure = close(relation)
    assert not closure.is_exact
    here = fix_parameters({"n": 40})
    everything = walked(relation.intersect_params(here))
    assert closure.relation.intersect_params(here).is_subset(everything)
    assert everything.is_subset(closure.superset)
