"""Which writes a read may see, in a total order: isl's dataflow, and whether it is complete."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_of


def last_sources(
    sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, schedule: isl.UnionMap
) -> isl.UnionMap:
    """{ S[i] -> [T[j] -> A[x]] }: the writes whose value a read may see.

    sinks     { T[j] -> A[x] }  reads
    must      { S[i] -> A[x] }  writes that surely happen
    may       { S[i] -> A[x] }  other writes
    schedule  instances -> times; a write is seen by reads at later times

    isl's search for last writes loses some where subscripts have strides: such reads have no source at all.
    So its answer is taken if every read that a sure write precedes has a source, and no sure write comes
    between a source and its reader; otherwise the sources are found by taking away what is overwritten.
    """
    info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(must).set_may_source(may)
    flow = info.set_schedule_map(schedule).compute_flow()
    found = flow.get_full_must_dependence().union(flow.get_full_may_dependence())
    if not any(_has_strides(one) for one in (sinks, must, may, schedule)):
        return found
    accesses = _Accesses(sinks, must, may, schedule)
    return found if may.is_empty() and accesses.agree_with(found) else accesses.sources()


def _has_strides(relation: isl.UnionMap) -> bool:
    return any(piece.dim(isl.dim_type.div) for one in maps_of(relation) for piece in one.get_basic_maps())


class _Accesses:
    """Reads and writes with their cells, { [S[i] -> A[x]] -> ... }, and which comes before which."""

    def __init__(
        self, sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, schedule: isl.UnionMap
    ) -> None:
        self.reads = sinks
        self.writes = must.union(may)
        self.must = must
        self.schedule = schedule
        space = maps_of(schedule)[0].get_space().range()
        self.earlier = isl.UnionMap.from_map(isl.Map.lex_lt(space))

    def _linked(self, first: isl.UnionMap, second: isl.UnionMap) -> isl.UnionMap:
        """{ [S[i] -> A[x]] -> [T[j] -> A[x]] }: accesses to one cell, the first before the second."""
        same = first.range_map().apply_range(second.range_map().reverse())
        sooner = first.domain_map().apply_range(self.schedule).apply_range(self.earlier)
        return same.intersect(sooner.apply_range(second.domain_map().apply_range(self.schedule).reverse()))

    def sources(self) -> isl.UnionMap:
        """{ S[i] -> [T[j] -> A[x]] }: writes before reads with no sure write between them."""
        overwritten = self._linked(self.writes, self.must).apply_range(self._linked(self.must, self.reads))
        seen = self._linked(self.writes, self.reads).subtract(overwritten)
        return coalesced(seen.apply_domain(self.writes.domain_map()))

    def agree_with(self, found: isl.UnionMap) -> bool:
        """Whether sources are complete and none is overwritten, where all writes are sure."""
        preceded = self._linked(self.must, self.reads)
        if not preceded.range().is_subset(found.range()):
            return False
        # { [S[i] -> A[x]] -> [T[j] -> A[x]] } of what was found
        named = found.apply_domain(self.must.domain_map().reverse())
        same = self.must.range_map().apply_range(self.reads.range_map().reverse())
        overwritten = self._linked(self.must, self.must).apply_range(preceded)
        return named.intersect(same).is_disjoint(overwritten)
