"""Run a fold: the original and the folded program on the same data, and the memory that both take."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from arrayfold.base.errors import InputError
from arrayfold.codegen import FoldedRegion, allocated_cells
from arrayfold.exact.isl import at_sizes
from arrayfold.fold.result import FoldResult
from arrayfold.mapping.modular import TableMapping
from arrayfold.program.model import Program
from arrayfold.run.compare import Setting, compare_runs, is_main
from arrayfold.run.compiler import CannotRun
from arrayfold.run.driver import COMFORTABLE_SIZE, default_sizes
from arrayfold.run.outcome import RunReport
from arrayfold.run.sizes import sizes_to_compare
from arrayfold.run.timing import time_versions

_FEWEST = 100_000


def run_at_several_sizes(
    result: FoldResult,
    folded_code: bytes,
    *,
    params: Mapping[str, int] | None = None,
    sanitize: bool = False,
    region: FoldedRegion | None = None,
    seconds: float = Setting.seconds,
) -> RunReport:
    """Run the original file and the folded one, and compare.

    At the size asked for, at the smallest one of the context, and at some in between; a mapping that holds
    at one size only is compared there.

    folded_code  the file as it was written
    region       what was written, where arrays may have a few cells more than the result says
    seconds      how long a program may run
    """
    program = _program(result)
    sizes = [default_sizes(program, params or {})]
    if not any(isinstance(array.mapping, TableMapping) for array in result.arrays):
        sizes = sizes_to_compare(program.context, params or {}, COMFORTABLE_SIZE)
    report = run_at(result, folded_code, sizes, region, Setting(sanitize, seconds=seconds))
    is_asked_for = set(program.parameters) <= set(params or {})
    if is_asked_for and report.is_equal and not sanitize and _is_worth_timing(program, sizes[0]):
        return replace(report, seconds=_timed(program, folded_code, sizes[0], seconds))
    return report


def _is_worth_timing(program: Program, sizes: Mapping[str, int]) -> bool:
    """Whether enough happens at these sizes for times to mean something."""
    assert program.source is not None
    instances = (at_sizes(statement.domain, sizes) for statement in program.statements)
    return not is_main(program.source) and sum(int(str(one.count_val())) for one in instances) >= _FEWEST


def _timed(
    program: Program, folded_code: bytes, sizes: Mapping[str, int], seconds: float
) -> tuple[float, float] | None:
    """Seconds of one call of the original and of the folded function; None where they cannot be timed."""
    assert program.source is not None
    versions = {"original": program.source.text.as_written, "folded": folded_code}
    try:
        timing = time_versions(program, versions, sizes, rounds=2, seconds=seconds, least=0.02)
    except CannotRun:
        return None
    return timing.seconds["original"], timing.seconds["folded"]


def _program(result: FoldResult) -> Program:
    program = result.problem
    if not isinstance(program, Program) or program.source is None:
        raise InputError("only C files can be compiled and run")
    return program


def run_at(
    result: FoldResult,
    folded_code: bytes,
    sizes: Sequence[Mapping[str, int]],
    region: FoldedRegion | None,
    setting: Setting,
) -> RunReport:
    """The same at these sizes."""
    program = _program(result)
    source = program.source
    assert source is not None
    compared = compare_runs(program, folded_code, sizes, setting)
    before, after = array_bytes(result, sizes[0], region)
    report = RunReport(program.name, compared[0], tuple(compared[1:]), before, after, setting.sanitize)
    return replace(report, is_as_it_is=is_main(source))


def array_bytes(result: FoldResult, sizes: Mapping[str, int], region: FoldedRegion | None) -> tuple[int, int]:
    """Bytes of the arrays before and after, those of a C file."""
    program = result.problem
    assert isinstance(program, Program)
    source = program.source
    assert source is not None
    width = {array.name: max(1, source.variables[array.name].element.bits // 8) for array in result}
    before = sum(
        max(1, source.replaced[old].element.bits // 8) * max(0, size.at(sizes))
        for old, size in program.relocation.replaced.items()
    )
    for array in result:
        if array.name not in program.relocation.origins:
            before += width[array.name] * max(0, array.original_size.at(sizes))
    written = {} if region is None else allocated_cells(region, sizes)
    kept = () if region is None else region.unfolded
    blocks = () if result.footprint is None else result.footprint.blocks
    placed = set(itertools.chain.from_iterable(block.offsets for block in blocks))
    # A block has a cell also where its arrays have none; see `Storage`.
    after = sum(width[next(iter(block.offsets))] * max(1, block.size.at(sizes)) for block in blocks)
    for array in result:
        if array.name not in placed:
            size = array.original_size if array.name in kept else array.size
            after += width[array.name] * written.get(array.name, max(0, size.at(sizes)))
    return before, after
