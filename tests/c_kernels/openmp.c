/* Parallel loops: collapsed, with private variables, over several lines, beside sequential ones. */
void openmp(int N, int T, double A[N][N], double B[N][N])
{
    int i, j;
    double s;
#pragma scop
    for (int t = 0; t < T; t++) {
#pragma omp parallel for collapse(2) \
    private(i, j)                    \
    schedule(static)
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                B[i][j] = A[i - 1][j] + A[i + 1][j];
#pragma omp parallel for private(j, s)
        for (i = N - 2; i >= 1; i--) {
            s = 0;
            for (j = 1; j < N - 1; j++)
                s += B[i][j];
            A[i][0] = s;
        }
        for (i = 1; i < N; i++)
            A[i][0] += A[i - 1][0];
    }
    A[0][0] = 0;
#pragma endscop
}
