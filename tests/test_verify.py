from __future__ import annotations

import itertools

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.digits import taken_to_multiples
from arrayfold.judge.polynomials import check_linear
from arrayfold.judge.verify import Counterexample, Proof, Undecided, verify
from arrayfold.judge.witness import find_clobber
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from support.reference import is_valid
from test_paper_programs import pairs_at

# Mappings that papers print, on the programs corrected as docs/errata.md says.
VALID = [
    ("jacobi-1d", "A[i, j] -> [(j - i) mod (n + 1)]"),
    ("jacobi-1d", "A[i, j] -> [(n*i + j) mod (n + 1)]"),
    ("jacobi-1d-forall", "A[i, j] -> [j]"),
    ("jacobi-1d-doall", "A[i, j] -> [i mod 2, j]"),
    ("produce-consume", "A[t, i] -> [(i - t) mod (2*N - 1)]"),
    ("blur-interleaved", "blurx[y, x] -> [(2*x - y) mod (2*N + 1)]"),
    ("blur-tiled", "blurx[x, y] -> [(y - 2*x) mod (3*B - 2)]"),
    ("unsharp-tiled", "A[x, y] -> [(y - 4*x) mod (5*B - 4)]"),
    ("lbm-d2q9", "A[t, i, j] -> [(i - 2*t) mod (N + 2), j mod N]"),
    ("lbm-d2q9", "A[t, i, j] -> [(i - t) mod (N + 1), (j - t) mod (N + 1)]"),
    ("lbm-d3q19", "A[t, i, j, k] -> [k mod N, (i - t) mod (N + 1), (j - t) mod (N + 1)]"),
    ("diamond-tile", "A[tt, ii] -> [(tt - 3*ii) mod (6*B - 5)]"),
    ("diamond-tile", "A[tt, ii] -> [tt mod 2, ii mod (2*B - 1)]"),
    ("parallelogram-tile", "A[tt, i] -> [(tt - i) mod (3*B - 2)]"),
    ("hexagon-tile", "A[tt, ii] -> [(3*ii - tt) mod (9*B - 8)]"),
    ("heat-2d-tiled", "A[t, i, j] -> [j mod (2*B - 1), (i - t) mod (3*B - 2)]"),
    ("reverse-l", "A[x, y] -> [y mod 2, (x - y) mod (2*N - 1)]"),
    ("reverse-l", "A[x, y] -> [(3*x - 2*y) mod (5*N - 4)]"),
    ("stencil-1d-5point", "A[t, i] -> [(i - 2*t) mod (N + 2)]"),
    ("reverse-l", "A[x, y] -> [(x + (2*N - 2)*y) mod (4*N - 2)]"),
]

INVALID = [
    ("reverse-l", "A[x, y] -> [(2*x - y) mod (4*N - 2)]"),
    ("lbm-d3q19", "A[t, i, j, k] -> [j mod N, (i - t) mod (N + 1), (k - t) mod (N + 1)]"),
    ("jacobi-1d-doall", "A[i, j] -> [(j - i) mod (n + 1)]"),
    ("jacobi-1d", "A[i, j] -> [(i + j) mod (n + 1)]"),
    ("blur-tiled", "blurx[x, y] -> [x mod 3, y]"),
]


def judged(file: str, text: str) -> tuple[ModularMapping, object, object]:
    problem = read(f"examples/{file}.toml")
    (mapping,) = read_mappings(text, problem)
    assert isinstance(mapping, ModularMapping)
    conflicts = Analysis.of(problem).conflicts(mapping.array)
    return mapping, conflicts, verify(conflicts, mapping)


@pytest.mark.parametrize(("file", "text"), VALID)
def test_published_mappings_are_proved(file: str, text: str) -> None:
    _, _, verdict = judged(file, text)
    assert isinstance(verdict, Proof)
    assert verdict.steps


