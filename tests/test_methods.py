from __future__ import annotations

import pytest

from arrayfold.base.errors import InputError
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.methods import METHODS, Request
from arrayfold.select.choose import choose


def test_an_array_that_cannot_shrink_keeps_the_identity() -> None:
    assert fold(read("examples/forward-substitution.toml"))["y"].method == "identity"


def test_the_identity_starts_at_zero() -> None:
    folded = fold(read("examples/produce-consume.toml"), method="identity")["A"]
    assert folded.mapping.offset == (f("-1"), f("-1"))
    assert folded.mapping.address((1, 1), {"N": 5}) == (0, 0)


def test_pieces_may_use_orders_of_their_own() -> None:
    """Every single order gives 2*N; the piece with j = ±1 wants j first, the other one i first: 4 cells."""
    problem = read_problem(
        "pieces.toml",
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, 1] : -N < i < N; A[1, j] : -N < j < N }"',
    )
    conflicts = Analysis.of(problem).conflicts("A")
    (given,) = METHODS["successive-modulo"].find(conflicts, Request.of(conflicts, {}, all_orders=False))
    (best,) = METHODS["successive-modulo"].find(conflicts, Request.of(conflicts, {}))
    assert given.size == f("2*N")
    assert best.size == f("4")
    assert isinstance(verify(conflicts, best), Proof)


def test_sizes_are_compared_where_the_user_says() -> None:
    """Along i cells are far apart only if N is large, along j only if M is: the better order depends."""
    problem = read_problem(
        "two.toml",
        'context = "[N, M] -> { : N >= 3 and M >= 3 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M] -> { A[i, 1] : -N < i < N; A[i, 2] : -N < i < N; A[1, j] : -M < j < M }"',
    )
    sizes = ({"N": 4, "M": 1000}, {"N": 1000, "M": 4})
    folded = [fold(problem, params=params)["A"].size for params in sizes]
    for k, params in enumerate(sizes):
        assert folded[k].at(params) <= folded[1 - k].at(params)


def test_ties_are_decided_far_out() -> None:
    problem = read_problem(
        "two.toml",
        'context = "[N, M] -> { : N >= 3 and M >= 3 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M] -> { A[i, 0] : -N < i < N; A[0, j] : -M < j < M }"',
    )
    assert fold(problem, params={"N": 4, "M": 100})["A"].size == f("max(M, N)")


def test_power_of_two_leaves_parametric_moduli_alone() -> None:
    folded = fold(read("examples/blur-interleaved.toml"), method="successive-modulo", power_of_two=True)[
        "blurx"
    ]
    assert folded.mapping.moduli == (f("4"), f("N"))


def test_the_same_answer_on_every_run() -> None:
    for name in ("heat-2d-tiled", "lbm-d3q19"):
        first, second = (fold(read(f"examples/{name}.toml"))["A"].mapping for _ in range(2))
        assert first == second


def test_unknown_method() -> None:
    conflicts = Analysis.of(read("examples/blur.toml")).conflicts("blurx")
    with pytest.raises(InputError, match="there is no method"):
        choose("magic", conflicts, Request.of(conflicts, {}))


def test_moduli_that_depend_on_which_parameter_is_larger() -> None:
    problem = read_problem(
        "max.toml",
        'context = "[N, M] -> { : N >= 1 and M >= 1 }"\n'
        'conflicts = "[N, M] -> { A[i] -> A[j] : 0 <= i, j < N; A[i] -> A[j] : 0 <= i, j < M }"',
    )
    folded = fold(problem)["A"]
    assert folded.size == f("max(M, N)")
    assert folded.size.at({"N": 3, "M": 7}) == 7


@pytest.mark.parametrize("method", ["identity", "successive-modulo", "auto"])
def test_power_of_two_holds_for_every_method(method: str) -> None:
    text = (
        'array = "{ A[i, j] : 0 <= i < 5 and 0 <= j < 7 }"\n'
        'differences = "{ A[i, j] : -2 <= i <= 2 and -6 <= j <= 6 }"'
    )
    folded = fold(read_problem("small.toml", text), method=method, power_of_two=True)["A"]
    numbers = [int(modulus.as_number()) for modulus in folded.mapping.moduli]
    assert numbers
    assert all(number & (number - 1) == 0 for number in numbers)
