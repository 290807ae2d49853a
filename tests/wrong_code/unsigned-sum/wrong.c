#include <stdlib.h>
void k(unsigned n, const int in[restrict 64], int out[restrict 64])
{
    /* t[i] -> [i mod max(-n + 10, 1)]: max(-n + 10, 1) cells instead of 64, proved */
    int t_block[((10 - (long long)n) > 1 ? (10 - (long long)n) : 1) + 15];
    int *t = t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int);
    {
      int c1_begin = 0;
      const int c1_end = 19 + 1;
      long long t_0 = c1_begin % ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1);
      if (t_0 < 0) t_0 += ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1);
      while (c1_begin < c1_end) {
        long long c1_stop = c1_end;
        if (((10 - (long long)n) > 1 ? (10 - (long long)n) : 1) - t_0 < c1_stop - c1_begin) c1_stop = c1_begin + (((10 - (long long)n) > 1 ? (10 - (long long)n) : 1) - t_0);
        const long long t_0_shift = t_0 - c1_begin;
        for (int c1 = c1_begin; c1 < c1_stop; c1++) {
          t[c1 + t_0_shift] = in[((unsigned int)c1)];
        }
        t_0 += c1_stop - c1_begin;
        if (t_0 == ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1)) t_0 = 0;
        c1_begin = (int)c1_stop;
      }
    }
    {
      int c1_begin = (long long)n + 10;
      const int c1_end = 19 + 1;
      long long t_0 = c1_begin % ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1);
      if (t_0 < 0) t_0 += ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1);
      while (c1_begin < c1_end) {
        long long c1_stop = c1_end;
        if (c1_end - c1_begin >= 256 && t_0 % 16) c1_stop = c1_begin + 16 - t_0 % 16;
        if (((10 - (long long)n) > 1 ? (10 - (long long)n) : 1) - t_0 < c1_stop - c1_begin) c1_stop = c1_begin + (((10 - (long long)n) > 1 ? (10 - (long long)n) : 1) - t_0);
        const long long t_0_shift = t_0 - c1_begin;
#pragma GCC ivdep
        for (int c1 = c1_begin; c1 < c1_stop; c1++) {
          out[((unsigned int)c1)] = t[c1 + t_0_shift] + 1;
        }
        t_0 += c1_stop - c1_begin;
        if (t_0 == ((10 - (long long)n) > 1 ? (10 - (long long)n) : 1)) t_0 = 0;
        c1_begin = (int)c1_stop;
      }
    }
}
