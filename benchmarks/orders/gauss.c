/* Separable Gauss filter with five taps, on rows and then on columns; the border stays as it is. */
#include <stdlib.h>

void gauss(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float (*tmp)[w] = malloc(sizeof(float[h][w]));
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 2; x < w - 2; x++)
            tmp[y][x] = 0.0625f * in[y][x - 2] + 0.25f * in[y][x - 1] + 0.375f * in[y][x]
                      + 0.25f * in[y][x + 1] + 0.0625f * in[y][x + 2];
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++)
            out[y][x] = 0.0625f * tmp[y - 2][x] + 0.25f * tmp[y - 1][x] + 0.375f * tmp[y][x]
                      + 0.25f * tmp[y + 1][x] + 0.0625f * tmp[y + 2][x];
#pragma endscop
    free(tmp);
}
