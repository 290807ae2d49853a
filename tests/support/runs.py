"""Runs of a fold at a single size."""

from __future__ import annotations

from collections.abc import Mapping

from arrayfold.codegen import FoldedRegion
from arrayfold.fold.result import FoldResult
from arrayfold.fold.run import run_at
from arrayfold.program.model import Program
from arrayfold.run.compare import Setting
from arrayfold.run.driver import default_sizes
from arrayfold.run.outcome import RunReport


def run_both(
    result: FoldResult,
    folded_code: bytes,
    *,
    params: Mapping[str, int] | None = None,
    sanitize: bool = False,
    region: FoldedRegion | None = None,
    seconds: float = Setting.seconds,
) -> RunReport:
    """Run the original file and the folded one at one size, and compare.

    seconds  how long a program may run
    """
    assert isinstance(result.problem, Program)
    sizes = [default_sizes(result.problem, params or {})]
    return run_at(result, folded_code, sizes, region, Setting(sanitize, seconds=seconds))
