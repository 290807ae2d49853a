"""Arrays with a stride: what is divided out, how such mappings are written and judged, and their code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arrayfold.base.choices import Style
from arrayfold.codegen import write_c
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import fix_parameters
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read as read_file
from arrayfold.judge.verify import Counterexample, Proof, Undecided, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from arrayfold.program.model import Problem
from arrayfold.validation.subjects import validate_code
from support.command import run
from support.reference import is_valid
from test_paper_programs import pairs_at

SIZES = (3, 4, 7)


def problem_of(tmp_path: Path, cell: str, *, guard: str = "", reads: tuple[str, ...] = ()) -> Problem:
    """Values that are read one and two rows later, and reads besides."""
    here = f"0 <= i < N and 0 <= j < N{guard}"
    before = [f"S[i, j] -> A[{cell.replace('i', '(i - 2)')}] : i >= 2", *reads]
    file = tmp_path / "strides.toml"
    file.write_text(
        'context = "[N] -> { : N >= 3 }"\n'
        f'domain = "[N] -> {{ S[i, j] : {here} }}"\n'
        f'write = "[N] -> {{ S[i, j] -> A[{cell}] }}"\n'
        f'read = "[N] -> {{ {"; ".join(before)} }}"\n'
        'schedule = "[N] -> { S[i, j] -> [i, j] }"\n'
        'temporary = ["A"]\n'
    )
    return read_file(file)


def conflicts_of(problem: Problem) -> Conflicts:
    return Analysis.of(problem).conflicts("A")


# Cell, guard, and the cells that suffice: those of two rows, or of half a checkerboard.
STRIDED = [
    ("2*i, j", "", "2*N"),
    ("i, 3*j + 1", "", "2*N"),
    ("2*i, 5*j", "", "2*N"),
    ("i, 2*j", " and i mod 2 = 0", "N"),
    ("i + j, i - j", "", "3*N - 3"),
]


@pytest.mark.parametrize(("cell", "guard", "size"), STRIDED)
def test_a_stride_costs_no_cells(tmp_path: Path, cell: str, guard: str, size: str) -> None:
    problem = problem_of(tmp_path, cell, guard=guard)
    (folded,) = fold(problem)
    for value in SIZES:
        here = fix_parameters({"N": value})
        cases = [case.size.at({"N": value}) for case in folded.cases if not case.when.is_disjoint(here)]
        assert min([folded.size.at({"N": value}), *cases]) <= f(size).at({"N": value})
        pairs = pairs_at(folded.conflicts, {"N": value})
        assert is_valid(pairs, lambda cell, v=value: folded.mapping.address(cell, {"N": v}))


def test_a_mapping_with_a_division_reads_as_it_prints(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, "i, 3*j + 1")
    (folded,) = fold(problem)
    assert isinstance(folded.mapping, ModularMapping)
    assert folded.mapping.divisors
    (again,) = read_mappings(str(folded.mapping), problem)
    assert again == folded.mapping


def test_json_says_the_divisors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem_of(tmp_path, "i, 3*j + 1")
    file, written = tmp_path / "strides.toml", tmp_path / "map.json"
    assert run(monkeypatch, "fold", str(file), "--json") == 0
    out = capsys.readouterr().out
    (entry,) = json.loads(out)["arrays"]
    assert 3 in entry["divisors"]
    written.write_text(out)
    assert run(monkeypatch, "check", str(file), "--mapping", str(written)) == 0
    for wrong in ([3, 3, 3], [0], ["3"]):
        entry["divisors"] = wrong
        written.write_text(json.dumps({"arrays": [entry]}))
        assert run(monkeypatch, "check", str(file), "--mapping", str(written)) == 2


@pytest.mark.parametrize(
    ("mapping", "verdict"),
    [
        ("A[a, b] -> [floor(b/3) mod N, a mod 3]", Proof),
        ("A[a, b] -> [floor((b - 1)/3) mod N, a mod 2]", Proof),
        ("A[a, b] -> [floor((b + 1)/3) mod N, a mod 2]", Proof),
        ("A[a, b] -> [floor(b/3) mod N, a mod 1]", Counterexample),
        ("A[a, b] -> [floor(b/3) mod (N - 1), a mod 2]", Counterexample),
        ("A[a, b] -> [floor(b/6) mod N, a mod 2]", Counterexample),
        ("A[a, b] -> [floor(b/2) mod 50, a mod 2]", Counterexample),
        ("A[a, b] -> [floor((N*a + b)/3) mod (2*N)]", Counterexample),
        ("A[a, b] -> [floor((3*N*a + b)/3) mod (2*N)]", Proof),
        # Right, but rests differ, and nobody looks at all sizes.
        ("A[a, b] -> [floor(b/2) mod (2*N), a mod 2]", Undecided),
    ],
)
def test_the_judge_on_divisions(tmp_path: Path, mapping: str, verdict: type) -> None:
    problem = problem_of(tmp_path, "i, 3*j + 1")
    conflicts = conflicts_of(problem)
    (given,) = read_mappings(mapping, problem)
    found = verify(conflicts, given)
    assert isinstance(found, verdict)
    for value in SIZES:
        valid = is_valid(
            pairs_at(conflicts, {"N": value}), lambda cell, v=value: given.address(cell, {"N": v})
        )
        assert valid or isinstance(found, Counterexample)
    if isinstance(found, Counterexample):
        first, second = found.cells
        assert given.address(first, found.params) == given.address(second, found.params) == found.address


STRIDED_C = """
void f(int n, const double x[restrict n], double y[restrict n])
{{
    double t[{size}];
#pragma scop
    for (int k = 0; k < 3; k++) {{
        for (int i = 0; i < n; i++)
            t[{write}] = 2 * x[i] + k;
        for (int i = 0; i < n; i++)
            y[i] += t[{read}];
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("size", "write", "read"),
    [
        ("3 * n + 2", "3 * i + 2", "3 * (n - 1 - i) + 2"),
        ("5 * n", "5 * n - 5 * i - 5", "5 * n - 5 - 5 * i"),
        ("2 * n + 9", "2 * i + 7", "2 * i + 7"),
    ],
)
@pytest.mark.parametrize("style", ["fast", "readable"])
def test_code_of_strided_cells(tmp_path: Path, size: str, write: str, read: str, style: Style) -> None:
    file = tmp_path / "strided.c"
    file.write_text(STRIDED_C.format(size=size, write=write, read=read))
    result = fold(read_file(file))
    (folded,) = result
    assert str(folded.size) == "n"
    assert folded.is_optimal
    region = result.region(style=style)
    assert not validate_code([region], write_c([region]), str(file)).unchecked
