"""Sets of cells that all conflict, found in the conflicts alone: lower bounds without a program."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import coalesced

_MOST_DIMENSIONS = 3
_MOST_PIECES = 40
_MOST_OPERATIONS = 3_000_000
_SHARE = 0.1


def windows(conflicts: Conflicts) -> isl.Map | None:
    """{ [a] -> A[x] }: a cell and those before it that conflict with it, where these all conflict.

    "Before" is lexicographic in some order of the dimensions, each upwards or downwards: as a program that
    writes cells one after the other has it, whose live cells these are then. None if in no such order all
    cells of every window conflict with each other, or if that takes too much work to see.
    """
    rank = conflicts.array.rank
    pairs = conflicts.pairs
    if rank > _MOST_DIMENSIONS or pairs.n_basic_map() > _MOST_PIECES:
        return None
    pairs = pairs.intersect_params(conflicts.context)
    same = isl.Map.identity(pairs.get_space()).intersect_domain(conflicts.cells)
    same = same.intersect_params(conflicts.context)
    budget = Budget.of_work(_MOST_OPERATIONS, _SHARE)
    for order in _orders(conflicts.name, rank):
        before = isl.Map.lex_gt(order.range().get_space())
        with suppress(ArrayfoldError), budget.limit(f"windows of {conflicts.name}"):
            earlier = pairs.intersect(order.apply_range(before).apply_range(order.reverse()))
            window = coalesced(earlier.union(same))
            if all_conflict(window, pairs):
                return window.set_tuple_name(isl.dim_type.in_, "")
    return None


def all_conflict(window: isl.Map, pairs: isl.Map) -> bool:
    """Whether any two different cells of { [a] -> A[x] } conflict, whatever a is."""
    together = window.reverse().apply_range(window)
    apart = together.subtract(isl.Map.identity(together.get_space()))
    return bool(apart.is_subset(pairs))


def _orders(name: str, rank: int) -> Iterator[isl.Map]:
    """{ A[x] -> [t] }: the dimensions in some order with some signs; one of two opposite ones is enough."""
    names = [f"i{k}" for k in range(rank)]
    for chosen in itertools.permutations(names):
        for signs in itertools.product(("", "-"), repeat=max(0, rank - 1)):
            times = [f"{sign}{name}" for sign, name in zip(("", *signs), chosen, strict=False)]
            yield isl.Map(f"{{ {name}[{', '.join(names)}] -> [{', '.join(times)}] }}")
