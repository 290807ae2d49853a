"""One memory for several arrays: sizes, validity by enumeration, C that computes the same."""

from __future__ import annotations

import csv
import itertools
import random
from pathlib import Path

import pytest

from arrayfold import FoldResult, InputError, Program, fold_shared, read, reallocate, reorder
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Share, Style
from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.formula import Formula
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.merge import Merge
from arrayfold.run.compiler import find_compiler
from arrayfold.sharing.exchange import find_intervals, placement_problem
from arrayfold.sharing.interference import Interference, find_interference
from arrayfold.sharing.placement import buffers_for, heaviest_clique, offsets_for
from support.command import run
from support.reference import is_valid, modular_address
from support.runs import run_both
from support.traces import trace_of

EXAMPLES = Path("examples")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")

IN_PLACE = """
void step(int T, int N, double dt, const double in[restrict N], double out[restrict N])
{
    double u[N], f[N], v[N];
#pragma scop
    for (int i = 0; i < N; i++)
        u[i] = in[i];
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < N; i++)
            f[i] = u[i] * (1 - u[i]);
        for (int i = 0; i < N; i++)
            v[i] = u[i] + dt * f[i];
        for (int i = 0; i < N; i++)
            u[i] = v[i];
    }
    for (int i = 0; i < N; i++)
        out[i] = u[i];
#pragma endscop
}
"""
TURNED = """
void f(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double a[N][N], b[N][N];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = in[i][j] * 2;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[N-1-j][i] = a[i][j] + 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = b[i][j];
#pragma endscop
}
"""
TYPES = """
void f(int N, const float in[restrict N], float out[restrict N])
{
    float a[N];
    int b[N];
    float c[N];
    int d[N];
#pragma scop
    for (int i = 0; i < N; i++)
        a[i] = in[i];
    for (int i = 0; i < N; i++)
        b[i] = a[i] > 0;
    for (int i = 0; i < N; i++)
        d[i] = b[i] + 1;
    for (int i = 0; i < N; i++)
        c[i] = d[i];
    for (int i = 0; i < N; i++)
        out[i] = c[i];
#pragma endscop
}
"""


def example(name: str) -> Program:
    problem = read(EXAMPLES / name)
    assert isinstance(problem, Program)
    return problem


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def chain(stages: int) -> str:
    """Stages of a stencil, each into an array of its own."""
    names = ["in", *(f"s{k}" for k in range(1, stages)), "out"]
    loops = "".join(
        f"""    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            {new}[i][j] = {old}[i][j] + (i > 0 ? {old}[i - 1][j] : 0) + (i < N - 1 ? {old}[i + 1][j] : 0);
"""
        for old, new in itertools.pairwise(names)
    )
    return f"""void chain(int N, const float in[restrict N][N], float out[restrict N][N])
{{
    float {", ".join(f"{name}[N][N]" for name in names[1:-1])};
#pragma scop
{loops}#pragma endscop
}}
"""


def total(result: FoldResult) -> str:
    assert result.footprint is not None
    return str(result.footprint.after)


def check_by_enumeration(result: FoldResult, params: dict[str, int]) -> None:
    """No two cells of the common array that are in memory together have one address."""
    assert isinstance(result.problem, Program)
    trace = trace_of(result.problem, params)
    for array in result:
        assert isinstance(array.mapping, ModularMapping)
        mapping = array.mapping.at(params)
        numbers = [[int(entry.as_number()) for entry in row] for row in mapping.matrix]
        offsets = [int(entry.as_number()) for entry in mapping.offset]
        moduli = [int(entry.as_number()) for entry in mapping.moduli]
        assert is_valid(trace.conflicts(array.name), modular_address(numbers, offsets, moduli))
        bound = array.lower_bound.at(params)
        assert bound is None or bound == trace.most_live(array.name)


# ---------------------------------------------------------------- cells

CELLS = {
    "heat-1d.c": ("N + 1", {"T": 3, "N": 5}),
    "heat-2d.c": ("N^2 + N", {"T": 2, "N": 3}),
    "heat-3d.c": ("N^3 + N^2", {"T": 2, "N": 2}),
}


@needs_compiler
@pytest.mark.parametrize("name", CELLS)
def test_two_arrays_in_turn_need_one_and_a_row(name: str) -> None:
    size, params = CELLS[name]
    result = fold_shared(reallocate(example(name)), "cells")
    assert total(result) == size
    check_by_enumeration(result, params)
    styles: tuple[Style, ...] = ("fast", "readable")
    for style in styles:
        code = result.to_c(style=style)
        assert "double A" not in code
        assert run_both(result, code.encode(), params=dict.fromkeys(params, 7)).is_equal


