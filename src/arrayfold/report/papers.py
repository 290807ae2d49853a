"""The papers' tables with our columns beside theirs: cells for people, data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula
from arrayfold.explore.papers import RecomputedTable, ReproducedRow, ReproducedTable
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
    "algorithm, run",
    "executions",
    "our method",
    "auto",
    "lower bound",
    "minimal",
)
_STYLES = {"proved": "green", "refuted": "bold red", "undecided": "bold yellow"}


# ---------------------------------------------------------------- for people


def papers_report(
    tables: Sequence[ReproducedTable], others: Sequence[RecomputedTable] = ()
) -> RenderableType:
    """For each paper its tables, with the notes below them."""
    parts: list[RenderableType] = []
    for table in [*map(recomputed, tables), *others]:
        shown = PlainTable(*table.columns, heading=table.title)
        for cells in table.rows:
            shown.add_row(*(Text(cell, style=_STYLES.get(cell.partition(" ")[0], "")) for cell in cells))
        parts += [shown, *(Text(note) for note in table.notes), Text()]
    return Group(*parts[:-1])


def recomputed(table: ReproducedTable) -> RecomputedTable:
    """A table of mappings as one of texts, without the columns that none of its rows needs."""
    rows = table_cells(table)
    kept = [k for k in range(len(TITLES)) if any(row[k] for row in rows)]
    return RecomputedTable(
        table.published.paper,
        table.published.number,
        tuple(TITLES[k] for k in kept),
        tuple(tuple(row[k] for k in kept) for row in rows),
        tuple(table_notes(table)),
        all(row.is_proved for row in table.rows),
    )


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
                _run(row),
                _executions(row),
                ", ".join(f"{method}: {_size(found)}" for method, found in row.ours),
                *(_of_program(row) if is_new else ("", "", "")),
            )
        )
        if printed.corrected and row.corrected:
            corrected = ("corrected", printed.corrected, printed.size, "", _word(row.corrected))
            shown.append(("", "", *corrected, *[""] * 6))
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


def _run(row: ReproducedRow) -> str:
    if row.run is None:
        return ""
    size = _size(row.run)
    return f"{size}, as printed" if row.run.mapping and row.run.mapping.size == _printed_size(row) else size


def _printed_size(row: ReproducedRow) -> Formula:
    return read_formula(row.published.size)


def _executions(row: ReproducedRow) -> str:
    found = row.enumerated
    if found is None:
        return ""
    sizes = ", ".join(f"{name} = {value}" for name, value in found.params.items())
    words = "the same pairs" if found.is_equal else "other pairs"
    return f"{sizes}: {found.states} states, {words} ({found.pairs})"


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


def papers_data(tables: Sequence[ReproducedTable], others: Sequence[RecomputedTable] = ()) -> dict[str, Any]:
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
        + [
            {
                "paper": table.paper,
                "table": table.number,
                "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                "notes": list(table.notes),
            }
            for table in others
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
        "run": _candidate_data(row.run.method, row.run) if row.run else None,
        "executions": None
        if row.enumerated is None
        else {
            "at": dict(row.enumerated.params),
            "states": row.enumerated.states,
            "pairs": row.enumerated.pairs,
            "equal": row.enumerated.is_equal,
        },
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
