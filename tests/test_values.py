"""Cells that hold one value after another: sizes, bounds, stories, and branches that depend on data."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from arrayfold import fold, read
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.check import check
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import Program
from support.reference import is_valid
from support.traces import trace_of
from test_paper_programs import pairs_at

# Each row of a picture is computed again for every row that needs it.
RECOMPUTED = """
context   = "[N, M] -> { : N >= 3 and M >= 1 }"
domain    = '''[N, M] -> { S[y, x, k] : 2 <= y < N and 0 <= x < M and y - 2 <= k <= y;
                          T[y, x] : 2 <= y < N and 0 <= x < M }'''
write     = "[N, M] -> { S[y, x, k] -> t[k, x]; T[y, x] -> out[y, x] }"
read      = "[N, M] -> { T[y, x] -> t[k, x] : y - 2 <= k <= y }"
schedule  = "[N, M] -> { S[y, x, k] -> [y, x, 0, k]; T[y, x] -> [y, x, 1, 0] }"
temporary = ["t"]
live_out  = "[N, M] -> { out[y, x] : 2 <= y < N and 0 <= x < M }"
"""

SCRATCH = """
void f(int n, int m, const double x[restrict n][m], double y[restrict n][m])
{
    double t[m], s[m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            BODY
        }
#pragma endscop
}
"""

LCS = """
int lcs(int n, int m, const char a[restrict n], const char b[restrict m])
{
    int L[n + 1][m + 1];
    int result;
#pragma scop
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0)
                L[i][j] = 0;
            else if (a[i - 1] == b[j - 1])
                L[i][j] = L[i - 1][j - 1] + 1;
            else if (L[i - 1][j] >= L[i][j - 1])
                L[i][j] = L[i - 1][j];
            else
                L[i][j] = L[i][j - 1];
        }
    result = L[n][m];
#pragma endscop
    return result;
}
"""

HEAT = """
void heat(int T, int N, const double in[restrict N], double out[restrict N])
{
    double u[2][N];
#pragma scop
    for (int i = 0; i < N; i++) {
        u[0][i] = in[i];
        u[1][i] = in[i];
    }
    for (int t = 0; t < T; t++)
        for (int i = 1; i < N - 1; i++)
            u[(t + 1) % 2][i] = u[t % 2][i - 1] + u[t % 2][i] + u[t % 2][i + 1];
    for (int i = 0; i < N; i++)
        out[i] = u[T % 2][i];
#pragma endscop
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("values.c", text.encode())
    return program


def sizes(text: str) -> Mapping[str, str]:
    return {array.name: str(array.size) for array in fold(program_of(text))}


def test_recomputed_cells_take_three_addresses() -> None:
    problem = read_problem("recomputed.toml", RECOMPUTED)
    (folded,) = fold(problem)
    assert str(folded.size) == "3"
    assert folded.is_optimal
    (checked,) = check(problem, "t[k, x] -> [k mod 3]")
    assert checked.is_valid
    (refuted,) = check(problem, "t[k, x] -> [k mod 2]")
    assert refuted.clobber is not None
    assert refuted.clobber.reader is not None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t[j] = x[i][j]; y[i][j] = t[j] + t[j] * 2;", {"t": "1"}),
        ("t[j] = x[i][j]; s[j] = t[j] * t[j]; y[i][j] = s[j] - t[j];", {"t": "1", "s": "1"}),
        # An update continues a lifetime.
        ("t[j] = 0; t[j] += x[i][j]; t[j] *= 2; y[i][j] = t[j];", {"t": "1"}),
        # What was written one iteration before is still read.
        ("t[j] = x[i][j]; y[i][j] = j > 0 ? t[j - 1] + t[j] : t[j];", {"t": "2"}),
        # In both branches, and in a chain of them.
        ("if (x[i][j] > 0) t[j] = x[i][j]; else t[j] = 0; y[i][j] = t[j];", {"t": "1"}),
        (
            "if (x[i][j] > 1) t[j] = 1; else if (x[i][j] > 0) t[j] = x[i][j]; else t[j] = 0; y[i][j] = t[j];",
            {"t": "1"},
        ),
        # The second write need not happen, so the first value lives on.
        ("t[j] = 1; if (x[i][j] > 0) t[j] = 2; s[j] = t[j]; y[i][j] = s[j];", {"t": "1", "s": "1"}),
    ],
)
def test_scratch_cells_that_are_written_for_every_row(body: str, expected: dict[str, str]) -> None:
    found = sizes(SCRATCH.replace("BODY", body))
    assert found == expected


