"""The command papers."""

from __future__ import annotations

import typer

from arrayfold.cli.console import Console
from arrayfold.cli.options import AsJson, BudgetSeconds, Quiet, Verbose, started_budget

BUDGET_OF_PAPERS = 600.0


def papers(
    budget: BudgetSeconds = BUDGET_OF_PAPERS,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Regenerate the papers' tables, ours beside theirs."""
    from arrayfold.explore.papers import PUBLISHED_TABLES, reproduce
    from arrayfold.report.papers import papers_data, papers_report

    talk = Console(as_json, quiet, verbose)
    limit = started_budget(budget)
    tables = reproduce(PUBLISHED_TABLES, budget=limit, progress=talk.step)
    talk.result(lambda: papers_data(tables), lambda: papers_report(tables))
    if not all(row.is_proved for table in tables for row in table.rows):
        raise typer.Exit(1)
