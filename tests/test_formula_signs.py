"""Formulas against plain evaluation with fractions: what is called whole, affine or large is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.exact.factors import linear_factors
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.signs import absolute_bound, is_at_least, is_at_most, is_positive, is_whole_on
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.check import check
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping

Value = Callable[[int, int], Fraction]
Pair = tuple[Formula, Value]
CONTEXT = isl.Set("[N, M] -> { : N >= -2 and M >= 1 }")
SIZES = [(n, m) for n in range(-2, 9) for m in range(1, 8)]


def _constant(value: Fraction) -> Pair:
    return Formula.constant(value), lambda _n, _m: value


def _floor(inner: Pair, divisor: int) -> Pair:
    formula, value = inner
    return Formula.floor(formula, divisor), lambda n, m: Fraction(math.floor(value(n, m) / divisor))


def _extreme(kind: str, left: Pair, right: Pair) -> Pair:
    pick = max if kind == "max" else min
    formula = Formula.extreme("max" if kind == "max" else "min", [left[0], right[0]])
    return formula, lambda n, m: pick(left[1](n, m), right[1](n, m))


def _remainder(inner: Pair, modulus: int) -> Pair:
    formula, value = inner
    return Formula.remainder(formula, Formula.constant(modulus)), lambda n, m: value(n, m) % modulus


LEAVES: list[Pair] = [
    (Formula.name("N"), lambda n, _m: Fraction(n)),
    (Formula.name("M"), lambda _n, m: Fraction(m)),
]
NUMBERS = st.builds(Fraction, st.integers(-6, 6), st.sampled_from([1, 1, 2, 3]))
PAIRS = st.recursive(
    st.one_of(NUMBERS.map(_constant), st.sampled_from(LEAVES)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(
            lambda p: (p[0][0] + p[1][0], lambda n, m: p[0][1](n, m) + p[1][1](n, m))
        ),
        st.tuples(inner, inner).map(
            lambda p: (p[0][0] * p[1][0], lambda n, m: p[0][1](n, m) * p[1][1](n, m))
        ),
        st.tuples(inner, NUMBERS).map(lambda p: (p[0][0] * p[1], lambda n, m: p[0][1](n, m) * p[1])),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: _floor(*p)),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda p: _extreme(*p)),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: _remainder(*p)),
    ),
    max_leaves=7,
)


@given(PAIRS)
def test_a_formula_has_the_value_of_what_it_was_made_from(pair: Pair) -> None:
    formula, value = pair
    again = read_formula(str(formula))
    for n, m in SIZES:
        expected = value(n, m)
        assert formula.evaluate({"N": n, "M": m}) == expected
        assert again.evaluate({"N": n, "M": m}) == expected
        assert formula.substitute({"N": n, "M": m}).as_number() == expected


@given(PAIRS)
def test_what_is_called_whole_is_whole(pair: Pair) -> None:
    formula, value = pair
    if formula.is_whole or is_whole_on(formula, CONTEXT):
        assert all(value(n, m).denominator == 1 for n, m in SIZES)
    even = CONTEXT.intersect(isl.Set("[N] -> { : N mod 2 = 0 }"))
    if is_whole_on(formula, even):
        assert all(value(n, m).denominator == 1 for n, m in SIZES if n % 2 == 0)


@given(PAIRS, st.integers(-3, 3))
def test_what_is_called_large_is_large(pair: Pair, least: int) -> None:
    formula, value = pair
    if is_at_least(formula, least, CONTEXT):
        assert all(value(n, m) >= least for n, m in SIZES)
    if is_at_most(formula, Formula.name("M"), CONTEXT):
        assert all(value(n, m) <= m for n, m in SIZES)
    if is_positive(formula, CONTEXT):
        assert all(value(n, m) > 0 for n, m in SIZES)


@given(PAIRS)
def test_the_bound_of_an_absolute_value_is_one(pair: Pair) -> None:
    formula, value = pair
    if formula.is_polynomial:
        bound = absolute_bound(formula, {"N": -2, "M": 1})
        assert all(abs(value(n, m)) <= bound.evaluate({"N": n, "M": m}) for n, m in SIZES)


@given(PAIRS)
def test_factors_multiply_to_the_formula(pair: Pair) -> None:
    formula, _ = pair
    assert Formula.product(linear_factors(formula)) == formula


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-9, 9)), min_size=1, max_size=4), NUMBERS)
def test_every_linear_factor_is_found(factors: list[tuple[int, int]], number: Fraction) -> None:
    n, m = Formula.name("N"), Formula.name("M")
    whole = Formula.product(n * a + b for a, b in factors) * (n - m) * (number or 1)
    *found, rest = linear_factors(whole)
    assert len(found) == len(factors)
    assert all(one.names() == {"N"} and one.is_affine for one in found)
    assert Formula.product([*found, rest]) == whole


@given(PAIRS)
def test_isl_sees_the_same_values_of_what_is_called_affine(pair: Pair) -> None:
    formula, value = pair
    if formula.is_affine:
        function = to_pw_aff(formula).add_constant_val(isl.Val(0))
        for n, m in SIZES[::5]:
            here = isl.Set(f"[N, M] -> {{ : N = {n} and M = {m} }}")
            denominator = value(n, m).denominator
            number = to_pw_aff(Formula.constant(value(n, m)))
            assert here.is_subset(function.eq_set(number).params()), (formula, n, m, denominator)


# ---------------------------------------------------------------- what is shown where it should be


@pytest.mark.parametrize(
    ("text", "least", "where"),
    [
        ("N^2 - 4*N", 5, "N >= 5"),
        ("N^2 - 4*N + 4", 0, "N >= 1"),
        ("N*max(N - 5, 0)", 0, "N >= 1"),
        ("N*max(N - 5, 1) + 1", 2, "N >= 1"),
        ("N*floor(N/2)", 1, "N >= 2"),
        ("N*floor((N + 1)/2)", 1, "N >= 1"),
        ("floor(N*N/2)", 2, "N >= 3"),
        ("max(N^2, 1)", 1, "N >= 0"),
        ("min(N^2, N + 3)", 1, "N >= 1"),
        ("N*(N mod 3) + 1", 1, "N >= 0"),
        ("N^2 - 5*N + 7", 1, "1 <= N <= 30"),
    ],
)
def test_shown_to_be_large(text: str, least: int, where: str) -> None:
    context = isl.Set(f"[N] -> {{ : {where} }}")
    assert is_at_least(read_formula(text), least, context)
    assert not is_at_least(read_formula(text), least + 10**9, context)


def test_parameters_that_do_not_occur_need_no_bounds() -> None:
    where = isl.Set("[T, N] -> { : N >= 1 }")
    assert is_at_most(read_formula("N^2 + N"), read_formula("2*N^2"), where)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("(N^2 + N)/2", "N >= 0"),
        ("(N^3 - N)/6", "N >= 0"),
        ("N/2", "N mod 2 = 0"),
        ("(N + 1)/2", "N mod 2 = 1"),
        ("max(N, 4)/2", "N mod 2 = 0"),
        ("N*floor(N/2)/2", "N mod 4 = 0"),
    ],
)
def test_shown_to_be_whole(text: str, where: str) -> None:
    context = isl.Set(f"[N] -> {{ : {where} }}")
    assert is_whole_on(read_formula(text), context)
    assert not is_whole_on(read_formula(text) * Fraction(1, 7), context)


# ---------------------------------------------------------------- the judge

LINE = """
context = "[N] -> { : N >= 3 }"
domain = "[N] -> { S[i] : 0 <= i < N; T[i] : 1 <= i < N }"
write = "[N] -> { S[i] -> A[i] }"
read = "[N] -> { T[i] -> A[i - 1]; T[i] -> A[i] }"
schedule = "[N] -> { S[i] -> [i, 0]; T[i] -> [i, 1] }"
temporary = ["A"]
"""

NOT_WHOLE = [
    "i mod max(N/2, 2)",
    "i mod (N/2 + 2)",
    "i mod (2 + max(N, 5)/2)",
    "i mod min(N/2, 7/2)",
    "i mod floor(N/2)/2",
    "i mod ((N mod 4)/2 + 2)",
    "i mod (N*max(N/3, 1))",
    "i mod (2 + (N/2 mod 3))",
    "(N/2*i) mod 5",
    "(max(N/2, 1)*i) mod 5",
    "(i + N/2) mod 5",
    "(i + max(N, M3)/2) mod 5".replace("M3", "3"),
    "(i + (N + 1)/2) mod 3",
    "(i/2 + i/3) mod 3",
    "(i*floor(N/2)/2) mod 3",
]


@pytest.mark.parametrize("row", NOT_WHOLE)
def test_what_is_no_whole_number_somewhere_is_refused(row: str) -> None:
    with pytest.raises(InputError, match="whole"):
        check(read_problem("line.toml", LINE), f"A[i] -> [{row}]")


@pytest.mark.parametrize("row", NOT_WHOLE)
def test_the_judge_itself_refuses_it(row: str) -> None:
    """Also where a mapping does not come from a text."""
    whole = row.removesuffix(")") if row.count("(") < row.count(")") else row
    parts = whole.split(" mod ", 1) if not row.startswith("(i/2") else ["(i/2 + i/3)", "3"]
    argument, modulus = read_formula(parts[0]), read_formula(parts[1])
    found = argument.coefficients(["i"])
    assert found is not None
    mapping = ModularMapping.of("A", ("i",), [found[0]], [modulus], [found[1]])
    with pytest.raises(InputError, match="whole"):
        verify(Analysis.of(read_problem("line.toml", LINE)).conflicts("A"), mapping)


@pytest.mark.parametrize(
    "row",
    [
        "i mod (N - 3)",
        "i mod (N - 7)",
        "i mod min(N, 5 - N)",
        "i mod floor(N/4)",
        "i mod (3 - floor(N/3))",
        "i mod max(N - 9, -1)",
        "i mod (N mod 3)",
        "i mod (2 + (N mod (N - 4)))",
        "i mod 0",
        "i mod -2",
        "i mod (N^2 - 9)",
        "i mod (N*floor(N/4))",
    ],
)
def test_a_modulus_that_is_not_positive_somewhere_is_never_proved(row: str) -> None:
    try:
        (item,) = check(read_problem("line.toml", LINE), f"A[i] -> [{row}]")
    except ArrayfoldError:
        return
    assert not item.is_valid


@pytest.mark.parametrize(
    ("row", "is_valid"),
    [
        ("i mod max(floor(N/2), 2)", True),
        ("i mod max(floor(N/2), 1)", False),
        ("i mod floor((N + 1)/2)", True),
        ("i mod floor(max(N/2, 2))", True),
        ("i mod min(N, 2)", True),
        ("i mod (2 + (N mod 3))", True),
        ("i mod (1 + (N mod 3))", False),
        ("i mod (N^2 - 2*N)", True),
        ("i mod (N*floor(N/2))", True),
        ("(N*i) mod (N + 1)", True),
    ],
)
def test_whole_positive_moduli_are_judged(row: str, is_valid: bool) -> None:
    (item,) = check(read_problem("line.toml", LINE), f"A[i] -> [{row}]")
    if isinstance(item.verdict, Proof):
        assert is_valid
        for n in range(3, 14):
            assert isinstance(item.mapping, ModularMapping)
            addresses = [item.mapping.address((i,), {"N": n}) for i in range(n)]
            assert all(a != b for a, b in itertools.pairwise(addresses))
    else:
        assert not is_valid or "^" in row or "*" in row


def test_half_a_parameter_is_whole_where_the_context_says_so() -> None:
    even = LINE.replace("N >= 3", "N >= 4 and N mod 2 = 0")
    half = read_formula("N/2")
    mapping = ModularMapping.of("A", ("i",), [[1]], [half])
    assert isinstance(verify(Analysis.of(read_problem("line.toml", even)).conflicts("A"), mapping), Proof)
    with pytest.raises(InputError, match="whole"):
        verify(Analysis.of(read_problem("line.toml", LINE)).conflicts("A"), mapping)
