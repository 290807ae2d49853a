void k(int n, const int in[restrict n][n], int out[restrict n][n])
{
    int t[n + 1][n + 1];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[n - 1 - i][j];
#pragma endscop
}
