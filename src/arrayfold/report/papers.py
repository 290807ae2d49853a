"""The papers' tables with our columns beside theirs: cells for people, data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.explore.papers import ReproducedRow, ReproducedTable
from arrayfold.judge.verify import Counterexample, Proof, Verdict
from arrayfold.report.data import formula_text
from arrayfold.report.plain_table import PlainTable
from arrayfold.select.choose import Candidate

TITLES = (
    "program",
    "example",
    "algorithm",
    "printed mapping",
    "cells",
    "gain",
    "verdict",
    "our method",
    "auto",
    "lower bound",
    "minimal",
)
_STYLES = {"proved": "green", "refuted": "bold red", "undecided": "bold yellow"}


# ---------------------------------------------------------------- for people


def papers_report(tables: Sequence[ReproducedTable]) -> RenderableType:
    """For each paper its table, with the notes below it."""
    parts: list[RenderableType] = []
    for table in tables:
        shown = PlainTable(*TITLES, heading=table.published.title)
        for cells in table_cells(table):
            shown.add_row(*(Text(cell, style=_STYLES.get(cell.partition(" ")[0], "")) for cell in cells))
        parts += [shown, *(Text(note) for note in table_notes(table)), Text()]
    return Group(*parts[:-1])


def table_cells(table: ReproducedTable) -> list[tuple[str, ...]]:
    """The rows of a table; what is the same as in the row above is left out.

    A mapping that is refuted as printed is followed by the corrected one.
    """
    marks = {note: f" [{k + 1}]" for k, note in enumerate(_notes(table))}
    shown: list[tuple[str, ...]] = []
    above = None
    for row in table.rows:
        printed = row.published
        is_new = above is None or (printed.program, printed.example) != (above.program, above.example)
        shown.append(
            (
                printed.program if above is None or printed.program != above.program else "",
                printed.example if is_new else "",
                printed.algorithm,
                printed.mapping,
                printed.size,
                printed.ratio,
                (_word(row.printed) if row.printed else row.reason) + marks.get(_note(row), ""),
                ", ".join(f"{method}: {_size(found)}" for method, found in row.ours),
                *(_of_program(row) if is_new else ("", "", "")),
            )
        )
        if printed.corrected and row.corrected:
            corrected = ("corrected", printed.corrected, printed.size, "", _word(row.corrected))
            shown.append(("", "", *corrected, *[""] * 4))
        above = printed
    return shown


def table_notes(table: ReproducedTable) -> list[str]:
    """What the marks of the rows mean, with a counterexample for what is wrong."""
    return [f"[{k + 1}] {note}" for k, note in enumerate(_notes(table))]


def _notes(table: ReproducedTable) -> list[str]:
    return list(dict.fromkeys(note for note in map(_note, table.rows) if note))


def _note(row: ReproducedRow) -> str:
    verdict = "" if row.printed is None or isinstance(row.printed, Proof) else f"{row.printed}."
    return " ".join(part for part in (row.published.remark, verdict) if part)


def _of_program(row: ReproducedRow) -> tuple[str, str, str]:
    if row.auto is None:
        return "", "", ""
    bound = row.lower_bound.formula if row.lower_bound else None
    sizes = dict.fromkeys(str(case.size) for case in row.cases)
    auto = f"{_size(row.auto)}, by cases {', '.join(sizes)}" if sizes else _size(row.auto)
    minimal = "yes" if row.is_minimal else "by cases" if row.is_minimal_by_cases else "no"
    return auto, "unknown" if bound is None else str(bound), minimal


def _size(found: Candidate | None) -> str:
    if found is None:
        return "missing"
    return str(found.mapping.size) if found.mapping else "none"


def _word(verdict: Verdict) -> str:
    match verdict:
        case Proof():
            return "proved"
        case Counterexample():
            return "refuted"
        case _:
            return "undecided"


# ---------------------------------------------------------------- for programs


def papers_data(tables: Sequence[ReproducedTable]) -> dict[str, Any]:
    """What `papers --json` prints."""
    return {
        "tables": [
            {
                "paper": table.published.paper,
                "table": table.published.number,
                "rows": [_row_data(row) for row in table.rows],
            }
            for table in tables
        ]
    }


def _row_data(row: ReproducedRow) -> dict[str, Any]:
    printed = row.published
    corrected = printed.corrected
    return {
        "program": printed.program,
        "example": printed.example,
        "array": printed.array,
        "algorithm": printed.algorithm,
        "printed": {
            "mapping": printed.mapping,
            "size": printed.size,
            "gain": printed.ratio or None,
            **_verdict_data(row.printed, row.reason),
        },
        "corrected": {
            "mapping": corrected,
            "size": printed.size,
            **_verdict_data(row.corrected, row.reason),
        }
        if corrected
        else None,
        "remark": printed.remark or None,
        "methods": [_candidate_data(method, found) for method, found in row.ours],
        "auto": _candidate_data("auto", row.auto) if row.auto else None,
        "cases": [
            {"when": str(case.when), "mapping": str(case.mapping), "size": str(case.size)}
            for case in row.cases
        ],
        "lower_bound": formula_text(row.lower_bound.formula if row.lower_bound else None),
        "optimal": row.is_minimal,
        "optimal_by_cases": row.is_minimal_by_cases,
    }


def _verdict_data(verdict: Verdict | None, reason: str) -> dict[str, Any]:
    match verdict:
        case None:
            return {"verdict": None, "reason": reason}
        case Proof():
            return {"verdict": "proved"}
        case _:
            return {"verdict": _word(verdict), "reason": str(verdict)}


def _candidate_data(method: str, found: Candidate | None) -> dict[str, Any]:
    if found is None:
        return {"method": method, "mapping": None, "size": None, "reason": "there is no such method yet"}
    if found.mapping is None:
        return {"method": method, "mapping": None, "size": None, "reason": found.reason}
    return {"method": method, "mapping": str(found.mapping), "size": str(found.mapping.size)}
