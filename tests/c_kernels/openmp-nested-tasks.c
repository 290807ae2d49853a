/* Tasks that make tasks, which depend on rows of arrays. */
void openmp_nested_tasks(int n, int m, const double a[restrict n][m], double out[restrict n][m])
{
    double t[n][m], u[n][m];
#pragma scop
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task depend(out : t[i][0 : m])
        {
            for (int j = 0; j < m; j++) {
#pragma omp task
                t[i][j] = a[i][j];
            }
#pragma omp task
            for (int j = 0; j < m; j++)
                u[i][j] = a[i][j] + 1;
#pragma omp taskwait
        }
#pragma omp task depend(in : t[i][0 : m])
        for (int j = 0; j < m; j++)
            out[i][j] = t[i][m - 1 - j] * u[i][j];
#pragma omp taskwait
    }
#pragma endscop
}
