from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents, fit, from_aff, from_qpolynomial, to_pw_aff
from arrayfold.exact.formula_parse import read_formula

N, M = Formula.name("N"), Formula.name("M")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2*N + 1", "2*N + 1"),
        ("N^2", "N^2"),
        ("1 + 2N", "2*N + 1"),
        ("N*(N+1)/2", "(N^2 + N)/2"),
        ("floor((N + 1)/2)", "floor((N + 1)/2)"),
        ("floor(N/2 + 1/2)", "floor((N + 1)/2)"),
        ("max(N, M, 3, 2)", "max(M, N, 3)"),
        ("min(N)", "N"),
        ("-N + 3", "-N + 3"),
        ("N - N", "0"),
        ("5B^2-8B+4", "5*B^2 - 8*B + 4"),
        ("m+2*n-2", "m + 2*n - 2"),
        ("(i - t) mod (2*N - 1)", "(i - t) mod (2*N - 1)"),
        ("N**2*M", "M*N^2"),
    ],
)
def test_reading_and_printing(text: str, printed: str) -> None:
    formula = read_formula(text)
    assert str(formula) == printed
    assert read_formula(printed) == formula


@pytest.mark.parametrize("text", ["", "2 +", "N /M", "N/0", "(N", "N)", "N^M", "N $ 2", "max(N", "mod 3"])
def test_nonsense_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_formula(text)
    assert caught.value.place is not None


formulas = st.recursive(
    st.one_of(st.integers(-5, 5).map(Formula.constant), st.sampled_from([N, M])),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, st.integers(2, 4)).map(lambda p: Formula.floor(p[0], p[1])),
        st.tuples(inner, inner).map(lambda p: Formula.extreme("max", p)),
    ),
    max_leaves=8,
)


@given(formulas, st.integers(-4, 9), st.integers(-4, 9))
def test_text_round_trip_keeps_the_value(formula: Formula, n: int, m: int) -> None:
    again = read_formula(str(formula))
    values = {"N": n, "M": m}
    assert again.evaluate(values) == formula.evaluate(values)
    assert formula.substitute(values).as_number() == formula.evaluate(values)


@given(formulas, formulas, st.integers(-4, 9), st.integers(-4, 9))
def test_arithmetic(left: Formula, right: Formula, n: int, m: int) -> None:
    values = {"N": n, "M": m}
    a, b = left.evaluate(values), right.evaluate(values)
    assert (left + right).evaluate(values) == a + b
    assert (left - right).evaluate(values) == a - b
    assert (left * right).evaluate(values) == a * b


@pytest.mark.parametrize("text", ["2*N + 1", "floor((N + 3)/2) - M", "max(N, M) + 1", "min(N - 1, 3)"])
def test_isl_round_trip(text: str) -> None:
    formula = read_formula(text)
    function = to_pw_aff(formula)
    fitted = fit(function, isl.Set("{ : }"), "max" if "min" not in text else "min")
    for n, m in ((0, 0), (3, 9), (9, 3), (-2, 5)):
        assert fitted.evaluate({"N": n, "M": m}) == formula.evaluate({"N": n, "M": m})


def test_products_have_no_affine_form() -> None:
    with pytest.raises(NotAffine):
        to_pw_aff(N * M)


def test_fit_errs_to_the_side_that_is_asked_for() -> None:
    wavy = isl.PwAff("[N] -> { [(N)] : N mod 2 = 0; [(2N - 7)] : N mod 2 = 1 }")
    context = isl.Set("[N] -> { : N >= 0 }")
    above, below = fit(wavy, context, "max"), fit(wavy, context, "min")
    for n in range(20):
        value = n if n % 2 == 0 else 2 * n - 7
        assert below.evaluate({"N": n}) <= value <= above.evaluate({"N": n})


def test_counting_polynomials() -> None:
    aff = isl.Aff("[N] -> { [(floor((N + floor((N)/3))/2))] }")
    for n in range(12):
        assert from_aff(aff).at({"N": n}) == (n + n // 3) // 2
    polynomial = isl.PwQPolynomial("[N] -> { (1/2 * N + 1/2 * N^2) : N > 0 }")
    ((_, piece),) = polynomial.get_pieces()
    assert str(from_qpolynomial(piece)) == "(N^2 + N)/2"


def test_extents_of_an_empty_set() -> None:
    assert extents(isl.Set("[N] -> { A[i] : false }"), isl.Set("{ : }")) == [
        (Formula.constant(0), Formula.constant(1))
    ]
