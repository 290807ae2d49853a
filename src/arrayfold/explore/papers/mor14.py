"""Mor14's programs: folded in the space of the schedule as §2 says, beside our smallest mapping."""

from __future__ import annotations

from arrayfold.base.budget import Budget
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.explore.papers.recomputed import Recomputation, RecomputedTable
from arrayfold.explore.papers.reproduce import find_example
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.methods import Request
from arrayfold.select.choose import ask, choose

_COLUMNS = (
    "program",
    "example",
    "array",
    "mapping by §2.3.1",
    "cells",
    "verdict",
    "auto",
    "lower bound",
)
_BY_ACCESS = (
    "The printed relation S[i, j] -> S[i', j], i - 2 <= i' <= i - 1, of both arrays together would give x as "
    "many cells as y; the dependences are those of each access."
)
_PROGRAMS = (
    ("Gaussian filter (Fig. 1)", "gauss", "tmp", ""),
    (
        "forward substitution (Fig. 2)",
        "forward-substitution",
        "y",
        "Every y[i] is a result and needs a cell of its own.",
    ),
    ("two writes (Fig. 3)", "two-writes", "x", ""),
    (
        "two writes (Fig. 3)",
        "two-writes",
        "y",
        _BY_ACCESS,
    ),
)


def recompute(budget: Budget) -> RecomputedTable:
    """The mapping of the published construction for each array, judged, and ours."""
    notes = [note for *_, note in _PROGRAMS if note]
    rows: list[tuple[str, ...]] = []
    proved: list[bool] = []
    for k, (program, example, array, note) in enumerate(_PROGRAMS):
        part = budget.part(1 / (len(_PROGRAMS) - k))
        conflicts = Analysis.of(read(find_example(example)), part).conflicts(array, part)
        request = Request.of(conflicts, {}, part)
        published, best = ask("schedule-space", conflicts, request), choose("auto", conflicts, request)
        bound = find_lower_bound(conflicts, part).formula
        mark = f" [{notes.index(note) + 1}]" if note else ""
        found = published.mapping
        proved.append(published.is_proved or (bool(note) and best.is_proved))
        rows.append(
            (
                program,
                example,
                array,
                "" if found is None else str(found),
                "" if found is None else str(found.size),
                (published.reason if found is None else "proved") + mark,
                "" if best.mapping is None else str(best.mapping.size),
                "unknown" if bound is None else str(bound),
            )
        )
    texts = tuple(f"[{k + 1}] {note}" for k, note in enumerate(notes))
    return RecomputedTable("Mor14", "programs", _COLUMNS, tuple(rows), texts, all(proved))


RECOMPUTATION = Recomputation("Mor14 programs", recompute)
