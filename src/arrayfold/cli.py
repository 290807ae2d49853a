"""The command line. Heavy imports happen inside the commands, so that --help is instant."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import islpy as isl
import typer

from arrayfold.cli_input import Input, takes_input
from arrayfold.cli_output import FoldedOutput, write_placement
from arrayfold.errors import ArrayfoldError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from arrayfold._budget import Budget
    from arrayfold.fold import FoldResult
    from arrayfold.program import Problem
    from arrayfold.runner import RunReport

DEFAULT_BUDGET = 60.0
BUDGET_OF_PAPERS = 600.0
_QUIET_SECONDS = 2.0
_WIDTH_OF_FILES = 400

app = typer.Typer(
    name="arrayfold",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Fold the temporary arrays of affine loop programs, prove the fold, and see how far from the "
    "minimum it is.",
    epilog="Exit status: 0 proved, 1 refuted or nothing valid, 2 bad input.",
)

Arrays = Annotated[
    list[str] | None, typer.Option("--array", metavar="NAME", help="Only this array (repeatable).")
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="N=64", help="Size at which numbers are shown and compared (repeatable)."
    ),
]
BudgetSeconds = Annotated[
    float,
    typer.Option("--budget", metavar="SECONDS", min=0.001, max=1e6, help="Time that the work may take."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
PowerOfTwo = Annotated[
    bool, typer.Option("--power-of-two", help="Round constant moduli up to powers of two.")
]


def main() -> None:
    """The entry point: every foreseen error is one paragraph on standard error."""
    from arrayfold._watchdog import guarded

    raise SystemExit(guarded(_run))


def _run() -> int:
    try:
        app(standalone_mode=True)
    except ArrayfoldError as error:
        print(f"arrayfold: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_status
    except isl.Error as error:
        print(f"arrayfold: isl failed: {error}", file=sys.stderr)  # noqa: T201
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


# ---------------------------------------------------------------- commands


@app.command(
    epilog="\b\nExamples:\n  arrayfold fold examples/harris.c -o harris.folded.c --run\n"
    "  arrayfold fold examples/blur.c --fuse -o blur.folded.c\n"
    "  arrayfold fold examples/blur-tiled.c --local 2 -o blur-tiled.folded.c\n"
    "  arrayfold fold examples/heat-2d.c --mode reallocate --share cells -o heat.folded.c --run\n"
    "  arrayfold fold kernel.c -o out.c -- -I include -DN=1024\n"
    "  arrayfold fold examples/blur-interleaved.toml --param N=1024\n"
    '  arrayfold fold examples/jacobi-1d.toml --context "n >= 8" --json'
)
@takes_input
def fold(
    source: Input,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT.c", help="Write the folded C file here; - prints it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT.c if it exists.")] = False,
    loops: Annotated[
        str | None,
        typer.Option(metavar="keep|generate", help="Leave the loops as written, or write them anew."),
    ] = None,
    style: Annotated[
        str,
        typer.Option(metavar="fast|readable", help="No modulo in inner loops, or the mapping in subscripts."),
    ] = "fast",
    slack: Annotated[
        str,
        typer.Option(metavar="auto|none|CELLS", help="Cells that may be added so that loops vectorise."),
    ] = "auto",
    favor: Annotated[
        str,
        typer.Option(metavar="size|speed", help="The smallest mapping, or one up to twice as large."),
    ] = "size",
    mode: Annotated[
        str,
        typer.Option(
            metavar="contract|reallocate", help="Keep arrays, or give every statement one of its own."
        ),
    ] = "contract",
    share: Annotated[
        str,
        typer.Option(
            metavar="none|arrays|offsets|cells|auto", help="How arrays share memory with each other."
        ),
    ] = "none",
    placement: Annotated[
        str | None,
        typer.Option(metavar="FILE.csv", help="Write sizes and times of arrays for placement solvers."),
    ] = None,
    local: Annotated[
        int,
        typer.Option(metavar="LOOPS", help="A buffer for each iteration of the first LOOPS loops.", min=0),
    ] = 0,
    run: Annotated[
        bool, typer.Option("--run", help="Compile and run both programs and compare their results.")
    ] = False,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run both under address and undefined-behaviour sanitizers.")
    ] = False,
    array: Arrays = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="How to look for mappings.")] = "auto",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    power_of_two: PowerOfTwo = False,
    as_json: AsJson = False,
) -> None:
    """Analyse, fold, prove, write the code, and print the table."""
    from arrayfold.fold import fold as fold_problem
    from arrayfold.fold import fold_all
    from arrayfold.fold_shared import SHARES, fold_shared
    from arrayfold.fold_tiles import fold_in_tiles
    from arrayfold.report.data import fold_data
    from arrayfold.report.tables import fold_report

    if os.path.isdir(source.file):  # noqa: PTH112
        defaults = (favor, mode, share) == ("size", "contract", "none")
        one_file = (output, loops, run, sanitize, array, power_of_two, local, source.region, placement)
        if any(one_file) or not defaults:
            raise InputError(
                f"{source.file} is a directory, whose kernels are folded and listed",
                hint="Options for one file, such as -o or --run, need one file.",
            )
        _fold_directory(source, _values(param), method, budget, as_json)
        return
    if local and (power_of_two or favor != "size"):
        raise InputError("--local chooses the rows of buffers itself; leave out --power-of-two and --favor")
    if favor == "speed" and method != "auto":
        raise InputError(f"--favor speed chooses among all methods; leave out --method {method}")
    is_shared = mode != "contract" or share != "none"
    if mode not in ("contract", "reallocate"):
        raise InputError(f"--mode {mode}: expected contract or reallocate")
    if share not in SHARES:
        raise InputError(f"--share {share}: expected one of {', '.join(SHARES)}")
    if is_shared and (local or power_of_two or favor != "size"):
        raise InputError("--mode and --share go without --local, --power-of-two and --favor")
    if placement is not None and (share in ("cells", "auto") or local):
        raise InputError("--placement is for whole arrays; leave out --local, --share cells and --share auto")
    limit = _start(budget)
    problems = source.read_all(limit, reallocated=(array or ()) if mode == "reallocate" else None)
    output_to = FoldedOutput(source.file, output, force, loops, run or sanitize, sanitize, style, slack)
    output_to.check(problems)
    values = _values(param)
    progress = _progress(as_json)

    def folding(problem: Problem, sizes: Mapping[str, int], names: Sequence[str]) -> FoldResult:
        if local:
            return fold_in_tiles(
                problem, local, params=sizes, arrays=names, method=method, budget=limit, progress=progress
            )
        if is_shared:
            return fold_shared(
                problem, share, params=sizes, arrays=names, method=method, budget=limit, progress=progress
            )
        wanted = cast(Literal["size", "speed"], favor)
        return fold_problem(
            problem,
            params=sizes,
            arrays=names,
            method=method,
            budget=limit,
            power_of_two=power_of_two,
            favor=wanted,
            progress=progress,
        )

    chosen = (array or []) if mode == "contract" else _own_arrays(problems, array or [])
    results = fold_all(problems, folding, params=values, arrays=chosen)
    if placement is not None:
        write_placement(placement, results, values, force=force)
    reports = output_to.deliver(results, values)
    if "-" not in (output, placement):
        _print(as_json, lambda: fold_data(results, reports), lambda: fold_report(results, reports))
    if not all(report.is_equal for report in reports):
        raise typer.Exit(1)


@app.command(epilog="\b\nExample:\n  arrayfold compare examples/diamond-tile.toml --param B=64")
@takes_input
def compare(
    source: Input,
    array: Arrays = None,
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    power_of_two: PowerOfTwo = False,
    as_json: AsJson = False,
) -> None:
    """Show every method side by side on every array."""
    from arrayfold.compare import compare as compare_methods
    from arrayfold.report.data import compare_data
    from arrayfold.report.tables import compare_report

    limit = _start(budget)
    arrays = compare_methods(
        source.read(limit),
        params=_values(param),
        arrays=array or [],
        budget=limit,
        power_of_two=power_of_two,
        progress=_progress(as_json),
    )
    _print(as_json, lambda: compare_data(arrays), lambda: compare_report(arrays))
    if not all(any(candidate.is_proved for candidate in array.candidates) for array in arrays):
        raise typer.Exit(1)


@app.command(
    epilog='\b\nExamples:\n  arrayfold check examples/blur-interleaved.toml --mapping "blurx[y % 3][x]"\n'
    '  arrayfold check examples/jacobi-1d.toml --mapping "A[i, j] -> [(j - i) mod (n + 1)]"\n'
    '  arrayfold check examples/blur-interleaved.c --mapping "blurx.fold_storage(y, 4)"\n'
    "  arrayfold check examples/blur.toml --mapping folded.json"
)
@takes_input
def check(
    source: Input,
    mapping: Annotated[
        str,
        typer.Option(
            metavar="MAP",
            help="`A[t, i] -> [t mod 2, i]`, `A[t % 2][i]`, `A.fold_storage(t, 2)`, or a .json file of fold.",
        ),
    ],
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Say whether a mapping is valid, and whether it is tight."""
    from arrayfold.check import check as check_mappings
    from arrayfold.report.data import check_data
    from arrayfold.report.tables import check_report

    limit = _start(budget)
    checked = check_mappings(
        source.read(limit),
        mapping,
        params=_values(param),
        budget=limit,
        progress=_progress(as_json),
    )
    _print(as_json, lambda: check_data(checked), lambda: check_report(checked))
    if not all(item.is_valid for item in checked):
        raise typer.Exit(1)


