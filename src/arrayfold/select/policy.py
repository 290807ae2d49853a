"""Which of the proved mappings: the smallest, unless another one makes better innermost loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from arrayfold.base.choices import Favor
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import Vector
from arrayfold.mapping.layout import Row, lay_out
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.methods import Request
from arrayfold.select.choose import MOST_FOR_SIZE, Candidate, ask_all, best_of, candidates_of_auto
from arrayfold.select.contiguous import keep_diagonals, keep_inner_dimensions
from arrayfold.select.innermost_loops import InnermostLoops
from arrayfold.select.renumbering import renumbered, slope_of

# How many times as large as the smallest mapping one with better loops may be.
_MOST: dict[Favor, Fraction] = {"size": MOST_FOR_SIZE, "speed": Fraction(2)}


def best_for_loops(
    loops: InnermostLoops | None,
    conflicts: Conflicts,
    request: Request,
    is_enough: Callable[[Formula], bool],
    favor: Favor,
) -> Candidate:
    """The mapping of all methods that size and innermost loops speak for.

    is_enough  whether no mapping is smaller than such a size
    """
    if favor == "speed" and loops is not None:
        return _fastest(loops, conflicts, request, is_enough)
    candidates = candidates_of_auto(conflicts, request, is_enough)
    best = best_of(candidates, conflicts, request)
    assert best.mapping is not None
    if loops is None or is_enough(best.mapping.size):
        return best
    return _cheaper_loops(loops, conflicts, request, best, candidates)


def _cheaper_loops(
    loops: InnermostLoops,
    conflicts: Conflicts,
    request: Request,
    first: Candidate,
    candidates: Sequence[Candidate],
) -> Candidate:
    """The first candidate, or the smallest one that spares innermost loops a modulo and is hardly larger.

    At the sizes asked for; without any, sizes are so large that leading terms decide.
    """
    assert first.mapping is not None
    steps = loops.steps(conflicts.name)
    if not isinstance(first.mapping, ModularMapping) or loop_cost(first.mapping, steps, conflicts) == 0:
        return first
    limit = request.rank(first.mapping.size * _MOST["size"])
    hinders, best = _with_best_loops([first, *candidates], limit, steps, conflicts, request)
    return best if hinders == 0 else first


def stands_for(
    smaller: ModularMapping,
    best: EmittableMapping,
    loops: InnermostLoops | None,
    conflicts: Conflicts,
    request: Request,
    favor: Favor,
) -> bool:
    """Whether a smaller mapping replaces the best one: its loops are as good, or that one is too large."""
    if loops is None or not isinstance(best, ModularMapping):
        return True
    steps = loops.steps(conflicts.name, deepest=favor == "speed")
    is_too_large = request.rank(best.size) > request.rank(smaller.size * _MOST[favor])
    return is_too_large or loop_cost(smaller, steps, conflicts) <= loop_cost(best, steps, conflicts)


def _with_best_loops(
    candidates: Sequence[Candidate],
    limit: tuple[object, ...],
    steps: Sequence[Vector],
    conflicts: Conflicts,
    request: Request,
) -> tuple[int | None, Candidate]:
    """The candidate up to a size that hinders innermost loops least, and how much; of several the smallest.

    The first candidate, if there is none with moduli.
    """
    best, least = candidates[0], None
    for candidate in candidates:
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        rank = request.rank(mapping.size)
        if rank <= limit:
            hinders = loop_cost(mapping, steps, conflicts), rank
            if least is None or hinders < least:
                best, least = candidate, hinders
    return None if least is None else least[0], best


def _fastest(
    loops: InnermostLoops, conflicts: Conflicts, request: Request, is_enough: Callable[[Formula], bool]
) -> Candidate:
    """The candidate with the best loops among those with at most twice the cells of the smallest.

    Of several with equally good loops the smallest. One that is not in the way of loops at all, and that no
    mapping is smaller than, ends the search.
    """
    steps = loops.steps(conflicts.name, deepest=True)
    candidates: list[Candidate] = []
    for candidate in ask_all(conflicts, request, most=_MOST["speed"]):
        candidates.append(candidate)
        mapping = candidate.mapping
        if not candidate.is_proved or not isinstance(mapping, ModularMapping):
            continue
        if is_enough(mapping.size) and loop_cost(mapping, steps, conflicts) == 0:
            return candidate
    smallest = best_of(candidates, conflicts, request)
    assert smallest.mapping is not None
    limit = request.rank(smallest.mapping.size * _MOST["speed"])
    everything = [smallest, *candidates, *_whole_lines(conflicts, request, steps)]
    return _with_best_loops(everything, limit, steps, conflicts, request)[1]


def _whole_lines(conflicts: Conflicts, request: Request, steps: Sequence[Vector]) -> Iterator[Candidate]:
    """Mappings that leave the dimensions or diagonals alone along which innermost loops walk most often."""
    if steps:
        yield from keep_diagonals(conflicts, steps[0])
    kept = [k for k, by in enumerate(steps[0]) if by] if steps else []
    if 0 < len(kept) < conflicts.array.rank:
        yield from keep_inner_dimensions(conflicts, request, kept)


def loop_cost(mapping: ModularMapping, steps: Sequence[Vector], conflicts: Conflicts) -> int:
    """How much a mapping is in the way of fast innermost loops; 0 if it is not.

    Each row counts by what the innermost loops do to it: 0 if it never wraps or stays the same, 1 if it wraps
    but moves by one cell, so that loops are split, 3 if it jumps, and 2 if it moves but is not the last.

    steps  how innermost loops move the cells of the array
    """
    found = renumbered(mapping, steps, conflicts)
    layout = lay_out(found, conflicts.cells, conflicts.context)
    total = 0
    for position, row in enumerate(layout.rows):
        assert isinstance(row, Row)
        slopes = [slope_of(row.coefficients, step) * Fraction(1, row.divisor) for step in steps]
        moving = [slope for slope in slopes if slope != Formula.constant(0)]
        if moving and position < len(layout.rows) - 1:
            total += 2
        if any(slope not in (Formula.constant(1), Formula.constant(-1)) for slope in moving):
            total += 3
        if moving and row.wrap != "none":
            total += 1
    return total
