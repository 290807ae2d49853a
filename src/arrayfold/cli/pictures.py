"""Commands that draw: plot, report."""

from __future__ import annotations

from typing import Annotated

import typer

from arrayfold.base.choices import FigureKind
from arrayfold.base.errors import InputError
from arrayfold.base.output_file import check_output, write_output
from arrayfold.cli.command import command, input_of
from arrayfold.cli.options import (
    DEFAULT_BUDGET,
    Arrays,
    BudgetSeconds,
    Force,
    Method,
    Params,
    parameter_values,
    started_budget,
)


@command(
    "arrayfold plot examples/diamond-tile.toml --what lattice --param B=5 -o diamond.svg",
    "arrayfold plot examples/jacobi-1d.c --what lifetimes -o jacobi.png",
    "arrayfold plot examples/harris.c --fuse --what memory -o harris.svg",
    "arrayfold plot examples/reverse-l.toml --what methods --param N=64 -o methods.pdf",
)
def plot(
    context: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FIGURE", help="Where to draw: .svg, .png or .pdf.")
    ],
    what: Annotated[
        FigureKind, typer.Option(metavar="NAME", help="conflicts, lattice, lifetimes, memory or methods.")
    ] = "lattice",
    force: Force = False,
    array: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which array; without it, the first one.")
    ] = None,
    method: Method = "auto",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
) -> None:
    """Draw one figure: conflicts, the lattice of a fold, lifetimes, memory over time, or all methods."""
    from arrayfold.fold.options import FoldOptions
    from arrayfold.report.figures import check_figure, drawn, plot_fold

    source = input_of(context)
    path = check_figure(output)
    check_output(output, force=force, source=source.file)
    limit = started_budget(budget)
    options = FoldOptions(parameter_values(param), () if array is None else (array,), method)
    figure = plot_fold(source.read(limit, options.params), what, options, limit)
    write_output(output, drawn(figure, path.suffix), force=force, source=source.file)


@command(
    "arrayfold report examples/blur-interleaved.c -o blur.html",
    'arrayfold report examples/blur-interleaved.toml --mapping "blurx[y % 2][x]" -o wrong.html',
)
def report(
    context: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PAGE.html", help="Where to write the page; - prints it.")
    ],
    force: Force = False,
    mapping: Annotated[
        str | None, typer.Option(metavar="MAP", help="Tell of this mapping too, as `check` takes it.")
    ] = None,
    array: Arrays = None,
    method: Method = "auto",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
) -> None:
    """Write one page with pictures, all methods, the proof, and the code before and after."""
    from arrayfold.fold.options import FoldOptions
    from arrayfold.report.page import make_page

    source = input_of(context)
    if output != "-" and not output.endswith((".html", ".htm")):
        raise InputError(f"{output}: a page ends in .html")
    check_output(output, force=force, source=source.file)
    limit = started_budget(budget)
    options = FoldOptions(parameter_values(param), tuple(array or ()), method)
    page = make_page(
        source.file,
        source.read_all(limit, options.params) if mapping is None else source.read(limit, options.params),
        options,
        mapping=mapping,
        budget=limit,
        progress=source.talk().step,
    )
    write_output(output, page.to_html().encode(), force=force, source=source.file)
    if not all(item.is_valid for item in page.checked):
        raise typer.Exit(1)
