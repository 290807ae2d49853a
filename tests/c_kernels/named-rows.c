/* Rows by other names: pointers to them, set where they are declared or later, and elements without brackets. */
void rows(int n, int m, double a[n][m], double b[n][m])
{
    double t[n][m], (*all)[m] = t;
    const double *above, *row;
#pragma scop
    for (int i = 0; i < n; i++) {
        double *w = &t[i][1];
        row = a[i];
        for (int j = 0; j < m - 1; j++)
            w[j] = *(row + j);
        **(t + i) = *row;
    }
    for (int i = 1; i < n; i++) {
        row = all[i];
        above = all[i - 1];
        for (int j = 0; j < m; j++)
            b[i][j] = row[j] - above[j];
    }
#pragma endscop
}
