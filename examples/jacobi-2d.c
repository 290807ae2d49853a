/* T steps of a five-point Jacobi iteration on a square whose border is fixed.
   A is temporary: every step has a plane of its own, but a step reads only the one before. N N + N - 1 cells
   are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void jacobi_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    double A[T + 1][N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[0][i][j] = in[i][j];

    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (i == 0 || i == N - 1 || j == 0 || j == N - 1)
                    A[t][i][j] = A[t - 1][i][j];
                else
                    A[t][i][j] = 0.2 * (A[t - 1][i][j] + A[t - 1][i - 1][j] + A[t - 1][i + 1][j]
                                        + A[t - 1][i][j - 1] + A[t - 1][i][j + 1]);

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = A[T][i][j];
#pragma endscop
}
