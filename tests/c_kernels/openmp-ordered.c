/* Iterations in any order, of which one block each runs in the order of the loop. */
void openmp_ordered(int n, int m, const double a[restrict m][n], double out[restrict n + 1])
{
    double t[m][n];
#pragma scop
    for (int k = 0; k < m; k++) {
#pragma omp parallel for ordered
        for (int i = 0; i < n; i++) {
            t[k][i] = a[k][i] * 2;
#pragma omp ordered
            out[i + 1] = out[i] + t[k][i];
        }
    }
#pragma endscop
}
