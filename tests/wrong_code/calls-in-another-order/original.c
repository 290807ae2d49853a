#include <stdlib.h>
void k(int n, int out[restrict n][n])
{
    int t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t[i][j] = rand() % 100;
            if (i >= 1) out[i][j] = t[i][j] + 2 * t[i - 1][j];
        }
#pragma endscop
}
