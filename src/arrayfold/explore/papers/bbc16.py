"""BBC16 Table I: successive modulo (baseline) and storage hyperplanes (SMO)."""

from __future__ import annotations

from functools import partial

from arrayfold.explore.papers.published import PublishedRow, PublishedTable

_BASELINE = ("successive-modulo",)
_SMO = ("hyperplane",)

_NO_PROGRAM = "The paper prints no tiled program; the example is the stage that the mapping belongs to."
_ONE_ORDER = "The baseline takes the axes in one order only; ours may take the other axis first."
_BOUNDS = "With the corrected bounds of the live-out set L2: 3B-4-tt <= ii <= 3B-3-tt (Fig. 7)."
_ORIGINAL = (
    "Printed as tt - ii. Over the coordinates of the tile, where ii = tt + i, that is -i and leaves out the "
    "time; with the original index i in place of ii it holds."
)

_consume = partial(PublishedRow, "produce-consume")
_blur = partial(PublishedRow, "blur-interleaved")
_tiled = partial(PublishedRow, "blur-tiled")
_harris = partial(PublishedRow, "harris-corner-tiled")
_unsharp = partial(PublishedRow, "unsharp-mask-tiled")
_plane = partial(PublishedRow, "LBM-D2Q9")
_no_corners = partial(PublishedRow, "LBM-D3Q19")
_space = partial(PublishedRow, "LBM-D3Q27")
_diamond = partial(PublishedRow, "diamond-tile")
_slanted = partial(PublishedRow, "stencil-1d-pllgm-tile")
_hexagon = partial(PublishedRow, "stencil-1d-hex-tile")

BBC16_TABLE = PublishedTable(
    "BBC16",
    "Table I",
    (
        _consume("baseline", _BASELINE, "produce-consume", "A[t, i] -> [t mod N, i mod N]", "N^2"),
        _consume("SMO", _SMO, "produce-consume", "A[t, i] -> [(i - t) mod (2*N - 1)]", "2*N - 1", "N/2"),
        _blur("baseline", _BASELINE, "blur-interleaved", "blurx[y, x] -> [y mod 3, x mod N]", "3*N"),
        _blur("SMO", _SMO, "blur-interleaved", "blurx[y, x] -> [(2*x - y) mod (2*N + 1)]", "2*N + 1", "1.5"),
        _tiled("baseline", _BASELINE, "blur-tiled", "blurx[x, y] -> [x mod B, y mod B]", "B^2"),
        _tiled("SMO", _SMO, "blur-tiled", "blurx[x, y] -> [(y - 2*x) mod (3*B - 2)]", "3*B - 2", "B/3"),
        _harris(
            "baseline",
            _BASELINE,
            "harris-corner-tiled",
            "sobel[x, y] -> [x mod B, y mod B]",
            "B^2",
            remark=_NO_PROGRAM,
        ),
        _harris(
            "SMO",
            _SMO,
            "harris-corner-tiled",
            "sobel[x, y] -> [(y - 2*x) mod (3*B - 2)]",
            "3*B - 2",
            "B/3",
            remark=_NO_PROGRAM,
        ),
        _unsharp("baseline", _BASELINE, "unsharp-tiled", "A[x, y] -> [x mod B, y mod B]", "B^2"),
        _unsharp("SMO", _SMO, "unsharp-tiled", "A[x, y] -> [(y - 4*x) mod (5*B - 4)]", "5*B - 4", "B/5"),
        _plane("baseline", _BASELINE, "lbm-d2q9", "A[t, i, j] -> [t mod 2, i mod N, j mod N]", "2*N^2"),
        _plane("SMO", _SMO, "lbm-d2q9", "A[t, i, j] -> [(i - 2*t) mod (N + 2), j mod N]", "N^2 + 2*N", "2"),
        _no_corners(
            "baseline",
            _BASELINE,
            "lbm-d3q19",
            "A[t, i, j, k] -> [t mod 2, i mod N, j mod N, k mod N]",
            "2*N^3",
        ),
        _no_corners(
            "SMO",
            _SMO,
            "lbm-d3q19",
            "A[t, i, j, k] -> [(i - 2*t) mod (N + 2), j mod N, k mod N]",
            "N^3 + 2*N^2",
            "2",
        ),
        _space(
            "baseline",
            _BASELINE,
            "lbm-d3q27",
            "A[t, i, j, k] -> [t mod 2, i mod N, j mod N, k mod N]",
            "2*N^3",
        ),
        _space(
            "SMO",
            _SMO,
            "lbm-d3q27",
            "A[t, i, j, k] -> [(i - 2*t) mod (N + 2), j mod N, k mod N]",
            "N^3 + 2*N^2",
            "2",
        ),
        _diamond(
            "baseline",
            _BASELINE,
            "diamond-tile",
            "A[tt, ii] -> [tt mod B, ii mod (2*B - 1)]",
            "2*B^2 - B",
            remark=_ONE_ORDER,
        ),
        _diamond(
            "SMO",
            _SMO,
            "diamond-tile",
            "A[tt, ii] -> [(tt - 3*ii) mod (6*B - 5)]",
            "6*B - 5",
            "B/3",
            remark=_BOUNDS,
        ),
        _slanted("baseline", _BASELINE, "parallelogram-tile", "A[tt, i] -> [tt mod B, i mod B]", "B^2"),
        _slanted(
            "SMO",
            _SMO,
            "parallelogram-tile",
            "A[tt, i] -> [(tt - (tt + i)) mod (3*B - 2)]",
            "3*B - 2",
            "B/3",
            corrected="A[tt, i] -> [(tt - i) mod (3*B - 2)]",
            corrected_size="3*B - 2",
            remark=_ORIGINAL,
        ),
        _hexagon(
            "baseline",
            _BASELINE,
            "hexagon-tile",
            "A[tt, ii] -> [tt mod B, ii mod (3*B - 2)]",
            "3*B^2 - 2*B",
            remark=_ONE_ORDER,
        ),
        _hexagon("SMO", _SMO, "hexagon-tile", "A[tt, ii] -> [(3*ii - tt) mod (9*B - 8)]", "9*B - 8", "B/3"),
    ),
)