@needs_compiler
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_five_stages_of_a_smoother(style: Style) -> None:
    result = fold_shared(example("smoother.c"), "cells")
    assert total(result) == "N^2 + N"
    check_by_enumeration(result, {"N": 4})
    report = run_both(
        result, result.to_c(style=style).encode(), params={"N": 9}, sanitize=style == "readable"
    )
    assert report.is_equal


@needs_compiler
def test_thirty_stages() -> None:
    program = program_of(chain(30))
    cells = fold_shared(program, "cells")
    assert total(cells) == "N^2 + N"
    assert cells.footprint is not None
    assert cells.footprint.bound is not None
    assert str(cells.footprint.bound.formula) == "N^2 + N"
    assert run_both(cells, cells.to_c(style="readable").encode(), params={"N": 6}).is_equal


@needs_compiler
def test_an_update_through_other_arrays_is_done_in_place() -> None:
    result = fold_shared(reallocate(program_of(IN_PLACE)), "cells")
    # The old value and the change of it; the new value takes the place of one of them.
    assert total(result) == "2*N"
    check_by_enumeration(result, {"T": 3, "N": 4})
    assert run_both(result, result.to_c().encode(), params={"T": 4, "N": 9}).is_equal


@needs_compiler
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_values_of_a_result_share_with_temporaries(style: Style) -> None:
    program = reorder(reallocate(example("two-mm.c"), everything=True), fuse="cells")
    result = fold_shared(program, "cells")
    assert total(result) == "max(J, L) + 1"
    code = result.to_c(style=style)
    assert "D[" in code
    params = {"I": 5, "J": 7, "K": 4, "L": 6}
    assert run_both(result, code.encode(), params=params).is_equal


@needs_compiler
@pytest.mark.parametrize("name", ["blur.c", "blur-interleaved.c", "unsharp.c"])
def test_pipelines(name: str) -> None:
    result = fold_shared(example(name), "auto")
    assert isinstance(result.problem, Program)
    check_by_enumeration(result, dict.fromkeys(result.problem.parameters, 7))
    params = dict.fromkeys(result.problem.parameters, 11)
    assert run_both(result, result.to_c().encode(), params=params).is_equal


def test_members_say_where_arrays_are() -> None:
    result = fold_shared(example("smoother.c"), "cells")
    (memory,) = result
    params = {"N": 5}
    embedding = Merge(("a", "b", "c", "d")).embedding(example("smoother.c"))
    assert [one.array for one in memory.members] == list(embedding.places)
    seen = {one.array: one.address((2, 3), params) for one in memory.members}
    assert len(set(seen.values())) == 4


def test_cells_that_follow_values_have_linear_parts_of_their_own() -> None:
    result = fold_shared(program_of(TURNED), "cells")
    (memory,) = result
    params = {"N": 4}
    assert str(memory.size) == "N^2"
    at = {one.array: one for one in memory.members}
    for i, j in itertools.product(range(4), repeat=2):
        assert at["b"].address((3 - j, i), params) == at["a"].address((i, j), params)
    check_by_enumeration(result, params)
    assert run_both(result, result.to_c().encode(), params={"N": 9}).is_equal


NEVER_RUNS = """
void f(int N, const int in[restrict N], int out[restrict N])
{
    int a[N + 1], b[N + 1];
#pragma scop
    for (int i = 0; i < 0; i++) a[i] = i;
    for (int i = 0; i < N; i++) { b[i] = in[i]; a[i] = b[i]; }
    for (int i = 0; i < N; i++) out[i] = a[i];
#pragma endscop
}
"""


def test_statements_that_never_run_have_no_values_to_follow() -> None:
    result = fold_shared(program_of(NEVER_RUNS), "cells", budget=Budget(20))
    check_by_enumeration(result, {"N": 4})


def test_arrays_of_other_types_have_memory_of_their_own() -> None:
    result = fold_shared(program_of(TYPES), "cells")
    members = {tuple(one.array for one in array.members) for array in result}
    assert members == {("a", "c"), ("b", "d")}
    assert run_both(result, result.to_c().encode(), params={"N": 9}).is_equal


# ---------------------------------------------------------------- whole arrays


