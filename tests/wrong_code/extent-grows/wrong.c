#include <stdlib.h>

void k(int n, int m, const int in[restrict 64], int out[restrict 64])
{
    /* t[j] -> [j mod m]: m cells instead of max(m + 1, 65), proved minimal */
    int t_block[(m > 1 ? m : 1) + 15];
    int *t = t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int);
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[(j + 1) - 1] = in[j] + i;
        for (int j = 0; j < m; j++)
            out[j] += t[(j + 1) - 1] * t[(m - j) - 1];
    }
#pragma endscop
}
