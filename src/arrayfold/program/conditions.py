"""Conditions on data around statements: which outcomes are known where a statement runs.

A statement under conditions runs iff each of them came out as it must, in the iteration that it shares with
the statement. So where a statement runs these outcomes are known, for all else that depends on the same
evaluation or on another one that surely comes out the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from arrayfold.exact.relations import union_of_maps
from arrayfold.program.model import Program


@dataclass(frozen=True, eq=False)
class Outcome:
    """A condition, and what came of it where a statement runs.

    condition  the statement that evaluates it
    holds      whether it held
    instances  { S[i] -> C[k] }  which evaluation
    """

    condition: str
    holds: bool
    instances: isl.Map

    @property
    def key(self) -> tuple[str, bool]:
        """The condition and whether it held."""
        return self.condition, self.holds


# statement -> for each condition around it, outer ones first, all outcomes that amount to the same, the
# condition's own one first
Outcomes: TypeAlias = Mapping[str, Sequence[Sequence[Outcome]]]


def outcomes_of(program: Program) -> Outcomes:
    """What is known of conditions on data where each statement runs; empty for a program without any."""
    source = program.source
    if source is None or not any(statement.guards for statement in source.statements.values()):
        return {}
    domains = {statement.name: statement.domain for statement in program.statements}
    found: dict[str, list[list[Outcome]]] = {}
    for name, domain in domains.items():
        found[name] = []
        for guard in source.statements[name].guards:
            link = same_iteration(domains[guard.evaluated], domain).reverse()
            known = [Outcome(guard.evaluated, guard.must_hold, link)]
            known += [
                Outcome(
                    str(same.pairs.get_tuple_name(isl.dim_type.out)),
                    guard.must_hold != same.is_opposite,
                    link.apply_range(same.pairs),
                )
                for same in source.same_conditions.get(guard.evaluated, ())
            ]
            found[name].append(known)
    return found


def same_iteration(condition: isl.Set, guarded: isl.Set) -> isl.Map:
    """{ C[i] -> S[i, j] }: the loops around the condition are the outer ones around the statement."""
    pairs = isl.Map.from_domain_and_range(condition, guarded)
    for k in range(condition.dim(isl.dim_type.set)):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


def agreeing(first: Sequence[Outcome], second: Sequence[Sequence[Outcome]], space: isl.Space) -> isl.UnionMap:
    """{ S[i] -> T[j] }: where T[j] runs, a condition around S[i] came out as S[i] needs it.

    first   the outcomes that amount to that of the condition around S
    second  those of all conditions around T
    """
    pairs = (
        needed.instances.apply_range(known.instances.reverse())
        for needed, outcomes in itertools.product(first, second)
        for known in outcomes
        if needed.key == known.key
    )
    return union_of_maps(space, pairs)


def never_together(program: Program) -> isl.UnionMap:
    """{ S[i] -> T[j] }: instances that need opposite outcomes of one condition."""
    known = [
        outcome
        for conditions in outcomes_of(program).values()
        for condition in conditions
        for outcome in condition
    ]
    pairs = (
        one.instances.apply_range(other.instances.reverse())
        for one, other in itertools.product(known, repeat=2)
        if (one.condition, one.holds) == (other.condition, not other.holds)
    )
    return union_of_maps(program.context.get_space(), pairs)
