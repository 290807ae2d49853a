"""How many cells temporaries need at least in an order: those that hold a value at some moment."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from arrayfold.exact.isl import coalesced, integer, maps_of, points
from arrayfold.order.nests import Times
from arrayfold.ordering.sized_program import SizedProgram

_MOST_MOMENTS = 6
_MOST_PIECES = 12


def live_cells(sized: SizedProgram, times: Times) -> dict[str, int]:
    """Temporary -> the largest number of its cells with a value that is still read, at a few moments.

    The moments are times in the middle of each statement, so it is an estimate.
    """
    found = dict.fromkeys(sized.temporaries, 1)
    moments = [(_compared(moment, "<", "<="), _compared(moment, ">", ">")) for moment in _moments(times)]
    flows = maps_of(sized.at_sizes(sized.values))
    for name in found:
        mine = [flow for flow in flows if _array_of(flow) == name]
        found[name] = max([1, *(_live_between(mine, times, before, after) for before, after in moments)])
    return found


def _array_of(flow: isl.Map) -> str:
    return str(flow.range().unwrap().get_tuple_name(isl.dim_type.out))


def _moments(times: Times) -> list[tuple[int, ...]]:
    """The times of instances in the middle of statements, and of those that end the rows there."""
    found = {
        point
        for part in times.parts.values()
        for is_end in (False, True)
        for point in points(middle_of(part.range(), is_end=is_end))
    }
    latest = sorted(found)
    step = -(-len(latest) // _MOST_MOMENTS)
    return latest[step - 1 :: step] if step else []


def middle_of(reached: isl.Set, *, is_end: bool = False) -> isl.Set:
    """A time in the middle of { [t] }; at the end of all loops but the first one, if that is asked for."""
    is_first = True
    for d in range(reached.dim(isl.dim_type.set)):
        low, high = reached.dim_min_val(d).to_python(), reached.dim_max_val(d).to_python()
        middle = high if is_end and not is_first else (low + high) // 2
        tried = (_at(reached, d, value) for value in (middle, middle + 1, high))
        reached = next(fixed for fixed in tried if not fixed.is_empty())
        is_first = is_first and low == high
    return reached


def _at(cells: isl.Set, d: int, value: int) -> isl.Set:
    return cells.fix_val(isl.dim_type.set, d, integer(value))


def _live_between(flows: Sequence[isl.Map], times: Times, before: isl.Set, after: isl.Set) -> int:
    """How many cells are written at some times { [t] } and read at others."""
    live: isl.Set | None = None
    for flow in flows:
        reader = flow.range().unwrap()
        first = times.parts.get(str(flow.get_tuple_name(isl.dim_type.in_)))
        then = times.parts.get(str(reader.get_tuple_name(isl.dim_type.in_)))
        if first is None or then is None:
            continue
        writers = first.intersect_range(before).domain()
        readers = then.intersect_range(after).domain()
        cells = flow.intersect_domain(writers).range().unwrap().intersect_domain(readers).range()
        live = cells if live is None else live.union(cells)
    if live is None:
        return 1
    live = coalesced(live)
    if live.n_basic_set() > _MOST_PIECES:
        live = isl.Set.from_basic_set(live.simple_hull())
    return int(str(live.count_val()))


def _compared(moment: Sequence[int], strictly: str, last: str) -> isl.Set:
    """{ [t] }: the times before, or after, a moment."""
    names = [f"t{d}" for d in range(len(moment))]
    wheres: list[str] = []
    for d, value in enumerate(moment):
        sign = last if d == len(moment) - 1 else strictly
        equal = [f"{name} = {at}" for name, at in zip(names[:d], moment, strict=False)]
        wheres.append(" and ".join([*equal, f"{names[d]} {sign} {value}"]))
    return isl.Set(f"{{ [{', '.join(names)}] : {' or '.join(f'({where})' for where in wheres)} }}")
