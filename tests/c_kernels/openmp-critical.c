/* Collapsed loops whose bodies have variables of their own, and sums that one thread at a time adds to. */
void openmp_critical(int n, int m, const double a[restrict n][m], double total[restrict 2])
{
    double t[n][m];
#pragma scop
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double v = a[i][j], w;
            w = v * v;
            t[i][j] = v + w;
        }
    for (int i = 0; i < n; i++)
#pragma omp parallel for
        for (int j = 0; j < m; j++) {
#pragma omp critical(sum)
            {
                total[0] += t[i][j];
            }
#pragma omp atomic update
            total[1] += 1;
        }
#pragma endscop
}
