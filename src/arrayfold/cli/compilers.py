"""Compilers that fold: clang and flang with Polly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from arrayfold.cli.console import Console
from arrayfold.cli.options import DEFAULT_BUDGET, AsJson, BudgetSeconds, Quiet, started_budget

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arrayfold.fold.polly import Compiled, PollyCompiler

Command: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="-- COMPILER...", help="The command as it is without arrayfold.", show_default=False
    ),
]


def cc(
    command: Command, budget: BudgetSeconds = DEFAULT_BUDGET, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Compile C or C++ by clang with Polly, and fold arrays that functions have for themselves."""
    from arrayfold.fold.polly import CLANG

    _compile(command, CLANG, budget, Console(as_json, quiet))


def fc(
    command: Command, budget: BudgetSeconds = DEFAULT_BUDGET, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Compile Fortran by flang with Polly, and fold arrays that procedures have for themselves."""
    from arrayfold.fold.polly import FLANG

    _compile(command, FLANG, budget, Console(as_json, quiet))


def _compile(command: list[str], compiler: PollyCompiler, budget: float, console: Console) -> None:
    from arrayfold.fold.polly import compile_folded

    compiled = compile_folded(command, started_budget(budget), compiler)
    typer.echo(compiled.said, nl=False, err=True)
    if compiled.results or compiled.notes or console.as_json:
        console.result(lambda: _data(compiled), lambda: _table(compiled))
    if compiled.status != 0:
        raise typer.Exit(compiled.status)


def _data(compiled: Compiled) -> dict[str, Any]:
    from arrayfold.report.data import fold_data

    return {**fold_data(compiled.results), "notes": list(compiled.notes)}


def _table(compiled: Compiled) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from arrayfold.report.tables import fold_report

    notes = [Text(f"note: {note}") for note in compiled.notes]
    return Group(fold_report(compiled.results), *notes) if compiled.results else Group(*notes)
