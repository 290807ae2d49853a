/* Tiles with min and max as a macro and as a small function, and an antidiagonal sweep. */
#define TILE 8
#define min(a, b) ((a) < (b) ? (a) : (b))
static inline int max(int x, int y) { return x > y ? x : y; }

void tiled(int N, int M, double A[N][M], double B[N][M])
{
#pragma scop
    for (int ii = 0; ii < N; ii += TILE)
        for (int jj = 0; jj < M; jj += 16)
            for (int i = ii; i < min(ii + TILE, N); i++)
                for (int j = jj; j <= min(jj + 2 * TILE, M) - 1; j++)
                    B[i][j] = A[i][max(j - 1, 0)] + A[max(i - 2, 0)][j];
    for (int d = 0; d <= N + M - 2; d++)
        for (int i = max(0, d - M + 1); i <= min(d, N - 1); i++)
            A[i][d - i] += B[i][d - i];
#pragma endscop
}
