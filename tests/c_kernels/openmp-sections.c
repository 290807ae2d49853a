/* Tasks that depend on an array as a whole, and on rows of a flat array. */
void rows(int n, int m, const double *a, double *restrict b)
{
    double t[m * n], u[n];
#pragma scop
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < m; i++) {
#pragma omp task depend(out : t[i * n : n])
            for (int j = 0; j < n; j++)
                t[i * n + j] = a[i * n + j];
#pragma omp task depend(in : t[i * n : n])
            for (int j = 0; j < n; j++)
                b[i * n + j] = t[i * n + j];
        }
#pragma omp task depend(out : u)
        for (int j = 0; j < n; j++)
            u[j] = a[j];
#pragma omp task depend(in : u)
        for (int j = 0; j < n; j++)
            b[m * n + j] = u[j];
    }
#pragma endscop
}
