"""Rows of least width: the papers' programs, brute force over small rows, degenerate input."""

from __future__ import annotations

import itertools
import random

import islpy as isl
import pytest
from flint import fmpz_mat

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, MethodNotApplicable
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.generators import nonnegative_forms
from arrayfold.exact.isl import points
from arrayfold.exact.lattice import axes
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.methods import Request
from arrayfold.methods.basis import METHOD
from arrayfold.methods.farkas import Measures, bound_forms, measures, width_conditions
from arrayfold.methods.narrow_rows import NarrowRows
from arrayfold.methods.widths import restrict
from arrayfold.program.model import Array
from arrayfold.select.choose import Candidate, _smallest_proved
from support.reference import is_valid
from test_paper_programs import pairs_at

Vector = tuple[int, ...]

# DIY15 Table 1 and §4.1.4: what heuristic 1 gives (LeFe rows; diamond and heat in the better order), our
# size, the size with the rows in the order in which they are found, and a size at which pairs are enumerated.
PUBLISHED = [
    ("stencil-2d-5x5", "2*N^2", "2*N^2", "2*N^2", 5),
    ("blur-interleaved", "3*N", "3*N", "3*N", 4),
    ("blur-tiled", "B^2", "B^2", "B^2", 4),
    ("lbm-d2q9", "2*N^2", "2*N^2", "2*N^2", 3),
    ("lbm-d3q19", "2*N^3", "2*N^3", "2*N^3", 3),
    ("lbm-d3q27", "2*N^3", "2*N^3", "2*N^3", 3),
    ("diamond-tile", "4*B - 2", "4*B - 2", "2*B^2 - B", 4),
    ("heat-2d-tiled", "B^3", "8*B^2 - 8*B + 2", "B^3", 4),
    ("reverse-l", "N^2", "N^2", "N^2", 4),
]


def example(file: str) -> Conflicts:
    analysis = Analysis.of(read(f"examples/{file}.toml"))
    return analysis.conflicts(analysis.foldable()[0])


def conflicts_of(text: str) -> Conflicts:
    analysis = Analysis.of(read_problem("small.toml", text))
    return analysis.conflicts(analysis.foldable()[0])


def asked(conflicts: Conflicts, *, all_orders: bool = True, **params: int) -> Candidate:
    request = Request.of(conflicts, params, all_orders=all_orders)
    return _smallest_proved(METHOD.name, METHOD.find, conflicts, request)


def size_of(conflicts: Conflicts, *, all_orders: bool = True, **params: int) -> Formula:
    candidate = asked(conflicts, all_orders=all_orders, **params)
    assert candidate.mapping is not None, candidate.reason
    return candidate.mapping.size


def narrow_rows(differences: str, context: str = "{ : }") -> list[Vector]:
    cells, where = isl.Set(differences), isl.Set(context)
    where = where.align_params(cells.get_space())
    order = measures(where, {})[0]
    return NarrowRows(cells, where, axes(cells.dim(isl.dim_type.set)), Budget(None)).find(order)


# ---------------------------------------------------------------- the papers


@pytest.mark.parametrize(("file", "printed", "size", "greedy", "at"), PUBLISHED)
def test_published_rows(file: str, printed: str, size: str, greedy: str, at: int) -> None:
    conflicts = example(file)
    candidate = asked(conflicts)
    assert candidate.mapping is not None, candidate.reason
    assert candidate.mapping.size == f(size)
    (name,) = f(printed).names()
    assert f(size).at({name: 10**6}) <= f(printed).at({name: 10**6})
    assert size_of(conflicts, all_orders=False) == f(greedy)
    pairs = pairs_at(conflicts, {name: at})
    assert pairs
    mapping = candidate.mapping
    assert is_valid(pairs, lambda cell: mapping.address(cell, {name: at}))


@pytest.mark.parametrize("file", ["jacobi-1d", "hexagon-tile", "unsharp-tiled", "gauss", "alignment-3d"])
def test_never_larger_than_successive_modulo_on_the_examples(file: str) -> None:
    from arrayfold.select.choose import ask

    conflicts = example(file)
    request = Request.of(conflicts, {})
    axes_only = ask("successive-modulo", conflicts, request).mapping
    assert axes_only is not None
    assert request.rank(size_of(conflicts)) <= request.rank(axes_only.size)


