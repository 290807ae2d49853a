"""Diagonals of tables in which each element needs its neighbours, as in dynamic programming."""

from __future__ import annotations

from collections.abc import Iterator

from arrayfold.order.diagonals import diagonal_schedule, find_diagonals
from arrayfold.order.nests import Times
from arrayfold.ordering.candidates.candidate import OrderCandidate
from arrayfold.ordering.sized_program import SizedProgram


def propose(sized: SizedProgram) -> Iterator[OrderCandidate]:
    """Each nest whose innermost loop is a chain, diagonal by diagonal."""
    program = sized.program
    assert program.schedule is not None
    times, at_sizes = Times.of(program), sized.times(program.schedule)
    given = sized.at_sizes(sized.must_keep), sized.at_sizes(sized.flows)
    for position, found in find_diagonals(times, at_sizes, *given):
        schedule = diagonal_schedule(program, times, position, found)
        yield OrderCandidate("diagonals", schedule, favor="speed")