@app.command(epilog="\b\nExample:\n  arrayfold conflicts examples/jacobi-1d.toml")
@takes_input
def conflicts(
    source: Input,
    array: Arrays = None,
    construction: Annotated[
        str, typer.Option(metavar="NAME", help="live-write, live-live or butterfly.")
    ] = "live-write",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Print the conflict and difference sets."""
    from arrayfold.fold import Analysis, checked_params
    from arrayfold.liveness import CONSTRUCTIONS
    from arrayfold.report.data import conflicts_data
    from arrayfold.report.tables import conflicts_report

    limit = _start(budget)
    problem = source.read(limit)
    if construction not in CONSTRUCTIONS:
        raise InputError(f"there is no construction {construction!r}; known: {', '.join(CONSTRUCTIONS)}")
    values = checked_params(problem, _values(param))
    analysis = Analysis.of(problem, limit)
    names = array or analysis.foldable()
    found = [analysis.conflicts(name, limit, construction) for name in names]
    found = [item.at(values) for item in found] if values else found
    _print(as_json, lambda: conflicts_data(found), lambda: conflicts_report(found))


@app.command(epilog="\b\nExample:\n  arrayfold model examples/gauss.toml")
@takes_input
def model(
    source: Input,
    as_json: AsJson = False,
) -> None:
    """Print the program as a problem file."""
    from arrayfold.frontends import write_problem
    from arrayfold.liveness import with_temporaries

    limit = _start(DEFAULT_BUDGET)
    text = write_problem(with_temporaries(source.read(limit)))
    if as_json:
        import tomllib

        text = json.dumps(tomllib.loads(text), indent=2) + "\n"
    sys.stdout.write(text)


@app.command(
    epilog="\b\nExamples:\n  arrayfold occupancy examples/occupancy-stencil.toml\n"
    '  arrayfold occupancy examples/occupancy-stencil.toml --schedule "S[i, j] -> [2*i + j]"\n'
    "  arrayfold occupancy examples/occupancy-stencil.toml --vector A=2,0\n"
    "  arrayfold occupancy examples/alignment-3d.c -o alignment.c --run"
)
@takes_input
def occupancy(
    source: Input,
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT.c if it exists.")] = False,
    run: Annotated[
        bool, typer.Option("--run", help="Compile and run both programs and compare their results.")
    ] = False,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    as_json: AsJson = False,
) -> None:
    """Occupancy vectors for a schedule, for all of them, and schedules for given vectors."""
    from arrayfold.occupancy.read import occupancy_of
    from arrayfold.report.occupancy import occupancy_data, occupancy_report

    limit = _start(budget)
    problem = replace(source, schedule=None).read(limit)
    output_to = FoldedOutput(source.file, output, force, None, run, False)
    output_to.check([problem])
    if expand and (output or run):
        raise InputError("code of expanded programs cannot be written", hint="Leave out --expand, or -o.")
    result = occupancy_of(problem, source.schedule, vector or [], strict, expand, limit)
    folded: FoldResult | None = None
    reports: list[RunReport] = []
    if (output or run) and result.schedule:
        from arrayfold.along_vectors import stored_along_vectors

        folded = stored_along_vectors(result.program, result, limit)
        reports = output_to.deliver([folded], {})
    if output != "-":
        _print(
            as_json,
            lambda: occupancy_data(result, folded, reports),
            lambda: occupancy_report(result, folded, reports, with_constraints=bool(vector)),
        )
    if not result.schedule or not all(report.is_equal for report in reports):
        raise typer.Exit(1)


@app.command(
    epilog="\b\nExamples:\n"
    "  arrayfold plot examples/diamond-tile.toml --what lattice --param B=5 -o diamond.svg\n"
    "  arrayfold plot examples/jacobi-1d.c --what lifetimes -o jacobi.png\n"
    "  arrayfold plot examples/reverse-l.toml --what methods --param N=64 -o methods.pdf"
)
@takes_input
def plot(
    source: Input,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FIGURE", help="Where to draw: .svg, .png or .pdf.")
    ],
    what: Annotated[
        str, typer.Option(metavar="NAME", help="conflicts, lattice, lifetimes or methods.")
    ] = "lattice",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the figure.")] = False,
    array: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which array; without it, the first one.")
    ] = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="How to look for a mapping.")] = "auto",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
) -> None:
    """Draw one figure: conflicts, the lattice of a fold, lifetimes, or the methods side by side."""
    from arrayfold.report.figures import KINDS, check_figure, plot_fold, save

    path = check_figure(output)
    if path.exists() and not force:
        raise InputError(f"{output} exists", hint="Say --force to overwrite it.")
    if what not in KINDS:
        raise InputError(f"--what {what}: expected one of {', '.join(KINDS)}")
    limit = _start(budget)
    save(plot_fold(source.read(limit), what, array, _values(param), method, limit), path)


@app.command(
    epilog="\b\nExamples:\n  arrayfold tradeoff examples/jacobi-1d.toml --param n=32\n"
    "  arrayfold tradeoff examples/blur.c --param N=32 -o blur.svg"
)
@takes_input
def tradeoff(
    source: Input,
    param: Params = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FIGURE", help="Draw all orders: .svg, .png or .pdf."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the figure.")] = False,
    largest: Annotated[
        int,
        typer.Option(metavar="K", min=0, max=8, help="Largest coefficient of one-dimensional schedules."),
    ] = 2,
    tile_size: Annotated[int, typer.Option(metavar="B", min=0, help="Size of tiles; 0 tries none.")] = 8,
    everything: Annotated[bool, typer.Option("--all", help="Print every order, not only the best.")] = False,
    store: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where results are kept for the next run; by default in ~/.cache."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:8786", help="Do the work on a Dask cluster (arrayfold[cluster])."),
    ] = None,
    budget: Annotated[
        float,
        typer.Option("--budget", metavar="SECONDS", min=0.001, max=1e6, help="Time for each order."),
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Storage against parallelism over many orders: the ones that no other beats."""
    from pathlib import Path

    from arrayfold.report.figures import check_figure
    from arrayfold.report.tradeoff import draw_tradeoff, tradeoff_data, tradeoff_report
    from arrayfold.tradeoff import Source, explore

    figure = None if output is None else check_figure(output)
    if figure is not None and figure.exists() and not force:
        raise InputError(f"{output} exists", hint="Say --force to overwrite it.")
    exploration = explore(
        Source(*source.of_any_order()),
        _values(param),
        largest=largest,
        tile=tile_size,
        seconds=budget,
        store=Path(store) if store is not None else _cache() / "tradeoff",
        cluster=cluster,
        progress=_counting(as_json),
    )
    _print(
        as_json,
        lambda: tradeoff_data(exploration),
        lambda: tradeoff_report(exploration, everything=everything),
    )
    if figure is not None:
        draw_tradeoff(exploration, figure)
    if not exploration.possible:
        raise typer.Exit(1)


@app.command(epilog="\b\nExample:\n  arrayfold papers --json")
def papers(
    budget: BudgetSeconds = BUDGET_OF_PAPERS,
    as_json: AsJson = False,
) -> None:
    """Regenerate the papers' tables, ours beside theirs."""
    from arrayfold.papers import PUBLISHED_TABLES, reproduce
    from arrayfold.report.papers import papers_data, papers_report

    limit = _start(budget)
    tables = reproduce(PUBLISHED_TABLES, budget=limit, progress=_progress(as_json))
    _print(as_json, lambda: papers_data(tables), lambda: papers_report(tables))
    if not all(row.is_proved for table in tables for row in table.rows):
        raise typer.Exit(1)


@app.command(hidden=True)
def version() -> None:
    """Print the version."""
    _show_version(True)


# ---------------------------------------------------------------- common parts


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version as installed

        typer.echo(f"arrayfold {installed('arrayfold')}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _own_arrays(problems: Sequence[Problem], named: Sequence[str]) -> list[str]:
    """The arrays that statements have for the values of arrays that the user named."""
    found: list[str] = []
    for name in named:
        own = [
            new for problem in problems for new, old in getattr(problem, "origins", {}).items() if old == name
        ]
        if not own:
            problem = next((one for one in problems if name in [array.name for array in one.arrays]), None)
            if problem is None:
                problems[0].array(name)
            raise InputError(f"no value of {name} is written that is not needed there after the program")
        found += own
    return found


def _fold_directory(
    source: Input, params: dict[str, int], method: str, seconds: float, as_json: bool
) -> None:
    from arrayfold.report.tree import tree_data, tree_report
    from arrayfold.tree import find_kernels, fold_tree

    directory, _, arguments, *_ = source.of_any_order()
    files = find_kernels(directory)
    show = _counting(as_json)
    show(0, len(files))
    folded = fold_tree(
        files,
        params=params,
        method=method,
        seconds=seconds,
        arguments=arguments,
        done=lambda done: show(done, len(files)),
    )
    _print(as_json, lambda: tree_data(folded), lambda: tree_report(folded))
    if any(item.reason for item in folded):
        raise typer.Exit(1)


def _start(seconds: float) -> Budget:
    from arrayfold._budget import Budget
    from arrayfold._watchdog import announce

    announce(seconds)
    return Budget(seconds)


def _cache() -> Path:
    """Where results are kept between runs."""
    from pathlib import Path

    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arrayfold"


def _counting(as_json: bool) -> Callable[[int, int], None]:
    """Shows how many pieces of work are done, on a terminal."""

    def show(done: int, everything: int) -> None:
        if sys.stderr.isatty() and not as_json:
            filled = 30 * done // max(everything, 1)
            bar = "█" * filled + "░" * (30 - filled)
            typer.echo(f"\r\033[K{bar} {done} of {everything}", nl=False, err=True)

    return show


def _values(given: list[str] | None) -> dict[str, int]:
    values: dict[str, int] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        try:
            number = int(value)
        except ValueError:
            equals, number = "", 0
        if not equals or not name.strip():
            raise InputError(f"--param {text}: expected a name and a whole number, as in N=64")
        if values.setdefault(name.strip(), number) != number:
            raise InputError(f"--param {text}: {name.strip()} was given another value before")
    return values


def _print(as_json: bool, data: Callable[[], dict[str, Any]], report: Callable[[], RenderableType]) -> None:
    if sys.stderr.isatty():
        typer.echo("\r\033[K", nl=False, err=True)
    if as_json:
        sys.stdout.write(json.dumps(data(), indent=2) + "\n")
        return
    from rich.console import Console

    wide_enough = None if sys.stdout.isatty() else _WIDTH_OF_FILES
    Console(width=wide_enough, soft_wrap=wide_enough is not None).print(report())


def _progress(as_json: bool) -> Callable[[str], None]:
    """A line on the terminal that says what is being done, once the work takes longer than a moment."""
    begin = time.monotonic()

    def show(step: str) -> None:
        if not as_json and sys.stderr.isatty() and time.monotonic() - begin > _QUIET_SECONDS:
            typer.echo(f"\r\033[K{time.monotonic() - begin:5.0f} s  {step}", nl=False, err=True)

    return show
