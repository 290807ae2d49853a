/* Five sweeps of a Jacobi smoother, as in a multigrid method, each into an array of its own.
   a, b, c and d are temporary. fold --share cells puts all of them into one memory. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void smoother(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double a[N][N], b[N][N], c[N][N], d[N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = 0.5 * in[i][j] + 0.125 * ((i > 0 ? in[i - 1][j] : 0.0) +
                                              (i < N - 1 ? in[i + 1][j] : 0.0) +
                                              (j > 0 ? in[i][j - 1] : 0.0) +
                                              (j < N - 1 ? in[i][j + 1] : 0.0));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = 0.5 * a[i][j] + 0.125 * ((i > 0 ? a[i - 1][j] : 0.0) +
                                              (i < N - 1 ? a[i + 1][j] : 0.0) +
                                              (j > 0 ? a[i][j - 1] : 0.0) +
                                              (j < N - 1 ? a[i][j + 1] : 0.0));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] = 0.5 * b[i][j] + 0.125 * ((i > 0 ? b[i - 1][j] : 0.0) +
                                              (i < N - 1 ? b[i + 1][j] : 0.0) +
                                              (j > 0 ? b[i][j - 1] : 0.0) +
                                              (j < N - 1 ? b[i][j + 1] : 0.0));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            d[i][j] = 0.5 * c[i][j] + 0.125 * ((i > 0 ? c[i - 1][j] : 0.0) +
                                              (i < N - 1 ? c[i + 1][j] : 0.0) +
                                              (j > 0 ? c[i][j - 1] : 0.0) +
                                              (j < N - 1 ? c[i][j + 1] : 0.0));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = 0.5 * d[i][j] + 0.125 * ((i > 0 ? d[i - 1][j] : 0.0) +
                                              (i < N - 1 ? d[i + 1][j] : 0.0) +
                                              (j > 0 ? d[i][j - 1] : 0.0) +
                                              (j < N - 1 ? d[i][j + 1] : 0.0));
#pragma endscop
}
