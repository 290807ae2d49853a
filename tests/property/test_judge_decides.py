"""Random mappings with parametric coefficients: the judge decides nearly all, and as enumeration does."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache

import pytest

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import Vector, dot
from arrayfold.exact.signs import is_at_least
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, Verdict, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.exhaustive import differences_at

# Parameters, iterations, and how far back each of them reads.
PROGRAMS: list[tuple[str, str, list[Vector]]] = [
    ("N", "0 <= i < N and 0 <= j < N", [(1, 0), (0, 1)]),
    ("N", "0 <= i < N and 0 <= j < 2*N", [(1, -1), (2, 1)]),
    ("N", "0 <= i < N and 0 <= j <= i", [(1, 1), (0, 2)]),
    ("N", "0 <= i < N and i <= j < N + i", [(2, 0), (1, 2)]),
    ("N", "0 <= i < N and 0 <= j < N and (i + j) mod 2 = 0", [(1, 1), (2, 0)]),
    ("M, N", "0 <= i < M and 0 <= j < N", [(1, 1), (1, -1)]),
    ("M, N", "0 <= i < M and 0 <= j < N", [(0, 1), (2, -1)]),
]


@cache
def conflicts_of(number: int) -> Conflicts:
    names, where, steps = PROGRAMS[number]
    reads: list[str] = []
    for a, b in steps:
        before = where.replace("i", f"(i - {a})").replace("j", f"(j - {b})")
        reads.append(f"S[i, j] -> A[i - {a}, j - {b}] : {before}")
    context = " and ".join(f"{name} >= 3" for name in names.split(", "))
    text = (
        f'context = "[{names}] -> {{ : {context} }}"\n'
        f'domain = "[{names}] -> {{ S[i, j] : {where} }}"\n'
        f'write = "[{names}] -> {{ S[i, j] -> A[i, j] }}"\n'
        f'read = "[{names}] -> {{ {"; ".join(reads)} }}"\n'
        f'schedule = "[{names}] -> {{ S[i, j] -> [i, j] }}"\n'
        'temporary = ["A"]\n'
    ).replace("mod", "%")
    return Analysis.of(read_problem("random.toml", text)).conflicts("A")


def random_mapping(numbers: random.Random, names: list[str]) -> ModularMapping:
    """One row or two, with coefficients and moduli that are polynomials of the parameters."""

    def coefficient() -> Formula:
        found = Formula.constant(numbers.choice((0, 1, -1, 2, -2, 3, 1, -1)))
        if numbers.random() < 0.6:
            found += Formula.name(numbers.choice(names)) * numbers.choice((1, -1, 2, -2))
        return found

    first, last = Formula.name(names[0]), Formula.name(names[-1])
    rows = [[coefficient(), coefficient()] for _ in range(numbers.choice((1, 1, 2)))]
    if len(rows) == 1 and numbers.random() < 0.8:
        rows[0][numbers.randrange(2)] = Formula.constant(1)
    base = numbers.choice((first * 2, first * 3, last * 4, first * last, first * last * 2, first + last))
    moduli = [base + numbers.choice((0, 1, -1, 2, -2, 3))]
    if len(rows) == 2:
        moduli.append(numbers.choice((Formula.constant(2), Formula.constant(3), last, first * 2 + 1)))
    return ModularMapping.of("A", ("i", "j"), rows, moduli)


def collides(conflicts: Conflicts, mapping: ModularMapping, sizes: dict[str, int]) -> bool:
    """Whether the mapping takes a conflicting difference to zero at these sizes."""
    matrix = [[entry.at(sizes) for entry in row] for row in mapping.matrix]
    moduli = [modulus.at(sizes) for modulus in mapping.moduli]
    return any(
        all(dot(row, difference) % by == 0 for row, by in zip(matrix, moduli, strict=True))
        for difference in differences_at(conflicts, sizes)
    )


def decided(seed: int) -> tuple[Verdict, str] | None:
    """The verdict on a random mapping, and words where it is wrong; None where a modulus is not positive."""
    numbers = random.Random(seed)
    number = numbers.randrange(len(PROGRAMS))
    conflicts = conflicts_of(number)
    names = PROGRAMS[number][0].split(", ")
    mapping = random_mapping(numbers, names)
    if not all(is_at_least(modulus, 1, conflicts.context) for modulus in mapping.moduli):
        return None
    verdict = verify(conflicts, mapping)
    sides = range(3, 10) if len(names) == 1 else range(3, 8, 2)
    sizes = [dict(zip(names, point, strict=True)) for point in itertools.product(sides, repeat=len(names))]
    wrong = ""
    if isinstance(verdict, Proof) and any(collides(conflicts, mapping, point) for point in sizes):
        wrong = f"{mapping} is proved and collides"
    if isinstance(verdict, Counterexample) and not collides(conflicts, mapping, dict(verdict.params)):
        wrong = f"{mapping} is refuted at {verdict.params} and does not collide there"
    return verdict, wrong


def tally(first: int, count: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(first, first + count):
        outcome = decided(seed)
        if outcome is not None:
            verdict, wrong = outcome
            assert not wrong, f"seed {seed}: {wrong}"
            found[type(verdict).__name__] += 1
    return found


@pytest.mark.parametrize("first", [0, 50, 100])
def test_the_judge_decides(first: int) -> None:
    found = tally(first, 50)
    assert found["Proof"] > 3
    assert found["Counterexample"] > 20
    assert found["Undecided"] <= 1


@pytest.mark.parametrize(
    ("number", "row", "modulus", "is_valid"),
    [
        # Residues of N decide where the lattice lies: (2, 2) and (N, -1).
        (4, ("1", "N"), "2*N + 2", True),
        # j up to N wraps around 4M + 2 only where N is several times M.
        (5, ("-1", "1"), "4*M + 2", False),
        # (N + 1)*j is j modulo N.
        (0, ("1", "N + 1"), "N", False),
    ],
)
def test_named_mappings(number: int, row: tuple[str, str], modulus: str, is_valid: bool) -> None:
    from arrayfold.exact.formula_parse import read_formula

    entries = [[read_formula(one) for one in row]]
    mapping = ModularMapping.of("A", ("i", "j"), entries, [read_formula(modulus)])
    assert isinstance(verify(conflicts_of(number), mapping), Proof if is_valid else Counterexample)
