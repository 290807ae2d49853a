"""Reads that conditional writes surely precede, because one of them always ran.

If both branches of a condition write a cell, it is written whatever comes of the condition; and what runs
only where a condition held finds what was written where it held. Conditions are resolved from the inside
outwards: once both outcomes of one are covered, all that is left to show is that it was evaluated.
"""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.exact.relations import union_of_maps
from arrayfold.program.conditions import Outcomes, agreeing, outcomes_of
from arrayfold.program.model import Program

_MOST_ROUNDS = 4


def conditional_writes(program: Program, array: str) -> isl.UnionMap:
    """{ S[i] -> A[x] }: writes that happen whenever their instance runs, but that one need not run."""
    writes = (
        access.relation
        for statement in program.statements
        for access in statement.accesses
        if access.is_write and access.array == array and access.whenever_run and not access.is_must
    )
    return union_of_maps(program.context.get_space(), writes)


def surely_preceded(program: Program, preceding: isl.UnionMap) -> isl.UnionMap:
    """{ T[j] -> A[x] }: reads before which one of the conditional writes of their cell surely ran.

    preceding  { [T[j] -> A[x]] -> S[i] }  S[i] surely comes before the read, if both run
    """
    outcomes = outcomes_of(program)
    if not outcomes or preceding.is_empty():
        return isl.UnionMap.empty(program.context.get_space())
    return _Resolution(program, outcomes, preceding).run()


class _Resolution:
    """What is left to show for each read.

    needed   condition and outcome -> { [T[j] -> A[x]] -> C[k] }: if C[k] came out so, the cell was written
    known    condition and outcome -> { [T[j] -> A[x]] -> C[k] }: where T[j] runs, C[k] came out so
    settled  { [T[j] -> A[x]] }
    """

    def __init__(self, program: Program, outcomes: Outcomes, preceding: isl.UnionMap) -> None:
        self.outcomes = outcomes
        assert program.source is not None
        self.same = program.source.same_conditions
        self.nothing = isl.UnionMap.empty(program.context.get_space())
        self.settled = self.nothing.domain()
        self.has_changed = False
        self.needed: dict[tuple[str, bool], isl.UnionMap] = {}
        self.known: dict[tuple[str, bool], isl.UnionMap] = {}
        readers = preceding.domain().unwrap().domain_map()
        for conditions in outcomes.values():
            for outcome in (outcome for condition in conditions for outcome in condition):
                known = readers.apply_range(isl.UnionMap.from_map(outcome.instances))
                self.known[outcome.key] = known.union(self.known.get(outcome.key, self.nothing))
        self.turns = program.source.turns
        self.sure = program.source.sure
        self._learn_from_later_iterations()
        for name in outcomes:
            if outcomes[name]:
                self._require(name, preceding)

    def _learn_from_later_iterations(self) -> None:
        """Add what came of conditions in the iterations before those that are known to run."""
        found = [
            (one, self.known[name, True].apply_range(isl.UnionMap.from_map(one.pairs)))
            for name, turns in self.turns.items()
            if (name, True) in self.known
            for one in turns.implied
        ]
        for one, known in found:
            key = str(one.pairs.get_tuple_name(isl.dim_type.out)), one.holds
            self.known[key] = known.union(self.known.get(key, self.nothing))

    def run(self) -> isl.UnionMap:
        """The reads that are settled."""
        for _ in range(_MOST_ROUNDS):
            self.has_changed = False
            names = {name for name, _ in self.needed}
            for name in sorted(names, key=lambda name: (-len(self.outcomes[name]), name)):
                self._exchange(name)
                self._resolve(name)
            if not self.has_changed:
                break
        return self.settled.unwrap()

    def _require(self, name: str, reads: isl.UnionMap) -> None:
        """All that is left to show is that instances of a statement ran, { [T[j] -> A[x]] -> S[i] }."""
        own = self.outcomes[name][-1][0]
        self._add(own.key, reads.apply_range(isl.UnionMap.from_map(own.instances)))

    def _add(self, key: tuple[str, bool], reads: isl.UnionMap) -> None:
        before = self.needed.get(key, self.nothing)
        if not reads.is_subset(before):
            self.needed[key] = coalesced(before.union(reads))
            self.has_changed = True

    def _resolve(self, name: str) -> None:
        """Go outwards where both outcomes are covered, or it is known which one it was."""
        held, failed = (self.needed.get((name, holds), self.nothing) for holds in (True, False))
        ran = held.intersect(failed)
        for holds, needed in ((True, held), (False, failed)):
            ran = ran.union(needed.intersect(self.known.get((name, holds), self.nothing)))
            if (name, holds) in self.sure:
                ran = ran.union(needed.intersect_range(isl.UnionSet.from_set(self.sure[name, holds])))
        if name in self.turns:
            ran = ran.union(held.intersect_range(isl.UnionSet.from_set(self.turns[name].surely)))
        if self.outcomes[name]:
            self._require(name, ran)
        elif not ran.domain().is_subset(self.settled):
            self.settled = coalesced(self.settled.union(ran.domain()))
            self.has_changed = True

    def _exchange(self, name: str) -> None:
        """Bring what is known of one evaluation to others that come out the same, if it surely took place."""
        for same in self.same.get(name, ()):
            other = str(same.pairs.get_tuple_name(isl.dim_type.out))
            pairs = isl.UnionMap.from_map(same.pairs)
            for condition in self.outcomes[name]:
                pairs = pairs.intersect(agreeing(condition, self.outcomes[other], self.nothing.get_space()))
            for holds in (True, False):
                needed = self.needed.get((name, holds))
                if needed is not None:
                    self._add((other, holds != same.is_opposite), needed.apply_range(pairs))