@pytest.mark.parametrize(("file", "text"), INVALID)
def test_misprints_are_refuted(file: str, text: str) -> None:
    mapping, conflicts, verdict = judged(file, text)
    assert isinstance(verdict, Counterexample)
    first, second = verdict.cells
    assert (first, second) in pairs_at(conflicts, dict(verdict.params))  # type: ignore[arg-type]
    assert mapping.address(first, verdict.params) == mapping.address(second, verdict.params)


TIGHT = [
    ("jacobi-1d", "A[i, j] -> [(j - i) mod (n + 1)]"),
    ("produce-consume", "A[t, i] -> [(i - t) mod (2*N - 1)]"),
    ("blur-interleaved", "blurx[y, x] -> [(2*x - y) mod (2*N + 1)]"),
    ("blur-tiled", "blurx[x, y] -> [(y - 2*x) mod (3*B - 2)]"),
    ("parallelogram-tile", "A[tt, i] -> [(tt - i) mod (3*B - 2)]"),
]


@pytest.mark.parametrize(("file", "text"), TIGHT)
def test_a_smaller_modulus_of_a_tight_mapping_is_refuted(file: str, text: str) -> None:
    mapping, conflicts, verdict = judged(file, text)
    assert isinstance(verdict, Proof)
    smaller = ModularMapping(
        mapping.array,
        mapping.dimensions,
        mapping.matrix,
        mapping.offset,
        (mapping.moduli[0] - 1,),
    )
    assert isinstance(verify(conflicts, smaller), Counterexample)  # type: ignore[arg-type]


def test_parameters_that_cannot_be_compared_are_undecided_or_relaxed() -> None:
    problem = read_problem(
        "two.toml",
        'context = "[N, M] -> { : N >= 2 and M >= 2 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N and 0 <= j < 2 }"\n'
        'conflicts = "[N, M] -> { A[i, j] -> A[k, l] : 0 <= i, k < N and 0 <= j, l < 2 }"',
    )
    conflicts = Analysis.of(problem).conflicts("A")
    (refuted,) = read_mappings("A[i, j] -> [i mod M, j]", problem)
    assert isinstance(verify(conflicts, refuted), Counterexample)
    (relaxed,) = read_mappings("A[i, j] -> [i mod M, i mod N, j]", problem)
    assert isinstance(verify(conflicts, relaxed), Proof)
    (too_hard,) = read_mappings("A[i, j] -> [(i + N*j) mod (M*M*N - 6*M*N + 11*N)]", problem)
    assert isinstance(verify(conflicts, too_hard), Undecided)


def test_no_conflict_needs_one_cell() -> None:
    problem = read_problem("none.toml", 'array = "{ A[i] : 0 <= i < 9 }"\ndifferences = "{ A[i] : false }"')
    folded = fold(problem)["A"]
    assert folded.size == Formula.constant(1)
    assert "nothing conflicts" in str(folded.proof)


def test_the_story_of_a_value_needed_afterwards() -> None:
    problem = read("examples/blur-tiled.toml")
    analysis = Analysis.of(problem)
    (mapping,) = read_mappings("blurx[x, y] -> [y]", problem)
    verdict = verify(analysis.conflicts("blurx"), mapping)
    assert isinstance(verdict, Counterexample)
    assert analysis.liveness is not None
    story = str(find_clobber(analysis.liveness, verdict))
    assert "is needed afterwards" in story


def test_the_story_of_a_value_from_before() -> None:
    problem = read_problem(
        "in.toml",
        'domain = "{ S[i] : 0 <= i < 4 }"\nwrite = "{ S[i] -> A[i] }"\nread = "{ S[i] -> A[i + 1] }"\n'
        'schedule = "{ S[i] -> [i] }"\ntemporary = ["A"]',
    )
    analysis = Analysis.of(problem)
    (mapping,) = read_mappings("A[i] -> [i mod 2]", problem)
    verdict = verify(analysis.conflicts("A"), mapping)
    assert isinstance(verdict, Counterexample)
    assert analysis.liveness is not None
    assert "holds a value from before" in str(find_clobber(analysis.liveness, verdict))


