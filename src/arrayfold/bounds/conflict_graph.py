"""Which cells may take over the address of which others, at fixed parameter values.

Two cells may share an address iff they do not conflict. Under a partial order of events this is itself a
strict order on cells, because everything that happens to one of the two comes before every write of the other
(DIY16 Theorem 1): a set of cells may share one address iff it is a chain. So the fewest addresses are the
fewest chains, and they are as many as the largest antichain has cells, all of which conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from arrayfold.base.bits import to_bits
from arrayfold.base.errors import MethodNotApplicable
from arrayfold.bounds.chain_cover import (
    ChainCover,
    cover_with_chains,
    is_strict_order,
    transitive_orientation,
)
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import first_images, is_bounded, points, visit_points
from arrayfold.exact.parameter_values import few_parameter_points

_MOST_CELLS = 3000
_MOST_UNORDERED_CELLS = 1500
_MOST_PAIRS = 400_000

_Cell = tuple[int, ...]


@dataclass(frozen=True)
class ConflictGraph:
    """The cells of an array at fixed parameter values, numbered, and their conflicts.

    cells        in the order of their first moments, as far as these are known
    has_moments  whether they are
    conflicting  for each cell the set of those it conflicts with, as bits
    """

    name: str
    cells: tuple[_Cell, ...]
    has_moments: bool
    conflicting: tuple[int, ...]

    @cached_property
    def reuse(self) -> list[int]:
        """For each cell the set of those that may take over its address, as bits: a strict order.

        Cells are compared by their first moments where these are known and give one. Otherwise the pairs
        that do not conflict are directed on their own.
        """
        everything = to_bits(range(len(self.cells)))
        sharing = [everything & ~conflicting & ~(1 << x) for x, conflicting in enumerate(self.conflicting)]
        if self.has_moments:
            later = [others >> x << x for x, others in enumerate(sharing)]
            if is_strict_order(later):
                return later
        if len(self.cells) > _MOST_UNORDERED_CELLS:
            raise MethodNotApplicable(
                f"without an order of the writes up to {_MOST_UNORDERED_CELLS} cells are handled, "
                f"{self.name} has {len(self.cells)}; try smaller sizes"
            )
        order = transitive_orientation(sharing)
        if order is None:
            raise MethodNotApplicable(
                f"the cells of {self.name} must be ordered by who may reuse whose address, and cannot be: "
                "the happens-before relation is not transitive, cells are written again after their last "
                "read, or the conflicts come from no program"
            )
        return order

    @cached_property
    def cover(self) -> ChainCover:
        """The fewest sets of cells that may share, and as many cells that all conflict."""
        cover = cover_with_chains(self.reuse)
        members = to_bits(cover.antichain)
        assert all(not members & ~self.conflicting[x] & ~(1 << x) for x in cover.antichain)
        return cover


def conflict_graph(conflicts: Conflicts) -> ConflictGraph:
    """The conflicts as a graph; the context must leave one value to each parameter."""
    assert few_parameter_points(conflicts.context, 1)
    here = conflicts.within(conflicts.context)
    if not is_bounded(here.cells):
        raise MethodNotApplicable(f"{here.name} has infinitely many cells")
    if (count := here.cells.count_val().to_python()) > _MOST_CELLS:
        raise MethodNotApplicable(
            f"up to {_MOST_CELLS} cells are handled, {here.name} has {count}; try smaller sizes"
        )
    pairs = here.pairs_one_way.wrap()
    if (count := pairs.count_val().to_python()) > _MOST_PAIRS:
        raise MethodNotApplicable(
            f"up to {_MOST_PAIRS} conflicts are handled, {here.name} has {count}; try smaller sizes"
        )
    first = {} if here.moments is None else _first_moments(here.moments)
    cells = sorted(points(here.cells), key=lambda cell: (first.get(cell, ()), cell))
    number = {cell: k for k, cell in enumerate(cells)}
    conflicting = [0] * len(cells)

    def join(pair: _Cell) -> None:
        x, y = number[pair[: here.array.rank]], number[pair[here.array.rank :]]
        if x != y:
            conflicting[x] |= 1 << y
            conflicting[y] |= 1 << x

    visit_points(pairs, join)
    return ConflictGraph(here.name, tuple(cells), bool(first), tuple(conflicting))


def _first_moments(moments: isl.Map) -> dict[_Cell, _Cell]:
    """The first moment of each cell.

    moments  { [t] -> A[x] }  without free parameters
    """
    rank = moments.dim(isl.dim_type.out)
    found = points(first_images(moments.reverse()).wrap())
    return {point[:rank]: point[rank:] for point in found}
