"""Loops that are said to have independent iterations: `#pragma GCC ivdep` and `#pragma omp simd`.

A compiler may run their iterations in lanes, statement by statement. That changes nothing as long as every
dependence between two iterations goes from a statement to a later one.
"""

from __future__ import annotations

from arrayfold.validation.faults import Fault, Spot
from arrayfold.validation.memory import Object


class _Cell:
    """The last accesses of a cell in this iteration and in those before, by their place in the text."""

    __slots__ = ("iteration", "read", "read_before", "written", "written_before")

    def __init__(self, iteration: int) -> None:
        self.iteration = iteration
        self.read = self.written = self.read_before = self.written_before = -1

    def move_to(self, iteration: int) -> None:
        if iteration != self.iteration:
            self.read_before = max(self.read_before, self.read)
            self.written_before = max(self.written_before, self.written)
            self.read = self.written = -1
            self.iteration = iteration


class Lanes:
    """Accesses of such a loop so far."""

    def __init__(self, around: Lanes | None) -> None:
        self.around = around
        self.iteration = 0
        self._cells: dict[tuple[Object, int], _Cell] = {}

    def see(self, obj: Object, offset: int, place: int, spot: Spot, *, is_write: bool) -> None:
        """Remember an access, and raise if lanes would reach it too early.

        Of a variable that is no array every lane has its own, as compilers see.
        """
        if not obj.shape:
            return
        cell = self._cells.get((obj, offset))
        if cell is None:
            cell = self._cells[obj, offset] = _Cell(self.iteration)
        cell.move_to(self.iteration)
        if cell.written_before > place or (is_write and cell.read_before > place):
            what = "written" if is_write else "read"
            before = "written" if cell.written_before > place else "read"
            name = obj.cell(offset, obj.unit if obj.unit > 0 else obj.widths.get(offset, 1))
            raise Fault(
                f"iterations are not independent: {name} is {what} here after an earlier one has {before} it",
                spot,
            )
        if is_write:
            cell.written = max(cell.written, place)
        else:
            cell.read = max(cell.read, place)
        if self.around is not None:
            self.around.see(obj, offset, place, spot, is_write=is_write)