# ---------------------------------------------------------------- several parameters

RINGS = [
    ("A[i, j, k] -> [(J*K*i + K*j + k) mod (J*K + K + 1)]", True),
    ("A[i, j, k] -> [(J*K*i + K*j + k) mod (J*K + K + 2)]", True),
    ("A[i, j, k] -> [(-J*K*i - K*j - k) mod (J*K + K + 1)]", True),
    ("A[i, j, k] -> [(K*i + J*K*j + k) mod (J*K + K + 1)]", False),
    ("A[i, j, k] -> [(J*K*i + J*j + k) mod (J*K + K + 1)]", False),
    ("A[i, j, k] -> [(J*K*i + K*j + k) mod (J*K + K)]", False),
]


@pytest.mark.parametrize(("text", "is_proved"), RINGS)
def test_linear_addresses_with_several_parameters(text: str, is_proved: bool) -> None:
    problem = read("examples/alignment-3d.toml")
    conflicts = Analysis.of(problem).conflicts("A")
    (mapping,) = read_mappings(text, problem)
    assert isinstance(mapping, ModularMapping)
    verdict = verify(conflicts, mapping)
    assert isinstance(verdict, Proof) == is_proved
    sizes = [{"I": a, "J": b, "K": c} for a in (2, 3) for b in (2, 4) for c in (2, 3)]
    valid = [
        is_valid(pairs_at(conflicts, size), lambda cell, s=size: mapping.address(cell, s)) for size in sizes
    ]
    assert all(valid) == is_proved


@given(
    st.lists(st.integers(-2, 2), min_size=2, max_size=2),
    st.lists(st.sampled_from(["1", "-1", "N", "M", "-N", "M + 1", "2*N"]), min_size=2, max_size=2),
    st.sampled_from(["N*M", "N + M", "M*N + 1", "N^2 + M", "2*N + 3", "M + 1"]),
)
@settings(max_examples=60)
def test_linear_proofs_are_never_wrong(ends: list[int], row: list[str], modulus: str) -> None:
    text = (
        'context = "[N, M] -> { : N >= 2 and M >= 2 }"\n'
        'array = "[N, M] -> { A[i, j] : 0 <= i < N + 3 and 0 <= j < M + 3 }"\n'
        f'differences = "[N, M] -> {{ A[i, j] : 0 <= i <= N + {ends[0]} and -M <= j <= M + {ends[1]} }}"'
    )
    conflicts = Analysis.of(read_problem("random.toml", text)).conflicts("A")
    mapping = ModularMapping.of("A", ("i", "j"), [[f(entry) for entry in row]], [f(modulus)])
    if check_linear(conflicts, mapping) is None:
        return
    for n, m in itertools.product(range(2, 5), repeat=2):
        size = {"N": n, "M": m}
        apart = points(conflicts.differences.intersect_params(fix_parameters(size)))
        moves = [sum(e.at(size) * d for e, d in zip(mapping.matrix[0], step, strict=True)) for step in apart]
        assert all(move % mapping.moduli[0].at(size) for move in moves)


# ---------------------------------------------------------------- cells that hold one value after another

ANEW = """\
domain   = "{ W[i] : 0 <= i <= 2; R[i] : 0 <= i <= 2 }"
write    = "{ W[0] -> A[0]; W[1] -> A[1]; W[2] -> A[0] }"
read     = "{ R[0] -> A[0]; R[1] -> A[1]; R[2] -> A[0] }"
schedule = "{ W[i] -> [i, 0]; R[i] -> [i, 1] }"
"""


def judged_at_zero(text: str) -> tuple[Analysis, Proof | Counterexample | Undecided]:
    problem = read_problem("anew.toml", text)
    analysis = Analysis.of(problem)
    (mapping,) = read_mappings("A[i0] -> [0]", problem)
    return analysis, verify(analysis.conflicts("A"), mapping)


