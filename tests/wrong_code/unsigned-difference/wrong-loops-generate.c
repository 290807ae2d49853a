#include <stdlib.h>
void k(int n, unsigned un, const int in[restrict n], int out[restrict n])
{
    int t[n];
#pragma GCC ivdep
    for (int c1 = 0; c1 < n; c1++)
      t[c1] = in[c1];
#pragma GCC ivdep
    for (int c1 = 0; c1 < (n < ((long long)un - 2) ? n : ((long long)un - 2)); c1++)
      out[c1] = t[c1] + 1;
}