# ---------------------------------------------------------------- the rows themselves


def test_a_slanted_band_is_folded_across() -> None:
    """Differences near the diagonal: along i - j they are three wide, along the axes N."""
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = "[N] -> { A[i, j] : -N < i, j < N and -1 <= i - j <= 1 }"'
    )
    candidate = asked(conflicts)
    assert candidate.mapping is not None
    assert str(candidate.mapping) == "A[i, j] -> [(i - j) mod 2, i mod N]"
    assert candidate.mapping.size == f("2*N")


def test_large_coefficients_are_found() -> None:
    """The multiples of (7, 19) and (8, 22) vanish along one row each, and no small one does."""
    text = "[N] -> {{ A[i, j] : exists k : i = {}*k and j = {}*k and -N <= k <= N }}"
    assert narrow_rows(text.format(7, 19), "[N] -> { : N >= 3 }")[0] == (19, -7)
    assert narrow_rows(text.format(8, 22), "[N] -> { : N >= 3 }")[0] == (11, -4)


def brute_force_width(differences: set[Vector], before: list[Vector], largest: int) -> int:
    """The least width over all small rows that are independent of those before."""
    flat = [d for d in differences if all(dot(row, d) == 0 for row in before)]
    rank = len(next(iter(differences)))
    widths = (
        max((dot(row, d) for d in flat), default=0)
        for row in itertools.product(range(-largest, largest + 1), repeat=rank)
        if fmpz_mat([list(other) for other in (*before, row)]).rank() > len(before)
    )
    return min(widths)


