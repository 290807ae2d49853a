"""The worked examples of DIY16, run in every way their loops allow at small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from arrayfold.exact.formula_parse import read_formula
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from arrayfold.program.model import Problem
from support.interleavings import Parallel, loops
from support.reference import Cell, Instance, is_valid
from support.shapes import jacobi
from test_paper_programs import pairs_at

Body = Callable[[int], Sequence[Instance]]

PAIRS = """
context  = "[n] -> { : n >= 3 }"
domain   = "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }"
write    = "{ S[i] -> A[i, k] : 0 <= k <= 1 }"
read     = "{ T[i] -> A[i, k] : 0 <= k <= 1 }"
schedule = "{ S[i] -> [i, 0]; T[i] -> [i, 1] }"
"""


def diagonal(n: int) -> list[Instance]:
    return [
        Instance("S", (i, j), ((("A", (i - 1, j - 1)),) if i and j else ()), (("A", (i, j)),))
        for i in range(n)
        for j in range(n)
    ]


def two_writes(n: int) -> list[Instance]:
    def cells(name: str, i: int, j: int) -> tuple[tuple[str, Cell], ...]:
        return ((name, (i, j)),) if i >= 1 else ()

    return [
        Instance(
            "S",
            (i, j),
            cells("x", i - 1, j) + cells("y", i - 2, j),
            cells("x", i, j) + cells("y", i, j),
        )
        for i in range(1, n + 1)
        for j in range(n + 1)
    ]


def pairs(n: int) -> list[Instance]:
    """S writes two cells, T reads them together."""
    both = [(("A", (i, 0)), ("A", (i, 1))) for i in range(n)]
    return [
        Instance("S" if k == 0 else "T", (i, k), both[i] if k else (), () if k else both[i])
        for i in range(n)
        for k in (0, 1)
    ]


@dataclass(frozen=True)
class Example:
    """A program with its loops, a smallest mapping, and the same with one cell fewer.

    clique  cells at size n that all conflict with each other, as many as the mapping has addresses
    """

    title: str
    text: str
    body: Body
    meanings: tuple[str, str]
    mapping: str
    fewer: str
    size: str
    clique: Callable[[int], list[Cell]]
    array: str = "A"
    parameter: str = "n"

    @property
    def problem(self) -> Problem:
        parallel = ", ".join(f'{d} = "{m}"' for d, m in enumerate(self.meanings) if m != "sequential")
        return read_problem("diy16.toml", f"{self.text}\nparallel = {{ {parallel} }}\n")

    def run(self, n: int) -> Parallel:
        instances = self.body(n)
        return Parallel(instances, loops([i.iteration for i in instances], self.meanings), array=self.array)

    def mapping_of(self, text: str) -> ModularMapping:
        (mapping,) = read_mappings(text, self.problem)
        assert isinstance(mapping, ModularMapping)
        return mapping


def example(name: str) -> str:
    return Path(f"examples/{name}.toml").read_text()


def jacobi_body(n: int) -> Sequence[Instance]:
    return jacobi(n).instances


def row(n: int) -> list[Cell]:
    return [(1, j) for j in range(n)]


SEQUENTIAL, DOALL, FORALL = ("sequential", "sequential"), ("sequential", "doall"), ("sequential", "forall")
EXAMPLES = [
    Example(
        "jacobi-1d, sequential",
        example("jacobi-1d"),
        jacobi_body,
        SEQUENTIAL,
        "A[i, j] -> [(j - i) mod (n + 1)]",
        "A[i, j] -> [(j - i) mod n]",
        "n + 1",
        lambda n: [(0, j) for j in range(1, n)] + [(1, 0), (1, 1)],
    ),
    Example(
        "jacobi-1d, forall",
        example("jacobi-1d"),
        jacobi_body,
        FORALL,
        "A[i, j] -> [j mod n]",
        "A[i, j] -> [j mod (n - 1)]",
        "n",
        row,
    ),
    Example(
        "jacobi-1d, doall",
        example("jacobi-1d"),
        jacobi_body,
        DOALL,
        "A[i, j] -> [i mod 2, j mod n]",
        "A[i, j] -> [(n*i + j) mod (2*n - 1)]",
        "2*n",
        lambda n: [(i, j) for i in (0, 1) for j in range(n)],
    ),
    Example(
        "diagonal, doall",
        example("diagonal"),
        diagonal,
        DOALL,
        "A[i, j] -> [(j - i) mod n]",
        "A[i, j] -> [(j - i) mod (n - 1)]",
        "n",
        row,
    ),
    Example(
        "two cells written by one statement",
        PAIRS,
        pairs,
        SEQUENTIAL,
        "A[i, k] -> [k mod 2]",
        "A[i, k] -> [0]",
        "2",
        lambda _: [(0, 0), (0, 1)],
    ),
    Example(
        "two cells written by one statement, doall",
        PAIRS,
        pairs,
        ("doall", "sequential"),
        "A[i, k] -> [i, k]",
        "A[i, k] -> [(2*i + k) mod (2*n - 1)]",
        "2*n",
        lambda n: [(i, k) for i in range(n) for k in (0, 1)],
    ),
    Example(
        "two writes, x",
        example("two-writes"),
        two_writes,
        DOALL,
        "x[i, j] -> [j mod (N + 1)]",
        "x[i, j] -> [j mod N]",
        "N + 1",
        lambda n: row(n + 1),
        "x",
        "N",
    ),
    Example(
        "two writes, y",
        example("two-writes"),
        two_writes,
        DOALL,
        "y[i, j] -> [i mod 2, j mod (N + 1)]",
        "y[i, j] -> [((N + 1)*i + j) mod (2*N + 1)]",
        "2*N + 2",
        lambda n: [(i, j) for i in (n - 2, n - 1) for j in range(n + 1)],
        "y",
        "N",
    ),
]
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)


@every_example
@pytest.mark.parametrize("n", [3, 4])
def test_conflicts(example: Example, n: int) -> None:
    expected = example.run(n).conflicts()
    assert expected
    found = Analysis.of(example.problem).conflicts(example.array)
    assert pairs_at(found, {example.parameter: n}) == expected


@every_example
def test_size(example: Example) -> None:
    assert fold(example.problem)[example.array].size == read_formula(example.size)
    assert example.mapping_of(example.mapping).size == read_formula(example.size)


@every_example
@pytest.mark.parametrize("n", [3, 4])
def test_the_mapping_is_right_in_every_execution(example: Example, n: int) -> None:
    mapping = example.mapping_of(example.mapping)
    assert isinstance(verify(Analysis.of(example.problem).conflicts(example.array), mapping), Proof)
    run = example.run(n)
    assert is_valid(run.conflicts(), lambda cell: mapping.address(cell, {example.parameter: n}))
    assert not run.shows_wrong_values(lambda cell: mapping.address(cell, {example.parameter: n}))


@every_example
@pytest.mark.parametrize("n", [3, 4])
def test_one_cell_fewer_is_refuted(example: Example, n: int) -> None:
    """By the judge, by an execution with wrong values, and for any allocation by cells that all conflict."""
    fewer = example.mapping_of(example.fewer)
    assert fewer.size == read_formula(f"{example.size} - 1")
    assert isinstance(verify(Analysis.of(example.problem).conflicts(example.array), fewer), Counterexample)
    run = example.run(n)
    assert run.shows_wrong_values(lambda cell: fewer.address(cell, {example.parameter: n}))
    clique = example.clique(n)
    assert len(clique) == read_formula(example.size).at({example.parameter: n})
    assert set(itertools.permutations(clique, 2)) <= run.conflicts()


def test_a_mapping_for_sequential_loops_fails_in_parallel() -> None:
    """Jacobi with n + 1 cells: right in the one sequential execution, wrong in some parallel one."""
    sequential, parallel = EXAMPLES[0], EXAMPLES[2]
    mapping = sequential.mapping_of(sequential.mapping)

    def address(cell: Cell) -> Cell:
        return mapping.address(cell, {"n": 4})

    assert not sequential.run(4).shows_wrong_values(address)
    assert parallel.run(4).shows_wrong_values(address)
    assert isinstance(verify(Analysis.of(parallel.problem).conflicts("A"), mapping), Counterexample)


def test_the_diagonal_in_the_other_direction_needs_the_other_sign() -> None:
    """The printed `i + j` belongs to A[i-1][j+1]; for A[i-1][j-1] it is wrong even with n + 1 cells."""
    (straight,) = [example for example in EXAMPLES if example.title == "diagonal, doall"]
    for n in (3, 4):
        assert straight.run(n).shows_wrong_values(lambda cell, n=n: ((cell[0] + cell[1]) % (n + 1),))


def test_all_differences_of_the_diagonal_need_one_more_cell() -> None:
    """Where also the last cell of a row is needed n cells no longer suffice, and n + 1 do. DIY16 Fig. 4b."""
    text = (
        'context = "[n] -> { : n >= 3 }"\n'
        'differences = "[n] -> { A[1, d] : -n < d < n and d != 1; A[0, d] : 0 < d < n }"\n'
        'array = "[n] -> { A[i, j] : 0 <= i, j < n }"\n'
    )
    problem = read_problem("differences.toml", text)
    conflicts = Analysis.of(problem).conflicts("A")
    (right,) = read_mappings("A[i, j] -> [(j - i) mod (n + 1)]", problem)
    (wrong,) = read_mappings("A[i, j] -> [(j - i) mod n]", problem)
    assert isinstance(verify(conflicts, right), Proof)
    assert isinstance(verify(conflicts, wrong), Counterexample)
    assert fold(problem)["A"].size == read_formula("n + 1")
