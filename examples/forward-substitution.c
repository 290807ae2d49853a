/* Forward substitution: y such that L y = b, L lower triangular. Mor14 Fig. 2, with every partial sum in a
   cell of its own.
   sum is temporary: a partial sum is read once, by the next, so one cell is enough. y is the result. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void forward_substitution(int N, const double L[restrict N][N], const double b[restrict N],
                          double y[restrict N])
{
    int i, j;
    double sum[N][N];

#pragma scop
    for (i = 0; i < N; i++) {
        sum[i][0] = b[i];
        for (j = 0; j < i; j++)
            sum[i][j + 1] = sum[i][j] - L[i][j] * y[j];
        y[i] = sum[i][i] / L[i][i];
    }
#pragma endscop
}
