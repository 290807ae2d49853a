"""Stages fused row by row: each runs over a row of its own as soon as the rows that it reads are there.

The loops of stages that hand values to each other become one loop, [y + shift, stage, x], with the least
shifts that keep all dependences. Inside, every stage keeps its loops, so that its innermost one stays simple.
A stage that reads twice as many rows as it makes runs half as often. Where a stage needs all of another one,
or the rows of the other one in another direction, the two stay apart. What is inside of their loops is looked
at in the same way. Single loops without rows inside become one if values stay in their iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm
from typing import TypeAlias

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.nests import Nest, Pairs, Placed, Times, spread
from arrayfold.program.model import Program

# How many rows of one stage go with how many of another one, the most frequent case first.
_RATES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (4, 1), (2, 3), (3, 2))
_LARGEST_PART = Fraction(1, 2)

# A dimension of the new times: a constant, or a loop of the old ones.
_Column: TypeAlias = int | Placed


@dataclass(frozen=True)
class RowFusion:
    """How far stages are fused.

    levels  how many loops, one inside the other, stages may have in common; None for as many as leave each
            stage a row, an innermost loop of its own
    rows    whether stages keep innermost loops of their own
    points  whether stages nevertheless share these where all values stay in their iterations
    """

    levels: int | None = None
    rows: bool = True
    points: bool = False

    def schedule(self, program: Program, dependences: isl.UnionMap, flows: isl.UnionMap) -> isl.UnionMap:
        """{ S[i] -> [t] }: an order that keeps the dependences, and all times of one length.

        dependences  { S[i] -> T[j] }  S[i] must run first, as it does in the program's own order
        flows        { S[i] -> T[j] }  T[j] reads what S[i] writes
        """
        times = Times.of(program)
        if not times.parts:
            assert program.schedule is not None
            return program.schedule
        pairs, shared = Pairs.of(times, dependences), Pairs.of(times, flows)
        columns = _Fusion(times, self, shared).arrange(times.nests(list(times.parts)), pairs, shared, 0)
        return _schedule(program, times, columns)


@dataclass(frozen=True, eq=False)
class _Cluster:
    """Nests that share a loop.

    members  their numbers, in the order in which they run
    placed   when the loop of each runs; none where there is one nest only
    """

    members: tuple[int, ...]
    placed: Mapping[int, Placed]


@dataclass(frozen=True, eq=False)
class _Fusion:
    times: Times
    how: RowFusion
    flows: Pairs

    def arrange(
        self, nests: Sequence[Nest], pairs: Pairs, flows: Pairs, level: int
    ) -> dict[str, list[_Column]]:
        """statement -> the dimensions of its new times, for nests that run one after the other."""
        clusters = _Clusters.of(self, nests, pairs, flows, level).ordered()
        columns: dict[str, list[_Column]] = {}
        for place, cluster in enumerate(clusters):
            for name, inner in self._inside(cluster, nests, pairs, flows, level).items():
                columns[name] = [place, *inner]
        return columns

    def _inside(
        self, cluster: _Cluster, nests: Sequence[Nest], pairs: Pairs, flows: Pairs, level: int
    ) -> dict[str, list[_Column]]:
        members = [nests[k] for k in cluster.members]
        if members[0].loop is None:
            return {name: [] for name in members[0].statements}
        of_nest = {k: cluster.placed.get(k, Placed(nests[k].loop or 0)) for k in cluster.members}
        placed = {name: of_nest[k] for k in cluster.members for name in nests[k].statements}
        inner = [
            nest
            for member in members
            if member.loop is not None
            for nest in self.times.nests(member.statements, member.loop + 1)
        ]
        equal = pairs.at_equal_times(placed)
        deeper = level + (len(members) > 1)
        columns = self.arrange(inner, equal, flows.at_equal_times(placed), deeper)
        return {name: [placed[name], *columns[name]] for name in columns}

    def may_share(self, first: Nest, then: Nest, level: int) -> bool:
        """Whether two nests are of a kind that is fused: inside of a common loop only those with rows."""
        if first.loop is None or then.loop is None:
            return False
        if self.how.levels is not None and level >= self.how.levels:
            return False
        return level == 0 or self.how.points or not self.how.rows or self.has_rows(first, then)

    def has_rows(self, *nests: Nest) -> bool:
        """Whether some of the nests have rows, so that a stage keeps an innermost loop of its own."""
        return any(self.times.has_rows(nest) for nest in nests)

    def all_stays(self, first: Nest, then: Nest, here: Sequence[isl.Map]) -> bool:
        """Whether one nest takes no other values from another one than in these pairs of times."""
        everything = self.flows.between([first, then]).get((0, 1), [])
        return all(any(pairs.is_subset(part) for part in here) for pairs in everything)

    def trip_count(self, nest: Nest) -> int | None:
        """How many iterations the loop of a nest has at most; None where that depends on parameters."""
        assert nest.loop is not None
        counts = [self.times.trip_count(name, nest.loop) for name in nest.statements]
        known = [count for count in counts if count is not None]
        return max(known) if len(known) == len(counts) else None


# ---------------------------------------------------------------- which nests share a loop


@dataclass(eq=False)
class _Clusters:
    """Nests in groups that share a loop each, while they are being joined.

    group  number of a nest -> the group that it is in
    placed number of a nest -> when its loop runs, for groups of several
    """

    fusion: _Fusion
    nests: Sequence[Nest]
    between: dict[tuple[int, int], list[isl.Map]]
    shared: dict[tuple[int, int], list[isl.Map]]
    group: list[int]
    rates: list[Fraction]
    shifts: dict[int, int]
    spreads: dict[tuple[int, int, Placed, Placed], tuple[int | None, int | None]] = field(
        default_factory=dict[tuple[int, int, Placed, Placed], tuple[int | None, int | None]]
    )

    @staticmethod
    def of(fusion: _Fusion, nests: Sequence[Nest], pairs: Pairs, flows: Pairs, level: int) -> _Clusters:
        """The nests, joined where they hand values to each other and nothing speaks against it."""
        count = len(nests)
        between, shared = pairs.between(nests), flows.between(nests)
        one = Fraction(1)
        self = _Clusters(fusion, nests, between, shared, list(range(count)), [one] * count, {})
        for a, b in sorted(shared, key=lambda pair: (pair[1], -pair[0])):
            if self.group[a] != self.group[b] and fusion.may_share(nests[a], nests[b], level):
                self._join(a, b)
        return self

    def _followers(self) -> dict[int, set[int]]:
        """group -> the other groups of which a nest must run after one of its own."""
        found: dict[int, set[int]] = {}
        for a, b in self.between:
            if self.group[a] != self.group[b]:
                found.setdefault(self.group[a], set()).add(self.group[b])
        return found

    def ordered(self) -> list[_Cluster]:
        """The groups in an order that keeps all dependences, and otherwise as they are written."""
        followers = self._followers()
        waits_for = Counter(then for group in followers.values() for then in group)
        ready = sorted(group for group in set(self.group) if not waits_for[group])
        found: list[_Cluster] = []
        while ready:
            group = heappop(ready)
            members = self._members(group)
            found.append(_Cluster(members, self._placed(members)))
            for then in followers.get(group, ()):
                waits_for[then] -= 1
                if not waits_for[then]:
                    heappush(ready, then)
        return found

    def _members(self, *groups: int) -> tuple[int, ...]:
        return tuple(k for k, group in enumerate(self.group) if group in groups)

    def _placed(self, members: Sequence[int]) -> dict[int, Placed]:
        if len(members) < 2:
            return {}
        scale = lcm(*(self.rates[k].denominator for k in members))
        found: dict[int, Placed] = {}
        for k in members:
            loop = self.nests[k].loop
            assert loop is not None
            found[k] = Placed(loop, int(self.rates[k] * scale), self.shifts[k])
        return found

    def _join(self, a: int, b: int) -> None:
        """Join the groups of two nests, if all of their nests can share a loop."""
        first, then = self.group[a], self.group[b]
        if self._has_detour(first, then) or self._has_detour(then, first):
            return
        for p, q in _RATES:
            if not self._is_near(a, b, p, q):
                continue
            # p iterations of a go with q of b.
            factor = Fraction(p, q) * self.rates[a] / self.rates[b]
            rates = [rate * factor if self.group[k] == then else rate for k, rate in enumerate(self.rates)]
            members = self._members(first, then)
            shifts = self._shifts(members, rates)
            if shifts is not None and self._may_run(a, b, shifts):
                self.rates, self.shifts = rates, self.shifts | shifts
                self.group = [first if group == then else group for group in self.group]
                return

    def _may_run(self, a: int, b: int, shifts: Mapping[int, int]) -> bool:
        """Whether nests without rows would have nothing but the same iterations in common."""
        if not self.fusion.how.rows or self.fusion.has_rows(self.nests[a], self.nests[b]):
            return True
        at, to = self.nests[a].loop, self.nests[b].loop
        assert at is not None
        assert to is not None
        shared = self.shared[a, b]
        is_same = not any(shifts.values()) and spread(shared, Placed(at), Placed(to)) == (0, 0)
        return is_same and self.fusion.all_stays(self.nests[a], self.nests[b], shared)

    def _has_detour(self, first: int, then: int) -> bool:
        """Whether other groups must run between the two."""
        followers = self._followers()
        reached = followers.get(first, set[int]()) - {then}
        waiting = list(reached)
        while waiting:
            after = followers.get(waiting.pop(), set[int]())
            if then in after:
                return True
            waiting += after - reached - {first}
            reached |= after
        return False

    def _is_near(self, a: int, b: int, p: int, q: int) -> bool:
        """Whether values go from one loop to the other over a few iterations only, at these rates."""
        at, to = self.nests[a].loop, self.nests[b].loop
        assert at is not None
        assert to is not None
        low, high = spread(self.shared[a, b], Placed(at, q), Placed(to, p))
        if low is None or high is None:
            return False
        count = self.fusion.trip_count(self.nests[a])
        return count is None or high - low < _LARGEST_PART * q * count or high == low

    def _shifts(self, members: Sequence[int], rates: Sequence[Fraction]) -> dict[int, int] | None:
        """nest -> the shift of its loop: the least ones that keep all dependences, None if there are none."""
        scale = lcm(*(rates[k].denominator for k in members))
        least: dict[tuple[int, int], int] = {}
        inside = set(members)
        for a, b in self.between:
            if a not in inside or b not in inside:
                continue
            at, to = self.nests[a].loop, self.nests[b].loop
            if at is None or to is None:
                return None
            placed = Placed(at, int(rates[a] * scale)), Placed(to, int(rates[b] * scale))
            low, high = self._spread(a, b, *placed)
            if high is None:
                return None
            count = self.fusion.trip_count(self.nests[a])
            if count is not None and low != high and high >= _LARGEST_PART * placed[0].rate * count:
                return None
            least[a, b] = high
        return _least_shifts(members, least, [pair for pair in self.shared if pair in least])

    def _spread(self, a: int, b: int, at: Placed, to: Placed) -> tuple[int | None, int | None]:
        """How far two nests that depend on each other run apart; asked again for each nest that joins."""
        key = a, b, at, to
        if key not in self.spreads:
            self.spreads[key] = spread(self.between[a, b], at, to)
        return self.spreads[key]


def _least_shifts(
    members: Sequence[int], least: Mapping[tuple[int, int], int], flows: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Shifts with shift[b] - shift[a] >= least[a, b], each nest as early or as late as can be.

    Of the two the one in which values wait for less time; the least shift is 0.
    """
    into: dict[int, list[tuple[int, int]]] = {k: [] for k in members}
    out_of: dict[int, list[tuple[int, int]]] = {k: [] for k in members}
    for (a, b), by in least.items():
        into[b].append((a, by))
        out_of[a].append((b, by))
    early: dict[int, int] = {}
    for b in members:
        early[b] = max((early[a] + by for a, by in into[b]), default=0)
    late: dict[int, int] = {}
    for a in reversed(members):
        late[a] = min((late[b] - by for b, by in out_of[a]), default=early[a])
    best = min((early, late), key=lambda shifts: sum(shifts[b] - shifts[a] for a, b in flows))
    first = min(best.values())
    return {k: shift - first for k, shift in best.items()}


# ---------------------------------------------------------------- times


def _schedule(program: Program, times: Times, columns: Mapping[str, Sequence[_Column]]) -> isl.UnionMap:
    """{ S[i] -> [t] }, without dimensions that are the same for all statements."""
    depth = max(map(len, columns.values()))
    padded = {name: [*given, *[0] * (depth - len(given))] for name, given in columns.items()}
    telling = [d for d in range(depth) if _tells_apart([given[d] for given in padded.values()])]
    names = [f"t{d}" for d in range(times.depth)]
    found: list[isl.Map] = []
    for name, given in padded.items():
        entries = [_entry(given[d]) for d in telling] or ["0"]
        found.append(times.parts[name].apply_range(relation(names, entries)))
    return coalesced(union_of_maps(program.context.get_space(), found))


def _tells_apart(columns: Sequence[_Column]) -> bool:
    """Whether a dimension is a loop of some statement, or another constant for one than for another."""
    return any(isinstance(column, Placed) for column in columns) or len(set(columns)) > 1


def _entry(column: _Column) -> str:
    if isinstance(column, int):
        return str(column)
    return f"{column.rate}*t{column.loop} + {column.shift}"
