"""DIY16's examples: what its text and figures say of each; all executions are walked through at one size."""

from __future__ import annotations

from arrayfold.explore.papers.published import PublishedTable, rows_of

_BUFFERS = "The paper draws two buffers and prints no mapping; this is what two buffers mean."
_SIGN = (
    "The printed mapping and cycle belong to A[i-1][j+1] + 1; with the printed A[i-1][j-1] + 1 the sign is "
    "the other one, and n cells are enough."
)
_ONE_OF_TWO = "x and y are v[i, 0] and v[i, 1]; for scalars the paper says that they share a register."

DIY16_TABLE = PublishedTable(
    "DIY16",
    "examples",
    (
        *rows_of(
            ("jacobi-1d, sequential (Fig. 1a)", "jacobi-1d", "A[i, j]"),
            ("mapping", "(j - i) mod (n + 1)", "n + 1"),
        ),
        *rows_of(
            ("jacobi-1d, FORALL (§2.2)", "jacobi-1d-forall", "A[i, j]"),
            ("mapping", "j mod n", "n"),
        ),
        *rows_of(
            ("jacobi-1d, parallel (Fig. 1b)", "jacobi-1d-doall", "A[i, j]"),
            ("mapping", "i mod 2, j mod n", "2*n"),
        ),
        *rows_of(
            ("diagonal, parallel (Fig. 4)", "diagonal-doall", "A[i, j]"),
            ("mapping", "(i + j) mod (n + 1)", "n + 1", "", _SIGN, "(j - i) mod (n + 1)"),
        ),
        *rows_of(
            ("double diamond (§2.1)", "double-diamond", "v[i, k]"), ("mapping", "0", "1", "", _ONE_OF_TWO)
        ),
        *rows_of(
            ("pipeline by blocks (Fig. 2a), tasks", "pipeline-blocks", "in[i]"),
            ("mapping", "i mod 2", "2", "", _BUFFERS),
        ),
        *rows_of(
            ("pipeline by blocks (Fig. 2a), relation", "pipeline-blocks-relation", "in[i]"),
            ("mapping", "i mod 2", "2", "", _BUFFERS),
        ),
        *rows_of(
            ("overlapping pipeline (Fig. 2b), tasks", "pipeline-overlap", "in[i]"),
            ("mapping", "i mod 2", "2", "", _BUFFERS),
        ),
        *rows_of(
            ("overlapping pipeline (Fig. 2b), relation", "pipeline-overlap-relation", "in[i]"),
            ("mapping", "i mod 2", "2", "", _BUFFERS),
        ),
    ),
    enumerate_at=3,
)
