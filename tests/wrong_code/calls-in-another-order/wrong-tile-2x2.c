#include <stdlib.h>
void k(int n, int out[restrict n][n])
{
    /* t[i, j] -> [(j - i) mod (n + 2)]: n + 2 cells instead of n^2, proved */
    int t_block[n + 2 + 15];
    int *t = t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int);
    for (int c0 = 0; c0 < (n + 1) / 2; c0++) {
      for (int c1 = 0; c1 < (n + 1) / 2; c1++) {
        for (int c2 = 2 * c0; c2 <= ((n - 1) < (2 * c0 + 1) ? (n - 1) : (2 * c0 + 1)); c2++) {
          {
            int c3_begin = 2 * c1;
            const int c3_end = ((n - 1) < (2 * c1 + 1) ? (n - 1) : (2 * c1 + 1)) + 1;
            long long t_0 = (c3_begin + n + 2 - c2) % (n + 2);
            if (t_0 < 0) t_0 += (n + 2);
            while (c3_begin < c3_end) {
              long long c3_stop = c3_end;
              if ((n + 2) - t_0 - 1 < c3_stop - c3_begin) c3_stop = c3_begin + ((n + 2) - t_0 - 1);
              if (c3_stop > c3_begin) {
                const long long t_0_shift = t_0 - c3_begin;
                for (int c3 = c3_begin; c3 < c3_stop; c3++) {
                  t[c3 + t_0_shift] = rand() % 100;
                  if (c2 >= 1)
                    out[c2][c3] = t[c3 + t_0_shift] + 2 * t[c3 + t_0_shift + 1];
                }
              } else {
                const int c3 = c3_begin;
                t[t_0] = rand() % 100;
                if (c2 >= 1)
                  out[c2][c3] = t[t_0] + 2 * t[(t_0 + 1) % (n + 2)];
                c3_stop = c3_begin + 1;
              }
              t_0 += c3_stop - c3_begin;
              if (t_0 == (n + 2)) t_0 = 0;
              c3_begin = (int)c3_stop;
            }
          }
        }
      }
    }
}
