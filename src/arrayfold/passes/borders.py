"""Interior and border of a statement: where affine conditions inside of it come out as they mostly do.

A clamp such as `x > 0 ? x - 1 : 0` decides something in the first iteration only. So the statement becomes
two: one for the interior, whose text needs no such conditions, and one for the border. Both run when the one
they come from ran, so neither the order nor a value changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.c.source import Choice, CSource, StatementSource
from arrayfold.c.tree import Evaluate, Variable
from arrayfold.exact.isl import coalesced, fix_parameters, fresh_name, maps_of, without_parameters
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.exact.relations import union_of_maps
from arrayfold.program.model import Access, Moved, Problem, Program, Statement

_SAMPLE = 40
_MOST_POINTS = 100_000
_MOSTLY = 0.6


@dataclass(frozen=True)
class SplitBorders:
    """The interior of statements apart from their borders; conditions on data are not looked at."""

    name: ClassVar[str] = "split-borders"
    flags: ClassVar[tuple[str, ...]] = ()

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program with statements of their own for interiors; the same one if there are no borders."""
        del budget
        if not isinstance(program, Program):
            raise InputError("only the statements of a program have borders")
        if program.source is None:
            return program
        splits = _splits(program, program.source)
        return _split_program(program, program.source, splits) if splits else program


def has_borders(program: Program) -> bool:
    """Whether some statement has an interior without conditions that it has elsewhere."""
    return program.source is not None and bool(_splits(program, program.source))


@dataclass(frozen=True, eq=False)
class _Split:
    """A statement in two.

    inside  what the statement for the interior is called
    where   { S[i] }  the interior
    border  { S[i] }  the rest, which may be empty
    """

    inside: str
    where: isl.Set
    border: isl.Set


# ---------------------------------------------------------------- where


def _splits(program: Program, source: CSource) -> dict[str, _Split]:
    """Statement -> its interior, for those that have one and are code."""
    sample = fix_parameters(comfortable_parameters(program.running_sizes(), {}, _SAMPLE))
    taken = [statement.name for statement in program.statements]
    found: dict[str, _Split] = {}
    for statement in program.statements:
        name, text = statement.name, source.statements[statement.name]
        if not text.choices or not isinstance(text.node, Evaluate | Variable):
            continue
        whole = statement.domain.intersect_params(program.context)
        interior = coalesced(_interior(whole, text.choices, sample))
        border = coalesced(whole.subtract(interior))
        if not border.is_empty():
            inside = fresh_name(f"{name}_inside", taken)
            taken.append(inside)
            found[name] = _Split(inside, interior, border)
    return found


def _interior(whole: isl.Set, choices: Sequence[Choice], sample: isl.Set) -> isl.Set:
    """{ S[i] } where conditions come out as they mostly do at one size { : }."""
    interior = whole
    for choice in choices:
        holds = interior.intersect(choice.where)
        fails = interior.intersect(choice.among).subtract(choice.where)
        outcomes = [(holds, fails, choice.then), (fails, holds, choice.otherwise)]
        for mostly, rarely, value in outcomes:
            if value is None or mostly.is_empty():
                continue
            if rarely.is_empty() or _is_most(mostly, rarely, sample):
                interior = coalesced(interior.subtract(rarely))
                break
    return interior


def _is_most(mostly: isl.Set, rarely: isl.Set, sample: isl.Set) -> bool:
    """Whether one set has most of the iterations at a size, in the loops that tell the two apart."""
    test = mostly.gist(mostly.union(rarely))
    loops = [k for k in range(test.dim(isl.dim_type.set)) if test.involves_dims(isl.dim_type.set, k, 1)]
    most, few = (_count(one, loops, sample) for one in (mostly, rarely))
    return bool(loops) and most is not None and few is not None and most >= _MOSTLY * (most + few)


