"""Single assignment: every statement gets its own array, written at its iteration vector (Feautrier 1988).

Value-based dataflow says which instance wrote what an access reads, so names and subscripts of the original
arrays are forgotten (Mor14 §2). Reads that may see a value from before the program stay with the old array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from arrayfold._isl import fresh_names, maps_of, sets_of
from arrayfold.dataflow import find_dataflow
from arrayfold.errors import MethodNotApplicable
from arrayfold.order import order_of
from arrayfold.program import Access, Array, Program, Statement


def expand(program: Program, arrays: Sequence[str]) -> Program:
    """The program in which the statements that write these arrays write arrays of their own.

    A statement S that writes A at i writes A_S[i]. Needs a total order, and at most one write of each
    statement to these arrays.
    """
    order = order_of(program)
    if not order.is_total:
        raise MethodNotApplicable("expansion needs a sequential order")
    names = _new_names(program, arrays)
    reads = _new_reads(program, arrays, names)
    statements = tuple(_expanded(statement, arrays, names, reads) for statement in program.statements)
    new_arrays = tuple(
        Array(
            names[statement.name],
            tuple(
                statement.domain.get_dim_name(isl.dim_type.set, k) or f"i{k}"
                for k in range(statement.domain.dim(isl.dim_type.set))
            ),
            statement.domain.set_tuple_name(names[statement.name]),
        )
        for statement in program.statements
        if statement.name in names
    )
    kept = tuple(array for array in program.arrays if array.name not in arrays)
    still_read = {access.array for statement in statements for access in statement.accesses}
    kept += tuple(array for array in program.arrays if array.name in arrays and array.name in still_read)
    return replace(
        program,
        statements=statements,
        arrays=(*kept, *new_arrays),
        live_out=_new_live_out(program, arrays, names),
        temporaries=tuple(array.name for array in new_arrays),
        extra_temporaries=(),
        source=None,
    )


def _new_names(program: Program, arrays: Sequence[str]) -> dict[str, str]:
    """statement -> its array."""
    names: dict[str, str] = {}
    taken = [array.name for array in program.arrays]
    for statement in program.statements:
        written = [a for a in statement.accesses if a.is_write and a.array in arrays]
        if not written:
            continue
        if len(written) > 1 or not written[0].is_must or not written[0].relation.is_single_valued():
            raise MethodNotApplicable(
                f"{statement.name} has more than one write, or one that need not happen"
            )
        wanted = f"{written[0].array}_{statement.name}"
        names[statement.name] = wanted if wanted not in taken else fresh_names(wanted, 1, taken)[0]
        taken.append(names[statement.name])
    return names


def _new_reads(
    program: Program, arrays: Sequence[str], names: dict[str, str]
) -> dict[str, list[tuple[str, isl.Map, isl.Map]]]:
    """reader -> (old array, { R[i] -> A_T[j] }, { R[i] -> A[x] }) for what it reads from the new arrays."""
    found: dict[str, list[tuple[str, isl.Map, isl.Map]]] = {}
    for part in maps_of(find_dataflow(program, order_of(program)).flows):
        writer = str(part.get_tuple_name(isl.dim_type.in_))
        if writer not in names:
            continue
        old = part.range().unwrap()
        reader = str(old.get_tuple_name(isl.dim_type.in_))
        new = part.range_factor_domain().reverse().set_tuple_name(isl.dim_type.out, names[writer])
        array = str(old.get_tuple_name(isl.dim_type.out))
        if array not in arrays:
            continue
        found.setdefault(reader, []).append((array, new, old))
    return found


def _expanded(
    statement: Statement,
    arrays: Sequence[str],
    names: dict[str, str],
    reads: dict[str, list[tuple[str, isl.Map, isl.Map]]],
) -> Statement:
    new: list[Access] = []
    mine = reads.get(statement.name, [])
    for access in statement.accesses:
        if access.is_write and access.array in arrays:
            identity = isl.Map.identity(statement.domain.get_space().map_from_set())
            identity = identity.set_tuple_name(isl.dim_type.out, names[statement.name])
            new.append(
                replace(
                    access, array=names[statement.name], relation=identity.intersect_domain(statement.domain)
                )
            )
        elif not access.is_write:
            rest = access.relation
            for array, _, old in mine:
                if array == access.array:
                    rest = rest.subtract(old)
            if not rest.is_empty():
                new.append(replace(access, relation=rest.coalesce()))
        else:
            new.append(access)
    for _, relation, _ in mine:
        array = str(relation.get_tuple_name(isl.dim_type.out))
        new.append(Access(array, relation, is_write=False, is_must=False))
    return replace(statement, accesses=tuple(new))


def _new_live_out(program: Program, arrays: Sequence[str], names: dict[str, str]) -> isl.UnionSet:
    """The cells of the new arrays that hold what is needed afterwards, and the other live-out cells."""
    live_out = isl.UnionSet.empty(program.context.get_space())
    for cells in sets_of(program.live_out):
        if cells.get_tuple_name() not in arrays:
            live_out = live_out.union(isl.UnionSet.from_set(cells))
    order = order_of(program)
    for array in arrays:
        cells = program.live_out.extract_set(program.array(array).cells.get_space())
        writes = program.accesses(writes=True, array=array).intersect_range(isl.UnionSet.from_set(cells))
        last = writes.reverse().apply_range(order.write_times).lexmax()
        for part in maps_of(last.apply_range(order.write_times.reverse()).intersect(writes.reverse())):
            writer = str(part.get_tuple_name(isl.dim_type.out))
            live_out = live_out.union(isl.UnionSet.from_set(part.range().set_tuple_name(names[writer])))
    return live_out.coalesce()
