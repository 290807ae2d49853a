"""The main job: fold a file, or all kernels of a directory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.base.output_file import is_printed
from arrayfold.cli.console import Console
from arrayfold.cli.input import Input, takes_input
from arrayfold.cli.options import (
    DEFAULT_BUDGET,
    Arrays,
    AsJson,
    BudgetSeconds,
    Force,
    Method,
    NoCheck,
    Params,
    PowerOfTwo,
    parameter_values,
    started_budget,
)
from arrayfold.cli.output import FoldedOutput, check_outputs, write_placement

if TYPE_CHECKING:
    from arrayfold.fold.result import FoldResult
    from arrayfold.program.model import Problem
    from arrayfold.run.outcome import NotRun, RunReport
    from arrayfold.validation import Validation

_SHARE_FOR_MAPPINGS = 0.8


@takes_input(
    "arrayfold fold examples/harris.c -o harris.folded.c --run",
    "arrayfold fold examples/blur.c --fuse -o blur.folded.c",
    "arrayfold fold examples/blur-tiled.c --local 2 -o blur-tiled.folded.c",
    "arrayfold fold examples/jacobi-bands.c --local b -o jacobi-bands.folded.c",
    "arrayfold fold examples/heat-2d.c --mode reallocate --share cells -o heat.folded.c --run",
    "arrayfold fold kernel.c -o out.c -- -I include -DN=1024",
    "arrayfold fold examples/blur-interleaved.toml --param N=1024",
    'arrayfold fold examples/jacobi-1d.toml --context "n >= 8" --json',
)
def fold(
    source: Input,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT.c", help="Write the folded C file here; - prints it."),
    ] = None,
    force: Force = False,
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
        str,
        typer.Option(
            metavar="LOOPS|NAME",
            help="A buffer for each iteration of the first LOOPS loops, or a part for each of the loop NAME.",
        ),
    ] = "",
    run: Annotated[
        bool, typer.Option("--run", help="Compile and run both programs and compare their results.")
    ] = False,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run both under address and undefined-behaviour sanitizers.")
    ] = False,
    no_check: NoCheck = False,
    array: Arrays = None,
    method: Method = "auto",
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    power_of_two: PowerOfTwo = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print one line, as for a commit message, instead of the table.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Analyse, fold, prove, write the code, and print the table."""
    from arrayfold.fold.arrays import fold as fold_problem
    from arrayfold.fold.arrays import fold_all
    from arrayfold.fold.bands import fold_in_bands
    from arrayfold.fold.shared import SHARES, fold_shared
    from arrayfold.fold.tiles import fold_in_tiles
    from arrayfold.report.data import fold_data
    from arrayfold.report.summary import summary_line
    from arrayfold.report.tables import fold_report

    talk = source.talk(as_json)
    if os.path.isdir(source.file):  # noqa: PTH112
        defaults = (favor, mode, share) == ("size", "contract", "none")
        one_file = (output, loops, run, sanitize, array, power_of_two, local, source.region, placement)
        if any(one_file) or not defaults:
            raise InputError(
                f"{source.file} is a directory, whose kernels are folded and listed",
                hint="Options for one file, such as -o or --run, need one file.",
            )
        _fold_directory(source, parameter_values(param), method, budget, talk)
        return
    if local and (power_of_two or (favor != "size" and local.isdecimal())):
        raise InputError("--local chooses the rows of buffers itself; leave out --power-of-two and --favor")
    if local and not (local.isdecimal() or local.isidentifier()):
        raise InputError(f"--local {local}: expected a number of loops, or the name of a loop's variable")
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
    check_outputs(output, placement, force=force, source=source.file)
    limit = started_budget(budget)
    output_to = FoldedOutput(
        source.file,
        output,
        force,
        loops,
        run or sanitize,
        sanitize,
        style,
        slack,
        not no_check,
        source.context is not None,
    )
    values = parameter_values(param)
    # What is left is for the code.
    search = limit.first_part(_SHARE_FOR_MAPPINGS) if output_to.is_wanted else limit

    def folding(problem: Problem, sizes: Mapping[str, int], names: Sequence[str]) -> FoldResult:
        wanted = cast(Literal["size", "speed"], favor)
        if local.isdecimal():
            return fold_in_tiles(
                problem,
                int(local),
                params=sizes,
                arrays=names,
                method=method,
                budget=search,
                progress=talk.step,
            )
        if local:
            return fold_in_bands(
                problem,
                local,
                params=sizes,
                arrays=names,
                method=method,
                budget=search,
                progress=talk.step,
                favor=wanted,
            )
        if is_shared:
            return fold_shared(
                problem, share, params=sizes, arrays=names, method=method, budget=search, progress=talk.step
            )
        return fold_problem(
            problem,
            params=sizes,
            arrays=names,
            method=method,
            budget=search,
            power_of_two=power_of_two,
            favor=wanted,
            progress=talk.step,
        )

    try:
        problems = source.read_all(limit, reallocated=(array or ()) if mode == "reallocate" else None)
        output_to.check(problems)
        chosen = (array or []) if mode == "contract" else _own_arrays(problems, array or [])
        results = fold_all(problems, folding, params=values, arrays=chosen)
    except BudgetExceeded as error:
        results = _kept(source, values, array or [], str(error))
        output_to.check([result.problem for result in results])
    if placement is not None:
        write_placement(placement, results, values, force=force, source=source.file)
    reports: list[RunReport | NotRun] = []
    validation: Validation | None = None
    missing: BudgetExceeded | None = None
    try:
        reports, validation = output_to.deliver(results, values, limit)
    except BudgetExceeded as error:
        missing = error
    if not is_printed(output) and not is_printed(placement):
        talk.result(
            lambda: fold_data(results, reports, validation),
            lambda: (
                summary_line(results, source.file) if summary else fold_report(results, reports, validation)
            ),
        )
    elif validation is not None:
        talk.note(str(validation))
    if missing is not None:
        raise missing
    if not all(report.is_equal for report in reports):
        raise typer.Exit(1)


def _kept(source: Input, params: Mapping[str, int], arrays: Sequence[str], reason: str) -> list[FoldResult]:
    """All arrays as they are: there was no time for another order, or for other places of values."""
    from arrayfold.fold.arrays import fold_all
    from arrayfold.fold.deadline import kept_result

    def folding(problem: Problem, sizes: Mapping[str, int], names: Sequence[str]) -> FoldResult:
        return kept_result(problem, sizes, names, reason)

    return fold_all(source.as_written().read_all(), folding, params=params, arrays=arrays)


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
    source: Input, params: dict[str, int], method: str, seconds: float, talk: Console
) -> None:
    from arrayfold.explore.directory import find_kernels, fold_directory
    from arrayfold.report.directory import directory_data, directory_report

    directory, _, arguments, *_ = source.of_any_order()
    files = find_kernels(directory)
    talk.count(0, len(files))
    folded = fold_directory(
        files,
        params=params,
        method=method,
        seconds=seconds,
        arguments=arguments,
        done=lambda done: talk.count(done, len(files)),
    )
    talk.result(lambda: directory_data(folded), lambda: directory_report(folded))
    if any(item.reason for item in folded):
        raise typer.Exit(1)
