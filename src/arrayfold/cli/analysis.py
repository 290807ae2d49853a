"""Commands that write no code: compare, check, conflicts and model of a problem; the papers' tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arrayfold.base.choices import Construction
from arrayfold.base.errors import InputError
from arrayfold.cli.command import command, input_of
from arrayfold.cli.console import Console
from arrayfold.cli.options import (
    DEFAULT_BUDGET,
    Arrays,
    AsJson,
    BudgetSeconds,
    Params,
    PowerOfTwo,
    Quiet,
    Verbose,
    parameter_values,
    started_budget,
)

if TYPE_CHECKING:
    from arrayfold.base.budget import Budget

BUDGET_OF_PAPERS = 600.0


@command(
    "arrayfold compare examples/diamond-tile.toml --param B=64",
)
def compare(
    context: typer.Context,
    array: Arrays = None,
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    power_of_two: PowerOfTwo = False,
    as_json: AsJson = False,
) -> None:
    """Show every method side by side on every array."""
    from arrayfold.fold.compare import compare as compare_methods
    from arrayfold.fold.options import FoldOptions
    from arrayfold.report.data import compare_data
    from arrayfold.report.tables import compare_report

    source = input_of(context)
    talk = source.talk(as_json)
    limit = started_budget(budget)
    options = FoldOptions(parameter_values(param), tuple(array or ()), power_of_two=power_of_two)
    arrays = compare_methods(source.read(limit, options.params), options, limit, progress=talk.step)
    talk.result(lambda: compare_data(arrays), lambda: compare_report(arrays))
    if not all(any(candidate.is_proved for candidate in array.candidates) for array in arrays):
        raise typer.Exit(1)


@command(
    'arrayfold check examples/blur-interleaved.toml --mapping "blurx[y % 3][x]"',
    'arrayfold check examples/blur-interleaved.c --mapping "blurx.fold_storage(y, 4)"',
    'arrayfold check examples/jacobi-1d.toml --mapping "A[i, j] -> [(j - i) mod (n + 1)]"',
    "arrayfold check examples/blur.toml --mapping folded.json",
    "arrayfold check before.mlir --against after.mlir",
)
def check(
    context: typer.Context,
    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="MAP",
            help="`A[t, i] -> [t mod 2, i]`, `A[t % 2][i]`, `A.fold_storage(t, 2)`, or a .json file of fold.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="AFTER.mlir", help="Instead: what another tool made of this module of MLIR."),
    ] = None,
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Say whether a mapping is valid, and whether it is tight."""
    from arrayfold.fold.check import check as check_mappings
    from arrayfold.fold.options import FoldOptions
    from arrayfold.report.data import check_data
    from arrayfold.report.tables import check_report

    source = input_of(context)
    talk = source.talk(as_json)
    limit = started_budget(budget)
    options = FoldOptions(parameter_values(param))
    if (mapping is None) == (against is None):
        raise InputError(
            "check needs a mapping: --mapping MAP", hint="Or --against AFTER.mlir, for modules of MLIR."
        )
    if against is not None:
        _check_against(source.file, against, options.params, limit, talk)
        return
    assert mapping is not None
    checked = check_mappings(source.read(limit, options.params), mapping, options, limit, progress=talk.step)
    talk.result(lambda: check_data(checked), lambda: check_report(checked))
    if not all(item.is_valid for item in checked):
        raise typer.Exit(1)


def _check_against(file: str, other: str, params: Mapping[str, int], limit: Budget, talk: Console) -> None:
    """Say whether two modules of MLIR compute the same."""
    from arrayfold.base.input_file import read_input, text_of
    from arrayfold.base.optional import optional_module
    from arrayfold.report.against import against_data, against_report

    for one in (file, other):
        if not one.endswith(".mlir"):
            raise InputError(f"--against compares modules of MLIR (.mlir), not {one}")
    optional_module("xdsl.ir", "mlir")
    from arrayfold.fold.against import compare_modules

    before, after = ((one, text_of(Path(one), read_input(Path(one)))) for one in (file, other))
    compared = compare_modules(before, after, params, limit)
    talk.result(lambda: against_data(compared), lambda: against_report(compared))
    if not all(one.verdict == "equal" for one in compared):
        raise typer.Exit(1)


@command(
    "arrayfold conflicts examples/jacobi-1d.toml",
)
def conflicts(
    context: typer.Context,
    array: Arrays = None,
    construction: Annotated[
        Construction,
        typer.Option(metavar="NAME", help="values, or live-write, live-live, butterfly of the papers."),
    ] = "values",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Print the conflict and difference sets."""
    from arrayfold.fold.analysis import Analysis
    from arrayfold.fold.options import checked_params
    from arrayfold.report.data import conflicts_data
    from arrayfold.report.tables import conflicts_report

    source = input_of(context)
    talk = source.talk(as_json)
    limit = started_budget(budget)
    params = parameter_values(param)
    problem = source.read(limit, params)
    values = checked_params(problem, params)
    analysis = Analysis.in_time(problem, limit)
    names = array or analysis.foldable()
    found = [analysis.conflicts_in_time(name, limit, construction) for name in names]
    found = [item.at(values) for item in found] if values else found
    talk.result(lambda: conflicts_data(found), lambda: conflicts_report(found))


@command(
    "arrayfold model examples/gauss.toml",
)
def model(
    context: typer.Context,
    as_json: AsJson = False,
) -> None:
    """Print the program as a problem file."""
    from arrayfold.conflicts.liveness import with_temporaries
    from arrayfold.frontends import write_problem

    source = input_of(context)
    limit = started_budget(DEFAULT_BUDGET)
    text = write_problem(with_temporaries(source.read(limit)))
    if as_json:
        import tomllib

        text = json.dumps(tomllib.loads(text), indent=2) + "\n"
    sys.stdout.write(text)


def papers(
    budget: BudgetSeconds = BUDGET_OF_PAPERS,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="BBC16 tables II, V and VI instead: times and memory on this machine."
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Regenerate the papers' tables, ours beside theirs."""
    from arrayfold.explore.papers import (
        PUBLISHED_TABLES,
        RECOMPUTATIONS,
        measured_tables,
        recompute_all,
        reproduce,
    )
    from arrayfold.report.papers import papers_data, papers_report

    talk = Console(as_json, quiet, verbose)
    limit = started_budget(budget)
    if measure:
        measured = measured_tables(limit, talk.step)
        talk.result(lambda: papers_data((), measured), lambda: papers_report((), measured))
        return
    tables = reproduce(PUBLISHED_TABLES, budget=limit, progress=talk.step)
    others = recompute_all(RECOMPUTATIONS, budget=limit, progress=talk.step)
    talk.result(lambda: papers_data(tables, others), lambda: papers_report(tables, others))
    proved = [row.is_proved for table in tables for row in table.rows] + [one.is_proved for one in others]
    if not all(proved):
        raise typer.Exit(1)
