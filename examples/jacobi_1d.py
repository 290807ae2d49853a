"""T steps of a three-point Jacobi iteration. DIY16 section 1.1 and Fig. 1a.

A is temporary: every step has a row of its own, but a step reads only the one before. N + 1 cells are live at
once.
"""

import arrayfold as af


@af.kernel
def jacobi_1d(T, start, end):
    N = len(start)
    assert len(end) == N
    A = af.empty((T + 1, N))
    for i in range(N):
        A[0, i] = start[i]
    for t in range(1, T + 1):
        A[t, 0] = A[t - 1, 0]
        for i in range(1, N - 1):
            A[t, i] = (A[t - 1, i - 1] + A[t - 1, i] + A[t - 1, i + 1]) / 3
        A[t, N - 1] = A[t - 1, N - 1]
    for i in range(N):
        end[i] = A[T, i]
