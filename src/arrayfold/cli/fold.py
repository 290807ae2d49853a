"""The main job: fold a file, or all kernels of a directory.

The parameters of a command are its options, which typer reads from the signature; so `fold` has many.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from arrayfold.base.choices import Favor, Loops, Mode, Share, Style, Tool
from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.base.output_file import is_printed
from arrayfold.cli.command import command, input_of
from arrayfold.cli.console import Console
from arrayfold.cli.input import Input
from arrayfold.cli.options import (
    DEFAULT_BUDGET,
    Arrays,
    AsJson,
    AsPublished,
    BudgetSeconds,
    Cluster,
    Force,
    Jobs,
    LinearForm,
    Method,
    NoCheck,
    Params,
    PowerOfTwo,
    StoreDirectory,
    measuring,
    parameter_values,
    started_budget,
)
from arrayfold.cli.output import FoldedOutput, check_outputs, write_placement

if TYPE_CHECKING:
    from arrayfold.base.budget import Budget
    from arrayfold.fold.options import FoldOptions
    from arrayfold.fold.result import FoldedArray, FoldResult
    from arrayfold.program.model import Problem
    from arrayfold.run.outcome import NotRun, RunReport
    from arrayfold.validation import Validation

_SHARE_FOR_MAPPINGS = 0.8


@command(
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
    context: typer.Context,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT.c", help="Write the folded C file here; - prints it."),
    ] = None,
    force: Force = False,
    loops: Annotated[
        Loops | None,
        typer.Option(metavar="keep|generate", help="Leave the loops as written, or write them anew."),
    ] = None,
    style: Annotated[
        Style,
        typer.Option(metavar="fast|readable", help="No modulo in inner loops, or the mapping in subscripts."),
    ] = "fast",
    slack: Annotated[
        str,
        typer.Option(metavar="auto|none|CELLS", help="Cells that may be added so that loops vectorise."),
    ] = "auto",
    favor: Annotated[
        Favor,
        typer.Option(metavar="size|speed", help="The smallest mapping, or one up to twice as large."),
    ] = "size",
    mode: Annotated[
        Mode,
        typer.Option(
            metavar="contract|reallocate", help="Keep arrays, or give every statement one of its own."
        ),
    ] = "contract",
    share: Annotated[
        Share,
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
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Compile and measure the best orders at the sizes of --param; keep the fastest."
        ),
    ] = False,
    run: Annotated[
        bool, typer.Option("--run", help="Compile and run both programs and compare their results.")
    ] = False,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run both under address and undefined-behaviour sanitizers.")
    ] = False,
    no_check: NoCheck = False,
    check_assumptions: Annotated[
        bool,
        typer.Option("--check-assumptions", help="Let the code call abort() where an assumption fails."),
    ] = False,
    layout_maps: Annotated[
        bool,
        typer.Option(
            "--layout-maps", help="In MLIR, write folds as layout maps of types, for --normalize-memrefs."
        ),
    ] = False,
    array: Arrays = None,
    method: Method = "auto",
    as_published: AsPublished = False,
    linear_form: LinearForm = False,
    pieces: Annotated[
        bool,
        typer.Option(
            "--pieces", help="Arrays in two parts with a mapping each, where that needs fewer cells."
        ),
    ] = False,
    param: Params = None,
    budget: BudgetSeconds = DEFAULT_BUDGET,
    jobs: Jobs = None,
    cluster: Cluster = None,
    store: StoreDirectory = None,
    power_of_two: PowerOfTwo = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print one line, as for a commit message, instead of the table.")
    ] = False,
    as_tool: Annotated[
        Tool | None,
        typer.Option(
            "--as",
            metavar="halide|exo|devito|tvm|hls|mlir",
            help="Also say each fold in the words of this tool.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Analyse, fold, prove, write the code, and print the table.

    \f
    Its parameters are its options, so they are many.
    """
    from arrayfold.base.deadline import processors
    from arrayfold.fold.options import FoldOptions, check_together
    from arrayfold.methods import as_published as published_name

    source = input_of(context)
    asked = {"mode": mode != "contract", "local": local, "power-of-two": power_of_two}
    asked |= {"favor": favor != "size", "placement": placement, f"share {share}": True}
    check_together([name for name, value in asked.items() if value], _INCOMPATIBLE)
    is_shared = mode != "contract" or share != "none"
    if tune:
        source = _tuned_input(source)
    options = FoldOptions(
        parameter_values(param),
        tuple(array or ()),
        published_name(method) if as_published else method,
        power_of_two,
        favor,
        share if is_shared else None,
        _local(local),
        linear_form,
        pieces,
    )
    if os.path.isdir(source.file):  # noqa: PTH112
        given = {"output": output, "loops": loops, "run": run, "sanitize": sanitize, "placement": placement}
        given |= {"tune": tune, "region": source.region, "function": source.function}
        _check_for_directory(source.file, [name for name, value in given.items() if value])
        elsewhere = _Elsewhere(jobs, cluster, store)
        _fold_directory(_FoldFile(source, options, mode, budget), elsewhere, source.talk(as_json))
        return
    _check_for_file({"cluster": cluster, "store": store})
    options = replace(options, jobs=jobs or processors())
    code = FoldedOutput(
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
        check_assumptions,
        source.arguments,
        layout_maps,
    )
    check_outputs(output, placement, force=force, source=source.file)
    talk = source.talk(as_json)
    job = _Job(source, options, code, mode, started_budget(budget), talk, summary, as_tool, tune)
    job.run(placement)


