"""Bands: a part of an array for each iteration of a parallel loop, values through halos, code that runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import maps_of, points
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.bands import plan_bands, with_bands
from arrayfold.passes.partition import taken_names
from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from inner_loops import dividing_loops
from support.interleavings import loops
from support.reference import Access, Cell, Trace, is_valid, modular_address, partial_conflicts
from support.runs import run_both
from support.traces import trace_of

ROOT = Path(__file__).parent.parent
LINE = "examples/jacobi-bands.c"
PLANE = "benchmarks/kernels/jacobi-2d-bands.c"

ONE_LOOP = """
void f(int N, const double in[restrict N], double out[restrict N])
{
    double a[N];
#pragma scop
    for (int b = 0; b < N; b++)
        a[b] = in[b];
    for (int i = 0; i < N; i++)
        out[i] = a[N - 1 - i];
#pragma endscop
}
"""


@cache
def program(name: str) -> Program:
    text = (ROOT / name).read_text().replace("TILE 8", "TILE 4")
    (found,) = read_c(name, text.encode())
    return found


@cache
def folded(name: str) -> FoldResult:
    return fold(program(name), local="b")


def test_a_band_folds_like_a_sequential_program() -> None:
    mappings = {array.name: str(array.mapping) for array in folded(LINE)}
    assert mappings == {
        "A_band": "A_band[b, t, i] -> [b mod floor((N + 3)/4), (t - i) mod 6]",
        "A_halo": "A_halo[b, t, i] -> [b mod (floor((N + 2)/4) - 1), t mod 2]",
        "A_halo1": "A_halo1[b, t, i] -> [(b - 1) mod (floor((N + 3)/4) - 1), t mod 2]",
    }


@pytest.mark.parametrize("size", [3, 4, 9, 10])
def test_outputs_have_the_same_history_by_enumeration(size: int) -> None:
    before = program(LINE)
    after = with_bands(before, [plan_bands(before, "b", "A", taken_names(before))])
    histories = [outputs(trace_of(each, {"N": size, "T": 3})) for each in (before, after)]
    assert len(histories[0]) == size
    assert histories[0] == histories[1]


def outputs(trace: Trace) -> dict[Access, object]:
    """Each output as the history that made it; a copy hands on what it reads."""
    memory: dict[Access, object] = {}
    for one in trace.instances:
        values = tuple(memory.get(cell, cell) for cell in one.reads)
        is_copy = one.name.startswith(("A_load", "A_store"))
        for cell in one.writes:
            memory[cell] = values[0] if is_copy else (one.name, one.iteration, values)
    return {cell: value for cell, value in memory.items() if cell[0] == "out"}


@pytest.mark.parametrize("size", [5, 9, 12])
def test_no_thread_overwrites_what_another_reads_by_enumeration(size: int) -> None:
    result = folded(LINE)
    params = {"N": size, "T": 3}
    problem = result.problem
    assert isinstance(problem, Program)
    trace = trace_of(problem, params)
    times = times_of(problem, params)
    meanings = [problem.parallel.get(d, "sequential") for d in range(len(next(iter(times.values()))))]
    order = loops([times[one.name, one.iteration] for one in trace.instances], meanings)
    for array in result:
        assert is_valid(partial_conflicts(trace, array.name, order), address_of(array.mapping, params))
    if size > 8:
        tighter = address_of(result["A_band"].mapping, params, less=1)
        assert not is_valid(partial_conflicts(trace, "A_band", order), tighter)


def address_of(mapping: object, params: dict[str, int], less: int = 0) -> Callable[[Cell], Cell]:
    """The addresses of a mapping, whose last modulus is so much less."""
    assert isinstance(mapping, ModularMapping)
    here = mapping.at(params)
    matrix = [[int(entry.as_number()) for entry in row] for row in here.matrix]
    offset, moduli = ([int(entry.as_number()) for entry in row] for row in (here.offset, here.moduli))
    return modular_address(matrix, offset, [*moduli[:-1], moduli[-1] - less])


def times_of(problem: Program, params: dict[str, int]) -> dict[tuple[str, tuple[int, ...]], tuple[int, ...]]:
    values = " and ".join(f"{name} = {value}" for name, value in params.items())
    here = isl.Set(f"[{', '.join(params)}] -> {{ : {values} }}")
    assert problem.schedule is not None
    found: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
    for part in maps_of(problem.schedule.intersect_params(here)):
        rank = part.dim(isl.dim_type.in_)
        for point in points(part.wrap().flatten()):
            found[str(part.get_tuple_name(isl.dim_type.in_)), point[:rank]] = point[rank:]
    return found


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
@pytest.mark.parametrize("style", ["fast", "readable"])
@pytest.mark.parametrize(
    "name",
    # The tests of a program run in one process, which folds it once.
    [pytest.param(name, marks=pytest.mark.xdist_group(f"bands: {name}")) for name in (LINE, PLANE)],
)
def test_code_runs(name: str, style: str) -> None:
    result = folded(name)
    code = result.to_c(style="fast" if style == "fast" else "readable")
    # At small sizes the loops as written run, which take less memory there.
    assert code.partition("} else { /* folded it would take")[0].count("#pragma omp parallel for") == 3
    assert style == "readable" or not dividing_loops(code)
    for size in (1, 4, 5, 13):
        report = run_both(result, code.encode(), params={"N": size, "T": 5}, sanitize=True)
        assert report.is_equal, code


def test_refusals() -> None:
    (found,) = read_c("f.c", ONE_LOOP.encode())
    with pytest.raises(InputError, match="S_1 accesses a and is in no loop called b"):
        fold(found, local="b")
    with pytest.raises(InputError, match="is in no loop called q"):
        fold(found, local="q", arrays=["a"])


def test_threads_inside_of_a_band_are_not_taken_for_one_after_the_other() -> None:
    text = (ROOT / LINE).read_text().replace("TILE 8", "TILE 4")
    alone = text.replace("#pragma omp parallel for\n", "")
    inside = alone.replace(
        "            for (int i = MAX", "#pragma omp parallel for\n            for (int i = MAX"
    )
    assert inside != alone
    sizes: list[str] = []
    for each in (alone, inside):
        (found,) = read_c("f.c", each.encode())
        sizes.append(str(fold(found, local="b")["A_band"].size))
    assert sizes == ["6*floor((N + 3)/4)", "10*floor((N + 3)/4)"]
