/* Two rows that change places, the first one set before the loop under the pointer's name. */
void lines(int n, int m, const int a[m][n], int out[m])
{
    int row0[n], row1[n];
    int *prev = row0, *cur = row1;
#pragma scop
    for (int j = 0; j < n; j++)
        prev[j] = 0;
    for (int i = 0; i < m; i++) {
        cur[0] = 0;
        for (int j = 1; j < n; j++)
            cur[j] = prev[j - 1] + a[i][j];
        out[i] = cur[n - 1];
        int *spare = prev;
        prev = cur;
        cur = spare;
    }
#pragma endscop
}
