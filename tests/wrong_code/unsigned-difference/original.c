#include <stdlib.h>
void k(int n, unsigned un, const int in[restrict n], int out[restrict n])
{
    int t[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = in[i];
    for (int i = 0; i < n; i++)
        if (i <= un - 3)
            out[i] = t[i] + 1;
#pragma endscop
}
