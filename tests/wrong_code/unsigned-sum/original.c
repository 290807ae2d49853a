#include <stdlib.h>
void k(unsigned n, const int in[restrict 64], int out[restrict 64])
{
    int t[64];
#pragma scop
    for (unsigned i = 0; i < 20; i++)
        t[i] = in[i];
    for (unsigned i = 0; i < 20; i++)
        if (i >= n + 10) out[i] = t[i] + 1;
#pragma endscop
}
