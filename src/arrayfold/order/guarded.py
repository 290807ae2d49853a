"""Orders through statements under conditions on data.

From a before m and m before b follows a before b only where m runs whenever a and b do: each condition around
m is around a or around b as well, with the same outcome (DIY16 §3.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_of
from arrayfold.exact.relations import close, close_through, union_of_maps
from arrayfold.program.conditions import Outcome, Outcomes, agreeing, outcomes_of
from arrayfold.program.model import Program

_MOST_ROUNDS = 3
_MOST_CONDITIONS = 3
_MOST_PIECES = 200


def with_guarded_order(program: Program) -> Program:
    """The program with its happens-before relation closed, also through conditions where both ends know them.

    What is left out where that takes too many steps is no order, which is safe.
    """
    outcomes = outcomes_of(program)
    names = [name for name, conditions in outcomes.items() if conditions]
    if not names or program.happens_before is None:
        return program
    sure = program.domain().subtract(program.may_not_run())
    reached = close_through(program.happens_before, sure).relation
    reached = coalesced(reached.union(_under_equal_conditions(program, outcomes, reached)))
    for _ in range(_MOST_ROUNDS):
        further = reached
        for name in names:
            further = further.union(_through(name, program, outcomes, reached))
        further = close_through(coalesced(further), sure).relation
        if further.is_subset(reached):
            break
        if sum(part.n_basic_map() for part in maps_of(further)) > _MOST_PIECES:
            break
        reached = further
    return replace(program, happens_before=coalesced(reached))


def _under_equal_conditions(program: Program, outcomes: Outcomes, relation: isl.UnionMap) -> isl.UnionMap:
    """The closure among statements that all run if one of them does, { S[i] -> T[j] }."""
    space = program.context.get_space()
    alike = isl.UnionMap.empty(space)
    for part in maps_of(relation):
        ends = (part.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
        first, second = (outcomes.get(str(name), ()) for name in ends)
        if first and second:
            pairs = isl.UnionMap.from_map(part)
            for condition in first:
                pairs = pairs.intersect(agreeing(condition, second, space))
            for condition in second:
                pairs = pairs.intersect(agreeing(condition, first, space).reverse())
            alike = alike.union(pairs)
    return alike if alike.is_empty() else close(alike).relation


def _through(name: str, program: Program, outcomes: Outcomes, relation: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> T[j] }: pairs that follow by way of one statement, which runs whenever both do."""
    space = program.context.get_space()
    total = isl.UnionMap.empty(space)
    if len(outcomes[name]) > _MOST_CONDITIONS:
        return total
    (domain,) = (one.domain for one in program.statements if one.name == name)
    middle = isl.UnionSet.from_set(domain)
    into, out_of = relation.intersect_range(middle), relation.intersect_domain(middle)
    if into.is_empty() or out_of.is_empty():
        return total
    known = [_known_at(condition, outcomes, space) for condition in outcomes[name]]
    for earlier, later in _shared_out(known):
        left, right = into, out_of
        for pairs in earlier:
            left = left.intersect(pairs.reverse())
        for pairs in later:
            right = right.intersect(pairs)
        total = total.union(left.apply_range(right))
    return total


def _known_at(condition: Sequence[Outcome], outcomes: Outcomes, space: isl.Space) -> isl.UnionMap:
    """{ M[i] -> S[j] }: where S[j] runs, the condition around M[i] came out as M[i] needs it."""
    return union_of_maps(space, (agreeing(condition, around, space) for around in outcomes.values()))


def _shared_out(
    known: Sequence[isl.UnionMap],
) -> Iterator[tuple[list[isl.UnionMap], list[isl.UnionMap]]]:
    """Every way to let either end of a pair answer for each of the conditions."""
    for sides in itertools.product((True, False), repeat=len(known)):
        chosen = list(zip(known, sides, strict=True))
        yield [one for one, is_first in chosen if is_first], [one for one, is_first in chosen if not is_first]
