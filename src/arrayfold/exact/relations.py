"""Unions of sets and relations, relations between tuples of names, and transitive closures of relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_of

_MOST_ROUNDS = 4
_MOST_PIECES = 200
_MOST_STEPS = 4

Ends = tuple[str, str]


def union_of_sets(space: isl.Space, sets: Iterable[isl.Set | isl.UnionSet]) -> isl.UnionSet:
    """All sets together; the space says which parameters there are, also where there is no set.

    >>> union_of_sets(isl.Set("[N] -> { : }").get_space(), [isl.Set("{ A[0] }"), isl.Set("{ A[2] }")])
    UnionSet("[N] -> { A[2]; A[0] }")
    """
    unions = (one if isinstance(one, isl.UnionSet) else isl.UnionSet.from_set(one) for one in sets)
    return reduce(isl.UnionSet.union, unions, isl.UnionSet.empty(space))


def union_of_maps(space: isl.Space, maps: Iterable[isl.Map | isl.UnionMap]) -> isl.UnionMap:
    """All relations together; see `union_of_sets`."""
    unions = (one if isinstance(one, isl.UnionMap) else isl.UnionMap.from_map(one) for one in maps)
    return reduce(isl.UnionMap.union, unions, isl.UnionMap.empty(space))


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


# ---------------------------------------------------------------- closures


@dataclass(frozen=True, eq=False)
class Closure:
    """What follows from a relation by transitivity, exact where isl or repeated composition finds it.

    relation  { S[i] -> T[j] }  holds nothing else; all of it where the closure is exact
    superset  { S[i] -> T[j] }  holds all of it
    """

    relation: isl.UnionMap
    superset: isl.UnionMap
    is_exact: bool


def close(relation: isl.UnionMap) -> Closure:
    """The transitive closure of a relation, { S[i] -> T[j] }.

    isl gives a superset, and says whether it is exact. Where it is not, statements are gone through one by
    one; and last, the relation is composed with itself a few times, which is exact if nothing is added any
    more, and a subset otherwise.

    >>> close(isl.UnionMap("{ S[i] -> S[i + 2] : 0 <= i < 9 }")).is_exact
    True
    >>> turns = "[n] -> { S[i, j] -> S[i + 1, n - j] : 0 <= i < n and 0 <= j <= n }"
    >>> isl.UnionMap(turns).transitive_closure()[1], close(isl.UnionMap(turns)).is_exact
    (False, True)
    """
    try:
        superset, is_exact = relation.transitive_closure()
    except isl.Error:
        everything = relation.domain().union(relation.range())
        superset, is_exact = isl.UnionMap.from_domain_and_range(everything, everything), False
    if is_exact:
        return Closure(superset, superset, True)
    passed = _through_each_tuple(relation)
    if passed is not None:
        return Closure(passed, passed, True)
    reached = relation
    for _ in range(_MOST_ROUNDS):
        further = coalesced(reached.union(reached.apply_range(reached)))
        if further.is_subset(reached):
            return Closure(reached, reached, True)
        if sum(part.n_basic_map() for part in maps_of(further)) > _MOST_PIECES:
            break
        reached = further
    return Closure(reached, superset, False)


def _through_each_tuple(relation: isl.UnionMap) -> isl.UnionMap | None:
    """The transitive closure by Warshall's algorithm on the names of tuples; None where it is not found."""
    reached: dict[Ends, isl.Map] = {}
    for part in maps_of(relation):
        first, second = (part.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
        reached[str(first), str(second)] = part
    for middle in dict.fromkeys(name for ends in reached for name in ends):
        loops = reached.get((middle, middle))
        if loops is not None:
            closed = _closed_loop(loops)
            if closed is None:
                return None
            reached[middle, middle] = closed
            # An order through the middle may go round there, or not.
            closed = closed.union(isl.Map.identity(closed.get_space()))
        else:
            closed = None
        into = {first: part for (first, second), part in reached.items() if second == middle != first}
        out_of = {second: part for (first, second), part in reached.items() if first == middle != second}
        if closed is not None:
            into = {first: coalesced(part.apply_range(closed)) for first, part in into.items()}
            reached |= {(first, middle): part for first, part in into.items()}
        for second, right in out_of.items():
            through = right if closed is None else coalesced(closed.apply_range(right))
            reached[middle, second] = through
            for first, left in into.items():
                found = left.apply_range(right)
                before = reached.get((first, second))
                reached[first, second] = coalesced(found if before is None else before.union(found))
        if sum(part.n_basic_map() for part in reached.values()) > _MOST_PIECES:
            return None
    return union_of_maps(relation.get_space(), reached.values())


def _closed_loop(step: isl.Map) -> isl.Map | None:
    """The transitive closure of { S[i] -> S[j] }, from that of a few steps together; None if it is not exact.

    Any number of steps is less than k of them, or some times k of them with less than k before.
    """
    several = step
    shorter: list[isl.Map] = []
    for _ in range(_MOST_STEPS):
        closed, is_exact = several.transitive_closure()
        if is_exact:
            found = closed
            for few in shorter:
                found = found.union(few).union(few.apply_range(closed))
            return coalesced(found)
        shorter.append(several)
        several = coalesced(several.apply_range(step))
    return None


def close_through(relation: isl.UnionMap, middles: isl.UnionSet) -> Closure:
    """What follows from a relation by going through some instances only, { S[i] -> T[j] }.

    An order goes through an instance only if that one runs: a before m and m before b says nothing of a and b
    in an execution without m (DIY16 §3.2: the relation need not be transitive).

    middles  { S[i] }  the ends of a pair may be others

    >>> steps = isl.UnionMap("{ S[i] -> S[i + 1] : 0 <= i < 3 }")
    >>> found = close_through(steps, isl.UnionSet("{ S[1] }")).relation
    >>> found.is_equal(steps.union(isl.UnionMap("{ S[0] -> S[2] }")))
    True
    """
    inside = close(relation.intersect_domain(middles).intersect_range(middles))
    into, out_of = relation.intersect_range(middles), relation.intersect_domain(middles)

    def joined(between: isl.UnionMap) -> isl.UnionMap:
        through = between.union(middles.identity())
        return coalesced(relation.union(into.apply_range(through).apply_range(out_of)))

    reached = joined(inside.relation)
    superset = reached if inside.is_exact else joined(inside.superset)
    return Closure(reached, superset, inside.is_exact)
