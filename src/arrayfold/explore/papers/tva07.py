"""TVA07's four examples: printed vectors, stores and schedules, and what occupancy vectors come out here."""

from __future__ import annotations

from dataclasses import dataclass

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.exact.lattice import Vector
from arrayfold.explore.papers.recomputed import Recomputation, RecomputedTable
from arrayfold.explore.papers.reproduce import find_example
from arrayfold.frontends import read
from arrayfold.methods.occupancy_vectors import OccupancyResult
from arrayfold.methods.occupancy_vectors.parse import occupancy_of
from arrayfold.methods.occupancy_vectors.vectors import mapping_along

_COLUMNS = (
    "program",
    "example",
    "array",
    "valid for",
    "printed vector",
    "printed cells",
    "printed schedule",
    "as printed",
    "our vector",
    "our cells",
    "our schedule",
)


@dataclass(frozen=True)
class OccupancyRow:
    """What an example prints of one array.

    is_for_all  the vector is one for all affine schedules, otherwise for the printed schedule
    schedule    printed; the corrected one where that is not legal
    """

    program: str
    example: str
    array: str
    is_for_all: bool
    vector: Vector
    cells: str
    schedule: str
    corrected: str = ""
    remark: str = ""


_SWAPPED = "S1[i, j] -> [2*j + 1]; S2[i, j] -> [2*j]"
_PRINTED = "S1[i, j] -> [2*j]; S2[i, j] -> [2*j + 1]"
_SWAP = "Fig. 15 swaps the two schedules: the printed one reads B too early."
_CELLS = "The printed sizes count from the ends of the loops; one or two cells fewer are reached."
_LAST = (
    "With the strict constraint that is printed (1, 1, 1) is refused; it holds where an instance reads "
    "before it writes."
)
_BOUNDED = "v_B = 1 holds for schedules that are legal for every n; for bounded n it is longer."

ROWS = (
    OccupancyRow("Example 1, Fig. 5", "occupancy-stencil", "A", False, (1, 0), "n", "S[i, j] -> [i]"),
    OccupancyRow(
        "Example 1, Fig. 11",
        "occupancy-stencil",
        "A",
        True,
        (2, 1),
        "m + 2*n - 1",
        "S[i, j] -> [i]",
        remark=_CELLS,
    ),
    OccupancyRow(
        "Example 2, Fig. 15",
        "two-statement-stencil",
        "A",
        True,
        (1, 1),
        "m + n",
        _PRINTED,
        _SWAPPED,
        f"{_SWAP} {_CELLS}",
    ),
    OccupancyRow(
        "Example 2, Fig. 15",
        "two-statement-stencil",
        "B",
        True,
        (1, 1),
        "m + n",
        _PRINTED,
        _SWAPPED,
        f"{_SWAP} {_CELLS}",
    ),
    OccupancyRow(
        "Example 3, Fig. 17",
        "alignment-3d",
        "A",
        True,
        (1, 1, 1),
        "(I + J)*(I + K)",
        "S1[i, j, k] -> [i + j + k]; S2[i, j, k] -> [i + j + k]",
        remark=_LAST,
    ),
    OccupancyRow(
        "Example 4, Fig. 20",
        "nonuniform",
        "A",
        True,
        (1, 0),
        "n",
        "S1[i, j] -> [2*i]; S2[i] -> [2*i + 1]",
    ),
    OccupancyRow(
        "Example 4, Fig. 20",
        "nonuniform",
        "B",
        True,
        (1,),
        "1",
        "S1[i, j] -> [2*i]; S2[i] -> [2*i + 1]",
        remark=_BOUNDED,
    ),
)


def recompute(budget: Budget) -> RecomputedTable:
    """Every row with our vector and store; whether the printed schedule is legal and the vector the same."""
    notes = list(dict.fromkeys(row.remark for row in ROWS if row.remark))
    found = [_row(row, budget.part(1 / (len(ROWS) - k))) for k, row in enumerate(ROWS)]
    rows: list[tuple[str, ...]] = []
    for row, (cells, _) in zip(ROWS, found, strict=True):
        mark = f" [{notes.index(row.remark) + 1}]" if row.remark else ""
        rows.append((*cells[:7], cells[7] + mark, *cells[8:]))
    texts = tuple(f"[{k + 1}] {note}" for k, note in enumerate(notes))
    return RecomputedTable(
        "TVA07", "examples", _COLUMNS, tuple(rows), texts, all(is_right for _, is_right in found)
    )


def _row(row: OccupancyRow, budget: Budget) -> tuple[tuple[str, ...], bool]:
    about = (
        row.program,
        row.example,
        row.array,
        "all affine schedules" if row.is_for_all else "this schedule",
        _vector(row.vector),
        row.cells,
        row.schedule,
    )
    problem = read(find_example(row.example))
    words = "as printed"
    try:
        result = occupancy_of(problem, row.schedule, [], is_strict=False, expand=False, budget=budget)
    except ArrayfoldError as error:
        if not row.corrected:
            return (*about, f"refuted: {error}", "", "", ""), False
        words = "schedule refuted and corrected"
        result = occupancy_of(problem, row.corrected, [], is_strict=False, expand=False, budget=budget)
    program = result.program
    (found,) = (array for array in result.arrays if array.name == row.array)
    ours = found.affine if row.is_for_all else found.given
    size = "" if ours is None else str(mapping_along(program.array(row.array), program.context, ours).size)
    is_right = ours == row.vector and found.is_proved
    cells = (words if is_right else "another vector", "none" if ours is None else _vector(ours), size)
    return (*about, *cells, _schedule(result)), is_right


def _vector(vector: Vector) -> str:
    return f"({', '.join(map(str, vector))})"


def _schedule(result: OccupancyResult) -> str:
    return "; ".join(f"{name}: {time}" for name, time in result.schedule.items())


RECOMPUTATION = Recomputation("TVA07 examples", recompute)
