#include <stdlib.h>
void k(int n, const int in[restrict n][n], int out[restrict n][n])
{
    /* t[i, d1] -> [d1 mod 3]: 3 cells instead of n^2 + 4*n, proved */
    int t[3];
    int q;
    for (int c0 = 0; c0 < n; c0++) {
      {
        const long long t_0 = q % 3;
        const long long t_1 = (q - 2) % 3;
        for (int c1 = 0; c1 < n; c1++) {
          q = c1 + 1;
          t[t_0] = in[c0][c1];
          if (c1 >= 2)
            out[c0][c1] = t[t_0] + t[t_1];
        }
      }
    }
}
