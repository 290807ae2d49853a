#include <stdlib.h>
void k(int n, int out[restrict n][n])
{
    /* t[i, j] -> [i mod 2, j mod n]: 2*n cells instead of n^2, proved; rows of whole cache lines */
    const size_t t_row = ((n / 16 + 1) | 1) * 16;
    int t_block[sizeof(int[2][t_row]) / sizeof(int) + 15];
    int (*t)[t_row] = (void *)(t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int));
    for (int c0 = 0; c0 < n; c0++) {
      {
        const long long t_0 = c0 % 2;
        const long long t_1 = (c0 - 1) % 2;
#pragma omp parallel for
        for (int c1 = 0; c1 < n; c1++) {
          t[t_0][c1] = rand() % 100;
          if (c0 >= 1)
            out[c0][c1] = t[t_0][c1] + 2 * t[t_1][c1];
        }
      }
    }
}
