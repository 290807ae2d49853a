"""DIY15 Table 1: successive modulo (LeFe), BBC16's algorithm (BBA), and lattices (Lattice)."""

from __future__ import annotations

from arrayfold.explore.papers.published import PublishedTable, rows_of

_TWO_PROGRAMS = (
    "The table mixes two programs: the first row has a time dimension, this one folds the border of width "
    "two that one tile leaves behind (Fig. 1)."
)
_RADIUS = "Fig. 6 prints the differences with radius B; this is the tile itself, whose radius is B - 1."
_SKEW = "The tile is skewed by (t, t + i, t + i + j), the mapping is one of the original indices."

DIY15_TABLE = PublishedTable(
    "DIY15",
    "Table 1",
    (
        *rows_of(
            ("stencil-2d-5x5", "stencil-2d-5x5", "A[t, x, y]"),
            ("LeFe", "t mod 2, x mod N, y mod N", "2*N^2", "1"),
        ),
        *rows_of(
            ("stencil-2d-5x5", "reverse-l", "A[x, y]"),
            ("BBA", "(3*x - 2*y) mod (5*N - 4)", "5*N - 4", "2N/5", _TWO_PROGRAMS),
            ("Lattice", "y mod 2, (x - y) mod (2*N - 1)", "4*N - 2", "N/2", _TWO_PROGRAMS),
        ),
        *rows_of(
            ("blur-interleaved", "blur-interleaved", "blurx[y, x]"),
            ("LeFe", "y mod 3, x mod N", "3*N", "1"),
            ("BBA", "(2*x - y) mod (2*N + 1)", "2*N + 1", "3/2"),
            ("Lattice", "(y - 2*x) mod (2*N + 1)", "2*N + 1", "3/2"),
        ),
        *rows_of(
            ("blur-tiled", "blur-tiled", "blurx[x, y]"),
            ("LeFe", "x mod B, y mod B", "B^2", "1"),
            ("BBA", "(y - 2*x) mod (3*B - 2)", "3*B - 2", "B/3"),
            ("Lattice", "(y - 2*x) mod (3*B - 2)", "3*B - 2", "B/3"),
        ),
        *rows_of(
            ("LBM-D2Q9", "lbm-d2q9", "A[t, i, j]"),
            ("LeFe", "t mod 2, i mod N, j mod N", "2*N^2", "1"),
            ("BBA", "(i - 2*t) mod (N + 2), j mod N", "N^2 + 2*N", "2"),
            ("Lattice", "(i - t) mod (N + 1), (j - t) mod (N + 1)", "N^2 + 2*N + 1", "2"),
        ),
        *rows_of(
            ("LBM-D3Q19", "lbm-d3q19", "A[t, i, j, k]"),
            ("LeFe", "t mod 2, i mod N, j mod N, k mod N", "2*N^3", "1"),
            ("BBA", "(i - 2*t) mod (N + 2), j mod N, k mod N", "N^3 + 2*N^2", "2"),
            (
                "Lattice",
                "j mod N, (i - t) mod (N + 1), (k - t) mod (N + 1)",
                "N^3 + 2*N^2 + N",
                "2",
                "Misprint: j and k have to change places if the loops run in the order t, i, j, k.",
                "k mod N, (i - t) mod (N + 1), (j - t) mod (N + 1)",
            ),
        ),
        *rows_of(
            ("LBM-D3Q27", "lbm-d3q27", "A[t, i, j, k]"),
            ("LeFe", "t mod 2, i mod N, j mod N, k mod N", "2*N^3", "1"),
            ("BBA", "(i - 2*t) mod (N + 2), j mod N, k mod N", "N^3 + 2*N^2", "2"),
            (
                "Lattice",
                "(j - t) mod (N + 1), (i - t) mod (N + 1), (k - t) mod (N + 1)",
                "N^3 + 3*N^2 + 3*N + 1",
                "2",
            ),
        ),
        *rows_of(
            ("diamond-tile", "diamond-tile", "A[t, i]"),
            ("LeFe", "t mod B, i mod (2*B - 1)", "2*B^2 - B", "1", _RADIUS),
            ("BBA", "(t - 3*i) mod (6*B - 5)", "6*B - 5", "B/3", _RADIUS),
            ("Lattice", "t mod 2, i mod (2*B - 1)", "4*B - 2", "B/2", _RADIUS),
        ),
        *rows_of(
            ("heat-2d-tiled", "heat-2d-tiled", "A[t, i, j]"),
            ("LeFe", "t mod B, i mod B, j mod B", "B^3", "1", _SKEW),
            ("BBA", "(i - 2*t) mod (4*B - 3), (t - 2*j) mod (5*B - 4)", "20*B^2 - 31*B + 12", "B/20", _SKEW),
            ("Lattice", "j mod (2*B - 1), (i - t) mod (3*B - 2)", "6*B^2 - 7*B + 2", "B/6", _SKEW),
        ),
    ),
)
