/* Tone mapping: luminance, its average around each pixel (rows, then columns), and pixels divided by it. */
#include <stdlib.h>

void tone(int h, int w, float key, const float in[restrict h][w], float out[restrict h][w])
{
    float (*light)[w] = malloc(sizeof(float[h][w]));
    float (*rows)[w] = malloc(sizeof(float[h][w])), (*around)[w] = malloc(sizeof(float[h][w]));
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            light[y][x] = in[y][x] / (1 + in[y][x]);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (x >= 2 && x < w - 2)
                rows[y][x] = 0.2f * (light[y][x - 2] + light[y][x - 1] + light[y][x] + light[y][x + 1] + light[y][x + 2]);
            else
                rows[y][x] = light[y][x];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (y >= 2 && y < h - 2)
                around[y][x] = 0.2f * (rows[y - 2][x] + rows[y - 1][x] + rows[y][x] + rows[y + 1][x] + rows[y + 2][x]);
            else
                around[y][x] = rows[y][x];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y][x] = key * in[y][x] / (key + around[y][x]);
#pragma endscop
    free(light);
    free(rows);
    free(around);
}
