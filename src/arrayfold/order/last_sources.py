"""Which writes a read may see, in a total order: isl's dataflow, and whether it is complete."""

from __future__ import annotations

from dataclasses import dataclass

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

    isl's search for last writes loses some, mostly where subscripts have strides: such reads have no source.
    So its answer is taken if all other writes before a read are surely overwritten before it;
    otherwise the sources are found by taking away what is overwritten.
    """
    info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(must).set_may_source(may)
    flow = info.set_schedule_map(schedule).compute_flow()
    found = flow.get_full_must_dependence().union(flow.get_full_may_dependence())
    if sinks.is_empty() or (must.is_empty() and may.is_empty()):
        return found
    accesses = _Accesses(sinks, must, must.union(may), schedule)
    return found if accesses.has_all_in(found) else accesses.sources()


@dataclass(frozen=True, eq=False)
class _Accesses:
    """Reads and writes of cells, { S[i] -> A[x] }, and when they happen."""

    reads: isl.UnionMap
    must: isl.UnionMap
    writes: isl.UnionMap
    schedule: isl.UnionMap

    def sources(self) -> isl.UnionMap:
        """{ S[i] -> [T[j] -> A[x]] }: writes before reads with no sure write between them."""
        seen = self._linked(self.writes, self.reads).subtract(self._overwritten())
        return coalesced(seen.apply_domain(self.writes.domain_map()))

    def has_all_in(self, found: isl.UnionMap) -> bool:
        """Whether all sources are among those that were found."""
        named = found.apply_domain(self.writes.domain_map().reverse())
        others = self._linked(self.writes, self.reads).subtract(named)
        return others.is_empty() or others.is_subset(self._overwritten())

    def _overwritten(self) -> isl.UnionMap:
        """{ [S[i] -> A[x]] -> [T[j] -> A[x]] }: a sure write comes between."""
        return self._linked(self.writes, self.must).apply_range(self._linked(self.must, self.reads))

    def _linked(self, first: isl.UnionMap, second: isl.UnionMap) -> isl.UnionMap:
        """{ [S[i] -> A[x]] -> [T[j] -> A[x]] }: accesses to one cell, the first before the second."""
        earlier = isl.UnionMap.from_map(isl.Map.lex_lt(maps_of(self.schedule)[0].get_space().range()))
        same = first.range_map().apply_range(second.range_map().reverse())
        sooner = first.domain_map().apply_range(self.schedule).apply_range(earlier)
        return same.intersect(sooner.apply_range(second.domain_map().apply_range(self.schedule).reverse()))
