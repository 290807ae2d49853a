"""Parameters with one residue: formulas without floors, answers as small as the cases, and the judge."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from arrayfold.exact.congruences import find_congruence
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import parameter_names
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem, write_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.parse import read_mappings
from support.command import run
from support.reference import is_valid
from test_paper_programs import pairs_at


@pytest.mark.parametrize(
    ("file", "context", "size", "sizes"),
    [
        ("reverse-l", "N mod 2 = 0", "4*N - 4", (4, 6)),
        ("reverse-l", "N mod 2 = 1 and N >= 5", "4*N - 4", (5, 7)),
        ("reverse-l", "N mod 4 = 1", "4*N - 4", (5, 9)),
        ("harris-corner-tiled", "B mod 2 = 1", "3*B - 2", (5, 7)),
        ("heat-2d-tiled", "B mod 2 = 1", "5*B^2 - 8*B + 4", (3, 5)),
    ],
)
def test_a_context_with_one_residue(file: str, context: str, size: str, sizes: tuple[int, ...]) -> None:
    problem = read(f"examples/{file}.toml")
    (name,) = problem.parameters
    (folded,) = fold(problem.narrowed(isl.Set(f"[{name}] -> {{ : {context} }}")))
    assert folded.size == f(size) == folded.lower_bound.formula
    assert folded.is_optimal
    assert folded.cases == ()
    assert "floor" not in str(folded.mapping)
    for value in sizes:
        pairs = pairs_at(folded.conflicts, {name: value})
        assert pairs
        assert is_valid(pairs, lambda cell, v=value: folded.mapping.address(cell, {name: v}))


@pytest.mark.parametrize(
    ("mapping", "is_valid_mapping"),
    [
        ("A[x, y] -> [(x - y) mod (2*N - 2), x mod 2]", True),
        ("A[x, y] -> [(x - y) mod (N - 1), x mod 4]", False),
        ("A[x, y] -> [(N*x/2 + (N/2 + 3)*y) mod (4*N - 4)]", False),
    ],
)
def test_the_judge_takes_the_quotient(mapping: str, is_valid_mapping: bool) -> None:
    problem = read("examples/reverse-l.toml").narrowed(isl.Set("[N] -> { : N mod 2 = 0 }"))
    conflicts = Analysis.of(problem).conflicts("A")
    if "/2" in mapping:
        mapping = "A[x, y] -> [(floor(N/2)*x + (floor(N/2) + 3)*y) mod (4*N - 4)]"
    (given,) = read_mappings(mapping, problem)
    verdict = verify(conflicts, given)
    assert isinstance(verdict, Proof if is_valid_mapping else Counterexample)
    if isinstance(verdict, Counterexample):
        assert verdict.params["N"] % 2 == 0
        first, second = verdict.cells
        assert given.address(first, verdict.params) == given.address(second, verdict.params)


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ("[N] -> { : N >= 3 }", None),
        ("[N] -> { : N = 5 }", None),
        ("[N] -> { : N mod 6 = 4 or N mod 6 = 1 }", ("N", 3, 1)),
        ("[M, N] -> { : M = 4 * N + 2 and N >= 1 }", ("M", 4, 2)),
        ("[N] -> { : N mod 2 = 0 or N = 7 }", None),
    ],
)
def test_which_parameters_have_one_residue(context: str, found: tuple[str, int, int] | None) -> None:
    congruence = find_congruence(isl.Set(context))
    assert (
        None if congruence is None else (congruence.name, congruence.modulus, congruence.residue)
    ) == found
    if congruence is not None:
        values = {congruence.name: 7 * congruence.modulus + congruence.residue}
        assert congruence.multiplied(congruence.divided(values)) == values
        where = congruence.undone(isl.Set(f"[{congruence.quotient}] -> {{ : {congruence.quotient} = 7 }}"))
        assert parameter_names(where) == (congruence.name,)
        assert where.is_equal(
            isl.Set(f"[{congruence.name}] -> {{ : {congruence.name} = {values[congruence.name]} }}")
        )


def test_cases_that_cover_all_sizes_are_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", "examples/reverse-l.toml") == 0
    out = capsys.readouterr().out
    assert "even N: A[x, y] -> [(x - y) mod (2*N - 2), x mod 2]" in out
    assert "for all sizes: A[x, y] -> [(x - y) mod (2*N - 1), x mod 2], 4*N - 2 cells (proved)" in out
    assert run(monkeypatch, "compare", "examples/reverse-l.toml") == 0
    assert "auto, case odd N:" in capsys.readouterr().out


def test_a_mapping_of_a_case_that_is_valid_everywhere_is_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "checkerboard.c"
    file.write_text(
        "void f(int n, const double x[restrict n], double y[restrict n])\n{\n"
        "    double t[2 * n + 4][2 * n];\n#pragma scop\n"
        "    for (int i = 1; i < n; i++)\n        for (int j = 1; j < n; j++) {\n"
        "            t[i + j][i - j + n] = x[i] * x[j];\n"
        "            if (i >= 3 && j >= 3)\n                y[j] += t[i + j - 4][i - j + n];\n"
        "        }\n#pragma endscop\n}\n"
    )
    program = read(file)
    (folded,) = fold(read_problem("checkerboard.toml", write_problem(program)))
    assert str(folded.mapping) == "t[i0, i1] -> [(i0 + 5*i1) mod (2*n - 3)]"
    # No case is left but the first sizes.
    assert all(case.size.is_constant for case in folded.cases)
    # In code two more cells spare the innermost loop a stride; the smaller mapping is one case, said once.
    (folded,) = fold(program)
    assert str(folded.size) == "2*n - 1"
    assert [str(case.mapping) for case in folded.cases] == ["t[d0, d1] -> [(d0 + 5*d1) mod (2*n - 3)]"]
