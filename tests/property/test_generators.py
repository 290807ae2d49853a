"""Two ways to vertices and rays: forms that are nonnegative."""

from __future__ import annotations

import islpy as isl
from hypothesis import assume, given
from hypothesis import strategies as st

from arrayfold.exact.generators import forms_of_multipliers, forms_of_vertices
from arrayfold.exact.isl import fix_parameters, points, polyhedron

_small = st.integers(-3, 3)
_lines = st.lists(st.tuples(_small, _small, _small, st.integers(-2, 8)), max_size=5)


def _set(lines: list[tuple[int, int, int, int]], is_flat: bool) -> isl.BasicSet:
    limits = " and ".join(f"{a}*i + {b}*j <= {c}*N + {d}" for a, b, c, d in lines) or "true"
    flat = " and i + j = N" if is_flat else ""
    return isl.BasicSet(
        f"[N] -> {{ A[i, j] : N >= 2 and -N <= i <= N + 2 and -1 <= j <= N and {limits}{flat} }}"
    )


@given(st.builds(_set, _lines, st.booleans()))
def test_both_ways_tell_what_is_nonnegative(piece: isl.BasicSet) -> None:
    """Vertices may be those of a smaller polyhedron with the same whole points, but not of one without."""
    assume(not isl.Set.from_basic_set(piece).is_empty())
    multipliers, vertices = (
        polyhedron([(0, *form) for form in way(piece)]) for way in (forms_of_multipliers, forms_of_vertices)
    )
    assert multipliers.is_subset(vertices)
    for size in range(2, 7):
        here = isl.Set.from_basic_set(piece).intersect_params(fix_parameters({"N": size}))
        for i, j in points(here.project_out(isl.dim_type.param, 0, 1)):
            assert vertices.is_subset(polyhedron([(0, 1, size, i, j)]))