def dot(row: Vector, vector: Vector) -> int:
    return sum(a * b for a, b in zip(row, vector, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_widths_equal_brute_force_on_random_unions(seed: int) -> None:
    """Segments between random whole points have whole ends, so that Farkas' bound is the width itself."""
    rng = random.Random(seed)
    rank = rng.choice([2, 2, 3])
    names = ["x", "y", "z"][:rank]
    pieces: list[str] = []
    for _ in range(rng.randint(1, 4)):
        corner = [rng.randint(-3, 3) for _ in names]
        length = [rng.randint(0, 2) for _ in names]
        box = [f"{c} <= {x} <= {c + r}" for x, c, r in zip(names, corner, length, strict=True)]
        mirrored = [f"{-c - r} <= {x} <= {-c}" for x, c, r in zip(names, corner, length, strict=True)]
        pieces += [" and ".join(box), " and ".join(mirrored)]
    text = f"{{ A[{', '.join(names)}] : {' or '.join(f'({piece})' for piece in pieces)} }}"
    rows = narrow_rows(text)
    assert abs(int(fmpz_mat([list(row) for row in rows]).det())) == 1
    differences = set(points(isl.Set(text)))
    for k, row in enumerate(rows):
        flat = [d for d in differences if all(dot(other, d) == 0 for other in rows[:k])]
        width = max((dot(row, d) for d in flat), default=0)
        assert width == brute_force_width(differences, rows[:k], 4 if rank == 2 else 3)


def test_rows_form_a_unimodular_matrix_on_the_examples() -> None:
    for file in ("heat-2d-tiled", "lbm-d2q9", "blur-interleaved", "alignment-3d", "hexagon-tile"):
        conflicts = example(file)
        order = measures(conflicts.context, Request.of(conflicts, {}).sizes)[0]
        unit = axes(conflicts.array.rank)
        rows = NarrowRows(conflicts.differences, conflicts.context, unit, Budget(None)).find(order)
        assert abs(int(fmpz_mat([list(row) for row in rows]).det())) == 1


def test_rows_of_width_zero_are_primitive_on_what_is_left() -> None:
    """After (1, -2) only multiples of (2, 1) are left, which (1, 0) would count in steps of two."""
    rows = narrow_rows("{ A[i, j] : -1 <= i - 2*j <= 1 and -9 <= i <= 9 and i mod 2 = 1 }")
    assert abs(int(fmpz_mat([list(row) for row in rows]).det())) == 1


def test_only_allowed_rows_are_used() -> None:
    """The differences are narrowest along i, but rows must vanish on (1, 1)."""
    cells = isl.Set("[N] -> { A[i, j] : -1 <= i <= 1 and -N < j < N }")
    context = isl.Set("[N] -> { : N >= 3 }")
    (order,) = measures(context, {"N": 10})
    assert NarrowRows(cells, context, [(3, -3)], Budget(None)).find(order) == [(3, -3)]
    assert NarrowRows(cells, context, [(1, -1)], Budget(None)).find(order) == [(1, -1)]


def test_fractional_growth_is_compared_exactly() -> None:
    """Along i the width is N/3, along j it is N/2: rounded up to N they would be equal."""
    context = "[N] -> { : N >= 6 }"
    assert narrow_rows("[N] -> { A[j, i] : -N <= 3*i <= N and -N <= 2*j <= N }", context)[0] == (0, 1)
    assert narrow_rows("[N] -> { A[j, i] : -N <= 2*i <= N and -N <= 3*j <= N }", context)[0] == (1, 0)


# ---------------------------------------------------------------- Farkas


def test_forms_of_lines_come_in_pairs() -> None:
    forms = nonnegative_forms(isl.BasicSet("[N] -> { A[i] : i = 2 }"))
    assert (0, 1, 0) in forms
    assert (0, -1, 0) in forms
    assert (1, 0, 2) in forms


def test_measures_follow_the_context() -> None:
    free = measures(isl.Set("[N, M] -> { : N >= 3 and M >= 5 }"), {"N": 10, "M": 99})
    assert free == [Measures(((0, 0, 1), (0, 1, 0), (1, 3, 5))), Measures(((0, 1, 0), (0, 0, 1), (1, 3, 5)))]
    below = measures(isl.Set("[N, M] -> { : N >= M >= 1 }"), {"N": 9, "M": 3})
    assert {form for order in below for form in order.forms} == {(0, 1, 0), (0, 1, 1), (1, 1, 1)}
    bounded = measures(isl.Set("[B] -> { : 1 <= B <= 8 }"), {"B": 8})
    assert [order.forms for order in bounded] == [((1, 1), (1, 8))]
    assert [order.forms for order in measures(isl.Set("{ : }"), {})] == [((1,),)]


def test_conditions_say_how_wide_a_row_is() -> None:
    """Growth g and width w at N = 3 of the row c on -N < i < N: g >= |c|, w >= 2 |c|."""
    context = isl.Set("[N] -> { : N >= 3 }")
    (order,) = measures(context, {"N": 10})
    cells = isl.Set("[N] -> { [i] : -N < i < N and N >= 3 }")
    conditions = width_conditions(bound_forms(cells, context), order)
    assert {(1, 0, 1), (1, 0, -1), (0, 1, 2), (0, 1, -2)} <= set(conditions)


def test_restriction_to_a_lattice() -> None:
    inside = restrict(isl.Set("[z0] -> { A[i, j] : -z0 <= i, j <= z0 and i + j = 0 }"), [(1, -1)])
    assert inside.is_equal(isl.Set("[z0] -> { A[k] : -z0 <= k <= z0 }"))


# ---------------------------------------------------------------- degenerate input


def test_nothing_conflicts() -> None:
    conflicts = conflicts_of('array = "{ A[i, j] : 0 <= i, j < 4 }"\ndifferences = "{ A[i, j] : 1 = 0 }"')
    assert size_of(conflicts) == f("1")


def test_one_dimension() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 9 }"\narray = "[N] -> { A[i] : 0 <= i < N }"\n'
        'differences = "[N] -> { A[i] : i = 2 or i = 5 }"'
    )
    assert size_of(conflicts) == f("6")


def test_scalars() -> None:
    conflicts = conflicts_of('array = "{ A[] }"\ndifferences = "{ A[] : 1 = 0 }"')
    assert size_of(conflicts) == f("1")


def test_no_parameters() -> None:
    conflicts = conflicts_of(
        'array = "{ A[i, j] : 0 <= i, j < 9 }"\n'
        'differences = "{ A[i, j] : -8 <= i, j <= 8 and -2 <= i + j <= 2 }"'
    )
    assert size_of(conflicts) == f("27")


