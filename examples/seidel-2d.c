/* T sweeps of a nine-point Gauss-Seidel iteration on a square whose border is fixed.
   A is temporary: every sweep has a plane of its own, but nothing reads a cell after the same cell of the
   next sweep is computed. One plane is enough. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void seidel_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    double A[T + 1][N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[0][i][j] = in[i][j];

    for (int t = 1; t <= T; t++)
        for (int i = 0; i <= N - 1; i++)
            for (int j = 0; j <= N - 1; j++) {
                if (i >= 1 && i <= N - 2 && j >= 1 && j <= N - 2)
                    A[t][i][j] = (A[t][i - 1][j - 1] + A[t][i - 1][j] + A[t][i - 1][j + 1]
                                  + A[t][i][j - 1] + A[t - 1][i][j] + A[t - 1][i][j + 1]
                                  + A[t - 1][i + 1][j - 1] + A[t - 1][i + 1][j]
                                  + A[t - 1][i + 1][j + 1]) / 9.0;
                else
                    A[t][i][j] = A[t - 1][i][j];
            }

    for (int i = N - 1; i >= 0; i--)
        for (int j = N - 1; j >= 0; j--)
            out[i][j] = A[T][i][j];
#pragma endscop
}
