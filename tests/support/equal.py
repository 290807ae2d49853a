"""Whether two problems say the same, in the sense of isl."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from arrayfold.program.model import Array, ConflictProblem, Problem, Program


def are_equal(left: Problem, right: Problem) -> bool:
    """Whether both describe the same program, or the same conflicts, for all that the context allows."""
    if isinstance(left, Program) and isinstance(right, Program):
        return _same_programs(left, right)
    assert isinstance(left, ConflictProblem)
    assert isinstance(right, ConflictProblem)
    return (
        left.context.is_equal(right.context)
        and _ranks(left.arrays) == _ranks(right.arrays)
        and all(array.cells.is_equal(right.array(array.name).cells) for array in left.arrays)
        and left.pairs.keys() == right.pairs.keys()
        and left.differences.keys() == right.differences.keys()
        and all(pairs.is_equal(right.pairs[name]) for name, pairs in left.pairs.items())
        and all(deltas.is_equal(right.differences[name]) for name, deltas in left.differences.items())
    )


def _same_programs(left: Program, right: Program) -> bool:
    known = left.context
    return (
        known.is_equal(right.context)
        and _ranks(left.arrays) == _ranks(right.arrays)
        and dict(left.parallel) == dict(right.parallel)
        and left.temporaries == right.temporaries
        and _equal_sets(known, left.domain(), right.domain())
        and _equal_sets(known, left.live_in, right.live_in)
        and _equal_sets(known, left.live_out, right.live_out)
        and _equal_or_both_absent(known, left.schedule, right.schedule)
        and _equal_or_both_absent(known, left.happens_before, right.happens_before)
        and _equal_or_both_absent(known, left.exclusive, right.exclusive)
        and _equal_sets(known, left.may_not_run(), right.may_not_run())
        and left.tiles == right.tiles
        and all(
            _equal_maps(
                known,
                left.accesses(writes=writes, must_only=must),
                right.accesses(writes=writes, must_only=must),
            )
            for writes in (False, True)
            for must in (False, True)
        )
    )


def _ranks(arrays: Iterable[Array]) -> dict[str, int]:
    return {array.name: array.rank for array in arrays}


def _equal_sets(known: isl.Set, left: isl.UnionSet, right: isl.UnionSet) -> bool:
    return left.intersect_params(known).is_equal(right.intersect_params(known))


def _equal_maps(known: isl.Set, left: isl.UnionMap, right: isl.UnionMap) -> bool:
    return left.intersect_params(known).is_equal(right.intersect_params(known))


def _equal_or_both_absent(known: isl.Set, left: isl.UnionMap | None, right: isl.UnionMap | None) -> bool:
    if left is None or right is None:
        return left is right
    return _equal_maps(known, left, right)
