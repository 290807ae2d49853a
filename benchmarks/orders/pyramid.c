/* The next level of an image pyramid: low-pass filters along rows and columns, every second pixel kept. */
#include <stdlib.h>

void pyramid(int h, int w, const float in[restrict 2 * h + 3][2 * w + 4], float out[restrict h][w])
{
    float (*rows)[w] = malloc(sizeof(float[2 * h + 3][w]));
#pragma scop
    for (int y = 0; y < 2 * h + 3; y++)
        for (int x = 0; x < w; x++)
            rows[y][x] = 0.0625f * in[y][2 * x] + 0.25f * in[y][2 * x + 1] + 0.375f * in[y][2 * x + 2]
                       + 0.25f * in[y][2 * x + 3] + 0.0625f * in[y][2 * x + 4];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y][x] = 0.0625f * rows[2 * y][x] + 0.25f * rows[2 * y + 1][x] + 0.375f * rows[2 * y + 2][x]
                      + 0.25f * rows[2 * y + 3][x] + 0.0625f * rows[2 * y + 4][x];
#pragma endscop
    free(rows);
}
