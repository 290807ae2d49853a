/* T steps of a seven-point Jacobi iteration on a cube. The border is zero and is not stored.
   A is temporary: every step has a cube of its own, but a step reads only the one before. N N N + N N + 1
   cells are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void jacobi_3d(int T, int N, const float in[restrict N][N][N], float out[restrict N][N][N])
{
    float A[T + 1][N][N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                A[0][i][j][k] = in[i][j][k];

    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++) {
                    A[t][i][j][k] = 0.4f * A[t - 1][i][j][k];
                    if (i > 0)
                        A[t][i][j][k] += 0.1f * A[t - 1][i - 1][j][k];
                    if (i < N - 1)
                        A[t][i][j][k] += 0.1f * A[t - 1][i + 1][j][k];
                    if (j > 0)
                        A[t][i][j][k] += 0.1f * A[t - 1][i][j - 1][k];
                    if (j < N - 1)
                        A[t][i][j][k] += 0.1f * A[t - 1][i][j + 1][k];
                    if (k > 0)
                        A[t][i][j][k] += 0.1f * A[t - 1][i][j][k - 1];
                    if (k < N - 1)
                        A[t][i][j][k] += 0.1f * A[t - 1][i][j][k + 1];
                }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                out[i][j][k] = A[T][i][j][k];
#pragma endscop
}
