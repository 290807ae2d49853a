#include <stdlib.h>

void k(int lo, int hi, const int in[restrict 64], int out[restrict 64])
{
    /* t[i] -> [i mod (hi - lo)]: hi - lo cells instead of max(-lo + 64, hi, hi - lo, 64), proved minimal */
    int t_block[((hi - lo) > 1 ? (hi - lo) : 1) + 15];
    int *t = t_block + (64 - (size_t)t_block % 64) % 64 / sizeof(int);
#pragma scop
    for (int i = lo; i < hi; i++)
        t[i + (-lo)] = in[i];
    for (int i = lo; i < hi; i++)
        out[i] = t[i + (-lo)] + 1;
#pragma endscop
}
