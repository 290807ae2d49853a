#include <stdlib.h>
#include "capture.h"
typedef unsigned T;
void kernel(int n, T in[restrict n + 4][n + 4], T out[restrict n + 4][n + 4])
{
    T t[n + 2][n];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n; j++) {
            t[i][j] = in[i][j] + SCALE * in[i][j + 1] + OFF;
            if (i >= 2) out[i - 2][j] = t[i - 2][j] + 3 * t[i - 1][j] + t[i][j];
        }
#pragma endscop
}
