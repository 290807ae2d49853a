"""Where folded code goes: a file, the terminal, and a run that compares it with the original."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arrayfold.base.choices import Loops, Style
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, CheckFailed, InputError
from arrayfold.base.output_file import check_output, is_printed, write_output

if TYPE_CHECKING:
    from arrayfold.base.budget import Budget
    from arrayfold.codegen import FoldedRegion
    from arrayfold.fold.result import FoldResult
    from arrayfold.program.model import Problem
    from arrayfold.run.outcome import NotRun, RunReport
    from arrayfold.validation import Validation

_SECONDS_FOR_RUNS = 1800.0
_SHARE_FOR_CODE = 0.8


def check_outputs(output: str | None, placement: str | None, *, force: bool, source: str) -> None:
    """Raise before any work is done if what comes of it could not be written."""
    for file in (output, placement):
        if file is not None:
            check_output(file, force=force, source=source)
    if output is None or placement is None:
        return
    if Path(output) == Path(placement) or (is_printed(output) and is_printed(placement)):
        raise InputError(f"-o and --placement both write {output}", hint="Name two files.")


def write_placement(
    file: str, results: Sequence[FoldResult], params: Mapping[str, int], *, force: bool, source: str
) -> None:
    """Write when arrays are in use and how large they are, for other solvers; - prints it."""
    from arrayfold.program.model import Program
    from arrayfold.sharing.exchange import placement_problem

    if len(results) != 1:
        raise InputError("--placement speaks of one region: add --region NAME")
    (result,) = results
    assert isinstance(result.problem, Program)
    missing = [name for name in result.problem.parameters if name not in params]
    if missing:
        raise InputError(f"--placement needs numbers: say --param {missing[0]}=64")
    sizes = {array.name: array.size.at(params) for array in result.arrays}
    text = placement_problem(result.problem, sizes, params)
    write_output(file, text.encode(), force=force, source=source)


@dataclass(frozen=True)
class FoldedOutput:
    """What to do with the code once the arrays are folded."""

    file: str
    output: str | None = None
    force: bool = False
    loops: Loops | None = None
    run: bool = False
    sanitize: bool = False
    style: Style = "fast"
    slack: str = "auto"
    is_checked: bool = True
    has_context: bool = True
    checks_assumptions: bool = False
    arguments: tuple[str, ...] = ()
    layout_maps: bool = False

    def check(self, problems: Sequence[Problem]) -> None:
        """Raise before any work is done if the code could not be delivered."""
        self._slack_cells()
        if self.layout_maps and not self._is_mlir:
            raise InputError(f"--layout-maps is for modules of MLIR (.mlir), not for {self.file}")
        if self.output is None and not self.run:
            return
        if (self._is_jscop or self._is_mlir) and self.run:
            hint = "arrayfold cc compiles a file by Polly, see docs/howto/llvm.md."
            if self._is_mlir:
                hint = "Run what is written by mlir-runner, see docs/howto/mlir.md."
            raise InputError("--run runs C files", hint=hint)
        if getattr(problems[0], "source", None) is None and not (self._is_jscop or self._is_mlir):
            raise InputError(
                f"{self.file} is a problem file, which has no C code to rewrite; leave out -o and --run",
                hint="The mapping is in the table, and with --json in a form that programs can read.",
            )
        if self.output is not None:
            check_output(self.output, force=self.force, source=self.file)

    def _slack_cells(self) -> int:
        from arrayfold.codegen.region import STRIP

        if self.slack.isascii() and self.slack.isdecimal() and len(self.slack) < 10:
            return int(self.slack)
        if self.slack not in ("auto", "none"):
            raise InputError(f"--slack {self.slack}: expected auto, none or a number of cells")
        return STRIP if self.slack == "auto" else 0

    @property
    def _is_jscop(self) -> bool:
        """Whether a file of Polly is folded, and is to be written as such."""
        return self.file.endswith(".jscop")

    @property
    def _is_mlir(self) -> bool:
        """Whether a module of MLIR is folded, and is to be written as such."""
        return self.file.endswith(".mlir")

    @property
    def keeps_order(self) -> bool:
        """Whether what is to be written can have no other order."""
        return self.output is not None and (self._is_jscop or self._is_mlir)

    def _write_mlir(self, results: Sequence[FoldResult], budget: Budget) -> None:
        from arrayfold.base.deadline import answer_in_time
        from arrayfold.base.input_file import read_input, text_of
        from arrayfold.fold.mlir import folded_mlir

        assert self.output is not None
        path = Path(self.file)
        text = text_of(path, read_input(path))

        def write(_: object) -> str:
            return folded_mlir(self.file, text, results, as_layout=self.layout_maps)

        folded = answer_in_time(write, budget, "the folded module", known=results)
        write_output(self.output, folded.encode(), force=self.force, source=self.file)

    def _write_jscop(self, results: Sequence[FoldResult]) -> None:
        from arrayfold.base.input_file import read_input, text_of
        from arrayfold.fold.jscop import folded_jscop

        assert self.output is not None
        path = Path(self.file)
        (result,) = results
        folded = folded_jscop(self.file, text_of(path, read_input(path)), result, self.arguments)
        write_output(self.output, folded.encode(), force=self.force, source=self.file)

    @property
    def is_wanted(self) -> bool:
        """Whether there is code to write or to run."""
        return self.output is not None or self.run

    def deliver(
        self, results: Sequence[FoldResult], params: Mapping[str, int], budget: Budget
    ) -> tuple[list[RunReport | NotRun], Validation | None]:
        """Write the code and run it, as asked for; a run that is not possible is said, and no success.

        What is written was executed beside the original before, unless that is turned off.
        """
        if not self.is_wanted:
            return [], None
        if self._is_jscop:
            self._write_jscop(results)
            return [], None
        if self._is_mlir:
            self._write_mlir(results, budget)
            return [], None
        regions, code = self._code(results, budget)
        for name in (name for region in regions for name in region.unfolded):
            _say(f"{name} keeps its declaration in the code: at some sizes its fold would take more memory")
        validation: Validation | None = None
        if self.output is not None:
            validation = self._checked(regions, code, budget.deadline) if self.is_checked else None
            write_output(self.output, code, force=self.force, source=self.file)
        return (self._runs(results, regions, code, params) if self.run else []), validation

    def _code(self, results: Sequence[FoldResult], budget: Budget) -> tuple[list[FoldedRegion], bytes]:
        """The code; with the loops as written and the mapping in subscripts where new loops cost too much."""
        from arrayfold.base.deadline import answer_in_time
        from arrayfold.codegen import write_c

        def write(_: object) -> tuple[list[FoldedRegion], bytes]:
            regions = self._with_checks(map(self.region, results))
            return regions, write_c(regions)

        try:
            return answer_in_time(write, budget.first_part(_SHARE_FOR_CODE), "new loops", known=results)
        except BudgetExceeded as error:
            reason = str(error)
        try:
            regions = self._with_checks(result.region("keep", "readable") for result in results)
            code = write_c(regions)
        except InputError:
            raise BudgetExceeded(f"no code is written: {reason}") from None
        _say(f"the loops stay as written: {reason}")
        return regions, code

    def region(self, result: FoldResult) -> FoldedRegion:
        """What to write for a fold."""
        return result.region(self.loops, self.style, self._slack_cells())

    def _with_checks(self, regions: Iterable[FoldedRegion]) -> list[FoldedRegion]:
        return [replace(region, checks_assumptions=self.checks_assumptions) for region in regions]

    def _checked(self, regions: Sequence[FoldedRegion], code: bytes, deadline: float) -> Validation:
        """What executing the original and the new code shows; an error if they differ."""
        from arrayfold.validation.subjects import validate_code

        name = "the folded text" if self.output in (None, "-") else self.output
        validation = validate_code(regions, code, name, has_context=self.has_context, deadline=deadline)
        if not validation.is_equal:
            raise CheckFailed(
                f"nothing is written, because {validation}\n  This is a defect of arrayfold: please report "
                "it, with the file and the command. --no-check writes the code without this check."
            )
        return validation

    def _runs(
        self,
        results: Sequence[FoldResult],
        regions: Sequence[FoldedRegion],
        code: bytes,
        params: Mapping[str, int],
    ) -> list[RunReport | NotRun]:
        from arrayfold.base.watchdog import announce
        from arrayfold.fold.run import run_at_several_sizes
        from arrayfold.run.compiler import CannotRun
        from arrayfold.run.outcome import NotRun

        reports: list[RunReport | NotRun] = []
        announce(_SECONDS_FOR_RUNS)
        for result, region in zip(results, regions, strict=True):
            name = result.problem.name
            here = {name: value for name, value in params.items() if name in result.problem.parameters}
            try:
                reports.append(
                    run_at_several_sizes(result, code, params=here, sanitize=self.sanitize, region=region)
                )
            except (CannotRun, InputError) as error:
                _say(f"{name} was not run, so nothing was compared: {error}")
                reports.append(NotRun(name, str(error)))
        return reports


def _say(message: ArrayfoldError | str) -> None:
    print(f"arrayfold: {message}", file=sys.stderr)  # noqa: T201