def test_interference_is_what_enumeration_says() -> None:
    for name in ("smoother.c", "harris.c", "unsharp.c"):
        program = example(name)
        arrays = analyse(program).temporaries
        trace = trace_of(program, dict.fromkeys(program.parameters, 7))
        first = {
            a: min(t for t, i in enumerate(trace.instances) if a in {n for n, _ in i.writes}) for a in arrays
        }
        last = {
            a: max(t for t, i in enumerate(trace.instances) if a in {n for n, _ in i.reads}) for a in arrays
        }
        expected = {
            (k, j)
            for k, j in itertools.combinations(range(len(arrays)), 2)
            if first[arrays[k]] < last[arrays[j]] and first[arrays[j]] < last[arrays[k]]
        }
        assert find_interference(program, arrays).pairs == expected


@needs_compiler
@pytest.mark.parametrize("share", ["arrays", "offsets"])
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_arrays_one_after_the_other(share: str, style: Style) -> None:
    result = fold_shared(example("smoother.c"), share)  # type: ignore[arg-type]
    assert total(result) == "2*N^2"
    assert result.footprint is not None
    assert {name for block in result.footprint.blocks for name in block.offsets} == {"a", "b", "c", "d"}
    assert run_both(result, result.to_c(style=style).encode(), params={"N": 9}, sanitize=True).is_equal


def test_offsets_as_formulas_hold_at_all_sizes() -> None:
    result = fold_shared(example("unsharp.c"), "offsets", params={"H": 40, "W": 30})
    assert result.footprint is not None
    (block,) = result.footprint.blocks
    arrays = analyse(example("unsharp.c")).temporaries
    interference = find_interference(example("unsharp.c"), arrays)
    for params in ({"H": 6, "W": 6}, {"H": 5, "W": 50}, {"H": 50, "W": 5}, {"H": 40, "W": 30}):
        ends = {
            name: offset.at(params) + result[name].size.at(params) for name, offset in block.offsets.items()
        }
        assert max(ends.values()) <= block.size.at(params)
        for k, j in interference.pairs:
            first, second = arrays[k], arrays[j]
            starts = {name: block.offsets[name].at(params) for name in (first, second)}
            assert ends[first] <= starts[second] or ends[second] <= starts[first]


def graphs(seed: int) -> list[tuple[Interference, list[int]]]:
    random_numbers = random.Random(seed)
    found: list[tuple[Interference, list[int]]] = []
    for _ in range(20):
        count = random_numbers.randint(1, 6)
        pairs = [pair for pair in itertools.combinations(range(count), 2) if random_numbers.random() < 0.5]
        sizes = [random_numbers.randint(1, 9) for _ in range(count)]
        found.append((Interference(tuple(map(str, range(count))), frozenset(pairs)), sizes))
    return found


def lowest_of_all(interference: Interference, sizes: list[int]) -> int:
    """The least end over all ways to lay arrays above each other."""
    best = sum(sizes)
    for order in itertools.permutations(range(len(sizes))):
        offsets: dict[int, int] = {}
        for k in order:
            below = [offsets[j] + sizes[j] for j in offsets if interference.are_apart(j, k)]
            offsets[k] = max(below, default=0)
        best = min(best, max(offsets[k] + sizes[k] for k in offsets))
    return best


def least_buffers(interference: Interference, sizes: list[int]) -> int:
    best = sum(sizes)
    for colours in itertools.product(range(len(sizes)), repeat=len(sizes)):
        if any(colours[k] == colours[j] for k, j in interference.pairs):
            continue
        best = min(
            best, sum(max(s for s, c in zip(sizes, colours, strict=True) if c == one) for one in set(colours))
        )
    return best


@pytest.mark.parametrize("seed", range(3))
def test_places_are_the_best_of_all(seed: int) -> None:
    for interference, sizes in graphs(seed):
        for placement in (buffers_for(interference, sizes), offsets_for(interference, sizes)):
            assert placement.is_least
            for k, j in interference.pairs:
                ends = [placement.offsets[one] + sizes[one] for one in (k, j)]
                assert ends[0] <= placement.offsets[j] or ends[1] <= placement.offsets[k]
        assert offsets_for(interference, sizes).total == lowest_of_all(interference, sizes)
        assert heaviest_clique(interference, sizes) <= offsets_for(interference, sizes).total
        if len(sizes) <= 5:
            assert buffers_for(interference, sizes).total == least_buffers(interference, sizes)


