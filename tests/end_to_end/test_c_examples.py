"""Every C example: read, folded, proved, written in both forms, compiled without warnings, run, compared."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import TypeVar

import islpy as isl
import pytest

from arrayfold import fold, read_all, reorder
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError
from arrayfold.c.source import CSource
from arrayfold.codegen import write_c
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.fold.result import FoldResult
from arrayfold.program.model import Program
from support.compiled import optimised
from support.runs import run_both

EXAMPLES = sorted(Path("examples").glob("*.c"))
# The tests of an example run in one process, which folds it once.
GROUPED = [pytest.param(path, id=path.stem, marks=pytest.mark.xdist_group(path.stem)) for path in EXAMPLES]
WARNINGS = ["gcc", "-std=c11", "-Wall", "-Wextra", "-O2", "-c", "-o", "/dev/null"]

# Sizes of the temporaries in the order as written; arrays that keep their size are in here, too.
SIZES = {
    "alignment-3d": {"A": "J*K + K + 1"},
    "attention": {"scores": "n"},
    "blur": {"blurx": "N^2"},
    "blur-interleaved": {"blurx": "2*N + 1"},
    "blur-tiled": {"blurx": "2*N + 8"},
    "filter-chain": {"smooth": "1", "ringing": "3", "combed": "9", "envelope": "1"},
    "forward-substitution": {"sum": "1"},
    "gauss-filter": {"tmp": "3"},
    "heat-1d": {"A": "N", "B": "N"},
    "heat-2d": {"A": "N^2", "B": "N^2"},
    "heat-3d": {"A": "N^3", "B": "N^3"},
    "harris": dict.fromkeys(("Ix", "Iy", "Sxx", "Sxy", "Syy"), "1")
    | dict.fromkeys(("Ixx", "Ixy", "Iyy"), "3*max(N - 2, 0)"),
    "horner": {"value": "1"},
    "jacobi-1d": {"A": "N + 1"},
    "jacobi-1d-tiled": {"A": "N + 4"},
    "jacobi-openmp": {"A": "2*N"},
    "jacobi-team": {"A": "2*N"},
    "needleman-wunsch": {"score": "M + 2"},
    "nothing-folds": {"copy": "256"},
    "pipeline-tasks": {"raw": "2*N"},
    "stages-sections": {"sq": "N", "df": "N - 1"},
    "pipeline-if": {"level": "W + 1", "dx": "1", "dy": "1"},
    "produce-consume": {"A": "2*N - 1"},
    "row-buffer": {"row": "W"},
    "smith-waterman": {"table": "m + 2", "score": "m + n + 1"},
    "smoother": dict.fromkeys("abcd", "N^2"),
    "pyramid": {"half": "W + 1"},
    "seidel-2d": {"A": "N^2"},
    "three-mm": {"E": "N^2", "F": "N^2"},
    "two-mm": {"AB": "I*J"},
    "two-regions": {"smooth": "1", "left": "N", "right": "1"},
}


@cache
def folded(path: Path) -> list[FoldResult]:
    return [fold(problem, budget=Budget(120)) for problem in read_all(path)]


def source_of(result: FoldResult) -> CSource:
    assert isinstance(result.problem, Program)
    assert result.problem.source is not None
    return result.problem.source


def code_of(results: list[FoldResult], loops: str | None = None, style: Style = "readable") -> bytes:
    return write_c([result.region(loops, style) for result in results])  # type: ignore[arg-type]


def compile_without_warnings(code: bytes, tmp_path: Path) -> None:
    file = tmp_path / "folded.c"
    file.write_bytes(code)
    done = subprocess.run([*WARNINGS, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def assert_equal_runs(results: list[FoldResult], code: bytes, **options: object) -> None:
    for result in results:
        report = run_both(result, code, **options)  # type: ignore[arg-type]
        assert report.is_equal, str(report)
        assert report.folded_bytes <= report.array_bytes


def test_there_are_many() -> None:
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in sorted(SIZES)]
)
def test_sizes(name: str) -> None:
    results = folded(Path(f"examples/{name}.c"))
    assert {array.name: str(array.size) for result in results for array in result} == SIZES[name]


@pytest.mark.parametrize("path", GROUPED)
def test_kept_loops(path: Path, tmp_path: Path) -> None:
    results = folded(path)
    code = code_of(results, "keep")
    compile_without_warnings(code, tmp_path)
    assert_equal_runs(results, code, sanitize=True)
    for result in results:
        assert isinstance(result.problem, Program)
        least = smallest_parameters(result.problem.context)
        assert run_both(result, code, params=least).is_equal


@pytest.mark.parametrize("style", ["fast", "readable"])
@pytest.mark.parametrize("path", GROUPED)
def test_generated_loops(path: Path, style: Style, tmp_path: Path) -> None:
    results = folded(path)
    if any(source_of(result).has_tasks for result in results):
        with pytest.raises(InputError, match="must stay as they are written"):
            code_of(results, "generate")
        return
    code = code_of(results, "generate", style)
    compile_without_warnings(code, tmp_path)
    assert_equal_runs(results, code, sanitize=True)
    for result in results:
        assert isinstance(result.problem, Program)
        with optimised():
            assert run_both(result, code, params=smallest_parameters(result.problem.context)).is_equal


@pytest.mark.parametrize(
    "name", ["fdtd-2d", "gauss-filter", "harris", "jacobi-openmp", "seidel-2d", "unsharp"]
)
def test_what_is_written_can_be_read_and_says_the_same(name: str, tmp_path: Path) -> None:
    """Reading the folded file again gives the same statements in the same order.

    The sizes of arrays are variables there, which the reader takes for parameters. Where the modulus is a
    parameter the folded subscripts are not affine; those files are not in the list.
    """
    results = folded(Path(f"examples/{name}.c"))
    again = tmp_path / f"{name}.c"
    again.write_bytes(code_of(results))
    for result, problem in zip(results, read_all(again), strict=True):
        assert isinstance(problem, Program)
        assert isinstance(result.problem, Program)
        context = result.problem.context
        domain = without_sizes(problem.domain()).intersect_params(context)
        assert domain.is_equal(result.problem.domain().intersect_params(context))
        assert problem.schedule is not None
        assert result.problem.schedule is not None
        schedule = without_sizes(problem.schedule).intersect_params(context)
        assert schedule.is_equal(result.problem.schedule.intersect_params(context))


_Relation = TypeVar("_Relation", isl.UnionSet, isl.UnionMap)


def without_sizes(relation: _Relation) -> _Relation:
    """At some values of the parameters that are named after the sizes of arrays."""
    space = relation.get_space()
    for position in reversed(range(space.dim(isl.dim_type.param))):
        if "_size" in (space.get_dim_name(isl.dim_type.param, position) or ""):
            relation = relation.project_out(isl.dim_type.param, position, 1)
    return relation


@pytest.mark.parametrize("name", ["blur", "three-mm", "nothing-folds"])
def test_a_program_in_which_nothing_folds_stays_byte_for_byte(name: str) -> None:
    path = Path(f"examples/{name}.c")
    results = [result for result in folded(path) if all(a.size == a.original_size for a in result)]
    assert results
    assert code_of(results) == path.read_bytes()


ORDERS = {
    "fuse": (
        {"fuse": "cells"},
        {"blur": "3", "unsharp": "5", "gauss-filter": "3", "three-mm": "N", "pyramid": "2"},
    ),
    "parallel": (
        {"parallel": True},
        {"blur": "N^2", "harris": "max(N - 2, 0)", "jacobi-1d": "max(2*N - 1, 2)"},
    ),
    "tiles": ({"fuse": "cells", "tile": (4, 4)}, {"blur": "12", "unsharp": "20", "three-mm": "4*N"}),
    "fused rows in parallel": ({"fuse": "cells", "parallel": True}, {"blur": "3*N", "three-mm": "N"}),
}


@pytest.mark.parametrize(
    ("order", "name"), [(order, name) for order, (_, sizes) in ORDERS.items() for name in sizes]
)
def test_other_orders(order: str, name: str, tmp_path: Path) -> None:
    options, sizes = ORDERS[order]
    (problem,) = read_all(f"examples/{name}.c")
    result = fold(reorder(problem, **options), budget=Budget(120))  # type: ignore[arg-type]
    assert str(result.arrays[0].size) == sizes[name]
    code = code_of([result])
    compile_without_warnings(code, tmp_path)
    assert_equal_runs([result], code, sanitize=options.get("parallel") is None)
    assert (b"#pragma omp parallel for" in code) == ("parallel" in options)
