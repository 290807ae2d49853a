/* Heat in a cube by two arrays in turn: A to B, then B to A. Around the cube it is 0.
   Both are temporary. fold --mode reallocate --share cells puts them into one memory. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void heat_3d(int T, int N, const double in[restrict N][N][N], double out[restrict N][N][N])
{
    double A[N][N][N], B[N][N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                A[i][j][k] = in[i][j][k];

    for (int t = 0; t < T; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    B[i][j][k] = 0.4 * A[i][j][k] + 0.1 * ((i > 0 ? A[i - 1][j][k] : 0.0) +
                                                       (i < N - 1 ? A[i + 1][j][k] : 0.0) +
                                                       (j > 0 ? A[i][j - 1][k] : 0.0) +
                                                       (j < N - 1 ? A[i][j + 1][k] : 0.0) +
                                                       (k > 0 ? A[i][j][k - 1] : 0.0) +
                                                       (k < N - 1 ? A[i][j][k + 1] : 0.0));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    A[i][j][k] = 0.4 * B[i][j][k] + 0.1 * ((i > 0 ? B[i - 1][j][k] : 0.0) +
                                                       (i < N - 1 ? B[i + 1][j][k] : 0.0) +
                                                       (j > 0 ? B[i][j - 1][k] : 0.0) +
                                                       (j < N - 1 ? B[i][j + 1][k] : 0.0) +
                                                       (k > 0 ? B[i][j][k - 1] : 0.0) +
                                                       (k < N - 1 ? B[i][j][k + 1] : 0.0));
    }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                out[i][j][k] = A[i][j][k];
#pragma endscop
}