def _count(instances: isl.Set, loops: Sequence[int], sample: isl.Set) -> int | None:
    """How many iterations of some loops there are at a size; None if too many."""
    here = without_parameters(instances.intersect_params(sample))
    for k in reversed(range(here.dim(isl.dim_type.set))):
        if k not in loops:
            here = here.project_out(isl.dim_type.set, k, 1)
    if here.is_empty():
        return 0
    ends = [(here.dim_min_val(k), here.dim_max_val(k)) for k in range(len(loops))]
    if not all(one.is_int() for pair in ends for one in pair):
        return None
    size = prod(high.to_python() - low.to_python() + 1 for low, high in ends)
    return int(str(here.count_val())) if size <= _MOST_POINTS else None


# ---------------------------------------------------------------- the program


def _split_program(program: Program, source: CSource, splits: Mapping[str, _Split]) -> Program:
    parts = _parts(program, splits)
    statements: list[Statement] = []
    sources = dict(source.statements)
    for statement in program.statements:
        split = splits.get(statement.name)
        if split is None:
            statements.append(statement)
            continue
        old = sources.pop(statement.name)
        for name, where in ((statement.name, split.border), (split.inside, split.where)):
            statements.append(_part(statement, name, where))
            sources[name] = _restricted(old, name, where)
    moved = program.relocation.moved
    if moved is not None:
        moved = Moved(_of_parts(moved.reads, parts), _of_parts(moved.writes, parts))
    return replace(
        program,
        statements=tuple(statements),
        schedule=None if program.schedule is None else coalesced(program.schedule.apply_domain(parts)),
        happens_before=_between_parts(program.happens_before, parts),
        exclusive=_between_parts(program.exclusive, parts),
        optional=None if program.optional is None else program.optional.apply(parts),
        relocation=replace(program.relocation, moved=moved),
        source=replace(source, statements=sources, schedule=coalesced(source.schedule.apply_domain(parts))),
    )


def _parts(program: Program, splits: Mapping[str, _Split]) -> isl.UnionMap:
    """{ S[i] -> S[i]; S[i] -> S_inside[i] }: an instance and what it is called from now on."""
    found: list[isl.Map] = []
    for statement in program.statements:
        itself = isl.Map.identity(statement.domain.get_space().map_from_set())
        split = splits.get(statement.name)
        if split is None:
            found.append(itself)
            continue
        inside = itself.intersect_domain(split.where).set_tuple_name(isl.dim_type.out, split.inside)
        found += [itself.intersect_domain(split.border), inside]
    return union_of_maps(program.context.get_space(), found)


def _between_parts(pairs: isl.UnionMap | None, parts: isl.UnionMap) -> isl.UnionMap | None:
    """{ S[i] -> T[j] } with the new names on both sides."""
    return None if pairs is None else coalesced(pairs.apply_domain(parts).apply_range(parts))


def _of_parts(places: isl.UnionMap, parts: isl.UnionMap) -> isl.UnionMap:
    """{ [S[i] -> A[x]] -> B[y] } with the new names of instances."""
    found: list[isl.Map] = []
    renamings = maps_of(parts)
    for place in maps_of(places):
        cells = isl.Map.identity(place.domain().unwrap().get_space().range().map_from_set())
        instance = place.domain().unwrap().get_tuple_name(isl.dim_type.in_)
        found += [
            place.apply_domain(renaming.product(cells))
            for renaming in renamings
            if renaming.get_tuple_name(isl.dim_type.in_) == instance
        ]
    return union_of_maps(places.get_space(), found)


def _part(statement: Statement, name: str, where: isl.Set) -> Statement:
    """A statement for some of the instances."""
    accesses: list[Access] = []
    for access in statement.accesses:
        relation = coalesced(access.relation.intersect_domain(where))
        if not relation.is_empty():
            relation = relation.set_tuple_name(isl.dim_type.in_, name)
            accesses.append(replace(access, relation=relation))
    return Statement(name, where.set_tuple_name(name), tuple(accesses))


def _restricted(source: StatementSource, name: str, where: isl.Set) -> StatementSource:
    """The text of a statement for some of the instances."""
    cells = {
        node: coalesced(relation.intersect_domain(where)).set_tuple_name(isl.dim_type.in_, name)
        for node, relation in source.cells.items()
    }
    choices = tuple(
        replace(one, among=one.among.set_tuple_name(name), where=one.where.set_tuple_name(name))
        for one in source.choices
    )
    return replace(source, cells=cells, choices=choices)
