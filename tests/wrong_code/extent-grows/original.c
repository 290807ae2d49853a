void k(int n, int m, const int in[restrict 64], int out[restrict 64])
{
    int t[65];
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[j + 1] = in[j] + i;
        for (int j = 0; j < m; j++)
            out[j] += t[j + 1] * t[m - j];
    }
#pragma endscop
}
