"""Times of one array without the places that its order does not need, and whole lines."""

from __future__ import annotations

from collections import Counter

import islpy as isl
import pytest

from arrayfold import fold, read
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.liveness import Liveness, live_after, occupied
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.exact.pieces import drop_constant_dimensions, joined_by_hull
from arrayfold.fold.analysis import Analysis
from arrayfold.judge.verify import Proof
from arrayfold.order.dataflow import undefined_reads
from arrayfold.order.events import order_of
from arrayfold.program.model import Program
from arrayfold.select.contiguous import conflicts_of_lines

_BORDER = """
void smooth(int T, int N, const double in[N][N], double out[N][N])
{
    double a[T + 1][N][N];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[0][i][j] = in[i][j];
    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (i == 0 || i == N - 1 || j == 0 || j == N - 1)
                    a[t][i][j] = a[t - 1][i][j];
                else
                    a[t][i][j] = SOURCE;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = a[T][i][j];
#pragma endscop
}
"""


@pytest.fixture(params=["a[t - 1][i][j]", "a[t - 1][i - 1][j - 1]", "a[t - 1][i + 1][j]"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A stencil whose border is copied by another statement than its inside."""
    path = tmp_path_factory.mktemp("border") / "smooth.c"
    path.write_text(_BORDER.replace("SOURCE", request.param))
    found = read(str(path))
    assert isinstance(found, Program)
    return found


def _full(liveness: Liveness) -> isl.Map:
    """{ A[x] -> A[y] }: the conflicts in the time space of the order as it is."""
    accesses = liveness.accesses(liveness.program.array("a"))
    live = live_after(accesses, liveness.order)
    return live.union(accesses.writes).apply_range(accesses.writes.reverse())


def test_conflicts_are_those_of_the_whole_times(program: Program) -> None:
    analysis = Analysis.of(program)
    assert analysis.liveness is not None
    found = analysis.conflicts("a")
    expected = _full(analysis.liveness).intersect_params(found.context)
    assert found.some_pairs is not None
    same = isl.Map.identity(expected.get_space())
    assert found.some_pairs.subtract(same).is_equal(expected.subtract(same))


def test_places_go_and_pieces_join(program: Program) -> None:
    liveness = Liveness(program, order_of(program), program.live_in, ("a",))
    accesses = liveness.accesses(program.array("a"))
    writes, reads = drop_constant_dimensions(accesses.writes, accesses.reads)
    assert writes.dim(isl.dim_type.out) < accesses.writes.dim(isl.dim_type.out)
    assert writes.n_basic_map() == 2 < accesses.writes.n_basic_map()
    assert writes.domain().is_equal(accesses.writes.domain())
    assert reads.domain().is_equal(accesses.reads.domain())


def test_as_many_cells_meet_at_a_moment(program: Program) -> None:
    analysis = Analysis.of(program)
    assert analysis.liveness is not None
    accesses = analysis.liveness.accesses(program.array("a"))
    in_memory = occupied(accesses, live_after(accesses, analysis.liveness.order))
    sizes = {"T": 2, "N": 4}
    incidences = in_memory.intersect_params(fix_parameters(sizes))
    depth = incidences.dim(isl.dim_type.in_)
    live = Counter(point[:depth] for point in points(incidences.wrap()))
    assert find_lower_bound(analysis.conflicts("a")).at(sizes) == max(live.values())


def test_an_array_that_is_written_first_has_no_undefined_read(program: Program) -> None:
    found = undefined_reads(program, order_of(program)).intersect_params(program.context)
    assert {cells.get_tuple_name() for cells in _sets(found.range())} == {"in"}


def _sets(union: isl.UnionSet) -> list[isl.Set]:
    found = union.get_set_list()
    return [found.get_at(k) for k in range(found.n_set())]


def test_a_place_that_orders_events_stays() -> None:
    writes = isl.Map(
        "{ A[i] -> [i, 0, 1] : 0 < i < 9; A[0] -> [0, 1, 1]; A[9] -> [9, 1, 1]; A[-1] -> [4, 1, 1] }"
    )
    reads = isl.Map("{ A[i] -> [i, 2, 0] : 0 <= i <= 9 }")
    short, later = drop_constant_dimensions(writes, reads)
    assert short.is_injective()
    assert short.range().is_disjoint(later.range())


def test_a_hull_that_is_larger_is_not_taken() -> None:
    corner = isl.Map(
        "{ A[i, j] -> [i, j] : 0 < i, j < 9; A[0, j] -> [0, j] : 0 <= j < 9; A[i, 0] -> [i, 0] : 3 < i < 9 }"
    )
    joined = joined_by_hull(corner)
    assert joined.is_equal(corner)
    assert joined.n_basic_map() > 1


def test_lines_have_the_conflicts_of_equal_places(program: Program) -> None:
    conflicts = Analysis.of(program).conflicts("a")
    lines = conflicts_of_lines(conflicts, [2])
    assert conflicts.some_pairs is not None
    at_one_place = conflicts.some_pairs.equate(isl.dim_type.in_, 2, isl.dim_type.out, 2)
    expected = at_one_place.deltas().project_out(isl.dim_type.set, 2, 1).reset_tuple_id()
    expected = expected.union(expected.neg()).subtract(isl.Set("{ [0, 0] }"))
    assert lines.differences.reset_tuple_id().is_equal(expected)


def test_speed_leaves_the_innermost_dimension_alone(program: Program) -> None:
    (array,) = fold(program, favor="speed")
    assert isinstance(array.proof, Proof)
    assert str(array.mapping).count("j") <= 2
    assert "j mod N" in str(array.mapping)