def test_several_parameters_with_different_roles() -> None:
    """A band that slants in a box of both parameters and is as thick as a third, bounded one."""
    conflicts = conflicts_of(
        'context = "[N, M, K] -> { : N >= 3 and M >= 3 and 1 <= K <= 4 and 2*M >= N }"\n'
        'array = "[N, M, K] -> { A[i, j] : 0 <= i < N and 0 <= j < M }"\n'
        'differences = "[N, M, K] -> { A[i, j] : -N < i < N and -M < j < M and -K <= i - j <= K }"'
    )
    for sizes in ({"N": 10, "M": 1000}, {"N": 1000, "M": 500}):
        candidate = asked(conflicts, **sizes)
        assert candidate.is_proved, candidate.reason
        assert candidate.mapping is not None
        assert candidate.mapping.matrix[0] == (f("1"), f("-1"))
        assert candidate.mapping.size in (f("K*N + N"), f("K*M + M"))


def test_strides_and_holes() -> None:
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 6 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        'differences = """[N] -> { A[i, j] : -N < i < N and i mod 3 = 0 and (j = 0 or j = 2 or j = -2);'
        ' A[i, 0] : 2 <= i <= 4 }"""'
    )
    candidate = asked(conflicts)
    assert candidate.is_proved, candidate.reason
    assert candidate.mapping is not None
    mapping = candidate.mapping
    for size in (6, 7, 8):
        pairs = pairs_at(conflicts, {"N": size})
        assert is_valid(pairs, lambda cell, size=size: mapping.address(cell, {"N": size}))


def test_parameters_of_differences_in_another_order() -> None:
    cells = isl.Set("[M, N] -> { A[i, j] : -N < i < N and -M < j < M and 0 <= i + j <= 0 }")
    context = isl.Set("[N, M] -> { : N >= 3 and M >= 3 }")
    narrow = NarrowRows(cells, context, axes(2), Budget(None))
    rows = [narrow.find(order) for order in measures(context, {})]
    assert all(found[0] == (1, 1) for found in rows)


def test_unions_of_twenty_pieces() -> None:
    """Along j the pieces are narrower, but cells that agree in i never conflict."""
    pieces = "; ".join(f"A[i, {2 * k}] : {k} <= i < N - {k}" for k in range(20))
    conflicts = conflicts_of(
        'context = "[N] -> { : N >= 45 }"\narray = "[N] -> { A[i, j] : 0 <= i, j < N }"\n'
        f'differences = "[N] -> {{ {pieces} }}"'
    )
    assert size_of(conflicts) == f("N")


def test_unbounded_differences_are_refused() -> None:
    cells = isl.Set("{ A[i, j] }")
    array = Array("A", ("i", "j"), cells)
    differences = isl.Set("{ A[i, j] : -1 <= j <= 1 }")
    conflicts = Conflicts(array, isl.Set("{ : }"), cells, None, differences, None)
    with pytest.raises(MethodNotApplicable, match="not bounded for every size"):
        METHOD.find(conflicts, Request.of(conflicts, {}))


def test_budget() -> None:
    conflicts = example("lbm-d3q27")
    with pytest.raises(BudgetExceeded):
        METHOD.find(conflicts, Request.of(conflicts, {}, Budget(0.0)))


def test_the_same_answer_on_every_run() -> None:
    for file in ("heat-2d-tiled", "alignment-3d"):
        conflicts = example(file)
        first, second = (asked(conflicts).mapping for _ in range(2))
        assert first == second


def test_pieces_may_use_orders_of_their_own() -> None:
    """Where i + j is ±1 it wants to be first, and so does i where that is ±1: 4 cells, not 2N (§4.1)."""
    problem = read_problem(
        "pieces.toml",
        'context = "[N] -> { : N >= 4 }"\narray = "[N] -> { A[i, j] : -2N <= i, j < 2N }"\n'
        'differences = "[N] -> { A[i, j] : i + j = 1 and -N < i < N; A[1, j] : -N < j < N - 2 }"',
    )
    conflicts = Analysis.of(problem).conflicts("A")
    (given,) = METHOD.find(conflicts, Request.of(conflicts, {}, all_orders=False))
    (best,) = METHOD.find(conflicts, Request.of(conflicts, {}))
    assert (given.size, best.size) == (f("2*N - 2"), f("4"))
    assert isinstance(verify(conflicts, best), Proof)
