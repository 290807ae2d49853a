"""Sizes and bounds at every size of the context, against plain enumeration, also where there are no cells."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

import arrayfold as af
from arrayfold.base.choices import SHARES, Share
from arrayfold.base.errors import MethodNotApplicable, NothingProved
from arrayfold.bounds import moments
from arrayfold.bounds.moments import LowerBound, find_lower_bound
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.parameter_values import few_parameter_points
from arrayfold.exact.parameter_words import in_words
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold, fold_shared
from arrayfold.fold.check import check
from arrayfold.fold.compare import compare
from arrayfold.fold.options import FoldOptions
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import ConflictProblem, Program
from arrayfold.report.data import compare_data, fold_data
from arrayfold.report.words import bound_notes
from support.command import run
from support.traces import trace_of

Capture = pytest.CaptureFixture[str]

LATE_START = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i, j] : 2 <= i < N and 0 <= j < N; T[i, j] : 2 <= i < N and 0 <= j < N }"
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { T[i, j] -> A[i, j] }"
schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
"""
BOTH_LATE = LATE_START.replace("0 <= j < N", "3 <= j < N")
PARITY = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i] : 0 <= i < N and N mod 2 = 0; T[i] : 0 <= i < N and N mod 2 = 0 }"
write = "[N] -> { S[i] -> A[i] }"
read = "[N] -> { T[i] -> A[i] }"
schedule = "[N] -> { S[i] -> [0, i]; T[i] -> [1, i] }"
temporary = ["A"]
"""
WINDOW = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i] : 4 <= i < N; T[i] : 5 <= i < N }"
write = "[N] -> { S[i] -> A[i] }"
read = "[N] -> { T[i] -> A[i - 1]; T[i] -> A[i] }"
schedule = "[N] -> { S[i] -> [i, 0]; T[i] -> [i, 1] }"
"""
TWO_SIZES = """
context = "[N, M] -> { : N >= 1 and M >= 1 }"
domain = "[N, M] -> { S[i, j] : 3 <= i < N and 2 <= j < M; T[i, j] : 3 <= i < N and 2 <= j < M }"
write = "[N, M] -> { S[i, j] -> A[i, j] }"
read = "[N, M] -> { T[i, j] -> A[i, j] }"
schedule = "[N, M] -> { S[i, j] -> [i, 0, j]; T[i, j] -> [i, 1, j] }"
"""
ONE_OF_TWO = """
context = "[N, M] -> { : N >= 1 and M >= 1 }"
domain = "[N, M] -> { S[i] : M <= i < N; T[i] : M <= i < N }"
write = "[N, M] -> { S[i] -> A[i] }"
read = "[N, M] -> { T[i] -> A[i] }"
schedule = "[N, M] -> { S[i] -> [0, i]; T[i] -> [1, i] }"
"""
BLOCKS = """
context = "[N] -> { : N >= 1 }"
domain = '''
    [N] -> { S[b, i] : 0 <= 4b < N - 4 and 4b <= i < N and i < 4b + 4;
    T[b, i] : 0 <= 4b < N - 4 and 4b <= i < N and i < 4b + 4 }'''
write = "[N] -> { S[b, i] -> A[i] }"
read = "[N] -> { T[b, i] -> A[i] }"
schedule = '''
    [N] -> { S[b, i] -> [b, 0, i];
    T[b, i] -> [b, 1, i] }'''
"""
HALVES = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i] : 0 <= 2i < N - 3; T[i] : 0 <= 2i < N - 3 }"
write = "[N] -> { S[i] -> A[2i] }"
read = "[N] -> { T[i] -> A[2i] }"
schedule = "[N] -> { S[i] -> [0, i]; T[i] -> [1, i] }"
"""
NO_CONTEXT = """
domain = "[N] -> { S[i, j] : 0 <= i, j < N; T[i, j] : 0 <= i, j < N }"
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { T[i, j] -> A[j, i] }"
schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
"""
WIDE_READ = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i, j] : 1 <= i < N and 0 <= j < N; T[i] : 0 <= i < N }"
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { S[i, j] -> A[r, j] : i - 1 <= r <= i + 1 }"
schedule = "[N] -> { S[i, j] -> [0, i, j, 0]; T[i] -> [1, i, 0, 1] }"
temporary = ["A"]
"""
TRIANGLE = """
context = "[N] -> { : N >= 0 }"
domain = "[N] -> { S[i, j] : 0 <= j < i - 1 and i < N; T[i, j] : 0 <= j < i - 1 and i < N }"
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { T[i, j] -> A[i, j] }"
schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
"""
SEVERAL = """
context = "[N] -> { : N >= 1 }"
domain = '''
    [N] -> { S[i] : 3 <= i < N;
    T[i] : 3 <= i < N;
    U[i] : 0 <= i < N;
    V[i] : 0 <= i < N;
    W[i] : 6 <= i < N and N mod 3 = 0;
    X[i] : 6 <= i < N and N mod 3 = 0 }'''
write = "[N] -> { S[i] -> A[i]; U[i] -> B[i]; W[i] -> C[i] }"
read = "[N] -> { T[i] -> A[i]; V[i] -> B[i]; X[i] -> C[i] }"
schedule = '''
    [N] -> { S[i] -> [0, i];
    U[i] -> [1, i];
    W[i] -> [2, i];
    T[i] -> [3, i];
    V[i] -> [4, i];
    X[i] -> [5, i] }'''
temporary = ["A", "B", "C"]
"""
DEAD = """
context = "[N] -> { : N >= 0 }"
domain = "[N] -> { S[i] : 0 <= i < N }"
write = "[N] -> { S[i] -> A[2i]; S[i] -> A[2i + 1] }"
schedule = "[N] -> { S[i] -> [i] }"
temporary = ["A"]
"""
HALF_DEAD = DEAD.replace("write", 'read = "[N] -> { S[i] -> A[2i - 2] : i >= 1 }"\nwrite')
HALF_READ = """
context = "[N] -> { : N >= 0 }"
domain = '''
    [N] -> { S[i, j] : 0 <= i < N and 0 <= j < 2N - 6;
    T[i, j] : 0 <= i < N - 2 and 0 <= j < 2N - 6 and j mod 2 = 0 }'''
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { T[i, j] -> A[i + 2, 2N - 7 - j] }"
schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
"""
INNER_READ = """
context = "[N] -> { : N >= -1 }"
domain = "[N] -> { S[i, j] : 1 <= i, j <= N - 2; T[i, j] : 2 <= i, j <= N - 3 }"
write = "[N] -> { S[i, j] -> A[i, j] }"
read = "[N] -> { T[i, j] -> A[r, j] : i - 1 <= r <= i + 1 }"
schedule = "[N] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
"""
BOUNDED = """
domain = '''
    [N, M] -> { S[i, j] : 0 <= i < N <= 4 and 0 <= j < M <= 3;
    T[i, j] : 0 <= i < N <= 4 and 0 <= j < M <= 3 }'''
write = "[N, M] -> { S[i, j] -> A[i, j] }"
read = "[N, M] -> { T[i, j] -> A[i, j] }"
schedule = "[N, M] -> { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }"
array = "{ A[i, j] : 0 <= i < 4 and 0 <= j < 3 }"
"""
EVERY_THIRD = """
domain = '''
    [L, H] -> { S[i, j] : L <= i < H and (i - L) mod 3 = 0 and 0 <= i < 9 and 0 <= j < 2;
    U[i, j] : L <= i < H and (i - L) mod 3 = 0 and 0 <= i < 9 and 0 <= j < 2;
    T[i] : L <= i < H and (i - L) mod 3 = 0 and 0 <= i < 9 }'''
write = "[L, H] -> { S[i, j] -> A[i, j] }"
read = "[L, H] -> { U[i, j] -> A[i, 0]; U[i, j] -> A[i, j]; T[i] -> A[i, 1] }"
schedule = '''
    [L, H] -> { S[i, j] -> [0, i, j, 0];
    U[i, j] -> [0, i, j, 1];
    T[i] -> [1, i, 0, 0] }'''
"""

