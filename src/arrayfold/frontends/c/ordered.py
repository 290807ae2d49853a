"""OpenMP's ordered: blocks that the iterations of a parallel loop run in the order of the loop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.tree import For
from arrayfold.frontends.c.depend import instances_of
from arrayfold.frontends.c.places import Found
from arrayfold.order.tasks import TaskPath, is_waited_for


@dataclass(frozen=True, eq=False)
class OrderedBlock:
    """An `ordered` block around a statement.

    loop   the loop to which it belongs: variables `first` to `first + count - 1` of the statement
    depth  the number of steps down to the block
    """

    loop: For
    first: int
    count: int
    depth: int


def ordered_edges(statements: Sequence[tuple[Found, OrderedBlock, TaskPath]]) -> isl.UnionMap:
    """{ S[i] -> T[j] }: S[i] is in the block of an earlier iteration of the same loop than T[j].

    What a block starts and does not wait for is no part of it.
    """
    total = isl.UnionMap("{ }")
    for (first, block, path), (second, other, _) in itertools.product(statements, repeat=2):
        if block.loop is other.loop and is_waited_for(path[block.depth :]):
            total = total.union(_earlier_iterations(first, second, block))
    return total


def _earlier_iterations(first: Found, second: Found, block: OrderedBlock) -> isl.UnionMap:
    left, right = instances_of(first), instances_of(second)
    space = left.get_space().domain().map_from_domain_and_range(right.get_space().domain())
    equal = isl.Map.universe(space)
    for k in range(block.first):
        equal = equal.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    earlier = isl.Map.empty(space)
    for k in range(block.first, block.first + block.count):
        earlier = earlier.union(equal.order_lt(isl.dim_type.in_, k, isl.dim_type.out, k))
        equal = equal.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return isl.UnionMap.from_map(earlier.apply_domain(left).apply_range(right))
