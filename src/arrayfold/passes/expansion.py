"""Single assignment: every statement gets its own array, written at its iteration vector (Feautrier 1988).

Value-based dataflow says which instance wrote what an access reads, so names and subscripts of the original
arrays are forgotten (Mor14 §2). Reads that may see a value from before the program stay with the old array,
and so do values that are needed there afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

import islpy as isl

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.exact.isl import coalesced, fresh_name, maps_of, sets_of
from arrayfold.exact.relations import union_of_maps, union_of_sets
from arrayfold.order.dataflow import certain_flows, undefined_reads
from arrayfold.order.events import across, order_of
from arrayfold.order.movable import find_obstacle
from arrayfold.program.model import Access, Array, Moved, Program, Statement


def expand(program: Program, arrays: Sequence[str]) -> Program:
    """The program in which the statements that write these arrays write arrays of their own.

    A statement S that writes A at i writes A_S[i]. Needs at most one write of each statement to these
    arrays, and reads that see the same value in every execution. In a C file, and in arrays that are no
    temporaries, a statement whose values are needed after the program goes on to write the old array.
    """
    for name in arrays:
        reason = find_obstacle(program, name)
        if reason is not None:
            raise MethodNotApplicable(f"{name} cannot be expanded: {reason}")
    return _expanded_program(program, arrays) if arrays else program


# statement and array that it writes -> the array of its own
_Names: TypeAlias = Mapping[tuple[str, str], str]
# array -> statement -> { S[i] }: what `_last_writers` finds
_LastWriters: TypeAlias = Mapping[str, Mapping[str, isl.Set]]


@dataclass(frozen=True, eq=False)
class _Flow:
    """Who reads from a new array.

    new  { R[i] -> B[j] }
    old  { R[i] -> A[x] }
    both { [R[i] -> A[x]] -> B[j] }
    """

    array: str
    new: isl.Map
    old: isl.Map
    both: isl.Map


def _expanded_program(program: Program, arrays: Sequence[str]) -> Program:
    space = program.context.get_space()
    needed = {array: _needed_cells(program, array) for array in arrays}
    last = {array: _last_writers(program, array, needed[array]) for array in arrays}
    names = _new_names(program, arrays, last)
    flows = _flows(program, arrays, names)
    statements = tuple(
        _expanded(one, program.context, names, flows.get(one.name, [])) for one in program.statements
    )
    by_name = {statement.name: statement for statement in program.statements}
    new_arrays = [
        Array(name, tuple(by_name[writer].iterators), _writing(by_name[writer], old).set_tuple_name(name))
        for (writer, old), name in names.items()
    ]
    still_used = {access.array for statement in statements for access in statement.accesses}
    origins = {name: array for (_, array), name in names.items()}
    gone = {array.name for array in program.arrays}.intersection(arrays, origins.values()) - still_used
    return replace(
        program.with_arrays(gone, new_arrays),
        statements=statements,
        live_out=_new_live_out(program, needed, last, names),
        relocation=replace(
            program.relocation,
            moved=Moved(
                union_of_maps(space, (flow.both for several in flows.values() for flow in several)),
                union_of_maps(space, _written(program, names)),
            ),
            origins={**program.relocation.origins, **origins},
            replaced={
                **program.relocation.replaced,
                **{name: program.size_of(name) for name in sorted(gone)},
            },
        ),
        source=None if program.source is None else program.source.with_arrays(origins, gone),
    )


def _new_names(program: Program, arrays: Sequence[str], last: _LastWriters) -> _Names:
    """The new arrays, for statements whose values may all live there."""
    names: dict[tuple[str, str], str] = {}
    taken = [array.name for array in program.arrays]
    fixed = {
        (statement, array)
        for array in arrays
        if program.source is not None or array not in (program.temporaries or ())
        for statement in last[array]
    }
    for statement in program.statements:
        for access in statement.accesses:
            key = (statement.name, access.array)
            if access.is_write and access.array in arrays and key not in fixed:
                wanted = f"{access.array}_{statement.name}"
                names[key] = fresh_name(wanted, taken)
                taken.append(names[key])
    return names


def _flows(program: Program, arrays: Sequence[str], names: _Names) -> dict[str, list[_Flow]]:
    """reader -> what it reads from the new arrays."""
    found: dict[str, list[_Flow]] = {}
    certain = certain_flows(program, order_of(program), arrays)
    if certain is None:
        raise MethodNotApplicable(f"whose values of {', '.join(arrays)} are read depends on the execution")
    for part in certain:
        writer = str(part.get_tuple_name(isl.dim_type.in_))
        old = part.range().unwrap()
        reader = str(old.get_tuple_name(isl.dim_type.in_))
        array = str(old.get_tuple_name(isl.dim_type.out))
        if (writer, array) not in names:
            continue
        both = part.reverse().set_tuple_name(isl.dim_type.out, names[writer, array])
        flow = _Flow(array, coalesced(both.domain_factor_domain()), old, coalesced(both))
        found.setdefault(reader, []).append(flow)
    return found


def _expanded(
    statement: Statement,
    context: isl.Set,
    names: _Names,
    flows: Sequence[_Flow],
) -> Statement:
    new: list[Access] = []
    for access in statement.accesses:
        if access.is_write:
            own = names.get((statement.name, access.array))
            new.append(access if own is None else _own_write(statement, own, access))
            continue
        known = (flow.old for flow in flows if flow.array == access.array)
        rest = reduce(isl.Map.subtract, known, access.relation)
        if not rest.intersect_params(context).is_empty():
            new.append(replace(access, relation=coalesced(rest)))
    for flow in flows:
        array = str(flow.new.get_tuple_name(isl.dim_type.out))
        new.append(Access(array, flow.new, is_write=False, is_must=False))
    return replace(statement, accesses=tuple(new))


def _own_write(statement: Statement, array: str, access: Access) -> Access:
    identity = isl.Map.identity(statement.domain.get_space().map_from_set())
    identity = identity.set_tuple_name(isl.dim_type.out, array)
    return replace(access, array=array, relation=identity.intersect_domain(_writing(statement, access.array)))


def _writing(statement: Statement, array: str) -> isl.Set:
    """{ S[i] }: the instances of a statement that write to an array."""
    written = (one.relation for one in statement.accesses if one.is_write and one.array == array)
    writing = reduce(isl.Set.union, map(isl.Map.domain, written), isl.Set.empty(statement.domain.get_space()))
    return coalesced(statement.domain.intersect(writing))


def _written(program: Program, names: _Names) -> Iterable[isl.Map]:
    """{ [S[i] -> A[x]] -> B[i] }"""
    for statement in program.statements:
        for access in statement.accesses:
            own = names.get((statement.name, access.array))
            if access.is_write and own is not None:
                yield access.relation.domain_map().apply_range(_own_write(statement, own, access).relation)


def _last_writers(program: Program, array: str, cells: isl.Set) -> dict[str, isl.Set]:
    """statement -> { S[i] }: its instances whose value may be needed in the array after the program.

    cells  those needed

    No other write to the cell surely comes later.
    """
    writes = program.accesses(writes=True, array=array).intersect_range(isl.UnionSet.from_set(cells))
    if writes.is_empty():
        return {}
    order = order_of(program)
    times = order.write_times.intersect_domain(writes.domain())
    later = across(times, order.before, times)
    last = writes.subtract(later.apply_range(writes)).intersect_params(program.context)
    return {str(part.get_tuple_name(isl.dim_type.in_)): part.domain() for part in maps_of(last)}


def _needed_cells(program: Program, array: str) -> isl.Set:
    """{ A[x] }: cells whose values are needed after the program.

    A variable that only the region of a C file uses is not, unless the region finds its own old value there.
    """
    cells = program.live_out.extract_set(program.array(array).cells.get_space())
    source = program.source
    if source is None or source.variables[array] not in source.own_variables():
        return cells
    mine = replace(program, arrays=(program.array(array),))
    is_fresh = undefined_reads(mine, order_of(program)).intersect_params(program.context).is_empty()
    return isl.Set.empty(cells.get_space()) if is_fresh else cells


def _new_live_out(
    program: Program, needed: Mapping[str, isl.Set], last: _LastWriters, names: _Names
) -> isl.UnionSet:
    """What is needed afterwards: as before, and cells of new arrays where the values are there."""
    live_out: list[isl.Set | isl.UnionSet] = []
    live_out += [cells for cells in sets_of(program.live_out) if cells.get_tuple_name() not in needed]
    for array, cells_of_array in needed.items():
        cells = isl.UnionSet.from_set(cells_of_array)
        for statement, instances in last[array].items():
            if (statement, array) in names:
                written = program.accesses(writes=True, array=array).intersect_domain(
                    isl.UnionSet.from_set(instances)
                )
                cells = cells.subtract(written.range())
                live_out.append(instances.set_tuple_name(names[statement, array]))
        live_out.append(cells)
    return coalesced(union_of_sets(program.context.get_space(), live_out))
