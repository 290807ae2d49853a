#include <stdlib.h>
void k(int n, int out[restrict n][n])
{
    /* t[i, j] -> [i mod 2]: 2 cells instead of n^2, proved */
    int t[2];
    for (int c0 = 0; c0 < n; c0++) {
      {
        const int c1_begin = 0;
        long long t_0 = c1_begin % 2;
        if (t_0 < 0) t_0 += 2;
        long long t_1 = (c1_begin - 1) % 2;
        if (t_1 < 0) t_1 += 2;
        for (int c1 = c1_begin; c1 < n; c1++) {
          t[t_0] = rand() % 100;
          if (c1 >= 1)
            out[c1][c0] = t[t_0] + 2 * t[t_1];
          if (++t_0 == 2) t_0 = 0;
          if (++t_1 == 2) t_1 = 0;
        }
      }
    }
}
