"""Conditions on data: evaluated again in a new order, they must come out as before."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.exact.relations import union_of_sets
from arrayfold.program.conditions import same_iteration
from arrayfold.program.model import Program
from arrayfold.program.private_values import same_owner

_NOTHING: Mapping[str, Collection[str]] = {}


def refuse_uncertain_loops(program: Program, what: str) -> None:
    """Raise if data decides how often some loop runs, and where in it an iteration ends.

    what  what cannot be done then, in words
    """
    source = program.source
    if source is not None and source.uncertain is not None:
        raise InputError(
            f"data decides how often or how far this runs, so {what}",
            source.text.place(source.uncertain),
            "The loops of this region can be kept, but not written anew.",
        )


def arrays_in_conditions(program: Program) -> set[str]:
    """Arrays that conditions on data look at, which are evaluated again wherever they guard something."""
    if program.source is None:
        return set()
    evaluated = {guard.evaluated for one in program.source.statements.values() for guard in one.guards}
    return {
        access.array
        for statement in program.statements
        if statement.name in evaluated
        for access in statement.accesses
    }


def check_guards(program: Program, exchangeable: Mapping[str, Collection[str]] = _NOTHING) -> None:
    """Raise unless each guarded statement finds the data of its conditions as they were evaluated.

    For every write of a cell that a condition reads: it comes before the guarded statement in the new
    order exactly if it came before the condition in the old one.

    exchangeable  guarded statement -> statements whose writes may change places with it
    """
    source = program.source
    assert source is not None
    assert program.schedule is not None
    if not program.has_guards:
        return
    writes = program.accesses(writes=True)
    reads = {
        statement.name: [access for access in statement.accesses if not access.is_write]
        for statement in program.statements
    }
    domains = {statement.name: statement.domain for statement in program.statements}
    before_old, before_new = _before(source.schedule), _before(program.schedule)
    for name, statement in source.statements.items():
        free = exchangeable.get(name, ())
        for guard in statement.guards:
            condition = domains[guard.evaluated]
            link = isl.UnionMap.from_map(same_iteration(condition, domains[name]))
            for access in reads[guard.evaluated]:
                writers = writes.apply_range(isl.UnionMap.from_map(access.relation.reverse()))
                writers = writers.subtract_domain(_instances(program, free)) if free else writers
                if access.array in program.private:
                    writers = same_owner(writers, program.private[access.array])
                old = writers.intersect(before_old).apply_range(link)
                late = writers.subtract(before_old).apply_range(link)
                wrong = old.subtract(before_new).union(late.intersect(before_new))
                if not wrong.intersect_params(program.context).is_empty():
                    raise InputError(
                        f"{access.array} changes between a condition on it and what the condition guards",
                        source.text.place(guard.condition.span.start),
                        "The loops of this region can be kept, but not written anew.",
                    )


def _instances(program: Program, names: Collection[str]) -> isl.UnionSet:
    return union_of_sets(
        program.context.get_space(), (one.domain for one in program.statements if one.name in names)
    )


def _before(schedule: isl.UnionMap) -> isl.UnionMap:
    """{ S[i] -> T[j] }: S[i] has the earlier time."""
    return schedule.lex_lt_union_map(schedule)