def _tuned_input(source: Input) -> Input:
    """The input with --order auto, which --tune implies."""
    if source.schedule is not None or source.fuse is not None or source.tile:
        raise InputError("--tune chooses the order itself", hint="Leave out --schedule, --fuse and --tile.")
    if source.order not in (None, "auto"):
        raise InputError(
            f"--tune measures orders, and --order {source.order} asks for none",
            hint="Leave one of the two out.",
        )
    return replace(source, order="auto")


def without_tuning(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """A command that asked for the fastest order, with the options that give this order instead.

    >>> without_tuning(["fold", "a.c", "--tune", "--order", "auto", "--", "-DN=3"], ["--fuse", "rows"])
    ['arrayfold', 'fold', 'a.c', '--fuse', 'rows', '--', '-DN=3']
    """
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    kept: list[str] = []
    for argument in arguments[:end]:
        if argument == "auto" and kept[-1:] == ["--order"]:
            kept.pop()
        elif argument not in ("--tune", "--order=auto") and not (
            argument == "--parallel" and argument in options
        ):
            kept.append(argument)
    return ["arrayfold", *kept, *options, *arguments[end:]]


# Beside what `FoldOptions` says.
_INCOMPATIBLE = (
    ("placement", "local", "a placement is one of whole arrays"),
    ("placement", "share cells", "a placement is one of whole arrays"),
    ("placement", "share auto", "a placement is one of whole arrays"),
    ("mode", "local", "arrays of single statements have no parts"),
    ("mode", "power-of-two", "arrays of single statements are made as small as can be"),
    ("mode", "favor", "arrays of single statements are made as small as can be"),
)


def _local(text: str) -> int | str | None:
    """What --local says: a number of loops, or the name of a loop's variable."""
    if text and not (text.isdecimal() or text.isidentifier()):
        raise InputError(f"--local {text}: expected a number of loops, or the name of a loop's variable")
    return int(text) if text.isdecimal() else text or None


@dataclass(frozen=True)
class _Job:
    """Fold the problems of a file, deliver the code, and say what came of it."""

    source: Input
    options: FoldOptions
    code: FoldedOutput
    mode: Mode
    budget: Budget
    talk: Console
    is_summary: bool
    tool: Tool | None = None
    is_tuned: bool = False

    def run(self, placement: str | None) -> None:
        """Do it; the exit status says whether all was proved and equal."""
        results = self.results()
        params, output = self.options.params, self.code.output
        if placement is not None:
            write_placement(placement, results, params, force=self.code.force, source=self.source.file)
        reports: list[RunReport | NotRun] = []
        validation: Validation | None = None
        missing: BudgetExceeded | None = None
        try:
            reports, validation = self.code.deliver(results, params, self.budget)
        except BudgetExceeded as error:
            missing = error
        if not is_printed(output) and not is_printed(placement):
            self._print(results, reports, validation)
        elif validation is not None:
            self.talk.note(str(validation))
        if missing is not None:
            raise missing
        if not all(report.is_equal for report in reports):
            raise typer.Exit(1)

    def results(self, *, is_one_of_many: bool = False) -> list[FoldResult]:
        """The fold of each problem; all arrays as they are where there is no time for another order.

        is_one_of_many  the options are for other files, too, so that names need not occur in this one
        """
        from arrayfold.fold.arrays import check_names, fold_all, fold_as
        from arrayfold.fold.deadline import kept_result

        # What is left is for the code.
        search = self.budget.first_part(_SHARE_FOR_MAPPINGS) if self.code.is_wanted else self.budget
        named = self.options.arrays
        try:
            reallocated = named if self.mode == "reallocate" else None
            problems = self.source.read_all(
                self.budget, self.options.params, reallocated=reallocated, chooses_order=not self.is_tuned
            )
            self.code.check(problems)
            if is_one_of_many and named:
                named = tuple(name for name in named if any(_has(problem, name) for problem in problems))
                if not named:
                    return []
            chosen = named if self.mode == "contract" else _own_arrays(problems, named)
            options = replace(self.options, arrays=tuple(chosen))
            if not is_one_of_many:
                check_names(problems, options)
            if self.is_tuned:
                return self._tuned(problems, options, search)
            return fold_all(problems, options, lambda one, here: fold_as(one, here, search, self.talk.step))
        except BudgetExceeded as error:
            reason = str(error)
        problems = self.source.as_written().read_all()
        self.code.check(problems)
        return fold_all(problems, self.options, lambda one, here: kept_result(one, here, reason))

    def _tuned(self, problems: Sequence[Problem], options: FoldOptions, search: Budget) -> list[FoldResult]:
        """The fold of each problem in the order that was measured to be fastest."""
        from arrayfold.fold.arrays import fold_all, fold_as
        from arrayfold.fold.tune import Tuning, fold_tuned, measurable

        tuning = Tuning(
            self.source.parallel,
            self.code.region,
            self.talk.note,
            self.talk.count,
            partial(measuring, self.budget, search),
        )
        # What is wrong with one of several regions is said before another one is measured.
        for problem in problems:
            measurable(problem, options.of_problem(problem).params)
        return fold_all(
            problems,
            options,
            lambda one, here: fold_tuned(one, here, fold_as, search, tuning, self.talk.step),
        )

    def _print(
        self,
        results: Sequence[FoldResult],
        reports: Sequence[RunReport | NotRun],
        validation: Validation | None,
    ) -> None:
        from arrayfold.report.data import fold_data
        from arrayfold.report.summary import summary_line
        from arrayfold.report.tables import fold_report

        self.talk.result(
            lambda: fold_data(results, reports, validation, file=self.source.file, tool=self.tool),
            lambda: (
                summary_line(results, self.source.file)
                if self.is_summary
                else fold_report(results, reports, validation, self.tool, self._hint(results), self._again)
            ),
        )

    def _again(self, options: Sequence[str]) -> str:
        """What to type for an order that was chosen: options, or after measuring the whole command."""
        import shlex

        if not self.is_tuned:
            return shlex.join(options)
        return shlex.join(without_tuning(sys.argv[1:], options))

    def _hint(self, results: Sequence[FoldResult]) -> str:
        """What to type where arrays stay large in the order of the text, and another one would help."""
        from arrayfold.base.deadline import answer_in_time
        from arrayfold.ordering.hint import OrderHint, order_hint

        if self.source.order is not None or self.options.share is not None or self.options.local is not None:
            return ""
        if self.code.keeps_order:
            return ""
        large = [one.problem for one in results if any(map(_stays_large, one.arrays))]

        def look(_: Callable[[str], None]) -> OrderHint | None:
            hints = (order_hint(one, self.options.params, self.budget) for one in large)
            return next((hint for hint in hints if hint is not None), None)

        try:
            hint = answer_in_time(look, self.budget, "another order") if large else None
        except BudgetExceeded:
            hint = None
        return "" if hint is None else hint.line(sys.argv[1:])


def _stays_large(array: FoldedArray) -> bool:
    """Whether an array keeps at least half of its cells where sizes are large."""
    from arrayfold.exact.parameter_values import large_parameters

    context = array.conflicts.context
    if context.is_empty():
        return False
    at = large_parameters(context)
    return 2 * array.size.at(at) > array.original_size_at(at)


def _has(problem: Problem, name: str) -> bool:
    """Whether a problem has an array, or arrays with its values."""
    return name in _origins(problem).values() or name in [one.name for one in problem.arrays]


def _origins(problem: Problem) -> Mapping[str, str]:
    """Arrays that statements have for values -> the arrays that had these before."""
    from arrayfold.program.model import Program

    return problem.relocation.origins if isinstance(problem, Program) else {}


def _own_arrays(problems: Sequence[Problem], named: Sequence[str]) -> list[str]:
    """The arrays that statements have for the values of arrays that the user named."""
    found: list[str] = []
    for name in named:
        own = [new for problem in problems for new, old in _origins(problem).items() if old == name]
        if not own:
            problem = next((one for one in problems if name in [array.name for array in one.arrays]), None)
            if problem is None:
                problems[0].array(name)
            raise InputError(f"no value of {name} is written that is not needed there after the program")
        found += own
    return found


def _check_for_directory(directory: str, given: Sequence[str]) -> None:
    """Raise for options that speak of one file."""
    if given:
        raise InputError(
            f"{directory} is a directory, whose kernels are folded and listed",
            hint=f"--{given[0]} needs one file.",
        )


def _check_for_file(given: Mapping[str, object]) -> None:
    """Raise for options that speak of a directory."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name} is for the kernels of a directory", hint="For one file say --jobs.")


@dataclass(frozen=True)
class _FoldFile:
    """The folds of one file of a directory."""

    source: Input
    options: FoldOptions
    mode: Mode
    seconds: float

    def __call__(self, file: str) -> list[FoldResult]:
        from arrayfold.base.budget import Budget

        source = replace(self.source, file=file)
        console, budget = Console(is_quiet=True), Budget(self.seconds)
        job = _Job(source, self.options, FoldedOutput(file), self.mode, budget, console, is_summary=False)
        return job.results(is_one_of_many=True)

    @property
    def how(self) -> str:
        """What the results depend on besides the files."""
        return repr((replace(self.source, file=""), self.options, self.mode, self.seconds))


@dataclass(frozen=True)
class _Elsewhere:
    """Who does the work on many files, and where the results are kept."""

    jobs: int | None
    cluster: str | None
    store: str | None


def _fold_directory(fold_file: _FoldFile, elsewhere: _Elsewhere, talk: Console) -> None:
    from pathlib import Path

    from arrayfold.base.cache import cache_folder
    from arrayfold.explore.directory import find_kernels, fold_directory
    from arrayfold.report.directory import directory_data, directory_report

    files = find_kernels(fold_file.source.file)
    store = cache_folder("fold") if elsewhere.store is None else Path(elsewhere.store)
    folded = fold_directory(
        files,
        fold_file,
        how=fold_file.how,
        arguments=fold_file.source.arguments,
        store=store,
        cluster=elsewhere.cluster,
        jobs=elsewhere.jobs,
        done=lambda done: talk.count(done, len(files)),
    )
    talk.result(lambda: directory_data(folded), lambda: directory_report(folded))
    if any(item.reason for item in folded):
        raise typer.Exit(1)
