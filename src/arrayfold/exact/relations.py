"""Unions of sets and relations, and relations between tuples of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import islpy as isl


def union_of_sets(space: isl.Space, sets: Iterable[isl.Set | isl.UnionSet]) -> isl.UnionSet:
    """All sets together; the space says which parameters there are, also where there is no set.

    >>> union_of_sets(isl.Set("[N] -> { : }").get_space(), [isl.Set("{ A[0] }"), isl.Set("{ A[2] }")])
    UnionSet("[N] -> { A[2]; A[0] }")
    """
    return reduce(isl.UnionSet.union, sets, isl.UnionSet.empty(space))


def union_of_maps(space: isl.Space, maps: Iterable[isl.Map | isl.UnionMap]) -> isl.UnionMap:
    """All relations together; see `union_of_sets`."""
    return reduce(isl.UnionMap.union, maps, isl.UnionMap.empty(space))


def relation(
    left: Sequence[str],
    right: Sequence[str],
    where: str = "true",
    *,
    names: tuple[str, str] = ("", ""),
    parameters: Sequence[str] = (),
) -> isl.Map:
    """{ [left] -> [right] : where }, with names for both tuples.

    >>> relation(["i", "j"], ["i", "j + N"], "i < j", names=("S", ""), parameters=["N"])
    Map("[N] -> { S[i, j] -> [i, N + j] : j > i }")
    """
    ends = [f"{name}[{', '.join(entries)}]" for name, entries in zip(names, (left, right), strict=True)]
    return isl.Map(f"[{', '.join(parameters)}] -> {{ {' -> '.join(ends)} : {where} }}")
