/* Unsharp mask: blur along columns and rows, sharpen, and keep what hardly differs. */
#include <stdlib.h>

void unsharp(int h, int w, float weight, float threshold, const float in[restrict h][w], float out[restrict h][w])
{
    float (*rows)[w] = malloc(sizeof(float[h][w]));
    float (*blurred)[w] = malloc(sizeof(float[h][w]));
    float (*sharp)[w] = malloc(sizeof(float[h][w]));
#pragma scop
    for (int y = 2; y < h - 2; y++)
        for (int x = 0; x < w; x++)
            rows[y][x] = 0.0625f * in[y - 2][x] + 0.25f * in[y - 1][x] + 0.375f * in[y][x]
                       + 0.25f * in[y + 1][x] + 0.0625f * in[y + 2][x];
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++)
            blurred[y][x] = 0.0625f * rows[y][x - 2] + 0.25f * rows[y][x - 1] + 0.375f * rows[y][x]
                          + 0.25f * rows[y][x + 1] + 0.0625f * rows[y][x + 2];
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++)
            sharp[y][x] = in[y][x] * (1 + weight) - blurred[y][x] * weight;
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++) {
            float difference = in[y][x] - blurred[y][x];
            out[y][x] = (difference < 0 ? -difference : difference) < threshold ? in[y][x] : sharp[y][x];
        }
#pragma endscop
    free(rows);
    free(blurred);
    free(sharp);
}
