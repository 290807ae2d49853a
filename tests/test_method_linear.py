"""Linear addresses: the sizes on the papers' programs, against enumeration, and on odd inputs."""

from __future__ import annotations

import itertools
import math

import pytest

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import parameter_names
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.methods import Request
from arrayfold.methods.linear import METHOD
from arrayfold.select.choose import (
    Candidate,
    _smallest_proved,  # pyright: ignore[reportPrivateUsage]
)
from support.reference import is_valid
from test_paper_programs import pairs_at


def ask(conflicts: Conflicts, **params: int) -> Candidate:
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, Request.of(conflicts, params))


def conflicts_of(text: str) -> Conflicts:
    return Analysis.of(read_problem("case.toml", text)).conflicts("A")


def smallest_modulus(conflicts: Conflicts, params: dict[str, int]) -> int:
    """By enumeration: one more than the largest address distance, for the best linearisation."""
    lengths = [length.at(params) for _, length in conflicts.box]
    differences = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairs_at(conflicts, params)}
    best: list[int] = []
    for order in itertools.permutations(range(len(lengths))):
        for signs in itertools.product((1, -1), repeat=len(lengths)):
            strides = {
                axis: signs[axis] * math.prod(lengths[other] for other in order[position + 1 :])
                for position, axis in enumerate(order)
            }
            best.append(1 + max(sum(strides[k] * d[k] for k in strides) for d in differences))
    return min(best)


# The size, and sizes at which it is compared with enumeration.
PROGRAMS = [
    ("jacobi-1d", "n + 1", [3, 6]),
    ("stencil-1d-5point", "N + 2", [5, 6]),
    ("blur-interleaved", "2*N + 1", [3, 5]),
    ("occupancy-stencil", "n + 2", [4, 5]),
    ("lbm-d2q9", "N^2 + N + 1", [3, 4]),
    ("lbm-d3q19", "N^3 + N^2 + N", [3]),
    ("lbm-d3q27", "N^3 + N^2 + N + 1", [3]),
    ("stencil-2d-5x5", "N^2 + 2*N + 2", [5]),
    ("produce-consume", "N^2 - N + 1", [3, 5]),
    ("reverse-l", "N^2 - N + 2", [3, 6]),
    ("diamond-tile", "2*B^2 - 2*B + 1", [3, 4]),
    ("hexagon-tile", "3*B^2 - 3*B + 1", [3, 4]),
    ("heat-2d-tiled", "4*B^3 - 8*B^2 + 4*B + 2", [4]),
    ("jacobi-1d-doall", "2*n", [4, 5]),
]


@pytest.mark.parametrize(("file", "size", "sizes"), PROGRAMS)
def test_sizes_on_the_papers_programs(file: str, size: str, sizes: list[int]) -> None:
    problem = Analysis.of(read(f"examples/{file}.toml"))
    (array,) = problem.foldable()
    conflicts = problem.conflicts(array)
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f(size)
    assert len(mapping.moduli) == 1
    for value in sizes:
        params = dict.fromkeys(parameter_names(conflicts.context), value)
        assert is_valid(pairs_at(conflicts, params), lambda cell, p=params: mapping.address(cell, p))
        assert mapping.size.at(params) == smallest_modulus(conflicts, params)


def test_produce_consume_is_out_of_reach() -> None:
    """BBC16 §6: no linear address comes near the 2N - 1 cells of the skewed mapping."""
    conflicts = Analysis.of(read("examples/produce-consume.toml")).conflicts("A")
    mapping = ask(conflicts, N=9).mapping
    assert mapping is not None
    assert mapping.size.at({"N": 9}) == 73 > 17


def test_directions_matter() -> None:
    """Anti-diagonal neighbours are N + 1 apart when both axes run upwards, N - 1 when one runs downwards."""
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 3 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[1, 1] }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("N")
    assert str(mapping) == "A[i, j] -> [(N*i - j) mod N]"


