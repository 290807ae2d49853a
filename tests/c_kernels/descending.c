/* Back substitution: descending loops, triangular bounds, a reversed copy at the end. */
void descending(int N, double U[N][N], double b[N], double x[N])
{
    int i, j;
#pragma scop
    for (i = N - 1; i >= 0; i--) {
        x[i] = b[i];
        for (j = N - 1; j > i; --j)
            x[i] -= U[i][j] * x[j];
        x[i] /= U[i][i];
    }
    for (i = 0; i <= N - 1; i++)
        b[i] = x[N - 1 - i];
#pragma endscop
}
