/* Clauses that say who has which variable, and how loops are shared out. */
double openmp_clauses(int n, int m, const double a[restrict n][m], double out[restrict n])
{
    double row[n][m], sum = 0, last = 0, v;
    int i, j, count = 0;
#pragma scop
    for (i = 0; i < n; i++) {
#pragma omp parallel for simd if (m > 100) num_threads(4) schedule(static, 4) default(none) \
    private(v) firstprivate(i) shared(a, row, m) safelen(8)
        for (j = 0; j < m; j++) {
            v = a[i][j];
            row[i][j] = v * v;
        }
#pragma omp parallel for reduction(+ : sum) reduction(max : count) lastprivate(last) schedule(dynamic)
        for (j = 0; j < m; j++) {
            sum += row[i][j];
            count = row[i][j] > count ? j : count;
            last = row[i][m - 1 - j];
        }
        out[i] = sum + last;
    }
#pragma endscop
    return count;
}