PROBLEMS = {
    "late-start": LATE_START,
    "both-late": BOTH_LATE,
    "parity": PARITY,
    "window": WINDOW,
    "two-sizes": TWO_SIZES,
    "one-of-two": ONE_OF_TWO,
    "blocks": BLOCKS,
    "halves": HALVES,
    "no-context": NO_CONTEXT,
    "wide-read": WIDE_READ,
    "triangle": TRIANGLE,
    "several": SEVERAL,
    "dead": DEAD,
    "half-dead": HALF_DEAD,
    "half-read": HALF_READ,
    "inner-read": INNER_READ,
    "bounded": BOUNDED,
    "every-third": EVERY_THIRD,
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def problem_of(name: str) -> Program:
    problem = read_problem(f"{name}.toml", PROBLEMS[name])
    assert isinstance(problem, Program)
    return problem


def sizes_of(problem: Program) -> list[dict[str, int]]:
    """All sizes up to a few; negative ones, too, where the context allows them."""
    most = 9 if len(problem.parameters) == 1 else 5
    box = " and ".join(f"-2 <= {name} <= {most}" for name in problem.parameters)
    return few_parameter_points(
        problem.context.intersect(isl.Set(f"[{', '.join(problem.parameters)}] -> {{ : {box} }}")), 200
    )


@every_problem
def test_formulas_are_right_at_every_size(name: str) -> None:
    problem = problem_of(name)
    for array in fold(problem):
        size, was, bound = array.size, array.original_size, array.lower_bound
        for params in sizes_of(problem):
            most = trace_of(problem, params).most_live(array.name)
            assert size.at(params) >= most
            assert was.at(params) >= 0
            is_shown = bound.when is None or not bound.when.is_disjoint(af_set(params))
            if bound.formula is not None and is_shown:
                assert bound.formula.at(params) <= most
            if array.is_optimal and most:
                assert size.at(params) == most


@every_problem
def test_numbers_are_right_at_every_size(name: str) -> None:
    problem = problem_of(name)
    for params in sizes_of(problem)[::2]:
        trace = trace_of(problem, params)
        result = fold(problem, params=params)
        for entry, array in zip(fold_data([result])["arrays"], result, strict=True):
            most = trace.most_live(array.name)
            here = entry["at"]
            assert here["lower_bound"] == most
            assert most <= here["size"] <= here["original_size"]
            assert (here["size"] == 0) == (here["lower_bound"] == 0) == (most == 0)


@every_problem
def test_what_is_told_of_a_bound_holds_at_every_size(name: str) -> None:
    assert_told_bounds_hold(problem_of(name))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_told_of_the_bound_of_a_random_program_holds(seed: int) -> None:
    assert_told_bounds_hold(random_rectangles(random.Random(seed)))


def random_rectangles(choose: random.Random) -> Program:
    """A rectangle of cells is written, and a part of it read, at sizes that may be negative."""
    first, second = choose.choice([("N", "M"), ("N", "N"), ("2*N", "M"), ("M - N", "N")])
    low, other = choose.randint(-1, 3), choose.randint(-1, 3)
    cut, step = choose.randint(0, 2), choose.randint(1, 3)
    written = f"{low} <= i < {first} and {other} <= j < {second} - 1"
    are_read = f"{low} <= i < {first} - {cut} and {other} <= j < {second} - 1 and (j - N) mod {step} = 0"
    order = choose.choice(["[1, i, j]", "[1, -i, j]", "[1, j, i]"])
    problem = read_problem(
        "random.toml",
        f"""
        domain = "[N, M] -> {{ S[i, j] : {written}; T[i, j] : {are_read} }}"
        write = "[N, M] -> {{ S[i, j] -> A[i, j] }}"
        read = "[N, M] -> {{ T[i, j] -> A[i + {cut}, j] }}"
        schedule = "[N, M] -> {{ S[i, j] -> [0, i, j]; T[i, j] -> {order} }}"
        """,
    )
    assert isinstance(problem, Program)
    return problem


def assert_told_bounds_hold(problem: Program) -> None:
    """Formulas with their notes, and with the words of a sentence, against the cells that are live."""
    for array in fold(problem):
        gap, formula = array.gap, array.lower_bound.formula
        notes = " ".join(bound_notes(gap))
        assert formula is not None
        for params in sizes_of(problem):
            most = trace_of(problem, params).most_live(array.name)
            told = formula.at(params)
            if told > most:
                assert gap.shown_for
                assert "the lower bound is 0 there" in notes if most == 0 else "bound was shown for" in notes
                assert not array.lower_bound.is_shown_at(params)
            assert (array.lower_bound.at(params) or 0) <= most


def af_set(params: dict[str, int]) -> isl.Set:
    equations = " and ".join(f"{name} = {value}" for name, value in params.items())
    return isl.Set(f"[{', '.join(params)}] -> {{ : {equations} }}")


@pytest.mark.parametrize("share", ["arrays", "offsets", "auto"])
def test_blocks_have_room_at_every_size(share: Share) -> None:
    problem = problem_of("several")
    result = fold_shared(problem, share)
    assert result.footprint is not None
    for params in sizes_of(problem):
        spans: dict[str, tuple[int, int]] = {}
        for block in result.footprint.blocks:
            for name, offset in block.offsets.items():
                start = offset.at(params)
                cells = result[name].conflicts.size_at(result[name].size, params)
                assert 0 <= start <= start + cells <= max(block.size.at(params), 0)
                if cells:
                    spans[name] = (start, start + cells)
        # All three arrays are in use together.
        taken = [set(range(*span)) for span in spans.values()]
        assert len(set().union(*taken)) == sum(map(len, taken))
        live = sum(trace_of(problem, params).most_live(name) for name in ("A", "B", "C"))
        assert result.footprint.after.at(params) >= live
    for n in (1, 3, 4, 9):
        at = fold_data([fold_shared(problem, "auto", params={"N": n})])["total"][0]["at"]
        live = sum(trace_of(problem, {"N": n}).most_live(name) for name in ("A", "B", "C"))
        assert at["lower_bound"] <= live <= at["size"] <= at["original_size"]


# ---------------------------------------------------------------- arrays without cells

NOTHING = """
context = "[N] -> { : N >= 1 }"
domain = "[N] -> { S[i] : 0 <= i < N; T[i] : 0 <= i < N }"
write = "[N] -> { S[i] -> A[i]; S[i] -> B[i, 0] : i < 0 }"
read = "[N] -> { T[i] -> A[i] }"
schedule = "[N] -> { S[i] -> [0, i]; T[i] -> [1, i] }"
temporary = ["A", "B"]
"""


def test_an_array_without_cells_needs_none_and_others_are_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    problem = read_problem("nothing.toml", NOTHING)
    for params in ({}, {"N": 1}, {"N": 7}):
        result = af.fold(problem, params=params)
        assert (str(result["A"].size), str(result["B"].size), str(result["B"].original_size)) == (
            "N",
            "0",
            "0",
        )
        assert result["B"].is_optimal
        assert "0 cells (minimal)" in str(result["B"])
        assert fold_data([result])["arrays"][1]["lower_bound"] == "0"
    for share in SHARES:
        shared = fold_shared(problem, share)
        assert shared.footprint is not None
        assert str(shared.footprint.after) == "N"
    (_, nothing) = compare(problem)
    assert {entry["size"] for entry in compare_data([nothing])["arrays"][0]["methods"]} == {"0"}
    (item,) = check(problem, "B[i, j] -> [i mod 7, j]")
    assert item.is_valid
    file = tmp_path / "nothing.toml"
    file.write_text(NOTHING)
    for arguments in (["fold"], ["compare"], ["conflicts"], ["report", "-o", str(tmp_path / "page.html")]):
        assert run(monkeypatch, arguments[0], str(file), *arguments[1:]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_values_of_an_array_without_writes_need_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "nothing.toml"
    file.write_text(NOTHING)
    assert run(monkeypatch, "fold", str(file), "--mode", "reallocate", "--json") == 0
    sizes = {entry["name"]: entry["size"] for entry in json.loads(capsys.readouterr().out)["arrays"]}
    assert sizes["B_S"] == "0"


def test_an_array_that_is_declared_empty_has_no_cells() -> None:
    problem = read_problem(
        "empty.toml", 'array = "{ A[i] : 1 <= i <= 0 }"\ndifferences = "{ A[d] : 0 <= d <= 1 }"'
    )
    (item,) = check(problem, "A[i] -> [0]")
    assert item.is_valid
    assert str(fold(problem)["A"].size) == "0"


# ---------------------------------------------------------------- bounds

PAIRED = """
context = "[N] -> { : N >= 6 }"
domain = "[N] -> { S[i] : 0 <= i < N }"
write = "[N] -> { S[i] -> A[i] }"
read = "[N] -> { S[i] -> A[i - 1] : i mod 2 = 1 }"
happens_before = "[N] -> { S[i] -> S[i + 1] : i mod 2 = 0 }"
temporary = ["A"]
"""


def test_a_bound_is_a_whole_number_at_every_size() -> None:
    bound = fold(read_problem("paired.toml", PAIRED))["A"].lower_bound
    assert bound.formula is not None
    for n in range(6, 20):
        assert bound.formula.at({"N": n}) == (n + 1) // 2


TILED = """
context = "[N] -> { : N >= 1 }"
domain = '''
    [N] -> { S[b, i, j] : 0 <= i < N and 0 <= j < N and 8b <= j < 8b + 8;
    T[b, i, j] : 2 <= i < N and 0 <= j < N and 8b <= j < 8b + 8 }'''
write = "[N] -> { S[b, i, j] -> A[i, j] }"
read = "[N] -> { T[b, i, j] -> A[k, j] : i - 2 <= k <= i }"
schedule = '''
    [N] -> { S[b, i, j] -> [b, i, 0, j];
    T[b, i, j] -> [b, i, 1, j] }'''
"""


def test_bounds_of_tiles_are_attained() -> None:
    problem = read_problem("tiled.toml", TILED)
    assert isinstance(problem, Program)
    bound = find_lower_bound(Analysis.of(problem).conflicts("A"))
    for n in (1, 2, 3, 7, 8, 9, 15, 17, 20):
        most = trace_of(problem, {"N": n}).most_live("A")
        assert bound.at({"N": n}) == most
        for where, formulas in bound.pieces:
            if not where.is_disjoint(af_set({"N": n})):
                assert all(formula.at({"N": n}) <= most for formula in formulas)


GAUSS = """
void g(int h, int w, const float src[restrict h][w], float dst[restrict h][w])
{
    float tmp[h][w];
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w - 1; x++)
            tmp[y][x] = src[y][x - 1] + src[y][x] + src[y][x + 1];
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            dst[y][x] = tmp[y - 1][x] + tmp[y][x] + tmp[y + 1][x];
#pragma endscop
}
"""


def test_the_bound_of_a_tiled_program_is_not_above_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "gauss.c"
    file.write_text(GAUSS)
    sizes = ("--param", "h=40", "--param", "w=40")
    assert run(monkeypatch, "fold", str(file), "--fuse=cells", "--tile", "16x16", *sizes, "--json") == 0
    (entry,) = json.loads(capsys.readouterr().out)["arrays"]
    assert 16 < entry["at"]["lower_bound"] <= entry["at"]["size"]


def test_what_isl_calls_tight_counts_only_where_a_moment_attains_it() -> None:
    """A corner of the moments at half a number is none of them."""
    problem = read_problem("halves.toml", HALVES)
    bound = find_lower_bound(Analysis.of(problem).conflicts("A"))
    for n in range(1, 30):
        assert bound.at({"N": n}) == max(0, (n - 2) // 2)


# ---------------------------------------------------------------- the invariant


def broken(bound: LowerBound) -> LowerBound:
    """A bound that is above every size, as a formula, as pieces and as a number."""
    everywhere = isl.Set("{ : }")
    far = read_formula("100*N^2 + 100*N + 1000")
    return replace(bound, formula=far, when=None, pieces=((everywhere, (far,)),), is_attained=True, here=None)


def told(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from told(one)
    elif isinstance(value, list):
        for one in value:
            yield from told(one)
    else:
        yield str(value)


@pytest.mark.parametrize("params", [{}, {"N": 8}])
def test_a_bound_above_a_proved_size_never_shows(
    params: dict[str, int], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    real = moments.find_lower_bound

    def find(*arguments: Any, **keywords: Any) -> LowerBound:
        return broken(real(*arguments, **keywords))

    for module in ("array", "compare", "check", "shared"):
        monkeypatch.setattr(import_module(f"arrayfold.fold.{module}"), "find_lower_bound", find)
    problem = problem_of("several")
    results = [fold(problem, params=params), fold_shared(problem, "auto", params=params)]
    for result in results:
        assert all(array.lower_bound.formula is None and array.lower_bound.remark for array in result)
        assert not any(array.is_optimal for array in result if array.size_here != 0)
    assert results[1].footprint is not None
    assert not results[1].footprint.is_least
    compared = compare(problem, FoldOptions(params))
    (item,) = check(problem, "B[i] -> [i]", FoldOptions(params))
    data = [fold_data(results), compare_data(compared)]
    assert item.lower_bound.formula is None
    assert not item.is_minimal
    assert not any("100*N" in text for text in told(data))
    file = "examples/blur-interleaved.toml"
    sizes = [f"--param={name}={value}" for name, value in params.items()]
    for command in ("fold", "compare"):
        assert run(monkeypatch, command, file, *sizes) == 0
        output = capsys.readouterr().out
        assert "100*N" not in output
        assert "7,200" not in output
        assert "minimal" not in output.replace("is wrong", "")
    assert run(monkeypatch, "fold", file, *sizes) == 0
    assert "is wrong and not used" in capsys.readouterr().out


def test_an_affine_bound_is_compared_at_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is too large at a single size far out is seen."""
    real = moments.find_lower_bound

    def find(*arguments: Any, **keywords: Any) -> LowerBound:
        found = real(*arguments, **keywords)
        somewhere = isl.Set("[N] -> { : N = 12345 }")
        return replace(found, pieces=(*found.pieces, (somewhere, (read_formula("2*N + 2"),))))

    monkeypatch.setattr(import_module("arrayfold.fold.array"), "find_lower_bound", find)
    folded = fold(read("examples/blur-interleaved.toml"))["blurx"]
    assert str(folded.size) == "2*N + 1"
    assert folded.lower_bound.formula is None


# ---------------------------------------------------------------- what is minimal, and where


@pytest.mark.parametrize(
    ("where", "context", "words"),
    [
        ("N >= 3", "N >= 1", "N >= 3"),
        ("N > 2", "N > 0", "N >= 3"),
        ("N >= 3", "N >= 3", ""),
        ("N mod 2 = 0", "N >= 1", "even N"),
        ("N mod 2 = 1", "N >= 1", "odd N"),
        ("N mod 2 = 0 and N >= 6", "N >= 1", "even N >= 6"),
        ("N mod 3 = 1", "N >= 1", "N mod 3 = 1"),
        ("N mod 3 > 0", "N >= 1", "N mod 3 > 0"),
        ("N = 4", "N >= 1", "N = 4"),
        ("N = 4 or N = 6", "N >= 1", "N = 4 or N = 6"),
        ("N != 5", "N >= 1", "all sizes but N = 5"),
        ("2 <= N <= 9", "N >= 1", "2 <= N <= 9"),
        ("false", "N >= 1", "no size"),
    ],
)
def test_sets_of_sizes_in_words(where: str, context: str, words: str) -> None:
    assert in_words(isl.Set(f"[N] -> {{ : {where} }}"), isl.Set(f"[N] -> {{ : {context} }}")) == words


def test_two_parameters_in_words() -> None:
    where, context = isl.Set("[N, M] -> { : N >= 3 and M = 4 }"), isl.Set("[N, M] -> { : N >= 1 and M >= 1 }")
    assert "->" not in in_words(where, context)
    assert in_words(where.intersect(isl.Set("[N] -> { : N = 5 }")), context) == "N = 5, M = 4"


def test_minimal_names_its_sizes(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    folded = fold(read("examples/two-writes.toml"), arrays=["y"])["y"]
    assert folded.gap.words == "minimal for N >= 4"
    assert not folded.is_optimal
    assert "proved minimal for N >= 4" in folded.remark
    assert "minimal for N &gt;= 4" in folded._repr_html_()
    data = fold_data([fold(read("examples/two-writes.toml"), arrays=["y"])])["arrays"][0]
    assert data["optimal"] is False
    assert isl.Set(data["optimal_when"]).is_equal(isl.Set("[N] -> { : N >= 4 }"))
    assert run(monkeypatch, "fold", "examples/two-writes.toml", "--array", "y") == 0
    output = capsys.readouterr().out
    assert "proved, minimal for N >= 4" in output
    assert "[N]" not in output


def test_what_is_minimal_at_one_size_only_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    folded = fold(read("examples/two-writes.toml"), params={"N": 5}, arrays=["x"])["x"]
    assert folded.is_optimal
    assert folded.gap.words == "minimal for N = 5"


# ---------------------------------------------------------------- writes that nobody reads


def test_dead_writes_of_one_instance_share_a_cell() -> None:
    folded = fold(problem_of("dead"))["A"]
    assert str(folded.size) == str(folded.lower_bound.formula) == "1"
    assert str(fold(problem_of("half-dead"))["A"].size) == "2"


def test_dead_writes_in_no_order_would_race() -> None:
    parallel = DEAD + 'parallel = { 0 = "doall" }\n'
    folded = fold(read_problem("dead.toml", parallel), params={"N": 6})["A"]
    assert folded.gap.bound_here == 6
    assert not folded.gap.words


# ---------------------------------------------------------------- cells that nobody named

STAR = """
context = "[N] -> { : N >= 3 }"
differences = "[N] -> { A[x, y] : 2 <= y <= 3 and -N <= x <= N }"
"""


def test_where_cells_are_not_named_nothing_is_claimed_of_them() -> None:
    problem = read_problem("star.toml", STAR)
    assert isinstance(problem, ConflictProblem)
    with pytest.raises((MethodNotApplicable, NothingProved), match="which there are"):
        fold(problem, method="static", params={"N": 4})
    folded = fold(problem, params={"N": 4})["A"]
    assert folded.gap.bound_here is None
    assert not folded.gap.words
    assert any("does not say which cells" in note for note in folded.conflicts.notes)
    named = STAR + 'array = "[N] -> { A[x, y] : 0 <= x <= N and 0 <= y <= 3 }"\n'
    table = fold(read_problem("star.toml", named), method="static", params={"N": 4})["A"]
    assert table.is_optimal


# ---------------------------------------------------------------- sizes without cells in C

DECLARED = """
void k(int n, int m, const int in[restrict 20][17], int out[restrict 20][17])
{
    int t[20][17];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i][j] = in[i][j] / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = t[i][j] + 1;
#pragma endscop
}
"""


def test_what_is_declared_is_kept_also_where_nothing_is_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "declared.c"
    file.write_text(DECLARED)
    assert run(monkeypatch, "fold", str(file), "--share", "auto") == 0
    output = capsys.readouterr().out
    assert "at least max(m, 0)*max(n, 0) are live at one moment (shown for 1 <= m <= 17" in output
    assert run(monkeypatch, "fold", str(file), "--param", "n=-100", "--param", "m=-100", "--json") == 0
    (entry,) = json.loads(capsys.readouterr().out)["arrays"]
    assert [entry["at"][key] for key in ("size", "original_size", "lower_bound")] == [340, 340, 0]
    assert not entry["optimal"]
    assert entry["lower_bound"] == "max(m, 0)*max(n, 0)"


def test_a_size_without_cells_is_not_called_minimal_for_another_one() -> None:
    folded = fold(problem_of("half-read"), params={"N": 0})["A"]
    assert folded.size_here == folded.gap.bound_here == 0
    assert not folded.gap.words
    assert fold(problem_of("half-read"), params={"N": 4})["A"].gap.words == "minimal for N = 4"


def test_a_bound_that_is_unknown_is_in_no_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(moments, "can_count", lambda: False)
    for command in (["fold", "--share", "auto"], ["compare"]):
        assert run(monkeypatch, command[0], "examples/blur-interleaved.toml", *command[1:]) == 0
        assert "at least" not in capsys.readouterr().out


TRANSPOSED = """
void k(int n, const double in[restrict n + 2][n + 2], double out[restrict n + 2][n + 2])
{
    double t[n + 2][n + 2];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[i][j] + t[j][i];
#pragma endscop
}
"""


def test_a_size_above_the_old_one_is_told_with_what_the_code_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "transposed.c"
    file.write_text(TRANSPOSED)
    note = "note: t: the code never takes more cells than before"
    assert run(monkeypatch, "fold", str(file), "--tile", "8x8") == 0
    output = capsys.readouterr().out
    assert "max(n, 8)^2" in output
    assert note in output
    assert run(monkeypatch, "fold", str(file)) == 0
    assert note not in capsys.readouterr().out


MINIMUM = """
void f(int n, const double in[restrict n + 2], double out[restrict n + 2])
{
    double u[(n < 40 ? n : 40) + 2];
#pragma scop
    for (int i = 0; i < (n < 40 ? n : 40); i++) {
        u[i] = in[i] * 2.0;
        if (i >= 1)
            out[i] = u[i] + u[i - 1];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(("n", "cells"), [(0, 2), (4, 6), (40, 42), (100, 42)])
def test_cells_before_are_those_that_are_declared(n: int, cells: int, tmp_path: Path) -> None:
    file = tmp_path / "minimum.c"
    file.write_text(MINIMUM)
    array = fold(read(str(file)), params={"n": n})["u"]
    assert array.original_size == read_formula("min(n + 2, 42)")
    assert array.original_size_at({"n": n}) == cells


@pytest.mark.parametrize("text", ["{ A[d] : -N < d < N }", "{ A[d, e] : -N < d < N and d = e }"])
def test_differences_alone_do_not_say_that_there_are_no_cells(text: str, tmp_path: Path) -> None:
    file = tmp_path / "differences.toml"
    file.write_text(f'context = "[N] -> {{ : N >= 0 }}"\ndifferences = "[N] -> {text}"\n')
    for size in (0, 1):
        (array,) = fold_data([fold(read(str(file)), params={"N": size})])["arrays"]
        assert (array["at"]["size"], array["at"]["lower_bound"], array["optimal"]) == (1, None, False)
        assert "cells_when" not in array


def test_a_bound_is_told_as_the_size_that_is_minimal(tmp_path: Path) -> None:
    file = tmp_path / "bound.toml"
    file.write_text(
        'context = "[N] -> { : N >= 1 }"\n'
        'domain = "[N] -> { S[i] : 0 <= i < 4; U[i] : 0 <= i < N }"\n'
        'write = "{ S[i] -> A[2i] }"\nread = "{ S[i] -> B[i]; U[i] -> B[i + 1] }"\n'
        'schedule = "{ U[i] -> [0, i]; S[i] -> [1, i] }"\ntemporary = ["B"]\n'
    )
    (array,) = fold_data([fold(read(str(file)))])["arrays"]
    assert array["optimal"]
    assert array["lower_bound"] == array["size"] == "max(N + 1, 4)"


def test_cells_of_all_arrays_where_one_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "empty.toml"
    file.write_text(
        'domain = "{ S[i] : i = 0 }"\nread = "[N] -> { S[i] -> B[0] : N <= 2 }"\n'
        'schedule = "{ S[i] -> [i] }"\n'
    )
    assert (
        run(monkeypatch, "fold", str(file), "--temporary", "B", "--share", "offsets", "--param", "N=8") == 0
    )
    assert "in all: 0 cells instead of 0 cells" in capsys.readouterr().out
