/* Heat in a plate by two arrays in turn: A to B, then B to A. Around the plate it is 0.
   Both are temporary. fold --mode reallocate --share cells puts them into one memory. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void heat_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    double A[N][N], B[N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = in[i][j];

    for (int t = 0; t < T; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                B[i][j] = 0.5 * A[i][j] + 0.125 * ((i > 0 ? A[i - 1][j] : 0.0) +
                                                  (i < N - 1 ? A[i + 1][j] : 0.0) +
                                                  (j > 0 ? A[i][j - 1] : 0.0) +
                                                  (j < N - 1 ? A[i][j + 1] : 0.0));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                A[i][j] = 0.5 * B[i][j] + 0.125 * ((i > 0 ? B[i - 1][j] : 0.0) +
                                                  (i < N - 1 ? B[i + 1][j] : 0.0) +
                                                  (j > 0 ? B[i][j - 1] : 0.0) +
                                                  (j < N - 1 ? B[i][j + 1] : 0.0));
    }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = A[i][j];
#pragma endscop
}