def test_a_row_that_is_read_backwards_keeps_its_cells() -> None:
    loops = "for (int k = 0; k < m; k++) t[k] = x[i][k]; for (int k = 0; k < m; k++) y[i][k] = t[m - 1 - k];"
    text = SCRATCH.replace("        for (int j = 0; j < m; j++) {\n", "        {\n").replace("BODY", loops)
    assert sizes(text) == {"t": "m"}


def test_textbook_subsequence() -> None:
    (folded,) = fold(program_of(LCS))
    assert str(folded.size) == "m + 2"
    assert folded.is_optimal


def test_a_double_buffer_says_what_else_to_try() -> None:
    """About half of the cells hold a value that is needed, but each meets nearly all others some time."""
    (folded,) = fold(program_of(HEAT))
    assert str(folded.size) == "2*N"
    assert not folded.is_optimal
    assert any("--mode reallocate --share cells" in note for note in folded.notes)


def test_exclusive_branches_alone_are_no_reason_to_reallocate() -> None:
    """Branches on data read cells that are written once, so no value has another place to go to."""
    (folded,) = fold(read("examples/smith-waterman.c", region="smith_waterman"))
    assert str(folded.size) == "m + n + 1"
    assert not any("one value after another" in note for note in folded.notes)


@pytest.mark.parametrize("text", [HEAT, SCRATCH.replace("BODY", "t[j] = x[i][j]; y[i][j] = t[j] + t[0];")])
def test_conflicts_and_bounds_are_those_of_enumeration(text: str) -> None:
    program = program_of(text)
    analysis = Analysis.of(program)
    for name in analysis.foldable():
        conflicts = analysis.conflicts(name)
        bound = find_lower_bound(conflicts)
        for values in ((3, 3), (4, 5), (5, 4)):
            params = dict(zip(program.parameters, values, strict=True))
            trace = trace_of(program, params)
            assert pairs_at(conflicts, params) == trace.conflicts(name)
            assert bound.at(params) == trace.most_live(name)


def test_a_cell_counts_as_in_the_papers_where_that_is_asked_for() -> None:
    analysis = Analysis.of(read_problem("recomputed.toml", RECOMPUTED))
    params = {"N": 4, "M": 2}
    of_values = pairs_at(analysis.conflicts("t"), params)
    of_cells = pairs_at(analysis.conflicts("t", construction="live-write"), params)
    assert of_values < of_cells
    assert is_valid(of_values, lambda cell: (cell[0] % 3,))
    assert not is_valid(of_cells, lambda cell: (cell[0] % 3,))


EXCLUSIVE = """
context   = "[N] -> { : N >= 1 }"
domain    = "[N] -> { A[i] : 0 <= i < N; B[i] : 0 <= i < N; C[i] : 0 <= i < N; D[i] : 0 <= i < N }"
write     = "[N] -> { A[i] -> t[0, i]; B[i] -> t[1, i]; C[i] -> y[i]; D[i] -> y[i] }"
read      = "[N] -> { C[i] -> t[0, i]; D[i] -> t[1, i] }"
schedule  = "[N] -> { A[i] -> [0, i, 0]; B[i] -> [0, i, 1]; C[i] -> [1, i, 0]; D[i] -> [1, i, 1] }"
exclusive = "[N] -> { A[i] -> B[j]; A[i] -> D[j]; B[i] -> C[j]; C[i] -> D[j] }"
temporary = ["t"]
live_out  = "[N] -> { y[i] : 0 <= i < N }"
"""


def test_cells_of_opposite_branches_share() -> None:
    (folded,) = fold(read_problem("exclusive.toml", EXCLUSIVE))
    assert str(folded.size) == "N"


def test_cells_of_opposite_branches_in_c_share() -> None:
    text = """
    void f(int n, const int c[restrict n], const double x[restrict n], double y[restrict n])
    {
        double t[2][n];
    #pragma scop
        for (int i = 0; i < n; i++)
            if (c[0] > 0) t[0][i] = x[i]; else t[1][i] = -x[i];
        for (int i = 0; i < n; i++)
            if (c[0] > 0) y[i] = t[0][i]; else y[i] = t[1][i];
    #pragma endscop
    }
    """
    assert sizes(text) == {"t": "n"}


def test_shipped_programs_are_never_larger_than_when_cells_were_counted() -> None:
    for name in ("heat-1d", "row-buffer", "horner", "pyramid"):
        problem = read(f"examples/{name}.c")
        analysis = Analysis.of(problem)
        for array in analysis.foldable():
            of_values = analysis.conflicts(array).pairs
            assert of_values.is_subset(analysis.conflicts(array, construction="live-write").pairs)
