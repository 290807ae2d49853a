"""BBC16 Table I: successive modulo (baseline) and storage hyperplanes (SMO)."""

from __future__ import annotations

from arrayfold.explore.papers.published import PublishedTable, rows_of

_NO_PROGRAM = "The paper prints no tiled program; the example is the stage that the mapping belongs to."
_ONE_ORDER = "The baseline takes the axes in one order only; ours may take the other axis first."
_BOUNDS = "With the corrected bounds of the live-out set L2: 3B-4-tt <= ii <= 3B-3-tt (Fig. 7)."
_ORIGINAL = (
    "Printed as tt - ii. Over the coordinates of the tile, where ii = tt + i, that is -i and leaves out the "
    "time; with the original index i in place of ii it holds."
)

BBC16_TABLE = PublishedTable(
    "BBC16",
    "Table I",
    (
        *rows_of(
            ("produce-consume", "produce-consume", "A[t, i]"),
            ("baseline", "t mod N, i mod N", "N^2"),
            ("SMO", "(i - t) mod (2*N - 1)", "2*N - 1", "N/2"),
        ),
        *rows_of(
            ("blur-interleaved", "blur-interleaved", "blurx[y, x]"),
            ("baseline", "y mod 3, x mod N", "3*N"),
            ("SMO", "(2*x - y) mod (2*N + 1)", "2*N + 1", "1.5"),
        ),
        *rows_of(
            ("blur-tiled", "blur-tiled", "blurx[x, y]"),
            ("baseline", "x mod B, y mod B", "B^2"),
            ("SMO", "(y - 2*x) mod (3*B - 2)", "3*B - 2", "B/3"),
        ),
        *rows_of(
            ("harris-corner-tiled", "harris-corner-tiled", "sobel[x, y]"),
            ("baseline", "x mod B, y mod B", "B^2", "", _NO_PROGRAM),
            ("SMO", "(y - 2*x) mod (3*B - 2)", "3*B - 2", "B/3", _NO_PROGRAM),
        ),
        *rows_of(
            ("unsharp-mask-tiled", "unsharp-tiled", "A[x, y]"),
            ("baseline", "x mod B, y mod B", "B^2"),
            ("SMO", "(y - 4*x) mod (5*B - 4)", "5*B - 4", "B/5"),
        ),
        *rows_of(
            ("LBM-D2Q9", "lbm-d2q9", "A[t, i, j]"),
            ("baseline", "t mod 2, i mod N, j mod N", "2*N^2"),
            ("SMO", "(i - 2*t) mod (N + 2), j mod N", "N^2 + 2*N", "2"),
        ),
        *rows_of(
            ("LBM-D3Q19", "lbm-d3q19", "A[t, i, j, k]"),
            ("baseline", "t mod 2, i mod N, j mod N, k mod N", "2*N^3"),
            ("SMO", "(i - 2*t) mod (N + 2), j mod N, k mod N", "N^3 + 2*N^2", "2"),
        ),
        *rows_of(
            ("LBM-D3Q27", "lbm-d3q27", "A[t, i, j, k]"),
            ("baseline", "t mod 2, i mod N, j mod N, k mod N", "2*N^3"),
            ("SMO", "(i - 2*t) mod (N + 2), j mod N, k mod N", "N^3 + 2*N^2", "2"),
        ),
        *rows_of(
            ("diamond-tile", "diamond-tile", "A[tt, ii]"),
            ("baseline", "tt mod B, ii mod (2*B - 1)", "2*B^2 - B", "", _ONE_ORDER),
            ("SMO", "(tt - 3*ii) mod (6*B - 5)", "6*B - 5", "B/3", _BOUNDS),
        ),
        *rows_of(
            ("stencil-1d-pllgm-tile", "parallelogram-tile", "A[tt, i]"),
            ("baseline", "tt mod B, i mod B", "B^2"),
            ("SMO", "(tt - (tt + i)) mod (3*B - 2)", "3*B - 2", "B/3", _ORIGINAL, "(tt - i) mod (3*B - 2)"),
        ),
        *rows_of(
            ("stencil-1d-hex-tile", "hexagon-tile", "A[tt, ii]"),
            ("baseline", "tt mod B, ii mod (3*B - 2)", "3*B^2 - 2*B", "", _ONE_ORDER),
            ("SMO", "(3*ii - tt) mod (9*B - 8)", "9*B - 8", "B/3"),
        ),
    ),
)
