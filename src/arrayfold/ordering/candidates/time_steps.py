"""Several time steps in one sweep over the rows, so that what is in the cache is used by all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import islpy as isl

from arrayfold.exact.isl import integer
from arrayfold.order.nests import Nest, Times
from arrayfold.order.time_steps import Sweep, find_sweeps, sweep_schedule
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.machine import this_machine
from arrayfold.ordering.sized_program import SizedProgram

_MOST_STEPS = 16
_FEWEST_STEPS = 4
_STRIP = 1024
_SHARE = 0.5


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """As many steps as leave their rows in the second cache."""
    times = Times.of(sized.program)
    caches = this_machine().caches
    if not any(_bytes_of_a_step(sized, nest) > caches[1] for nest in _time_loops(times)):
        return
    found = find_sweeps(times, sized.must_keep)
    # Strips have short loops, which do not pay where the next cache is near.
    sweeps = [one for one in found if not one.strips or _bytes_of_a_step(sized, one.nest) > caches[-1]]
    if not sweeps:
        return
    steps = _steps(sized, sweeps)
    schedule = sweep_schedule(sized.program, times, sweeps, steps, _STRIP)
    yield OrderCandidate(f"{steps} time steps in one sweep", schedule)


def _time_loops(times: Times) -> list[Nest]:
    """The outermost loops with a loop inside."""
    return [nest for nest in times.nests(list(times.parts)) if nest.loop is not None and times.has_rows(nest)]


def _bytes_of_a_step(sized: SizedProgram, nest: Nest) -> float:
    """What one step touches; where that has no room in a cache, the next one has to fetch it again."""
    assert nest.loop is not None
    assert sized.program.schedule is not None
    touched: dict[str, list[isl.Set]] = {}
    for name, part in sized.times(sized.program.schedule).parts.items():
        if name in nest.statements:
            instances = part.intersect_range(_in_the_middle(part.range(), nest.loop)).domain()
            for array, access, _ in sized.accesses.get(name, ()):
                touched.setdefault(array, []).append(access.intersect_domain(instances).range())
    return sum(_bytes_of_box(sized, array, cells) for array, cells in touched.items())


def _in_the_middle(reached: isl.Set, d: int) -> isl.Set:
    low, high = reached.dim_min_val(d).to_python(), reached.dim_max_val(d).to_python()
    return reached.fix_val(isl.dim_type.set, d, integer((low + high) // 2))


def _bytes_of_box(sized: SizedProgram, array: str, touched: Sequence[isl.Set]) -> float:
    cells = [one for one in touched if not one.is_empty()]
    ends = [
        (
            min(one.dim_min_val(k).to_python() for one in cells),
            max(one.dim_max_val(k).to_python() for one in cells),
        )
        for k in range(cells[0].dim(isl.dim_type.set) if cells else 0)
    ]
    return float(sized.bytes_of(array) * math.prod(high - low + 1 for low, high in ends))


def _steps(sized: SizedProgram, sweeps: Sequence[Sweep]) -> int:
    """A power of two: so many steps whose rows fit into a part of the cache."""
    rows = max(_bytes_of_a_row(sized, sweep) * sweep.skew for sweep in sweeps)
    room = _SHARE * this_machine().caches[1]
    steps = _MOST_STEPS
    while steps > _FEWEST_STEPS and steps * rows > room:
        steps //= 2
    return steps


def _bytes_of_a_row(sized: SizedProgram, sweep: Sweep) -> float:
    """Bytes of one row, or strip, of each array in a sweep, the widest ones."""
    widths: dict[str, float] = {}
    for name in sweep.nest.statements:
        for array, access, _ in sized.accesses.get(name, ()):
            cells = access.range()
            last = cells.dim(isl.dim_type.set) - 1
            count = 1 if last < 0 else (cells.dim_max_val(last).sub(cells.dim_min_val(last))).to_python() + 1
            count = min(count, _STRIP) if sweep.strips else count
            widths[array] = max(widths.get(array, 0.0), float(count * sized.bytes_of(array)))
    return sum(widths.values())
