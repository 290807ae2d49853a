#include <stdlib.h>
#include "capture.h"
typedef unsigned T;
void kernel(int n, T in[restrict n + 4][n + 4], T out[restrict n + 4][n + 4])
{
    /* t[i, j] -> [(n*i + j) mod (2*n + 257)]: 2*n + 1 cells instead of n^2 + 2*n, proved minimal; 256 more so that loops vectorise */
    unsigned int t_block[2LL * n + 257 + 15];
    unsigned int *t = t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(unsigned int);
    for (int c0 = 0; c0 <= n + 1; c0++) {
      {
        int c1_begin = 0;
        const int c1_end = n;
        long long t_0 = ((long long)c0 * n + c1_begin) % (2LL * n + 257);
        if (t_0 < 0) t_0 += (2LL * n + 257);
        long long t_1 = t_0 + 257;
        if (t_1 >= (2LL * n + 257)) t_1 -= (2LL * n + 257);
        long long t_2 = t_0 + n + 257;
        if (t_2 >= (2LL * n + 257)) t_2 -= (2LL * n + 257);
        while (c1_begin < c1_end) {
          long long c1_stop = c1_end;
          if (c1_end - c1_begin >= 256 && t_0 % 16) c1_stop = c1_begin + 16 - t_0 % 16;
          if (c1_stop - c1_begin > 256) c1_stop = c1_begin + 256;
          if ((2LL * n + 257) - t_0 < c1_stop - c1_begin) c1_stop = c1_begin + ((2LL * n + 257) - t_0);
          if ((2LL * n + 257) - t_1 < c1_stop - c1_begin) c1_stop = c1_begin + ((2LL * n + 257) - t_1);
          if ((2LL * n + 257) - t_2 < c1_stop - c1_begin) c1_stop = c1_begin + ((2LL * n + 257) - t_2);
          const long long t_0_shift = t_0 - c1_begin;
          const long long t_1_shift = t_1 - c1_begin;
          const long long t_2_shift = t_2 - c1_begin;
#pragma GCC ivdep
          for (int c1 = c1_begin; c1 < c1_stop; c1++) {
            t[c1 + t_0_shift] = in[c0][c1] + SCALE * in[c0][c1 + 1] + OFF;
            if (c0 >= 2)
              out[c0 - 2][c1] = t[c1 + t_1_shift] + 3 * t[c1 + t_2_shift] + t[c1 + t_0_shift];
          }
          t_0 += c1_stop - c1_begin;
          if (t_0 == (2LL * n + 257)) t_0 = 0;
          t_1 += c1_stop - c1_begin;
          if (t_1 == (2LL * n + 257)) t_1 = 0;
          t_2 += c1_stop - c1_begin;
          if (t_2 == (2LL * n + 257)) t_2 = 0;
          c1_begin = (int)c1_stop;
        }
      }
    }
}
