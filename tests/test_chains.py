"""Chains, antichains and transitive orientations against enumeration of everything."""

from __future__ import annotations

import itertools
import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from arrayfold.bounds.chain_cover import cover_with_chains, is_strict_order, transitive_orientation

Pairs = frozenset[tuple[int, int]]


def bits(pairs: Pairs, count: int) -> list[int]:
    return [sum(1 << y for y in range(count) if (x, y) in pairs) for x in range(count)]


def closed(pairs: Pairs) -> Pairs:
    while True:
        more = pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
        if more == pairs:
            return pairs
        pairs = more


def is_order(pairs: Pairs) -> bool:
    return closed(pairs) == pairs and all(a != b for a, b in pairs)


@st.composite
def orders(draw: st.DrawFn) -> tuple[int, Pairs]:
    """Strict orders on a few numbers, whose numbering says nothing about them."""
    count = draw(st.integers(0, 8))
    names = draw(st.permutations(range(count)))
    possible = list(itertools.combinations(range(count), 2))
    chosen = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    return count, closed(frozenset((names[a], names[b]) for a, b in chosen))


@given(orders())
@settings(max_examples=200)
def test_as_few_chains_as_the_largest_antichain_has_elements(order: tuple[int, Pairs]) -> None:
    count, before = order
    cover = cover_with_chains(bits(before, count))
    assert sorted(x for chain in cover.chains for x in chain) == list(range(count))
    for chain in cover.chains:
        assert all(pair in before for pair in itertools.combinations(chain, 2))
    assert not any(pair in before for pair in itertools.permutations(cover.antichain, 2))
    assert len(set(cover.antichain)) == len(cover.chains)
    largest = max(
        len(subset)
        for size in range(count + 1)
        for subset in itertools.combinations(range(count), size)
        if not any(pair in before for pair in itertools.permutations(subset, 2))
    )
    assert len(cover.antichain) == largest


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(st.just(n), st.frozensets(st.tuples(*[st.integers(0, n - 1)] * 2)))
    )
)
@settings(max_examples=200)
def test_strict_orders_are_told_from_other_relations(relation: tuple[int, Pairs]) -> None:
    count, pairs = relation
    assert is_strict_order(bits(pairs, count)) == is_order(pairs)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(st.just(n), st.randoms(use_true_random=False), st.floats(0, 1))
    )
)
@settings(max_examples=120)
def test_a_graph_is_directed_iff_some_choice_of_directions_is_an_order(
    drawn: tuple[int, random.Random, float],
) -> None:
    count, chance, density = drawn
    edges = [pair for pair in itertools.combinations(range(count), 2) if chance.random() < density][:9]
    both = frozenset((*edges, *((b, a) for a, b in edges)))
    found = transitive_orientation(bits(both, count))
    choices = itertools.product(*((edge, edge[::-1]) for edge in edges))
    assert (found is not None) == any(is_order(frozenset(choice)) for choice in choices)
    if found is not None:
        directed = frozenset((x, y) for x in range(count) for y in range(count) if found[x] >> y & 1)
        assert is_order(directed)
        assert directed | {(b, a) for a, b in directed} == both


def test_thousands_of_elements_take_seconds() -> None:
    chance = random.Random(1)
    points = [(chance.random(), chance.random()) for _ in range(3000)]
    successors = [
        sum(1 << y for y, (a, b) in enumerate(points) if a > point[0] and b > point[1]) for point in points
    ]
    start = time.perf_counter()
    assert is_strict_order(successors)
    cover = cover_with_chains(successors)
    assert time.perf_counter() - start < 10
    assert len(cover.chains) == len(cover.antichain) > 50


def test_a_long_chain_needs_no_deep_recursion() -> None:
    count = 3000
    everything = (1 << count) - 1
    cover = cover_with_chains([everything >> (x + 1) << (x + 1) for x in range(count)])
    assert cover.chains == (tuple(range(count)),)
