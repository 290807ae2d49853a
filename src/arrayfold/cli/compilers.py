"""Compilers that fold: clang with Polly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arrayfold.cli.console import Console
from arrayfold.cli.options import DEFAULT_BUDGET, AsJson, BudgetSeconds, Quiet, started_budget

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arrayfold.fold.polly import Compiled


def cc(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMPILER...",
            help="The command as it is: clang -O3 file.c -o prog.",
            show_default=False,
        ),
    ],
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compile C or C++ by clang with Polly, and fold arrays that functions allocate for themselves."""
    from arrayfold.fold.polly import compile_folded

    compiled = compile_folded(command, started_budget(budget))
    Console(as_json, quiet).result(lambda: _data(compiled), lambda: _table(compiled))


def _data(compiled: Compiled) -> dict[str, Any]:
    from arrayfold.report.data import fold_data

    return {**fold_data(compiled.results), "notes": list(compiled.notes)}


def _table(compiled: Compiled) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from arrayfold.report.tables import fold_report

    notes = [Text(f"note: {note}") for note in compiled.notes]
    return Group(fold_report(compiled.results), *notes) if compiled.results else Group(*notes)
