/* T steps of the finite-difference time-domain method on a plane: electric field ex, ey, magnetic field hz.
   ex, ey and hz are temporary: every step has a plane of its own, but nothing reads a cell after the same
   cell of the next step is computed. One plane each is enough. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define REAL float

void fdtd_2d(int T, int N, int M, const REAL source[restrict T], REAL out[restrict N][M])
{
    REAL ex[T + 1][N][M], ey[T + 1][N][M], hz[T + 1][N][M];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            ex[0][i][j] = ey[0][i][j] = hz[0][i][j] = 0;

    for (int t = 0; t < T; t++) {
        for (int j = 0; j < M; j++)
            ey[t + 1][0][j] = source[t];
        for (int i = 1; i < N; i++)
            for (int j = 0; j < M; j++)
                ey[t + 1][i][j] = ey[t][i][j] - 0.5f * (hz[t][i][j] - hz[t][i - 1][j]);

        for (int i = 0; i < N; i++) {
            ex[t + 1][i][0] = ex[t][i][0];
            for (int j = 1; j < M; j++)
                ex[t + 1][i][j] = ex[t][i][j] - 0.5f * (hz[t][i][j] - hz[t][i][j - 1]);
        }

        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                if (i < N - 1 && j < M - 1)
                    hz[t + 1][i][j] = hz[t][i][j] - 0.7f * (ex[t + 1][i][j + 1] - ex[t + 1][i][j]
                                                            + ey[t + 1][i + 1][j] - ey[t + 1][i][j]);
                else
                    hz[t + 1][i][j] = hz[t][i][j];
    }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i][j] = hz[T][i][j];
#pragma endscop
}