def test_a_file_for_other_solvers() -> None:
    program = example("smoother.c")
    names = analyse(program).temporaries
    text = placement_problem(program, dict.fromkeys(names, 81), {"N": 9})
    lines = list(csv.DictReader(text.splitlines()))
    assert [line["id"] for line in lines] == ["a", "b", "c", "d"]
    assert {line["size"] for line in lines} == {"81"}
    interference = find_interference(program, names)
    for k, j in itertools.combinations(range(4), 2):
        overlap = int(lines[k]["lower"]) < int(lines[j]["upper"]) and int(lines[j]["lower"]) < int(
            lines[k]["upper"]
        )
        assert overlap == interference.are_apart(k, j)
    with pytest.raises(InputError, match="N needs a value"):
        find_intervals(program, names, {})


REVERSED = """
void f(int N, const double in[restrict N], double out[restrict N])
{
    double c[N], d[N], e[N];
#pragma scop
    for (int i = 1; i < N; i++) c[i] = in[i];
    for (int i = 1; i < N; i++) d[i] = c[N - i];
    for (int i = 1; i < N; i++) e[i] = d[N - i] * d[i];
    for (int i = 1; i < N; i++) out[i] = e[N - i];
#pragma endscop
}
"""
SOMETIMES = """
void f(int N, int M, const double in[restrict N + M], double out[restrict N + M])
{
    double a[N], b[N + 1], c[N + M];
#pragma scop
    for (int i = 0; i < N; i++) a[i] = in[i];
    for (int i = 0; i < N; i++) out[i] = a[N - 1 - i];
    if (M >= 5) {
        for (int i = 0; i <= N; i++) b[i] = in[i];
        for (int i = 0; i <= N; i++) out[i] += b[N - i];
    }
    for (int i = 0; i < N + M - 4; i++) c[i] = in[i];
    for (int i = 0; i < N + M - 4; i++) out[i] += c[N + M - 5 - i];
#pragma endscop
}
"""
CONDITION = """
void f(int N, const int in[restrict N], int out[restrict N])
{
    int a[N], c[N];
#pragma scop
    for (int i = 0; i < N; i++) { a[i] = in[i]; c[i] = in[i] * 2; }
    for (int i = 0; i < N; i++) { if (c[i] > 5) out[i] = a[i]; }
#pragma endscop
}
"""


def test_buffers_at_sizes_without_cells() -> None:
    # At N = 1 no array has a cell, but c and d are in use together at others.
    result = fold_shared(program_of(REVERSED), "arrays", params={"N": 1})
    assert result.footprint is not None
    for block in result.footprint.blocks:
        assert not {"c", "d"} <= block.offsets.keys()
        assert not {"d", "e"} <= block.offsets.keys()


@needs_compiler
@pytest.mark.parametrize("share", ["arrays", "offsets"])
def test_a_block_is_large_enough_where_only_some_arrays_have_cells(share: str) -> None:
    result = fold_shared(program_of(SOMETIMES), share)  # type: ignore[arg-type]
    assert result.footprint is not None
    for params in ({"N": 20, "M": 1}, {"N": 20, "M": 5}, {"N": 3, "M": 9}):
        for block in result.footprint.blocks:
            assert block.size.at(params) >= params["N"]
        assert run_both(result, result.to_c().encode(), params=params, sanitize=True).is_equal


@needs_compiler
def test_an_array_in_a_condition_keeps_its_memory() -> None:
    result = fold_shared(program_of(CONDITION), "cells")
    assert run_both(result, result.to_c().encode(), params={"N": 9}).is_equal


def test_tables_do_not_share() -> None:
    result = fold_shared(example("smoother.c"), "cells", method="static", params={"N": 3})
    assert not any(array.members for array in result)


def test_intervals_of_writes_that_nobody_reads() -> None:
    text = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i] : 0 <= i < N; T[i] : 0 <= i < N - 5 }"