def test_only_the_given_order() -> None:
    conflicts = conflicts_of(
        'context = "[N, M] -> { : N >= 3 and M >= 3 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M] -> { A[1, 0] }"'
    )
    given = _smallest_proved(METHOD.name, METHOD.find, conflicts, Request.of(conflicts, {}, all_orders=False))
    assert given.mapping is not None
    assert given.mapping.size == f("M + 1")
    best = ask(conflicts).mapping
    assert best is not None
    assert best.size == f("2")


def test_several_parameters() -> None:
    """The outer index takes few values, so the judge can settle each of them."""
    conflicts = conflicts_of(
        'context = "[N, M] -> { : N >= 3 and M >= 3 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M] -> { A[0, j] : -M < j < M; A[1, j] : -M < j <= 1; A[-1, j] : -1 <= j < M }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("M + 2")
    for params in ({"N": 3, "M": 5}, {"N": 6, "M": 4}):
        assert is_valid(pairs_at(conflicts, params), lambda cell, p=params: mapping.address(cell, p))


def test_strides_with_products_of_parameters() -> None:
    """Strides J*K and K: the smallest proposal equals the lower bound, and holds at every size tried."""
    conflicts = Analysis.of(read("examples/alignment-3d.toml")).conflicts("A")
    proposed = METHOD.find(conflicts, Request.of(conflicts, {}))[0]
    assert proposed.size == f("J*K + K + 1")
    for params in ({"I": 2, "J": 3, "K": 4}, {"I": 4, "J": 2, "K": 2}):
        assert is_valid(pairs_at(conflicts, params), lambda cell, p=params: proposed.address(cell, p))
        assert isinstance(verify(conflicts.at(params), proposed.at(params)), Proof)
    assert not isinstance(verify(conflicts, proposed), Counterexample)


def test_no_parameters() -> None:
    conflicts = conflicts_of(
        'array = "{ A[i, j] : 0 <= i < 5 and 0 <= j < 7 }"\n'
        'differences = "{ A[i, j] : -1 <= i <= 1 and -2 <= j <= 2 }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f(str(smallest_modulus(conflicts, {})))
    assert is_valid(pairs_at(conflicts, {}), lambda cell: mapping.address(cell, {}))


def test_strides_and_holes() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : i mod 2 = 0 and -2 <= i <= 2 and -N < j < N and j mod 3 = 1 }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    for value in (4, 5, 6, 7, 9):
        pairs = pairs_at(conflicts, {"N": value})
        assert is_valid(pairs, lambda cell, v=value: mapping.address(cell, {"N": v}))
        assert mapping.size.at({"N": value}) <= smallest_modulus(conflicts, {"N": value}) + 2


def test_corners_between_the_integers_are_rounded() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 2 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : -1 <= i <= 1 and -N <= 2j <= N }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    for value in range(2, 9):
        assert mapping.size.at({"N": value}) == smallest_modulus(conflicts, {"N": value})


def test_lengths_that_depend_on_which_parameter_is_larger() -> None:
    conflicts = conflicts_of(
        'context = "[N, M] -> { : N >= 2 and M >= 2 }"\n'
        'conflicts = """[N, M] -> { A[i, j] -> A[i, k] : 0 <= i < 4 and 0 <= j, k < N;'
        ' A[i, j] -> A[i, k] : 0 <= i < 4 and 0 <= j, k < M }"""'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("max(M, N)")


def test_one_dimension() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i] : 0 <= i < N }"\n'
        'differences = "[N] -> { A[i] : -3 <= i <= 3 }"'
    )
    mapping = ask(conflicts).mapping
    assert mapping is not None
    assert mapping.size == f("4")


def test_nothing_conflicts() -> None:
    mapping = ask(Analysis.of(read("examples/scalar-chain.toml")).conflicts("c")).mapping
    assert mapping is not None
    assert mapping.matrix == ()


def test_the_same_answer_on_every_run() -> None:
    conflicts = Analysis.of(read("examples/heat-2d-tiled.toml")).conflicts("A")
    first, second = (METHOD.find(conflicts, Request.of(conflicts, {})) for _ in range(2))
    assert first == second
