"""DIY15 Table 1: successive modulo (LeFe), BBC16's algorithm (BBA), and lattices (Lattice)."""

from __future__ import annotations

from functools import partial

from arrayfold.explore.papers.published import PublishedRow, PublishedTable

_LEFE = ("successive-modulo",)
_BBA = ("hyperplane",)
_LATTICE = ("lattice", "combined")

_TWO_PROGRAMS = (
    "The table mixes two programs: the first row has a time dimension, this one folds the border of width "
    "two that one tile leaves behind (Fig. 1)."
)
_RADIUS = "Fig. 6 prints the differences with radius B; this is the tile itself, whose radius is B - 1."
_SKEW = "The tile is skewed by (t, t + i, t + i + j), the mapping is one of the original indices."

_stencil = partial(PublishedRow, "stencil-2d-5x5")
_blur = partial(PublishedRow, "blur-interleaved")
_tiled = partial(PublishedRow, "blur-tiled")
_plane = partial(PublishedRow, "LBM-D2Q9")
_no_corners = partial(PublishedRow, "LBM-D3Q19")
_space = partial(PublishedRow, "LBM-D3Q27")
_diamond = partial(PublishedRow, "diamond-tile")
_heat = partial(PublishedRow, "heat-2d-tiled")

DIY15_TABLE = PublishedTable(
    "DIY15",
    "Table 1",
    (
        _stencil("LeFe", _LEFE, "stencil-2d-5x5", "A[t, x, y] -> [t mod 2, x mod N, y mod N]", "2*N^2", "1"),
        _stencil(
            "BBA",
            _BBA,
            "reverse-l",
            "A[x, y] -> [(3*x - 2*y) mod (5*N - 4)]",
            "5*N - 4",
            "2N/5",
            remark=_TWO_PROGRAMS,
        ),
        _stencil(
            "Lattice",
            _LATTICE,
            "reverse-l",
            "A[x, y] -> [y mod 2, (x - y) mod (2*N - 1)]",
            "4*N - 2",
            "N/2",
            remark=_TWO_PROGRAMS,
        ),
        _blur("LeFe", _LEFE, "blur-interleaved", "blurx[y, x] -> [y mod 3, x mod N]", "3*N", "1"),
        _blur("BBA", _BBA, "blur-interleaved", "blurx[y, x] -> [(2*x - y) mod (2*N + 1)]", "2*N + 1", "3/2"),
        _blur(
            "Lattice",
            _LATTICE,
            "blur-interleaved",
            "blurx[y, x] -> [(y - 2*x) mod (2*N + 1)]",
            "2*N + 1",
            "3/2",
        ),
        _tiled("LeFe", _LEFE, "blur-tiled", "blurx[x, y] -> [x mod B, y mod B]", "B^2", "1"),
        _tiled("BBA", _BBA, "blur-tiled", "blurx[x, y] -> [(y - 2*x) mod (3*B - 2)]", "3*B - 2", "B/3"),
        _tiled(
            "Lattice", _LATTICE, "blur-tiled", "blurx[x, y] -> [(y - 2*x) mod (3*B - 2)]", "3*B - 2", "B/3"
        ),
        _plane("LeFe", _LEFE, "lbm-d2q9", "A[t, i, j] -> [t mod 2, i mod N, j mod N]", "2*N^2", "1"),
        _plane("BBA", _BBA, "lbm-d2q9", "A[t, i, j] -> [(i - 2*t) mod (N + 2), j mod N]", "N^2 + 2*N", "2"),
        _plane(
            "Lattice",
            _LATTICE,
            "lbm-d2q9",
            "A[t, i, j] -> [(i - t) mod (N + 1), (j - t) mod (N + 1)]",
            "N^2 + 2*N + 1",
            "2",
        ),
        _no_corners(
            "LeFe",
            _LEFE,
            "lbm-d3q19",
            "A[t, i, j, k] -> [t mod 2, i mod N, j mod N, k mod N]",
            "2*N^3",
            "1",
        ),
        _no_corners(
            "BBA",
            _BBA,
            "lbm-d3q19",
            "A[t, i, j, k] -> [(i - 2*t) mod (N + 2), j mod N, k mod N]",
            "N^3 + 2*N^2",
            "2",
        ),
        _no_corners(
            "Lattice",
            _LATTICE,
            "lbm-d3q19",
            "A[t, i, j, k] -> [j mod N, (i - t) mod (N + 1), (k - t) mod (N + 1)]",
            "N^3 + 2*N^2 + N",
            "2",
            corrected="A[t, i, j, k] -> [k mod N, (i - t) mod (N + 1), (j - t) mod (N + 1)]",
            corrected_size="N^3 + 2*N^2 + N",
            remark="Misprint: j and k have to change places if the loops run in the order t, i, j, k.",
        ),
        _space(
            "LeFe",
            _LEFE,
            "lbm-d3q27",
            "A[t, i, j, k] -> [t mod 2, i mod N, j mod N, k mod N]",
            "2*N^3",
            "1",
        ),
        _space(
            "BBA",
            _BBA,
            "lbm-d3q27",
            "A[t, i, j, k] -> [(i - 2*t) mod (N + 2), j mod N, k mod N]",
            "N^3 + 2*N^2",
            "2",
        ),
        _space(
            "Lattice",
            _LATTICE,
            "lbm-d3q27",
            "A[t, i, j, k] -> [(j - t) mod (N + 1), (i - t) mod (N + 1), (k - t) mod (N + 1)]",
            "N^3 + 3*N^2 + 3*N + 1",
            "2",
        ),
        _diamond(
            "LeFe",
            _LEFE,
            "diamond-tile",
            "A[t, i] -> [t mod B, i mod (2*B - 1)]",
            "2*B^2 - B",
            "1",
            remark=_RADIUS,
        ),
        _diamond(
            "BBA",
            _BBA,
            "diamond-tile",
            "A[t, i] -> [(t - 3*i) mod (6*B - 5)]",
            "6*B - 5",
            "B/3",
            remark=_RADIUS,
        ),
        _diamond(
            "Lattice",
            _LATTICE,
            "diamond-tile",
            "A[t, i] -> [t mod 2, i mod (2*B - 1)]",
            "4*B - 2",
            "B/2",
            remark=_RADIUS,
        ),
        _heat(
            "LeFe",
            _LEFE,
            "heat-2d-tiled",
            "A[t, i, j] -> [t mod B, i mod B, j mod B]",
            "B^3",
            "1",
            remark=_SKEW,
        ),
        _heat(
            "BBA",
            _BBA,
            "heat-2d-tiled",
            "A[t, i, j] -> [(i - 2*t) mod (4*B - 3), (t - 2*j) mod (5*B - 4)]",
            "20*B^2 - 31*B + 12",
            "B/20",
            remark=_SKEW,
        ),
        _heat(
            "Lattice",
            _LATTICE,
            "heat-2d-tiled",
            "A[t, i, j] -> [j mod (2*B - 1), (i - t) mod (3*B - 2)]",
            "6*B^2 - 7*B + 2",
            "B/6",
            remark=_SKEW,
        ),
    ),
)
