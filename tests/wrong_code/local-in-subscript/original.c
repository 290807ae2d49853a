#include <stdlib.h>
void k(int n, const int in[restrict n][n], int out[restrict n][n])
{
    int t[n][n + 4];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int q = j + 1;
            t[i][q] = in[i][j];
            if (j >= 2)
                out[i][j] = t[i][q] + t[i][q - 2];
        }
#pragma endscop
}
