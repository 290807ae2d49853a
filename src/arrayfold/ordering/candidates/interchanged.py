"""Loops interchanged: a nest for each statement, whose innermost loop walks along rows of its arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from arrayfold.exact.isl import coalesced, maps_by_domain
from arrayfold.exact.relations import relation, union_of_maps
from arrayfold.order.row_fusion import RowFusion
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.sized_program import SizedProgram

_MOST_LEVELS = 2


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """With no loops in common, the outermost one, two; nothing where innermost loops are good as they are."""
    for levels in range(_MOST_LEVELS + 1):
        given = RowFusion(levels=levels).schedule(sized.program, sized.must_keep, sized.flows)
        schedule = interchanged(sized, given, levels)
        if schedule is not None:
            loops = ("", ", the outermost in common", ", the two outermost in common")[levels]
            yield OrderCandidate(f"loops interchanged{loops}", schedule)


def interchanged(sized: SizedProgram, schedule: isl.UnionMap, levels: int) -> isl.UnionMap | None:
    """{ S[i] -> [t] }: so many loops of an order, and inside of them a nest for each statement.

    None if all nests have the best innermost loop already.
    """
    times = maps_by_domain(schedule)
    depth = _end_of_loops(list(times.values()), levels)
    parts: list[isl.Map] = []
    is_new = False
    nests = {name: _free_iterators(part, depth) for name, part in times.items()}
    longest = max(map(len, nests.values()), default=0)
    for place, statement in enumerate(sized.program.statements):
        if statement.name not in times:
            continue
        free = nests[statement.name]
        best = min(free, key=lambda k: (_jumps(sized, statement.name, k), -k), default=None)
        is_new |= best is not None and best != free[-1]
        order = [k for k in free if k != best] + ([] if best is None else [best])
        part = times[statement.name]
        prefix = part.project_out(isl.dim_type.out, depth, part.dim(isl.dim_type.out) - depth)
        names = [f"i{k}" for k in range(part.dim(isl.dim_type.in_))]
        entries = [str(place), *(names[k] for k in order), *["0"] * (longest - len(order))]
        inner = relation(names, entries)
        inner = inner.set_tuple_name(isl.dim_type.in_, statement.name)
        parts.append(prefix.flat_range_product(inner.align_params(prefix.get_space())))
    if not is_new:
        return None
    return coalesced(union_of_maps(sized.program.context.get_space(), parts))


def _end_of_loops(times: Sequence[isl.Map], levels: int) -> int:
    """How many dimensions of times hold so many loops, and the constants in front of them."""
    depth = max((part.dim(isl.dim_type.out) for part in times), default=0)
    left = levels
    for d in range(depth):
        if not left:
            return d
        left -= any(not part.plain_get_val_if_fixed(isl.dim_type.out, d).is_int() for part in times)
    return depth


def _free_iterators(part: isl.Map, depth: int) -> list[int]:
    """The iterators of { S[i] -> [t] } that take several values at the same first dimensions of times."""
    prefix = part.project_out(isl.dim_type.out, depth, part.dim(isl.dim_type.out) - depth)
    apart = prefix.apply_range(prefix.reverse()).deltas()
    count = part.dim(isl.dim_type.in_)
    return [k for k in range(count) if not apart.plain_get_val_if_fixed(isl.dim_type.set, k).is_int()]


def _jumps(sized: SizedProgram, name: str, iterator: int) -> int:
    """How many accesses of a statement do not walk along a row, or stay, as one of its iterators moves."""
    return sum(
        not _walks(access, iterator, is_write=is_write)
        for _, access, is_write in sized.accesses.get(name, ())
    )


def _walks(access: isl.Map, iterator: int, *, is_write: bool) -> bool:
    if not access.is_single_valued():
        return False
    form = access.as_pw_multi_aff()
    slopes = [
        {_slope(piece, iterator) for _, piece in form.get_at(k).get_pieces()}
        for k in range(access.dim(isl.dim_type.out))
    ]
    if not slopes:
        return not is_write
    *outer, last = slopes
    if any(one != {0} for one in outer):
        return False
    return last in ({1}, {-1}) or (last == {0} and not is_write)


def _slope(form: isl.Aff, iterator: int) -> int | None:
    value = form.get_coefficient_val(isl.dim_type.in_, iterator)
    return value.to_python() if value.is_int() and not form.dim(isl.dim_type.div) else None
