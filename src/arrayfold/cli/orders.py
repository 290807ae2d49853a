"""Commands that try orders: occupancy, tradeoff.

The parameters of a command are its options, which typer reads from the signature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from arrayfold.base.cache import cache_folder
from arrayfold.base.output_file import check_output, is_printed, write_output
from arrayfold.cli.command import command, input_of
from arrayfold.cli.options import (
    DEFAULT_BUDGET,
    AsJson,
    BudgetSeconds,
    Cluster,
    Force,
    Jobs,
    NoCheck,
    Params,
    StoreDirectory,
    parameter_values,
    started_budget,
)
from arrayfold.cli.output import FoldedOutput

if TYPE_CHECKING:
    from arrayfold.fold.result import FoldResult
    from arrayfold.run.outcome import NotRun, RunReport
    from arrayfold.validation import Validation


@command(
    "arrayfold occupancy examples/occupancy-stencil.toml",
    'arrayfold occupancy examples/occupancy-stencil.toml --schedule "S[i, j] -> [2*i + j]"',
    "arrayfold occupancy examples/occupancy-stencil.toml --vector A=2,0",
    "arrayfold occupancy examples/alignment-3d.c -o alignment.c --run",
)
def occupancy(
    context: typer.Context,
    vector: Annotated[
        list[str] | None,
        typer.Option(metavar="A=2,0", help="A schedule for this vector, or a range: A=1..3,0 (repeatable)."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A value is read before the step that overwrites it.")
    ] = False,
    expand: Annotated[
        bool, typer.Option("--expand", help="First give every statement an array of its own.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT.c", help="Write C in the order of the schedule; - prints it."
        ),
    ] = None,
    force: Force = False,
    run: Annotated[
        bool, typer.Option("--run", help="Compile and run both programs and compare their results.")
    ] = False,
    no_check: NoCheck = False,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Occupancy vectors for a schedule, for all of them, and schedules for given vectors.

    \f
    Its parameters are its options, so they are many.
    """
    from arrayfold.methods.occupancy_vectors.parse import occupancy_of
    from arrayfold.report.occupancy import occupancy_data, occupancy_report

    source = input_of(context)
    talk = source.talk(as_json)
    limit = started_budget(budget)
    problem = replace(source, schedule=None).read(limit)
    output_to = FoldedOutput(source.file, output, force=force, run=run, is_checked=not no_check)
    output_to.check([problem])
    result = occupancy_of(problem, source.schedule, vector or [], strict, expand, limit)
    folded: FoldResult | None = None
    reports: list[RunReport | NotRun] = []
    validation: Validation | None = None
    if (output or run) and result.schedule:
        from arrayfold.fold.occupancy import fold_along_vectors

        folded = fold_along_vectors(result.program, result, limit)
        reports, validation = output_to.deliver([folded], {}, limit)
    if not is_printed(output):
        talk.result(
            lambda: occupancy_data(result, folded, reports),
            lambda: occupancy_report(result, folded, reports, with_constraints=bool(vector)),
        )
    if validation is not None:
        talk.note(str(validation))
    if not result.schedule or not all(report.is_equal for report in reports):
        raise typer.Exit(1)


@command(
    "arrayfold tradeoff examples/jacobi-1d.toml --param n=32",
    "arrayfold tradeoff examples/blur.c --param N=32 -o blur.svg",
)
def tradeoff(
    context: typer.Context,
    param: Params = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FIGURE", help="Draw all orders: .svg, .png or .pdf."),
    ] = None,
    force: Force = False,
    largest: Annotated[
        int,
        typer.Option(metavar="K", min=0, max=8, help="Largest coefficient of one-dimensional schedules."),
    ] = 2,
    tile_size: Annotated[int, typer.Option(metavar="B", min=0, help="Size of tiles; 0 tries none.")] = 8,
    everything: Annotated[bool, typer.Option("--all", help="Print every order, not only the best.")] = False,
    store: StoreDirectory = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    budget: Annotated[
        float,
        typer.Option(
            "--budget", metavar="SECONDS", min=0.001, max=1e6, help="Time that all orders may take."
        ),
    ] = 120.0,
    as_json: AsJson = False,
) -> None:
    """Storage against parallelism over many orders: the ones that no other beats.

    \f
    Its parameters are its options, so they are many.
    """
    from pathlib import Path

    from arrayfold.explore import explore
    from arrayfold.report.figures import check_figure, drawn
    from arrayfold.report.tradeoff import draw_tradeoff, tradeoff_data, tradeoff_report

    source = input_of(context)
    talk = source.talk(as_json)
    figure = None if output is None else check_figure(output)
    if output is not None:
        check_output(output, force=force, source=source.file)
    exploration = explore(
        source.of_any_order(),
        parameter_values(param),
        largest=largest,
        tile=tile_size,
        seconds=budget,
        store=Path(store) if store is not None else cache_folder("tradeoff"),
        cluster=cluster,
        jobs=jobs,
        progress=talk.count,
    )
    talk.result(
        lambda: tradeoff_data(exploration),
        lambda: tradeoff_report(exploration, everything=everything),
    )
    if output is not None and figure is not None:
        picture = drawn(draw_tradeoff(exploration), figure.suffix)
        write_output(output, picture, force=force, source=source.file)
    if not exploration.possible:
        raise typer.Exit(1)