def test_values_that_follow_each_other_may_share() -> None:
    """Each value is read before the next one of any cell is written, although A[0] is written again."""
    _, verdict = judged_at_zero(ANEW)
    assert isinstance(verdict, Proof)


def test_the_story_is_of_a_value_that_is_lost() -> None:
    """R[1] reads what W[1] overwrites; that W[2] writes it again does not matter."""
    analysis, verdict = judged_at_zero(ANEW.replace("R[1] -> A[1]", "R[1] -> A[1]; R[1] -> A[0]"))
    assert isinstance(verdict, Counterexample)
    assert analysis.liveness is not None
    clobber = find_clobber(analysis.liveness, verdict)
    assert clobber is not None
    assert (clobber.writer, clobber.overwriter, clobber.reader) == ("W[0]", "W[1]", "R[1]")


def test_a_value_that_nobody_reads_destroys_what_is_there() -> None:
    """W[2] writes A[0] and nobody reads it, but R[2] still reads A[1]."""
    analysis, verdict = judged_at_zero(ANEW.replace("R[2] -> A[0]", "R[2] -> A[1]"))
    assert isinstance(verdict, Counterexample)
    assert analysis.liveness is not None
    clobber = find_clobber(analysis.liveness, verdict)
    assert clobber is not None
    assert (clobber.writer, clobber.overwriter, clobber.reader) == ("W[1]", "W[2]", "R[2]")


LATTICE_BOLTZMANN = '''
context = "[T, H, L] -> { : T >= 1 and H >= 3 and L >= 3 }"
domain = "[T, H, L] -> { S[t, i, j] : 0 <= t <= T and 0 <= i < H and 0 <= j < L }"
write = "[T, H, L] -> { S[t, i, j] -> A[t, i, j] }"
read = """[T, H, L] -> { S[t, i, j] -> A[t - 1, x, y] : i - 1 <= x <= i + 1 and j - 1 <= y <= j + 1 and 0 < t
          and 0 <= x < H and 0 <= y < L }"""
schedule = "[T, H, L] -> { S[t, i, j] -> [t, i, j] }"
live_out = "[T, H, L] -> { A[T, i, j] : 0 <= i < H and 0 <= j < L }"
temporary = ["A"]
'''


@pytest.mark.parametrize("extra", range(-2, 5))
def test_addresses_with_coefficients_of_several_parameters_are_decided(extra: int) -> None:
    problem = read_problem("planes.toml", LATTICE_BOLTZMANN)
    conflicts = Analysis.of(problem).conflicts("A")
    (mapping,) = read_mappings(f"A[t, i, j] -> [(H*L*t + L*i + j) mod (H*L + L + {extra})]", problem)
    assert isinstance(mapping, ModularMapping)
    verdict = verify(conflicts, mapping)
    assert isinstance(verdict, Proof if extra >= 1 else Counterexample)
    for height, width in ((3, 3), (3, 5), (6, 4)):
        params = {"T": 2, "H": height, "L": width}
        pairs = pairs_at(conflicts, params)
        clash = any(mapping.address(x, params) == mapping.address(y, params) for x, y in pairs)
        assert clash == isinstance(verdict, Counterexample)


def test_multiples_are_those_that_enumeration_finds() -> None:
    context = isl.Set("[N, M] -> { : N >= 2 and M >= 2 }")
    differences = isl.Set("[N, M] -> { A[x, y, z] : -2 <= x <= 2 and -N < y < N and -M < z < M }")
    row = [f("N*M"), f("M"), f("1")]
    found = taken_to_multiples(differences, row, f("N*M + 2"), context)
    assert found is not None
    for n, m in itertools.product((2, 3, 4, 7), repeat=2):
        params = {"N": n, "M": m}
        box = itertools.product(range(-2, 3), range(1 - n, n), range(1 - m, m))
        expected = {d for d in box if (n * m * d[0] + m * d[1] + d[2]) % (n * m + 2) == 0}
        assert set(points(found[0].intersect_params(fix_parameters(params)))) == expected