write = "{ S[i] -> a[i]; S[i] -> b[i]; T[i] -> c[i] }"
schedule = "{ S[i] -> [0, i]; T[i] -> [1, i] }"
temporary = ["a", "b", "c"]
"""
    program = read_problem("f.toml", text)
    assert isinstance(program, Program)
    found = find_intervals(program, ["a", "b", "c"], {"N": 3})
    assert found.keys() == {"a", "b"}
    assert found["a"][0] < found["b"][1]
    assert found["b"][0] < found["a"][1]


# ---------------------------------------------------------------- what is said


def test_the_total_is_compared_with_what_is_live() -> None:
    result = fold_shared(example("smoother.c"), "none", params={"N": 10})
    assert result.footprint is not None
    assert (str(result.footprint.before), str(result.footprint.after)) == ("4*N^2", "4*N^2")
    assert result.footprint.bound is not None
    assert result.footprint.bound.at({"N": 10}) == 110
    assert not result.footprint.is_least


def test_conflicts_alone_cannot_share() -> None:
    with pytest.raises(InputError, match="needs a program"):
        fold_shared(read(EXAMPLES / "blur-differences.toml"))


def test_single_cells_stay_variables() -> None:
    result = fold_shared(example("harris.c"), "offsets")
    assert result.footprint is not None
    placed = {name for block in result.footprint.blocks for name in block.offsets}
    assert all(result[name].size != Formula.constant(1) for name in placed)


def test_sizes_are_constant_and_the_bound_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nothing fixes n, so the bound has no value although the sizes do."""
    file = tmp_path / "last-column.c"
    file.write_text("""
void last_column(int n, const double in[restrict 8][8], double column[restrict 8], double out[restrict 8])
{
#pragma scop
    for (int i = 0; i < n; i++)
        column[i] = in[i][n - 1];
    for (int i = 0; i < n; i++)
        out[i] = 2 * column[i];
#pragma endscop
}
""")
    for options in (["--share", "auto"], ["--share", "arrays", "--json"], ["--mode", "reallocate"]):
        assert run(monkeypatch, "fold", str(file), "--temporary", "column", *options) == 0
        assert "column" in capsys.readouterr().out


TURNS = """
void turns(int n, const int in[restrict n + 2], int out[restrict n + 2])
{
    int t[3][n + 2];
#pragma scop
    for (int i = 0; i < n + 2; i++) t[0][i] = in[i];
    for (int s = 0; s < n; s++)
        for (int i = 1; i <= n; i++)
            t[(s + 1) % 3][i] = t[s % 3][i] + 1;
    for (int i = 1; i <= n; i++) out[i] = t[n % 3][i];
#pragma endscop
}
"""


@pytest.mark.parametrize("share", ["cells", "auto"])
def test_subscripts_with_a_modulo_are_no_common_coordinates(share: Share) -> None:
    (program,) = read_c("turns.c", TURNS.encode())
    result = fold_shared(reallocate(program), share, budget=Budget(20))
    assert result.footprint is not None
    assert result.footprint.after.evaluate({"n": 1000}) <= 2 * 1002
    for array in result:
        for member in array.members:
            assert all(entry.is_constant for row in member.matrix for entry in row)


SECTIONS = """
void k(int n, const int in[restrict n + 1], int out[restrict n + 1])
{
    int u[n + 1], w[n + 1];
#pragma scop
#pragma omp parallel sections
    {
#pragma omp section
        for (int i = 0; i < n; i++) { u[i] = in[i]; out[i] = u[i]; }
    }
#pragma omp parallel sections
    {
#pragma omp section
        for (int i = 0; i < n; i++) { w[i] = in[i]; out[i] += w[i] * 3; }
    }
#pragma endscop
}
"""


def test_auto_keeps_loops_that_cannot_be_written_anew() -> None:
    (program,) = read_c("sections.c", SECTIONS.encode())
    result = fold_shared(program, "auto")
    assert [array.name for array in result] == ["u", "w"]
    assert "parallel sections" in result.to_c()
    assert result.footprint is not None
    assert any("OpenMP constructs of k must stay" in one for one in result.footprint.remarks)


@pytest.mark.parametrize("share", ["none", "cells"])
def test_values_in_other_places_need_loops_that_can_be_written_anew(share: Share) -> None:
    (program,) = read_c("sections.c", SECTIONS.encode())
    result = fold_shared(reallocate(program) if share == "none" else program, share)
    with pytest.raises(InputError, match="must stay as they are written") as refusal:
        result.to_c()
    assert "--share offsets does not" in str(refusal.value.hint)
    assert "--loops" not in str(refusal.value.hint)


RANGE = """
void k(int lo, int hi, const int in[restrict 64], int out[restrict 64])
{
    int t[64];
#pragma scop
    for (int i = hi; i >= lo; i--)
        t[i] = in[i];
    for (int i = hi; i >= lo; i--)
        out[i] = t[i] + t[hi];
#pragma endscop
}
"""


@pytest.mark.parametrize("share", ["none", "offsets", "auto"])
def test_what_is_never_larger_where_loops_run_is_not_called_larger(share: Share) -> None:
    """`hi - lo + 1` is above 64 at sizes at which the subscripts would not be inside."""
    (program,) = read_c("range.c", RANGE.encode())
    for one in (program, reallocate(program)):
        result = fold_shared(one, share)
        assert total(result) == "max(hi - lo + 1, 0)"
        assert result.footprint is not None
        assert not result.footprint.why_larger
        assert not result.growth
