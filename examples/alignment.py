"""The score of the best alignment of two sequences, after Needleman and Wunsch.

H is temporary: an entry is read by its three neighbours to the right and below, and only the last one is
wanted. M + 2 cells are live at once.
"""

import arrayfold as af

MATCH = 2
MISMATCH = -1


@af.kernel(dtype="int64")
def alignment(first, second, gap: int, score):
    N = len(first)
    M = len(second)
    H = af.empty((N + 1, M + 1))
    for j in range(M + 1):
        H[0, j] = -j * gap
    for i in range(1, N + 1):
        H[i, 0] = -i * gap
        for j in range(1, M + 1):
            similar = MATCH if first[i - 1] == second[j - 1] else MISMATCH
            H[i, j] = max(H[i - 1, j - 1] + similar, H[i - 1, j] - gap, H[i, j - 1] - gap)
    score[0] = H[N, M]
