"""Why an array holds values from before the program, told by an instance that reads one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from arrayfold.c.source import Copy
from arrayfold.exact.isl import coalesced, fix_parameters, maps_of, smallest_point
from arrayfold.exact.parameter_values import parameter_range, smallest_parameters
from arrayfold.order.dataflow import undefined_reads
from arrayfold.order.events import Order
from arrayfold.program.model import Program

_LONGEST_CONTEXT = 50


def why_read_before_written(program: Program, order: Order, array: str) -> str | None:
    """Which instance of C code reads an array too early, what might have written it, and what to do about it.

    None if no read may come before a write.
    """
    alone = _of_one_array(program, array, with_sure_writes=False)
    reads = undefined_reads(alone, order)
    never = undefined_reads(_of_one_array(program, array, with_sure_writes=True), order)
    early = reads if never.is_empty() else never
    if early.is_empty():
        return None
    values = smallest_parameters(early.params())
    reader, cell = _first(early.intersect_params(fix_parameters(values)))
    size = "".join(f"{name} = {value}, " for name, value in values.items())
    told = f"{'at ' if values else ''}{size}{_told(program, *reader)} reads {_cell(cell)}"
    if not never.is_empty():
        return f"read before it is written: {told}, and nothing writes that before{_cure(program, never)}"
    writes = _writes_of(alone, cell, values)
    if writes is None:
        return f"may be read before it is written: {told}, and no write before that is sure"
    writer, is_guarded = writes
    why = "only under a condition on data" if is_guarded else "perhaps not, or only a part of it"
    return (
        f"may be read before it is written: {told}, and {_told(program, *writer)} writes that {why}; "
        "write it in every branch, or once before"
    )


def _of_one_array(program: Program, array: str, *, with_sure_writes: bool) -> Program:
    """The program, of one array; as if nothing prevented its writes."""
    statements = tuple(
        replace(
            statement,
            accesses=tuple(
                replace(access, is_must=access.is_must or (access.is_write and with_sure_writes))
                for access in statement.accesses
                if access.array == array
            ),
        )
        for statement in program.statements
    )
    return replace(program, statements=statements, arrays=(program.array(array),))


_Place = tuple[str, tuple[int, ...]]


def _first(accesses: isl.UnionMap) -> tuple[_Place, _Place]:
    """An instance and a cell out of { S[i] -> A[x] } without free parameters."""
    one = maps_of(accesses)[0]
    split = one.dim(isl.dim_type.in_)
    point = smallest_point(one.wrap().flatten())
    names = (one.get_tuple_name(isl.dim_type.in_), one.get_tuple_name(isl.dim_type.out))
    return (str(names[0]), point[:split]), (str(names[1]), point[split:])


def _writes_of(program: Program, cell: _Place, values: Mapping[str, int]) -> tuple[_Place, bool] | None:
    """An instance that may write the cell, and whether a condition on data is around it."""
    writes = program.accesses(writes=True).intersect_params(fix_parameters(values))
    name, index = cell
    there = isl.Set(f"{{ {name}[{', '.join(map(str, index))}] }}")
    writes = writes.intersect_range(isl.UnionSet.from_set(there))
    if writes.is_empty():
        return None
    writer, _ = _first(writes)
    source = program.source
    return writer, source is not None and bool(source.statements[writer[0]].guards)


def _cell(place: _Place) -> str:
    return f"{place[0]}[{', '.join(map(str, place[1]))}]"


def _told(program: Program, name: str, iteration: tuple[int, ...]) -> str:
    """An instance with its line, `S_1[0, 2] (line 7)`."""
    told = _cell((name, iteration))
    if program.source is None:
        return told
    node = program.source.statements[name].node
    return told if isinstance(node, Copy) else f"{told} (line {program.source.text.line(node.span.start)})"


def _cure(program: Program, reads: isl.UnionMap) -> str:
    """The context in which that does not happen, as an option, where that is a short one.

    A few sizes are none, such as those at which nothing runs, where the program is for all.
    """
    rest = coalesced(program.running_sizes().subtract(reads.params()))
    safe = rest.gist(program.context)
    if safe.is_empty() or safe.n_basic_set() != 1:
        return ""
    ends = {name: parameter_range(rest, name)[1] for name in program.parameters}
    if any(
        end is not None and parameter_range(program.context, name)[1] != end for name, end in ends.items()
    ):
        return ""
    text = str(safe).rpartition(":")[2].strip(" }")
    if not text or len(text) > _LONGEST_CONTEXT or "exists" in str(safe):
        return ""
    return f'; if these sizes never occur, say --context "{text}"'
