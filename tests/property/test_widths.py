"""Largest values of rows on random sets, against enumeration."""

from __future__ import annotations

import islpy as isl
from hypothesis import given
from hypothesis import strategies as st

from arrayfold.exact.isl import points
from arrayfold.methods.widths import Widths, restrict

_numbers = st.integers(-3, 3)
_constraints = st.tuples(_numbers, _numbers, st.integers(-4, 9))
_rows = st.tuples(_numbers, _numbers)


def _piece(lines: list[tuple[int, int, int]], stride: int) -> isl.Set:
    limits = " and ".join(f"{a}*i + {b}*j <= {c}" for a, b, c in lines) or "true"
    box = "-5 <= i <= 5 and -4 <= j <= 4"
    return isl.Set(f"{{ A[i, j] : {box} and {limits} and (i + 2*j) mod {stride} = 0 }}")


_pieces = st.builds(_piece, st.lists(_constraints, max_size=3), st.sampled_from([1, 1, 2, 3]))


@given(_pieces, _pieces, st.lists(_rows, min_size=1, max_size=4))
def test_largest_values_are_those_of_points(one: isl.Set, other: isl.Set, rows: list[tuple[int, int]]):
    cells = one.union(other)
    widths = Widths(cells)
    everything = points(cells)
    assert widths.is_empty == (not everything)
    for a, b in rows if everything else ():
        largest = max(a * i + b * j for i, j in everything)
        assert widths.along((a, b)) == largest
        assert widths.at_least((a, b)) <= largest


@given(_pieces, st.tuples(_numbers, _numbers).filter(any))
def test_restricted_sets_hold_the_multiples_in_them(cells: isl.Set, vector: tuple[int, int]):
    inside = set(points(cells))
    multiples = {(k,) for k in range(-9, 10) if (k * vector[0], k * vector[1]) in inside}
    assert set(points(restrict(cells, [vector]))) == multiples
